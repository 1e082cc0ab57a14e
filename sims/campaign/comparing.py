"""Which variant is better in a cell, by how much, and how sure that is.

Every variant is run with the same seeds, and what failures, arrivals, speeds and policies draw
comes from streams of their own (actors/runtime/streams.py): a variant's run is compared with the
baseline's of the same seed, which met the same platform. A run that did not complete has no
value that could be compared; its seed is left out where it would be paired. Runs of different sets
of jobs are not compared at all.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
from attrs import frozen

from sims.campaign.axes import Settings
from sims.campaign.cells import CellResult, Gauge, RunStatus
from sims.campaign.intervals import LEVEL, Estimate, holm, mean_of, p_value, ratio_of


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
    speaks: str = ""
    """What intervals over them speak for."""


Runs = Mapping[str, Sequence[Compared]]
"""Of each variant."""


def run_of(result: CellResult, gauge: Gauge, until: float | None) -> Compared:
    """A run from its result: whether it completed, and then its value.

    Where jobs were killed, or `until` cut the run off, only what is a mean over time is known.
    """
    status = result.end
    cut = status is RunStatus.CAPPED and result.time == until
    partly = (cut or status is RunStatus.KILLED) and not gauge.wants_all_done
    known = status is RunStatus.COMPLETED or partly
    value = result.values.get(gauge.name) if known else None
    blocks = tuple(result.blocks.get(gauge.name, ()))
    return Compared(result.seed, status, value, result.work, blocks, result.speaks)


def over_blocks(runs: Runs) -> dict[str, list[Compared]] | None:
    """Where no seed makes a difference to any variant, there is one observation of each: then the
    blocks of its time, as if each were a run. None where seeds do, or there are no blocks."""
    alike = all(row and len({run.value for run in row}) == 1 for row in runs.values())
    first = {name: row[0] for name, row in runs.items() if row}
    many = {len(run.blocks) for run in first.values() if run.value is not None}
    if not alike or len(many) != 1 or many == {0} or any(it.value is None for it in first.values()):
        return None
    return {
        name: [Compared(k, run.status, value, run.work) for k, value in enumerate(run.blocks)]
        for name, run in first.items()
    }


class Verdict(enum.Enum):
    """What a comparison with the baseline comes to, all those of a table taken together."""

    BETTER = "better"
    WORSE = "worse"
    TIE = "tie"
    """The interval of the difference covers 0."""
    UNLIKE = "unlike"
    """They had different sets of jobs."""
    UNKNOWN = "unknown"
    """Too few seeds pair."""
    BASELINE = "baseline"
    """It is what others are compared with."""


@frozen
class Line:
    """A variant's figures in a cell. What compares it with the baseline is over the seeds on which
    both completed, and at the level at which Holm's procedure tests it."""

    variant: str
    runs: tuple[Compared, ...]
    """By seed."""
    mean: Estimate
    """Of its runs that completed."""
    verdict: Verdict
    difference: Estimate | None = None
    """Mean of its value less the baseline's; the baseline has none."""
    ratio: Estimate | None = None
    """Its mean over the baseline's; the baseline's own is 1. None where that is 0."""
    wins: int = 0
    """Seeds on which it was better than the baseline."""
    losses: int = 0
    best: int = 0
    """On how many of the seeds, or blocks, that pair no other variant was better."""

    @property
    def as_asked(self) -> int:
        """Runs that have a value."""
        return sum(run.value is not None for run in self.runs)

    @property
    def left_out(self) -> Counter[RunStatus]:
        """Runs without a value by how they ended."""
        return Counter(run.status for run in self.runs if run.value is None)

    @property
    def p(self) -> float:
        """Of no difference to the baseline, by itself."""
        return p_value(self.difference.sample, 0) if self.difference else 1.0


@frozen
class Comparison:
    """All variants in one cell, on the same seeds."""

    point: Settings
    gauge: Gauge
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
    def alike(self) -> bool:
        """Whether no seed made a difference to any variant, and all completed."""
        spread = [{run.value for run in line.runs} for line in self.lines]
        return self.seeds > 1 and all(len(it) == 1 and None not in it for it in spread)


