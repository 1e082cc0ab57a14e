"""Decide which variant is better in a cell, by how much, and how sure that is.

Every variant is run with the same seeds, and what failures, arrivals, speeds and policies draw
comes from streams of their own (actors/runtime/system.py): a variant's run is compared with the
baseline's run of the same seed, which met the same platform. A run that did not complete has no
value to compare; its seed is left out where it would be paired. Runs of different sets of jobs are
not compared at all; runs in which no seed makes a difference count once. Blocks in which no job has
anything to measure are paired, but do not count (intervals.py).

The verdict follows from the printed interval: all intervals of a table hold together (Bonferroni).
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, nan
from typing import Literal

import attrs
from attrs import frozen

from sims.campaign.axes import Settings
from sims.campaign.batches import AnyMeasure, RunStatus
from sims.campaign.observations import Compared, Runs, known_of, once, over_blocks
from sims.intervals import (
    FEWEST_BLOCKS,
    LEVEL,
    Estimate,
    Known,
    difference_of,
    mean_of,
    ratio_of,
)

Effect = Literal["ratio", "difference"]
"""How two variants are compared, paired by seed or block: by the ratio or by the difference of
their means."""
NONE = {"ratio": 1.0, "difference": 0.0}
"""Value of each effect if two variants do not differ."""


class Verdict(enum.Enum):
    """Result of a comparison with the baseline; all verdicts of a table hold together."""

    BETTER = "better"
    """The interval of the ratio excludes 1, or that of the difference 0, on the better side."""
    WORSE = "worse"
    NOT_SHOWN = "no difference shown"
    UNLIKE = "unlike"
    """The variant and the baseline had different sets of jobs."""
    UNKNOWN = "no verdict"
    """Fewer than two seeds pair, no seed makes a difference, or too few blocks have information."""
    BASELINE = "baseline"
    """The variant is the baseline."""


UNJUDGED = (Verdict.BASELINE, Verdict.UNLIKE)
"""Verdicts that no interval changes."""


@frozen
class Line:
    """Figures of one variant in a cell: its mean, and how it compares with the baseline over the
    seeds, or blocks, on which both have a value."""

    variant: str
    runs: tuple[Compared, ...]
    """Runs of the variant, by seed."""
    mean: Estimate
    """Mean over the runs, or blocks, that have a value."""
    verdict: Verdict = Verdict.UNKNOWN
    effect: Estimate | None = None
    """Ratio or difference to the baseline; None where nothing pairs, or the ratio would be to 0."""
    best: int = 0
    """Number of paired seeds, or blocks, on which no other variant was better."""
    informed: int = 0
    """Number of pairs with the baseline that have information."""
    needed: int = 2
    """Number of pairs with information that a verdict needs."""
    otherwise: Verdict | None = None
    """Verdict, better or worse, of the mean over all jobs where it contradicts the mean over
    blocks, else None."""

    @property
    def as_asked(self) -> int:
        """Number of runs that have a value of the measure."""
        return sum(run.value is not None for run in self.runs)

    @property
    def completed(self) -> int:
        """Number of runs that completed, with or without a value of the measure."""
        return sum(run.status is RunStatus.COMPLETED for run in self.runs)

    @property
    def left_out(self) -> Counter[RunStatus]:
        """Numbers of runs that have no value, by the status with which they ended."""
        return Counter(run.status for run in self.runs if run.value is None)

    @property
    def partly(self) -> Counter[RunStatus]:
        """Numbers of runs that have a value although they did not complete, by their status."""
        known = (run.status for run in self.runs if run.value is not None)
        return Counter(status for status in known if status is not RunStatus.COMPLETED)

    @property
    def alike(self) -> bool:
        """Whether there are several runs, each has a value, and all have the same one."""
        return len(self.runs) > 1 and once([run.value for run in self.runs])

    @property
    def independent(self) -> int:
        """Number of pairs with information that are independent, of blocks by the correlation of
        neighbours, rounded."""
        if self.effect is None or self.effect.size == 0:
            return 0
        return round(self.informed * self.effect.independent / self.effect.size)

    @property
    def differs(self) -> bool:
        """Whether the verdict is that the variant is better or worse than the baseline."""
        return self.verdict in (Verdict.BETTER, Verdict.WORSE)

    @property
    def tested(self) -> bool:
        """Whether an interval of the effect gives a verdict: the variant is not the baseline and
        has the same jobs, two or more pairs count, and at least `needed` of them have
        information."""
        known = self.effect is not None and self.effect.bounded
        return self.verdict not in UNJUDGED and known and self.informed >= self.needed

    def judged(self, gauge: AnyMeasure, effect: Effect, level: float) -> Line:
        """Return the line with the interval of its effect at the confidence level `level`, and the
        verdict that follows from it.

        The verdict is `NOT_SHOWN` where the interval holds the value of no difference (1 for a
        ratio, 0 for a difference). A line that is not `tested` is returned as it is.
        """
        if not self.tested or self.effect is None:
            return self
        estimate, none = self.effect.at(level), NONE[effect]
        verdict = Verdict.NOT_SHOWN
        if self.independent < self.needed:
            verdict = Verdict.UNKNOWN
        elif not estimate.low <= none <= estimate.high:
            verdict = _direction(gauge, estimate.low - none)
        return attrs.evolve(self, verdict=verdict, effect=estimate)


@frozen
class Comparison:
    """All variants in one cell of a campaign (one point on its axes), compared by one measure on
    the same seeds."""

    point: Settings
    """The cell's settings on the axes, and its class of jobs if there are several."""
    gauge: AnyMeasure
    effect: Effect
    paired: tuple[int, ...]
    """Seeds on which every variant completed with the same jobs, or numbers of such blocks."""
    lines: tuple[Line, ...]
    speaks: str = ""
    """Text on the evidence and the scope of intervals, if they are over blocks of one run's
    time."""

    @property
    def seeds(self) -> int:
        """Largest number of runs of a variant."""
        return max(len(line.runs) for line in self.lines)

    @property
    def too_short(self) -> bool:
        """Whether the runs count as one observation each and could only be compared over blocks of
        time, but have fewer than two of them, so that there is no interval."""
        speaks = any(run.speaks for line in self.lines for run in line.runs)
        once = self.seeds == 1 or self.alike
        alone = speaks and once and not self.speaks and self.gauge.quantity is not None
        return alone and not self.exact

    @property
    def few(self) -> bool:
        """Whether intervals are over fewer than FEWEST_BLOCKS blocks, so that they rest on the
        shape of the t distribution alone."""
        return bool(self.speaks) and len(self.paired) < FEWEST_BLOCKS

    def known_mean(self, line: Line) -> Estimate:
        """Return the mean of a variant, with an unbounded interval where none can be trusted: over
        too few blocks."""
        return line.mean.unbounded if self.few else line.mean

    def known_effect(self, line: Line) -> Estimate | None:
        """Return the effect of a variant, without an interval where too few blocks have information
        for a verdict."""
        effect = line.effect
        base = line.verdict is Verdict.BASELINE and not self.few
        if effect is None or base or line.tested or not self.speaks:
            return effect
        return effect.unbounded

    @property
    def exact(self) -> bool:
        """Whether the runs draw nothing at random, of jobs that the scenario states, so that each
        figure is what it is."""
        return all(it.mean.bounded and it.mean.half == 0 for it in self.lines)

    @property
    def alike(self) -> bool:
        """Whether there are several runs, each has a value, and all runs of a variant have the same
        one."""
        return all(it.alike for it in self.lines)


