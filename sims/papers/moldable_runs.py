"""000, section 5: sets of moldable jobs, the same failures for all algorithms, ratios to L'."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from attrs import frozen

from actors.runtime import stream
from policies.interface.queue import Allocation, BatchAllocation, BatchPolicy
from policies.maths.makespan_bounds import (
    draw_failures,
    least,
    moldable_bound,
    rate_probabilities,
)
from policies.queue.allocation import LocalProcessorAllocation, MinArea, MinTime, Remembered
from policies.queue.batches import Exact, FirstRemembered, Scaled
from policies.queue.lists import RList
from policies.queue.orders import PAPER_ORDERS
from sims.papers.batch_runs import described, makespan
from sims.scenario.jobs.moldable import Model, SyntheticJobs

ALGORITHMS = ("LPA", "BATCH", "MINTIME", "MINAREA")

Cell = tuple[str, str]
"""(algorithm, order)."""


@frozen
class Point:
    """One set of jobs, at one error rate, on one platform."""

    model: Model
    number: int
    """Which set."""
    jobs: int
    """n."""
    processors: int
    """P."""
    rate: float
    """lambda, per second of sequential work."""
    scenarios: int
    cells: tuple[Cell, ...]
    eps: float | None
    """Of BATCH's scaled allotment; None: the exact one."""


Ratios = dict[Cell, tuple[float, ...]]
"""T/L'(J, f) per failure scenario."""


def rule(algorithm: str, eps: float | None) -> Allocation | BatchAllocation:
    """The algorithm's allocation; it thinks once about what does not depend on failures."""
    rules: dict[str, Callable[[], Allocation | BatchAllocation]] = {
        "LPA": lambda: Remembered(LocalProcessorAllocation()),
        "BATCH": lambda: FirstRemembered(Exact() if eps is None else Scaled(eps)),
        "MINTIME": lambda: Remembered(MinTime()),
        "MINAREA": lambda: Remembered(MinArea()),
    }
    return rules[algorithm]()


def ratios(point: Point) -> Ratios:
    """Simulate a point."""
    profiles = SyntheticJobs(model=point.model, count=point.jobs, seed=point.number).draw()
    times, areas = least(profiles, point.processors)
    probabilities = rate_probabilities([profile.work for profile in profiles], point.rate)
    rng = stream(point.number, f"failures/{point.model.value}/{point.jobs}/{point.rate!r}")
    drawn = [draw_failures(probabilities, rng) for _ in range(point.scenarios)]
    bounds = [moldable_bound(times, areas, failures, point.processors) for failures in drawn]
    jobs = described(profiles)
    found: Ratios = {}
    for cell in point.cells:
        algorithm, order = cell
        policy = BatchPolicy(PAPER_ORDERS[order], RList(0), rule(algorithm, point.eps), algorithm)
        found[cell] = tuple(
            makespan(point.processors, jobs, failures, policy, seed).value / bound
            for seed, (failures, bound) in enumerate(zip(drawn, bounds, strict=True))
        )
    return found


def mean(found: Ratios, cell: Cell) -> float:
    """Over the failure scenarios."""
    return fmean(found[cell])