Observed = Mapping[int, tuple[float, str]]
"""Seed or block -> value, and which jobs it is of."""


def compare(
    point: Settings, gauge: Gauge, runs: Runs, baseline: str, level: float = LEVEL
) -> Comparison:
    """The figures of runs by variant and seed, each comparison as if it were the only one."""
    blocks = over_blocks(runs)
    seen = {
        name: {run.seed: (run.value, run.work) for run in row if run.value is not None}
        for name, row in (blocks or runs).items()
    }
    rows = list(seen.values())
    shared = sorted(set(rows[0]).intersection(*rows))
    paired = [seed for seed in shared if len({row[seed][1] for row in rows}) == 1]
    best = max if gauge.higher_is_better else min
    first = [best(row[seed][0] for row in rows) for seed in paired]
    lines = []
    for name, row in seen.items():
        line = _line(name, tuple(runs[name]), row, seen[baseline], gauge, level)
        ties = zip(_values(row, paired), first, strict=True)
        lines.append(attrs.evolve(line, best=sum(value == least for value, least in ties)))
    speaks = runs[baseline][0].speaks if blocks else ""
    return Comparison(point, gauge, tuple(paired), tuple(lines), speaks)


def _values(row: Observed, seeds: Iterable[int]) -> list[float]:
    return [row[seed][0] for seed in seeds]


def _line(
    name: str,
    runs: tuple[Compared, ...],
    row: Observed,
    base: Observed,
    gauge: Gauge,
    level: float,
) -> Line:
    mean, seeds = mean_of(_values(row, row), level), [seed for seed in base if seed in row]
    ours, theirs = _values(row, seeds), _values(base, seeds)
    if any(row[seed][1] != base[seed][1] for seed in seeds):
        return Line(name, runs, mean, Verdict.UNLIKE)
    ratio = ratio_of(ours, theirs, level)
    if row is base:
        return Line(name, runs, mean, Verdict.BASELINE, ratio=ratio)
    gains = [a - b for a, b in zip(ours, theirs, strict=True)]
    above, below = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    wins, losses = (above, below) if gauge.higher_is_better else (below, above)
    difference = mean_of(gains, level) if gains else None
    return Line(name, runs, mean, Verdict.UNKNOWN, difference, ratio, wins, losses)


# --- all cells together -----------------------------------------------------------------------


def judged(comparisons: Sequence[Comparison], level: float) -> list[Comparison]:
    """The same, of one measure, with verdicts that hold all together at `level` (Holm): intervals
    are at the levels of their tests, so that one covers 0 just where the verdict is a tie."""
    tests = [it for it in _compared(comparisons) if it.difference and it.difference.size > 1]
    levels = dict(zip(map(id, tests), holm([it.p for it in tests], 1 - level), strict=True))
    return [
        attrs.evolve(
            cell,
            lines=tuple(
                _judged(line, cell.gauge, levels[id(line)]) if id(line) in levels else line
                for line in cell.lines
            ),
        )
        for cell in comparisons
    ]


def _judged(line: Line, gauge: Gauge, level: float) -> Line:
    assert line.difference is not None
    difference, ratio = line.difference.at(level), line.ratio and line.ratio.at(level)
    up = difference.mean > 0
    verdict = Verdict.BETTER if up is gauge.higher_is_better else Verdict.WORSE
    if difference.low <= 0 <= difference.high:
        verdict = Verdict.TIE
    return attrs.evolve(line, verdict=verdict, difference=difference, ratio=ratio)


def _compared(comparisons: Sequence[Comparison]) -> Iterator[Line]:
    lines = (line for cell in comparisons for line in cell.lines)
    return (it for it in lines if it.verdict is not Verdict.BASELINE)


def corrected(comparisons: Sequence[Comparison]) -> int:
    """How many comparisons were judged together."""
    unknown = (Verdict.UNLIKE, Verdict.UNKNOWN)
    return sum(it.verdict not in unknown for it in _compared(comparisons))