def compare(
    point: Settings,
    gauge: AnyMeasure,
    runs: Runs,
    baseline: str,
    effect: Effect = "ratio",
    level: float = LEVEL,
) -> Comparison:
    """Compare all variants in one cell with the baseline, by one measure.

    `point` has the cell's settings on the axes, `runs` each variant's runs by its name, and
    `baseline` a variant's name. Runs are paired by seed or, where no seed makes a difference,
    blocks of their time are paired. Each interval is at `level` by itself. Verdicts are still open
    (`UNKNOWN`) but for the baseline and for variants with other jobs; `judged` gives the others.
    """
    blocks = over_blocks(runs)
    known = {
        name: attrs.evolve(known_of(row, gauge), serial=blocks is not None)
        for name, row in (blocks or runs).items()
    }
    seen = {
        name: {run.seed: run for run in row if run.value is not None}
        for name, row in (blocks or runs).items()
    }
    rows = list(seen.values())
    shared = sorted(set(rows[0]).intersection(*rows))
    paired = [seed for seed in shared if len({row[seed].work for row in rows}) == 1]
    best = max if gauge.higher_is_better else min
    # The best value on each seed; a variant that ties with it counts as best, too.
    bests = [best(values) for values in zip(*(_values(row, paired) for row in rows), strict=True)]
    lines = []
    for name, row in seen.items():
        mean = mean_of(_values(row, row), level, known[name])
        wins = sum(a == b for a, b in zip(_values(row, paired), bests, strict=True))
        line = Line(name, tuple(runs[name]), mean, best=wins)
        both = known[name].joined(known[baseline])
        if name == baseline:  # it is once itself
            both = attrs.evolve(both, exact=True)
        line = _against(line, row, seen[baseline], gauge, effect, level, both, not blocks)
        if name == baseline and line.effect is not None and not mean.bounded:
            line = attrs.evolve(line, effect=line.effect.unbounded)
        if blocks:
            line = _beside_all(line, runs[baseline][0].value, gauge, effect)
        lines.append(line)
    speaks = runs[baseline][0].speaks if blocks else ""
    return Comparison(point, gauge, effect, tuple(paired), tuple(lines), speaks)


