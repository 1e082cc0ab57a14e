"""How often printed intervals cover the truth: of means, of ratios, and of five ratios together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from attrs import frozen
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from sims.campaign.batches import RunStatus
from sims.campaign.comparing import compare, judged
from sims.campaign.observations import Compared
from sims.intervals import LEVEL
from sims.metrics.measures import Measure

Floats = NDArray[np.float64]
SIZES = 10, 30, 100
"""Numbers of runs of a study."""
VARIANTS = 5
"""Number of variants that are compared together with the baseline."""


@frozen
class Law:
    """Law of the values of runs: of a baseline and of five variants, on the same seeds."""

    draw: Callable[[Generator, int], Floats]
    """Function that returns a row for the baseline and for each variant, a column for each run."""
    truths: tuple[float, ...]
    """True means of the rows."""
    measure: Measure = Measure.COST
    struck: Callable[[Floats], NDArray[np.bool_]] | None = None
    """Function that tells which runs of a row a fault struck; None: faults do not come."""
    least: float = 0.93
    """Share of studies in which a printed interval has to cover."""


def normal(rng: Generator, count: int) -> Floats:
    """Means 10 and 11; pairs share a half of their variance."""
    own = rng.normal(0, 1, (1 + VARIANTS, count)) + rng.normal(0, 1, count)
    return own + np.array([[10.0]] + [[11.0]] * VARIANTS)


def exponential(rng: Generator, count: int) -> Floats:
    """Independent, of mean 1."""
    return rng.exponential(1, (1 + VARIANTS, count))


def lognormal(sigma: float) -> Callable[[Generator, int], Floats]:
    """Pairs share a half of the variance of their logarithms."""

    def draw(rng: Generator, count: int) -> Floats:
        part = sigma / np.sqrt(2)
        own = rng.normal(0, part, (1 + VARIANTS, count)) + rng.normal(0, part, count)
        return np.exp(own)

    return draw


def events(rng: Generator, count: int) -> Floats:
    """A job is late in 5 % of runs, whatever the variant."""
    return (rng.random((1 + VARIANTS, count)) < 0.05).astype(float)


def tied(rng: Generator, count: int) -> Floats:
    """Nine of ten runs take 100; the tenth takes longer, by another time in each variant."""
    hit = rng.random(count) < 0.1
    return 100 + hit * rng.exponential(100, (1 + VARIANTS, count))


WORK, MTBF, DOWNTIMES = 800.0, 1000.0, (50.0, 40.0, 60.0, 45.0, 55.0, 30.0)


def step_and_jump(rng: Generator, count: int) -> Floats:
    """Makespans of 800 s of work that faults send back to its beginning, with several downtimes on
    the same faults: pairs differ by some steps of 10 s, and one in 200 by a whole attempt."""
    times = np.cumsum(rng.exponential(MTBF, (count, 60)), axis=1)
    rows = []
    for down in DOWNTIMES:
        begin, going = np.zeros(count), np.full(count, True)
        for fault in times.T:
            # A fault of a worker that is DOWN already does not count.
            hit = going & (fault >= begin) & (fault < begin + WORK)
            going &= fault < begin + WORK
            begin = np.where(hit, fault + down, begin)
        rows.append(begin + WORK)
    return np.array(rows)


def expected(down: float) -> float:
    """Mean makespan with a downtime: (1 / rate + downtime) (exp(rate work) - 1)."""
    return (MTBF + down) * (np.exp(WORK / MTBF) - 1)


LAWS = {
    "normal": Law(normal, (10.0, *[11.0] * VARIANTS)),
    "exponential": Law(exponential, (1.0,) * (1 + VARIANTS)),
    "lognormal(1.0)": Law(lognormal(1.0), (float(np.exp(0.5)),) * (1 + VARIANTS)),
    "lognormal(1.5)": Law(lognormal(1.5), (float(np.exp(1.125)),) * (1 + VARIANTS), least=0.9),
    "5 % events": Law(events, (0.05,) * (1 + VARIANTS), Measure.LATE),
    "nine tenths tied": Law(tied, (110.0,) * (1 + VARIANTS)),
    "step and jump": Law(
        step_and_jump, tuple(map(expected, DOWNTIMES)), struck=lambda row: row > WORK
    ),
}
"""Maps the name of each law to it."""


@frozen
class Rate:
    """How often intervals of a kind were printed, and how often the printed ones covered."""

    studies: int
    printed: int
    covered: int

    @property
    def share(self) -> float:
        """Share of those studies in which all printed intervals covered; nan without any."""
        return self.covered / self.printed if self.printed else float("nan")


def runs_of(law: Law, row: Floats) -> list[Compared]:
    """Return the runs of a variant with these values, as the product has them."""
    struck = [None] * len(row) if law.struck is None else law.struck(row).astype(int).tolist()
    return [
        Compared(k, RunStatus.COMPLETED, value, struck=hit, jobs=1)
        for k, (value, hit) in enumerate(zip(row.tolist(), struck, strict=True))
    ]


def studied(law: Law, rows: Floats) -> Iterator[tuple[str, bool | None]]:
    """Yield, for each kind of interval of one study, whether all printed ones cover the truth; None
    where none is printed."""
    runs = {str(k): runs_of(law, row) for k, row in enumerate(rows)}
    ratios = [truth / law.truths[0] for truth in law.truths]
    for kind, last in (("ratio", 2), ("five", 1 + VARIANTS)):
        some = {name: runs[name] for name in list(runs)[:last]}
        [cell] = judged([compare((), law.measure, some, "0")], LEVEL)
        if kind == "ratio":
            yield "mean", _covers([cell.known_mean(cell.lines[0])], law.truths[:1])
        yield kind, _covers([cell.known_effect(it) for it in cell.lines[1:]], ratios[1:last])


def _covers(found: Sequence[object], truths: Sequence[float]) -> bool | None:
    pairs = zip(found, truths, strict=True)
    known = [(it, truth) for it, truth in pairs if it is not None and it.bounded]  # type: ignore[attr-defined]
    return all(it.low <= truth <= it.high for it, truth in known) if known else None  # type: ignore[attr-defined]


def rates(name: str, size: int, studies: int) -> dict[str, Rate]:
    """Return how often the intervals of each kind cover, of so many studies of a law with `size`
    runs of each variant."""
    law, found = LAWS[name], dict[str, list[bool | None]]()
    rng = default_rng([size, *name.encode()])
    for _ in range(studies):
        for kind, covers in studied(law, law.draw(rng, size)):
            found.setdefault(kind, []).append(covers)
    return {
        kind: Rate(studies, sum(it is not None for it in row), sum(it is True for it in row))
        for kind, row in found.items()
    }


def rows(studies: int) -> Iterator[str]:
    """Yield the table: how often printed intervals cover, and how often none is printed."""
    yield "| law, runs | mean | ratio | five together |"
    yield "| --- | --- | --- | --- |"
    for name in LAWS:
        for size in SIZES:
            found = rates(name, size, studies)
            cells = (f"{_percent(it.share)} ({it.printed / studies:.0%})" for it in found.values())
            yield f"| {name}, {size} | {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"
