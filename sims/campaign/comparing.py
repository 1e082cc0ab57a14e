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
from collections.abc import Mapping, Sequence
from functools import cached_property

import attrs
from attrs import frozen

from sims.campaign.axes import Settings
from sims.campaign.cells import CellResult, Gauge, RunStatus
from sims.campaign.intervals import LEVEL, Estimate, holm, mean_of, ratio_of


@frozen
class Compared:
    """One run of a variant, as a comparison sees it."""

    seed: int
    status: RunStatus
    value: float | None
    """None where it did not complete, or has no such measure."""
    work: str = ""
    """Which jobs it had."""
    blocks: tuple[float, ...] = ()
    """A number for each block of its time."""
    speaks: str = ""
    """What intervals over them speak for."""


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


def over_blocks(runs: Mapping[str, Sequence[Compared]]) -> dict[str, list[Compared]] | None:
    """Where no seed makes a difference to any variant, there is one observation of each: then the
    blocks of its time, as if each were a run. None where seeds do, or there are no blocks."""
    alike = all(row and len({run.value for run in row}) == 1 for row in runs.values())
    first = [row[0] for row in runs.values() if row]
    many = {len(run.blocks) for run in first if run.value is not None}
    if not alike or len(many) != 1 or many == {0} or any(run.value is None for run in first):
        return None
    return {
        name: [
            Compared(k, row[0].status, value, row[0].work) for k, value in enumerate(row[0].blocks)
        ]
        for name, row in runs.items()
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


@frozen
class Against:
    """A variant beside the baseline, over the seeds on which both completed."""

    verdict: Verdict
    difference: Estimate | None = None
    """Mean of its value less the baseline's; at the level at which Holm's procedure tests it."""
    ratio: Estimate | None = None
    """Its mean over the baseline's, at that level; None where the latter is 0."""
    wins: int = 0
    """Seeds on which it was better."""
    losses: int = 0
    p: float = 1.0
    """Of no difference, by itself."""


@frozen
class Line:
    """A variant's figures in a cell."""

    variant: str
    runs: tuple[Compared, ...]
    """By seed."""
    mean: Estimate
    """Of its runs that completed."""
    against: Against | None
    """None: it is the baseline."""
    best: int
    """On how many of the seeds, or blocks, that pair no other variant was better."""
    observed: tuple[Compared, ...] = ()
    """What figures are of: the runs, or blocks of one run's time."""

    @property
    def as_asked(self) -> int:
        """Runs that have a value."""
        return sum(run.value is not None for run in self.runs)

    @property
    def left_out(self) -> Counter[RunStatus]:
        """Runs without a value by how they ended."""
        return Counter(run.status for run in self.runs if run.value is None)

    @property
    def ratio(self) -> Estimate | None:
        """To the baseline's mean; the baseline's own is 1."""
        if self.against is not None:
            return self.against.ratio
        return ratio_of(own, own, LEVEL) if (own := _numbers(self, [*self.values])) else None

    @property
    def difference(self) -> Estimate | None:
        """To the baseline's mean; the baseline has none."""
        return None if self.against is None else self.against.difference

    @cached_property
    def values(self) -> dict[int, Compared]:
        """What is observed and has a value, by seed or block."""
        return {run.seed: run for run in self.observed if run.value is not None}


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


def compare(
    point: Settings,
    gauge: Gauge,
    runs: Mapping[str, Sequence[Compared]],
    baseline: str,
    level: float = LEVEL,
) -> Comparison:
    """The figures of runs by variant and seed, each comparison as if it were the only one."""
    blocks = over_blocks(runs)
    observed = blocks or runs
    means = {
        name: mean_of([it.value for it in row if it.value is not None], level)
        for name, row in observed.items()
    }
    lines = {
        name: Line(name, tuple(row), means[name], None, 0, tuple(observed[name]))
        for name, row in runs.items()
    }
    base = lines[baseline]
    shared = set.intersection(*(set(line.values) for line in lines.values()))
    paired = [s for s in sorted(shared) if len({it.values[s].work for it in lines.values()}) == 1]
    found = tuple(
        attrs.evolve(
            line,
            against=None if name == baseline else against(line, base, gauge, level),
            best=_best(line, list(lines.values()), paired, gauge),
        )
        for name, line in lines.items()
    )
    speaks = runs[baseline][0].speaks if blocks else ""
    return Comparison(point, gauge, tuple(paired), found, speaks)


def against(line: Line, base: Line, gauge: Gauge, level: float) -> Against:
    """One variant and the baseline."""
    seeds = [seed for seed in base.values if seed in line.values]
    if any(line.values[seed].work != base.values[seed].work for seed in seeds):
        return Against(Verdict.UNLIKE)
    ours, theirs = (_numbers(it, seeds) for it in (line, base))
    if len(seeds) < 1:
        return Against(Verdict.UNKNOWN)
    gains = [a - b for a, b in zip(ours, theirs, strict=True)]
    better = [gain > 0 if gauge.higher_is_better else gain < 0 for gain in gains]
    difference = mean_of(gains, level)
    return Against(
        Verdict.UNKNOWN,
        *(difference, ratio_of(ours, theirs, level)),
        wins=sum(better),
        losses=len(gains) - sum(better) - gains.count(0),
        p=difference.p(0),
    )


def _numbers(line: Line, seeds: Sequence[int]) -> list[float]:
    return [value for seed in seeds if (value := line.values[seed].value) is not None]


def _best(line: Line, lines: Sequence[Line], paired: Sequence[int], gauge: Gauge) -> int:
    best = max if gauge.higher_is_better else min
    columns = [_numbers(it, paired) for it in lines]
    own = _numbers(line, paired)
    return sum(
        value == best(row) for value, row in zip(own, zip(*columns, strict=True), strict=True)
    )


# --- all cells together -----------------------------------------------------------------------


def judged(comparisons: Sequence[Comparison], level: float) -> list[Comparison]:
    """The same, of one measure, with verdicts that hold all together at `level` (Holm): intervals
    are at the levels of their tests, so that one covers 0 just where the verdict is a tie."""
    tests = [it for it in _against(comparisons) if it.difference and it.difference.size > 1]
    levels = holm([it.p for it in tests], 1 - level)
    sure = {id(it): own for it, own in zip(tests, levels, strict=True)}
    return [
        attrs.evolve(cell, lines=tuple(_judged(line, cell.gauge, sure) for line in cell.lines))
        for cell in comparisons
    ]


def _against(comparisons: Sequence[Comparison]) -> list[Against]:
    lines = [line for cell in comparisons for line in cell.lines]
    return [line.against for line in lines if line.against is not None]


def _judged(line: Line, gauge: Gauge, levels: Mapping[int, float]) -> Line:
    found = line.against
    if found is None or found.difference is None or id(found) not in levels:
        return line
    level = levels[id(found)]
    difference = found.difference.at(level)
    ratio = found.ratio and found.ratio.at(level)
    if found.p > 1 - level:
        verdict = Verdict.TIE
    else:
        up = difference.mean > 0
        verdict = Verdict.BETTER if up is gauge.higher_is_better else Verdict.WORSE
    own = attrs.evolve(found, verdict=verdict, difference=difference, ratio=ratio)
    return attrs.evolve(line, against=own)


def corrected(comparisons: Sequence[Comparison]) -> int:
    """How many comparisons were judged together."""
    return sum(it.verdict not in (Verdict.UNLIKE, Verdict.UNKNOWN) for it in _against(comparisons))
