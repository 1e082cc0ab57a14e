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
import numpy as np
from attrs import frozen

from sims.campaign.axes import Settings
from sims.campaign.batches import AnyMeasure, OwnMeasure, RunResult, RunStatus
from sims.intervals import (
    FEWEST_BLOCKS,
    LEVEL,
    Estimate,
    Known,
    difference_of,
    mean_of,
    ratio_of,
)


@frozen
class Compared:
    """An observation that comparisons use: a run of a variant, or a block of its time."""

    seed: int
    """Seed of the run, or number of the block."""
    status: RunStatus
    value: float | None
    """Value of the measure, or None if the run did not complete or the measure is undefined for
    it."""
    work: str = ""
    """Digest of the names of the run's jobs."""
    blocks: tuple[float, ...] = ()
    """A number for each block of the run's time."""
    informed: tuple[bool, ...] = ()
    """Whether any job of a block has more than the least possible value, for each block; empty
    means that all blocks have."""
    speaks: str = ""
    """Text on the evidence and the scope of intervals over the blocks."""
    drew: bool | None = None
    """Whether the run drew anything at random; None where it is not known."""
    expected: float | None = None
    """Number of faults, at most, that are to be expected during the run; None where it is not
    known."""
    struck: int | None = None
    """Number of faults and silent errors that struck the run; None where none can."""
    jobs: int = 0
    """Number of jobs of the run."""

    @property
    def informs(self) -> bool:
        """Whether the observation has information: a job with more than the least possible value in
        any block or, if `informed` is empty, a value other than 0."""
        return any(self.informed) if self.informed else self.value != 0

    def each_block(self) -> list[Compared]:
        """Return an observation for each block of the run, as if each were a run whose seed is the
        block's number, from 0."""
        informed = self.informed or (True,) * len(self.blocks)
        return [
            Compared(k, self.status, value, self.work, informed=(some,))
            for k, (value, some) in enumerate(zip(self.blocks, informed, strict=True))
        ]


Runs = Mapping[str, Sequence[Compared]]
"""Maps each variant to its runs."""


def run_of(result: RunResult, gauge: AnyMeasure, until: float | None, of: str = "") -> Compared:
    """Return a run with its value of the measure `gauge`, over all jobs or, if `of` names one, over
    that class of jobs.

    A run that did not complete has the value None. A run in which jobs were killed, that ran out of
    workers, or that ended at the campaign's `until`, keeps the value of a measure that does not
    want all jobs done.
    """
    status = result.end
    cut = status is RunStatus.CAPPED and result.time == until
    few = status in (RunStatus.KILLED, RunStatus.DEPLETED)
    partly = (cut or few) and not gauge.wants_all_done
    known = status is RunStatus.COMPLETED or partly
    entry = result.blocks.get(gauge.value, {}).get(of, {})
    value = entry.get("value") if of else result.values.get(gauge.value)
    return Compared(
        seed=result.seed,
        status=status,
        value=value if known else None,
        work=result.work,
        blocks=tuple(entry.get("blocks", ())),
        informed=tuple(entry.get("informed", ())),
        speaks=result.speaks,
        drew=result.drew,
        expected=result.expected,
        struck=result.struck,
        jobs=result.jobs,
    )


STRUCK = 3
"""Number of runs that have to be struck by a fault, unless all are, so that their values alone tell
what faults do."""


def values_of(runs: Iterable[Compared]) -> list[float]:
    """Return the values of those runs that have one."""
    return [run.value for run in runs if run.value is not None]


def known_of(runs: Sequence[Compared], gauge: AnyMeasure) -> Known:
    """Return what is known of a variant's values of a measure beside the values themselves.

    Where faults can strike and fewer than STRUCK of the runs were struck, another run may be worse
    by as much as its value: a fault takes at most what a run has done. A user's measure that is 0
    or 1 in all runs counts an event.
    """
    values = values_of(runs)
    # A single run is one observation, be it of a log, which says nothing of others.
    known = Known(exact=len(values) > 1 and all(run.drew is False for run in runs))
    if isinstance(gauge, OwnMeasure):
        event = bool(values) and set(values) <= {0.0, 1.0}
        return attrs.evolve(known, low=0.0, high=1.0, counts=True) if event else known
    jobs = max((run.jobs for run in runs), default=0)
    high = float(max(jobs, 1)) if gauge.counts_jobs else inf
    high = 1.0 if gauge.share or gauge.event else high
    struck = [run.struck for run in runs if run.struck is not None and run.value is not None]
    few = bool(struck) and sum(map(bool, struck)) < STRUCK and not all(struck)
    # Where hardly a fault is to be expected in all of the runs, what it does matters as little.
    come = sum(inf if run.expected is None else run.expected for run in runs)
    reach = float(np.median(np.abs(values))) * min(come, 1.0) if few else 0.0
    return attrs.evolve(
        known,
        low=0.0,
        high=high,
        counts=gauge.counts_jobs or gauge.event,
        reach=reach,
        side=-1 if gauge.higher_is_better else 1,
        struck=bool(struck),
    )


def over_blocks(runs: Runs) -> dict[str, list[Compared]] | None:
    """Return, for each variant, the blocks of its first run as observations, if all runs of each
    variant have the same value.

    Seeds then make no difference, all runs of a variant are one observation, and the blocks of its
    time are what can be compared. Return None where values differ or are missing, where variants
    have different numbers of blocks, and where there are none.
    """
    if not all(_once([run.value for run in row]) for row in runs.values()):
        return None
    first = {name: row[0] for name, row in runs.items()}
    many = {len(run.blocks) for run in first.values()}
    if len(many) > 1 or many == {0}:
        return None
    return {name: run.each_block() for name, run in first.items()}


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
        return len(self.runs) > 1 and _once([run.value for run in self.runs])

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
        return speaks and once and not self.speaks and self.gauge.quantity is not None

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
        """Whether the runs draw nothing at random, so that each figure is what it is."""
        return all(it.mean.bounded and it.mean.half == 0 for it in self.lines)

    @property
    def alike(self) -> bool:
        """Whether there are several runs, each has a value, and all runs of a variant have the same
        one."""
        return all(it.alike for it in self.lines)


def _once(values: Sequence[float | None]) -> bool:
    """Return whether all values are the same number, so that the runs count as one observation. It
    is False if any is None."""
    return len(set(values)) == 1 and None not in values


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
        needed=2 if seeded else FEWEST_BLOCKS,
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
