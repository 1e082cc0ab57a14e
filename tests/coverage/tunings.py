"""How often a search claims, without `may be`, what is more than 1 % worse than the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp

import numpy as np
from attrs import frozen
from numpy.random import default_rng
from numpy.typing import NDArray

from sims.campaign.axes import Dimension, Point
from sims.campaign.batches import RunStatus
from sims.campaign.observations import Compared, known_of
from sims.campaign.search import SURE, Search, State
from sims.campaign.values import Value, Values, estimate
from sims.intervals import Estimate
from sims.metrics.measures import Measure

Floats = NDArray[np.float64]
FRESH, RUNS = 2**20, 30
"""Seeds of the answer, and its number of runs."""


@frozen
class Drawn:
    """Runs of one point, as they are drawn for all seeds at once."""

    makespan: Floats
    struck: NDArray[np.int_]
    late: Floats | None = None


@frozen
class Problem:
    """A tuning whose answer is known."""

    dimension: Dimension
    draw: Callable[[int, object, int], Drawn]
    """Function of a seed, a value and a number of runs that returns the runs there; runs of the
    same number meet the same faults whatever the value."""
    truth: Callable[[object], float]
    """True mean at a value; inf where it breaks the bound."""
    best: float
    """Least of the true means."""
    bounded: bool = False
    """Whether no run may be late."""


# --- problems -------------------------------------------------------------------------------------


def restarted(
    seed: int, runs: int, work: float, period: float, mtbf: float, cost: float, down: float
) -> Drawn:
    """Makespans of a job that saves after each `period` of its work (but not at its end), on
    faults at the times of a Poisson process; a recovery takes 10 s."""
    times = np.cumsum(default_rng(seed).exponential(mtbf, (runs, int(6 + 4 * work / mtbf))), axis=1)
    lengths = [period + cost] * (max(1, int(np.ceil(work / period - 1e-9))) - 1)
    lengths.append(work - period * len(lengths))
    spans, struck = np.empty(runs), np.zeros(runs, int)
    for k, faults in enumerate(times.tolist()):
        now, later = 0.0, iter(faults)
        fault, recovery = next(later), 0.0
        for number, length in enumerate(lengths):
            recovery = 0.0
            while fault < now + recovery + length:
                struck[k] += 1
                now, recovery = fault + down, 10.0 if number else 0.0
                while fault < now:
                    fault = next(later, float("inf"))
            now += recovery + length
        spans[k] = now
    return Drawn(spans, struck)


def expected(work: float, period: float, mtbf: float, cost: float, down: float) -> float:
    """Exact mean of `restarted`: (1 / l + D) times the sum over segments of
    exp(l R) (exp(l L) - 1)."""
    count = max(1, int(np.ceil(work / period - 1e-9)))
    last = work - period * (count - 1)
    lengths = [period + cost] * (count - 1) + [last]
    parts = [exp((10 if k else 0) / mtbf) * (exp(it / mtbf) - 1) for k, it in enumerate(lengths)]
    return (mtbf + down) * sum(parts)


RARE = {"work": 3000.0, "mtbf": 20_000.0, "cost": 20.0, "down": 10.0}
YOUNG = {"work": 2000.0, "mtbf": 200.0, "cost": 5.0, "down": 1.0}


def saved(facts: dict[str, float], dimension: Dimension, values: Sequence[float]) -> Problem:
    """Problem of the best period of checkpoints."""

    def draw(seed: int, value: object, runs: int) -> Drawn:
        assert isinstance(value, int | float)
        return restarted(seed, runs, period=value, **facts)

    def truth(value: object) -> float:
        assert isinstance(value, int | float)
        return expected(period=value, **facts)

    return Problem(dimension, draw, truth, min(map(truth, values)))


def curve(dimension: Dimension, excess: Callable[[object], float], own: float = 10.0) -> Problem:
    """Problem of a makespan of 1,101 s and an excess, with noise that all values share (20 s) and
    noise of their own; each run is struck once."""

    def draw(seed: int, value: object, runs: int) -> Drawn:
        shared = default_rng(seed).normal(0, 20, runs)
        mine = default_rng([seed, *repr(value).encode()]).normal(0, own, runs)
        return Drawn(1101 + 1000 * excess(value) + shared + mine, np.ones(runs, int))

    return Problem(dimension, draw, lambda value: 1101 + 1000 * excess(value), 1101)


def valley(value: object) -> float:
    """Two wells: at 0.1, deep and narrow, and at 0.75, wide and 2 % worse."""
    assert isinstance(value, int | float)
    narrow, wide = (
        1 - exp(-(((value - at) / far) ** 2)) for at, far in ((0.1, 0.04), (0.75, 0.15))
    )
    return 0.2 * min(narrow, 0.1 + 0.9 * wide)


LATE = 0.03


def late(seed: int, value: object, runs: int) -> Drawn:
    """Below 0.5, a run is late with probability LATE, and else 60 s shorter than above."""
    assert isinstance(value, int | float)
    rng = default_rng(seed)
    shared, hit = rng.normal(0, 20, runs), (rng.random(runs) < LATE) & (value < 0.5)
    own = np.where(hit, 1901.0, shared + (1101.0 if value < 0.5 else 1161.0))
    return Drawn(own, np.ones(runs, int), hit.astype(float))


PART = Dimension("x", low=0.0, high=1.0)
RANGE = np.geomspace(10, 1000, 400).tolist()
PROBLEMS = {
    "rare faults, 3 periods": saved(
        RARE, Dimension("period", words=(750, 1000, 3000)), (750, 1000, 3000)
    ),
    "rare faults, a range": saved(
        RARE, Dimension("period", low=100.0, high=3000.0), np.linspace(100, 3000, 400).tolist()
    ),
    "late in 3 % of runs": Problem(
        PART, late, lambda x: float("inf") if float(str(x)) < 0.5 else 1161.0, 1161.0, True
    ),
    "flat": curve(PART, lambda value: 0.0),
    "two equal words": curve(
        Dimension("x", words=("a", "b", "c", "d")),
        lambda value: {"a": 0.0, "b": 0.0, "c": 0.05, "d": 0.1}[str(value)],
    ),
    "two valleys": curve(PART, valley),
    "Young's regime": saved(YOUNG, Dimension("period", low=10.0, high=1000.0), RANGE),
}


# --- what is claimed ------------------------------------------------------------------------------


@frozen
class Claim:
    """What one search claims."""

    sure: bool
    """Whether it names its best without saying that others may be as good."""
    loss: float
    """By which part the best that it names is worse than the true best."""
    worst: float
    """The same of the worst point that it names as surely as good as its best."""
    excluded: bool
    """Whether no point that is, or may be, as good by it is within 1 % of the true best."""
    runs: int

    @property
    def wrong(self) -> bool:
        """Whether it claims, without `may be`, what is more than 1 % worse than the best: its best
        alone, or in place of points that are as good as the true best."""
        return self.loss > 0.01 and (self.sure or self.excluded)


def claim(problem: Problem, study: int) -> Claim:
    """Search once, with the product's search, and return what its sentence claims."""

    def values(point: Point, count: int, first: int) -> Values:
        drawn = problem.draw(first + 7 * study, point[0], count)
        columns = [(Measure.MAKESPAN, drawn.makespan)]
        columns += [(Measure.LATE, drawn.late)] if drawn.late is not None else []
        runs = [
            [
                Compared(k, RunStatus.COMPLETED, value, struck=hit, jobs=1)
                for k, (value, hit) in enumerate(
                    zip(row.tolist(), drawn.struck.tolist(), strict=True)
                )
            ]
            for _, row in columns
        ]
        known = [known_of(row, measure) for row, (measure, _) in zip(runs, columns, strict=True)]
        return Values(zip(*([it.value for it in row] for row in runs), strict=True), known)

    def evaluate(points: Sequence[Point], count: int) -> dict[Point, Values]:
        return {point: values(point, count, 0) for point in points}

    def beyond(found: Sequence[Value]) -> list[Estimate]:
        return [estimate(found, 1, SURE)] if problem.bounded else []

    search = Search((problem.dimension,), evaluate, beyond)
    answer = search.answer(lambda point: values(point, RUNS, FRESH))
    assert answer is not None
    best, fresh = answer
    good = [it for it in search.trials.values() if it.state in (State.BEST, State.AS_GOOD)]
    may = [it for it in search.trials.values() if it.state is State.OPEN]
    shown = not problem.bounded or estimate(fresh, 1, SURE).high <= 0
    loss = {it.point: problem.truth(it.point[0]) / problem.best - 1 for it in (*good, *may)}
    return Claim(
        sure=shown and search.region(best) == search.region(best, State.OPEN),
        loss=loss[best.point],
        worst=max(loss[it.point] for it in good),
        excluded=shown and min(loss.values()) > 0.01,
        runs=search.runs,
    )


def rows(tunings: int) -> Iterator[str]:
    """Yield the table: what so many searches of each problem claim."""
    yield "| problem | claims what is > 1 % worse | mean loss | without `may be` | runs |"
    yield "| --- | --- | --- | --- | --- |"
    for name, problem in PROBLEMS.items():
        found = [claim(problem, study) for study in range(tunings)]
        wrong, sure = (sum(getattr(it, of) for it in found) for of in ("wrong", "sure"))
        finite = [it.loss for it in found if it.loss < 1]
        runs = sorted(it.runs for it in found)[len(found) // 2]
        yield (
            f"| {name} | {wrong} of {tunings} | {100 * np.mean(finite):.2f} % | "
            f"{sure / tunings:.0%} | {runs} |"
        )
