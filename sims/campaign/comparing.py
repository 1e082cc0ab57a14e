"""Which variant is better in a cell, by how much, and how sure that is.

Every variant is run with the same seeds, and what failures, arrivals, speeds and policies draw
comes from streams of their own (actors/runtime/system.py): a variant's run is compared with the
baseline's of the same seed, which met the same platform. A run that did not complete has no
value that could be compared; its seed is left out where it would be paired. Runs of different sets
of jobs are not compared at all; runs in which no seed makes a difference count once. Blocks in
which no job has anything to measure are paired, but do not count (intervals.py).

The verdict is what the printed interval says: those of a table hold all together (Bonferroni).
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import attrs
from attrs import frozen

from sims.campaign.axes import Settings
from sims.campaign.cells import CellResult, Gauge, RunStatus
from sims.campaign.intervals import (
    FEWEST_BLOCKS,
    LEVEL,
    Estimate,
    difference_of,
    mean_of,
    ratio_of,
)


@frozen
class Compared:
    """One run of a variant, as a comparison sees it."""

    seed: int
    """Or the block of its time."""
    status: RunStatus
    value: float | None
    """None where it did not complete, or has no such measure."""
    work: str = ""
    """Which jobs it had."""
    blocks: tuple[float, ...] = ()
    """A number for each block of its time."""
    informed: tuple[bool, ...] = ()
    """Tells for each block whether any of its jobs has a value other than 0; empty: all do."""
    speaks: str = ""
    """What intervals over them speak for."""

    def each_block(self) -> list[Compared]:
        """Return its blocks as if each were a run."""
        informed = self.informed or (True,) * len(self.blocks)
        return [
            Compared(k, self.status, value, self.work, informed=(some,))
            for k, (value, some) in enumerate(zip(self.blocks, informed, strict=True))
        ]


Runs = Mapping[str, Sequence[Compared]]
"""Of each variant."""


def run_of(result: CellResult, gauge: Gauge, until: float | None, of: str = "") -> Compared:
    """A run from its result: whether it completed, and then its value, or that of a class of jobs.

    Where jobs were killed, or `until` cut the run off, only what is a mean over time is known.
    """
    status = result.end
    cut = status is RunStatus.CAPPED and result.time == until
    partly = (cut or status is RunStatus.KILLED) and not gauge.wants_all_done
    known = status is RunStatus.COMPLETED or partly
    own = result.blocks.get(gauge.name, {}).get(of)
    value = result.values.get(gauge.name)
    if of:
        value = own["value"] if own else None
    blocks, informed = (own["blocks"], own["informed"]) if own else ((), ())
    return Compared(
        seed=result.seed,
        status=status,
        value=value if known else None,
        work=result.work,
        blocks=tuple(blocks),
        informed=tuple(informed),
        speaks=result.speaks,
    )


def over_blocks(runs: Runs) -> dict[str, list[Compared]] | None:
    """Where no seed makes a difference to any variant, there is one observation of each: then the
    blocks of its time, as if each were a run. None where seeds do, or there are no blocks."""
    if not all(_once([run.value for run in row]) for row in runs.values()):
        return None
    first = {name: row[0] for name, row in runs.items()}
    many = {len(run.blocks) for run in first.values()}
    if len(many) > 1 or many == {0}:
        return None
    return {name: run.each_block() for name, run in first.items()}


Effect = Literal["ratio", "difference"]
"""What two variants are compared by: of their means, paired by seed."""
NONE = {"ratio": 1.0, "difference": 0.0}
"""Where there is none."""


class Verdict(enum.Enum):
    """What a comparison with the baseline comes to, all those of a table taken together."""

    BETTER = "better"
    """The interval of the ratio excludes 1, that of a difference 0."""
    WORSE = "worse"
    NOT_SHOWN = "no difference shown"
    UNLIKE = "unlike"
    """They had different sets of jobs."""
    UNKNOWN = "no verdict"
    """Fewer than two seeds pair, no seed makes a difference, or too few blocks have information."""
    BASELINE = "baseline"
    """It is what others are compared with."""


JUDGED = (Verdict.UNKNOWN, Verdict.BETTER, Verdict.WORSE, Verdict.NOT_SHOWN)
"""What a comparison comes to before and after it is judged."""


@frozen
class Line:
    """A variant's figures in a cell. What compares it with the baseline is over the seeds on which
    both completed."""

    variant: str
    runs: tuple[Compared, ...]
    """By seed."""
    mean: Estimate
    """Of its runs that completed."""
    verdict: Verdict = Verdict.UNKNOWN
    effect: Estimate | None = None
    """Against the baseline, whose own is none. None where nothing pairs, or the ratio is to 0."""
    best: int = 0
    """On how many of the seeds, or blocks, that pair no other variant was better."""
    informed: int = 0
    """Pairs with the baseline that have information."""
    needed: int = 2
    """How many of them a verdict needs."""
    otherwise: Verdict | None = None
    """Better or worse: what the mean over all jobs says where that of the blocks says the opposite;
    None: they do not contradict each other."""

    @property
    def as_asked(self) -> int:
        """Runs that have a value."""
        return sum(run.value is not None for run in self.runs)

    @property
    def left_out(self) -> Counter[RunStatus]:
        """Runs without a value by how they ended."""
        return Counter(run.status for run in self.runs if run.value is None)

    @property
    def tested(self) -> bool:
        """Whether there is an interval to read a verdict off."""
        known = self.effect is not None and self.effect.size > 1
        return self.verdict in JUDGED and known and self.informed >= self.needed

    def judged(self, gauge: Gauge, effect: Effect, level: float) -> Line:
        """The same, its interval and so its verdict at this level."""
        if not self.tested or self.effect is None:
            return self
        told, none = self.effect.at(level), NONE[effect]
        verdict = Verdict.NOT_SHOWN
        if not told.low <= none <= told.high:
            verdict = _direction(gauge, told.low - none)
        return attrs.evolve(self, verdict=verdict, effect=told)


@frozen
class Comparison:
    """All variants in one cell, on the same seeds."""

    point: Settings
    gauge: Gauge
    effect: Effect
    paired: tuple[int, ...]
    """Seeds on which every variant completed, with the same jobs; or blocks."""
    lines: tuple[Line, ...]
    speaks: str = ""
    """What intervals speak for, where they are over blocks of one run's time."""

    @property
    def seeds(self) -> int:
        """Runs of a variant."""
        return max(len(line.runs) for line in self.lines)

    @property
    def too_short(self) -> bool:
        """Whether intervals would be over blocks, of which there are fewer than two."""
        speaks = any(run.speaks for line in self.lines for run in line.runs)
        once = self.seeds == 1 or self.alike
        return speaks and once and not self.speaks and self.gauge.of_jobs

    @property
    def alike(self) -> bool:
        """Whether no seed made a difference to any variant, and all completed."""
        return self.seeds > 1 and all(_once([run.value for run in it.runs]) for it in self.lines)


