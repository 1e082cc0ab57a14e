"""Which of several variants of a scenario is better, by how much, and how sure that is.

Every variant is run with the same seeds, and what failures, arrivals, speeds and policies draw
comes from streams of their own (actors/runtime/streams.py): a variant's run is compared with the
first variant's of the same seed, which met the same platform. A run that did not end as asked has
no value that could be compared; its seed is left out of all that is paired.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from attrs import field, frozen

from actors.decisions import BadDecision
from actors.events import End
from actors.runtime import ActorFailed, Deadlock
from sims.errors import InputError
from sims.metrics.measures import Measure, of_report, of_summary
from sims.report import Report
from sims.scenario.loader import Scenario
from sims.statistics import Interval, mean_interval
from sims.variants import Variant, seeded
from sims.world import run

# --- runs -------------------------------------------------------------------------------------


class Fate(enum.Enum):
    """How a run ended, as far as a comparison goes."""

    COMPLETED = "completed"
    CAPPED = "capped"
    DIVERGED = "diverged"
    STARVED = "starved"
    """Work was left and nothing more could happen: its policy gave it no processors, say."""
    KILLED = "with jobs killed"


FATES = {End.COMPLETED: Fate.COMPLETED, End.CAPPED: Fate.CAPPED, End.DIVERGED: Fate.DIVERGED}


@frozen(eq=False)
class Task:
    """One run. Its repr tells it from all others in a store: the digest knows the scenario."""

    variant: str
    seed: int
    until: float | None
    report: bool
    """Whether all measures are wanted."""
    digest: str
    scenario: Scenario = field(repr=False)
    folder: Path = field(repr=False)


Result = dict[str, str | float | None]
"""A run as JSON: how and at what `time` it ended, and its value by measure."""


def tasks(
    variants: Sequence[Variant],
    seeds: Sequence[int],
    until: float | None,
    measure: Measure,
    folder: Path,
) -> list[list[Task]]:
    """The runs of each variant, by seed."""
    return [
        [
            Task(
                *(str(variant), seed, until, measure.wants_report),
                *(_digest(variant.scenario), seeded(variant.scenario, seed), folder),
            )
            for seed in seeds
        ]
        for variant in variants
    ]


def _digest(scenario: Scenario) -> str:
    return blake2b(repr(seeded(scenario, 0)).encode(), digest_size=8).hexdigest()


def simulate(task: Task) -> Result:
    """Run it, without a log. Raises InputError, and what the runtime raises."""
    report = Report()
    fold = report if task.report else report.summary
    try:
        ending = run(task.scenario, [fold], task.folder, until=task.until)
    except Deadlock as deadlock:
        return {"end": Fate.STARVED.value, "time": float(deadlock.time)}
    except ActorFailed as failed:
        if not isinstance(failed.error, BadDecision):
            raise
        where = f"{task.variant}, seed {task.seed}"
        raise InputError(where, "", str(failed.error)) from None
    if task.report:
        report.close()
    measured = of_report(report) if task.report else of_summary(report.summary)
    values = {measure.value: value for measure, value in measured.items()}
    fate = _fate(ending.end, bool(report.summary.killed))
    return {"end": fate.value, "time": float(ending.time), **values}


def _fate(end: End, killed: bool) -> Fate:
    return Fate.KILLED if killed and end is End.COMPLETED else FATES[end]


# --- figures ----------------------------------------------------------------------------------


@frozen
class Run:
    """One run of a variant, as a comparison sees it."""

    seed: int
    fate: Fate
    value: float | None
    """None where it did not end as asked, or has no such measure."""


def run_of(seed: int, result: Mapping[str, Any], measure: Measure, until: float | None) -> Run:
    """A run from its result: whether it ended as asked, and then its value.

    Where jobs were killed, or `until` cut the run off, only what is a mean over time is known.
    """
    fate = Fate(result["end"])
    cut = fate is Fate.CAPPED and result["time"] == until
    partly = (cut or fate is Fate.KILLED) and not measure.wants_all_done
    return Run(seed, fate, result[measure.value] if fate is Fate.COMPLETED or partly else None)


@frozen
class Line:
    """A variant's figures."""

    variant: Variant
    runs: tuple[Run, ...]
    """By seed."""
    mean: Interval
    """Of its runs that ended as asked."""
    ratio: Interval | None
    """Mean over the seeds that pair of its value over the first variant's; None where no seed
    pairs or one of the first variant's values is 0."""
    best: int
    """On how many of the seeds that pair no other variant was better."""

    @property
    def as_asked(self) -> int:
        """Runs that have a value."""
        return sum(run.value is not None for run in self.runs)

    @property
    def left_out(self) -> Counter[Fate]:
        """Runs without a value by how they ended."""
        return Counter(run.fate for run in self.runs if run.value is None)


@frozen
class Comparison:
    """All variants on the same seeds, the first one being what the others are held against."""

    measure: Measure
    seeds: tuple[int, ...]
    paired: tuple[int, ...]
    """Seeds on which every variant ended as asked."""
    lines: tuple[Line, ...]

    @property
    def alike(self) -> bool:
        """Whether no seed made a difference to any variant, and all ended as asked."""
        spread = [{run.value for run in line.runs} for line in self.lines]
        return 1 < len(self.paired) == len(self.seeds) and all(len(it) == 1 for it in spread)


def compare(
    measure: Measure, variants: Sequence[Variant], runs: Sequence[Sequence[Run]]
) -> Comparison:
    """The figures of runs by variant and seed."""
    columns = list(zip(*([run.value for run in row] for row in runs), strict=True))
    seeds = tuple(run.seed for run in runs[0])
    whole = [None not in column for column in columns]
    pairs = [list(column) for column, counts in zip(columns, whole, strict=True) if counts]
    paired = tuple(seed for seed, counts in zip(seeds, whole, strict=True) if counts)
    lines = tuple(
        Line(
            *(variant, tuple(row), mean_interval([it.value for it in row if it.value is not None])),
            *(_ratio(pairs, index), _best(pairs, index, measure)),
        )
        for index, (variant, row) in enumerate(zip(variants, runs, strict=True))
    )
    return Comparison(measure, seeds, paired, lines)


def _ratio(pairs: Sequence[Sequence[Any]], index: int) -> Interval | None:
    if not pairs or not all(row[0] for row in pairs):
        return None
    return mean_interval([row[index] / row[0] for row in pairs])


def _best(pairs: Sequence[Sequence[Any]], index: int, measure: Measure) -> int:
    best = max if measure.higher_is_better else min
    return sum(row[index] == best(row) for row in pairs)
