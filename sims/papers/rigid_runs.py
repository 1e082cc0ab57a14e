"""001, section 5: sets of rigid jobs, the same failures for all heuristics, ratios to L(f)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from attrs import frozen

from actors.runtime import stream
from policies.interface.queue import BatchPolicy
from policies.maths.makespan_bounds import draw_failures, failure_probabilities, rigid_bound
from policies.maths.speedup import Rigid
from policies.queue.allocation import requested
from policies.queue.lists import Reading
from policies.queue.names import strategy_named
from policies.queue.orders import PAPER_ORDERS
from sims.papers.batch_runs import described, makespan
from sims.scenario.jobs.rigid import UniformJobs

SHELVES = ("R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB")
HEURISTICS = ("R-LIST-0", "R-LIST-1", "R-LIST-Q", "R-SHELFFILL-B", "R-SHELFFILL-NB")

Cell = tuple[str, str]
"""(heuristic, order)."""


@frozen
class Point:
    """One set of jobs at one average failure probability on one platform."""

    name: str
    """Names the set, and with it its failures."""
    jobs: tuple[Rigid, ...]
    processors: int
    average: float
    """q-bar."""
    scenarios: int
    cells: tuple[Cell, ...]
    reading: Reading


@frozen
class Outcomes:
    """What a point gave."""

    failures: tuple[int, ...]
    """In all, per failure scenario."""
    ratios: dict[Cell, tuple[float, ...]]
    """T/L(f) per failure scenario."""

    def mean(self, cell: Cell) -> float:
        """Over the failure scenarios."""
        return fmean(self.ratios[cell])


def synthetic(number: int) -> tuple[Rigid, ...]:
    """Set `number` of 001's synthetic jobs."""
    return tuple(UniformJobs(seed=number).draw())


def scenarios(point: Point) -> list[list[int]]:
    """Failures per job of each scenario; the same for every heuristic and order."""
    probabilities = failure_probabilities([job.work for job in point.jobs], point.average)
    rng = stream(0, f"failures/{point.name}/{point.average!r}")
    return [draw_failures(probabilities, rng) for _ in range(point.scenarios)]


def outcomes(point: Point) -> Outcomes:
    """Simulate a point."""
    drawn = scenarios(point)
    bounds = [rigid_bound(point.jobs, failures, point.processors) for failures in drawn]
    ratios = {cell: _ratios(point, cell, drawn, bounds) for cell in point.cells}
    return Outcomes(tuple(map(sum, drawn)), ratios)


def _ratios(
    point: Point, cell: Cell, drawn: Sequence[Sequence[int]], bounds: Sequence[float]
) -> tuple[float, ...]:
    heuristic, order = cell
    strategy = strategy_named(heuristic, point.reading)
    policy = BatchPolicy(PAPER_ORDERS[order], strategy, requested, heuristic)
    jobs = described(point.jobs)
    return tuple(
        makespan(point.processors, jobs, failures, policy, seed).value / bound
        for seed, (failures, bound) in enumerate(zip(drawn, bounds, strict=True))
    )