def _once(values: Sequence[float | None]) -> bool:
    """Whether they are one observation: no seed made a difference."""
    return len(set(values)) == 1 and None not in values


def compare(
    point: Settings,
    gauge: Gauge,
    runs: Runs,
    baseline: str,
    effect: Effect = "ratio",
    level: float = LEVEL,
) -> Comparison:
    """The figures of runs by variant and seed, each interval at `level` by itself."""
    blocks = over_blocks(runs)
    seen = {
        name: {run.seed: _observed(run) for run in row if run.value is not None}
        for name, row in (blocks or runs).items()
    }
    rows = list(seen.values())
    shared = sorted(set(rows[0]).intersection(*rows))
    paired = [seed for seed in shared if len({row[seed].work for row in rows}) == 1]
    best = max if gauge.higher_is_better else min
    least = [best(row[seed].value for row in rows) for seed in paired]
    lines = []
    for name, row in seen.items():
        mean = mean_of(_values(row, row), level, chancy=blocks is not None)
        wins = sum(a == b for a, b in zip(_values(row, paired), least, strict=True))
        line = Line(name, tuple(runs[name]), mean, best=wins)
        line = _against(line, row, seen[baseline], effect, level, not blocks)
        if blocks:
            line = _beside_all(line, runs[baseline][0].value, gauge, effect)
        lines.append(line)
    speaks = runs[baseline][0].speaks if blocks else ""
    return Comparison(point, gauge, effect, tuple(paired), tuple(lines), speaks)