Row = Mapping[int, Compared]
"""Maps each seed, or block, that has a value to its run there."""


def _values(row: Row, seeds: Iterable[int]) -> list[float]:
    """Return the values of a variant on these seeds, in their order."""
    return [value for seed in seeds if (value := row[seed].value) is not None]


def _against(
    line: Line,
    row: Row,
    base: Row,
    gauge: AnyMeasure,
    effect: Effect,
    level: float,
    known: Known,
    seeded: bool,
) -> Line:
    """Return the line of a variant with its effect against the baseline and the numbers of informed
    and needed pairs. The verdict is `BASELINE`, `UNLIKE` where the jobs differ, or still `UNKNOWN`.

    `row` has the variant's observations by seed, `base` the baseline's; `known` says what is known
    of both beside their values, and `seeded` that they are runs, not blocks.
    """
    seeds = [seed for seed in base if seed in row]
    if any(row[seed].work != base[seed].work for seed in seeds):
        return attrs.evolve(line, verdict=Verdict.UNLIKE)
    ours, theirs = _values(row, seeds), _values(base, seeds)
    informed = [row[seed].informs or base[seed].informs for seed in seeds]
    if effect == "ratio":
        # A block whose slowdowns are all 1 adds to both means; one without waits adds nothing.
        counted = None if gauge.least else informed
        found = ratio_of(ours, theirs, level, counted, known)
    else:
        found = difference_of(ours, theirs, level, known)
        # That two runs have the same value, be it 0, says something of a difference.
        informed = [True] * len(seeds) if seeded else informed
    return attrs.evolve(
        line,
        verdict=Verdict.BASELINE if row is base else Verdict.UNKNOWN,
        effect=found,
        informed=sum(informed),
        needed=FEWEST_BLOCKS if not seeded else 1 if known.exact else 2,
    )


def _beside_all(line: Line, base: float | None, gauge: AnyMeasure, effect: Effect) -> Line:
    """Return the line, with the verdict over all jobs in `otherwise` if the mean over all jobs and
    the effect over blocks are on opposite sides of the baseline.

    `base` is the baseline's value over all jobs, or None if it is unknown.
    """
    ours = line.runs[0].value
    if line.effect is None or ours is None or base is None:
        return line
    over_all = ours - base
    if over_all * (line.effect.mean - NONE[effect]) >= 0:
        return line
    return attrs.evolve(line, otherwise=_direction(gauge, over_all))


def _direction(gauge: AnyMeasure, more: float) -> Verdict:
    """Return the verdict, better or worse, on a value that exceeds the baseline's by `more`, which
    is below 0 for a smaller value and never 0."""
    return Verdict.BETTER if (more > 0) is gauge.higher_is_better else Verdict.WORSE


def widths(cell: Comparison) -> Iterator[tuple[float, float]]:
    """Yield (scale, half-width of the interval) of the effect of each variant that more runs could
    tell from the baseline.

    The scale, to which a half-width is compared, is the ratio itself, or for a difference the
    baseline's mean. A variant that has no effect yet gives (nan, inf). Left out are the baseline,
    variants with other jobs, and those on which no seed makes a difference.
    """
    base = next(it for it in cell.lines if it.verdict is Verdict.BASELINE)
    for line in cell.lines:
        if line.verdict in UNJUDGED or (line.alike and base.alike):
            continue  # no seed makes a difference, or the runs cannot be compared
        if line.effect is None:
            yield nan, inf
        elif cell.effect == "ratio":
            yield line.effect.mean, line.effect.half
        else:
            yield base.mean.mean, line.effect.half


def corrected(comparisons: Sequence[Comparison]) -> int:
    """Return the number of lines of all comparisons that have an interval to be judged, by which
    the level is corrected (Bonferroni)."""
    return sum(line.tested for cell in comparisons for line in cell.lines)


def judged(comparisons: Sequence[Comparison], level: float) -> list[Comparison]:
    """Return the comparisons with all their intervals and verdicts at the level 1 - (1 -
    `level`)/n, for n tested lines, so that all hold together at `level` (Bonferroni)."""
    each = 1 - (1 - level) / max(corrected(comparisons), 1)
    return [
        attrs.evolve(
            cell, lines=tuple(it.judged(cell.gauge, cell.effect, each) for it in cell.lines)
        )
        for cell in comparisons
    ]