@frozen
class Observed:
    """A variant's value on a seed, or in a block."""

    value: float
    work: str
    """Digest that names the jobs of the run."""
    informed: bool
    """Whether anything but 0 was measured."""


def _observed(run: Compared) -> Observed:
    value = 0.0 if run.value is None else run.value
    return Observed(value, run.work, any(run.informed) if run.informed else value != 0)


Row = Mapping[int, Observed]
"""Maps each seed, or block, to what was observed there."""


def _values(row: Row, seeds: Iterable[int]) -> list[float]:
    return [row[seed].value for seed in seeds]


def _against(line: Line, row: Row, base: Row, effect: Effect, level: float, seeded: bool) -> Line:
    """The line beside the baseline's; `seeded`: observations are runs."""
    seeds = [seed for seed in base if seed in row]
    if any(row[seed].work != base[seed].work for seed in seeds):
        return attrs.evolve(line, verdict=Verdict.UNLIKE)
    if seeded and _once(_values(row, seeds)) and _once(_values(base, seeds)):
        seeds = seeds[:1]
    ours, theirs = _values(row, seeds), _values(base, seeds)
    informed = [row[seed].informed or base[seed].informed for seed in seeds]
    if effect == "ratio":
        found = ratio_of(ours, theirs, level, informed, chancy=not seeded)
    else:
        found = difference_of(ours, theirs, level, chancy=not seeded)
        # That two runs have the same value, be it 0, says something of a difference.
        informed = [True] * len(seeds) if seeded else informed
    return attrs.evolve(
        line,
        verdict=Verdict.BASELINE if row is base else Verdict.UNKNOWN,
        effect=found,
        informed=sum(informed),
        needed=2 if seeded else FEWEST_BLOCKS,
    )


def _beside_all(line: Line, base: float | None, gauge: Gauge, effect: Effect) -> Line:
    """Note where a mean over all jobs is on the other side of the baseline's, `base`, than the
    effect over blocks."""
    ours = line.runs[0].value
    if line.effect is None or ours is None or base is None:
        return line
    over_all = ours - base
    if over_all * (line.effect.mean - NONE[effect]) >= 0:
        return line
    return attrs.evolve(line, otherwise=_direction(gauge, over_all))


def _direction(gauge: Gauge, more: float) -> Verdict:
    """Return what it means to have so much more than the baseline."""
    return Verdict.BETTER if (more > 0) is gauge.higher_is_better else Verdict.WORSE


def corrected(comparisons: Sequence[Comparison]) -> int:
    """How many comparisons are judged together."""
    return sum(line.tested for cell in comparisons for line in cell.lines)


def judged(comparisons: Sequence[Comparison], level: float) -> list[Comparison]:
    """Return the comparisons with intervals, and verdicts, that hold all together at `level`
    (Bonferroni)."""
    each = 1 - (1 - level) / max(corrected(comparisons), 1)
    lines = (
        tuple(it.judged(cell.gauge, cell.effect, each) for it in cell.lines) for cell in comparisons
    )
    return [attrs.evolve(cell, lines=its) for cell, its in zip(comparisons, lines, strict=True)]
