"""Simulate the runs of a campaign, without logs, in batches that take seconds.

Any process of any executor can run a batch.
"""

from __future__ import annotations

import enum
import time
import traceback
from collections.abc import Callable, Iterable
from hashlib import blake2b
from inspect import get_annotations
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs import field, frozen

from actors.decisions import BadDecision, finite
from actors.runtime import ActorFailed, Deadlock, Stalled, WorkersRetired, rare_collections
from sims.blocks import by_block, informed
from sims.errors import InputError, unfit
from sims.history.summary import FAULTS_TOO, WANTED, Summary
from sims.intervals import FEWEST_BLOCKS
from sims.metrics.arrivals import Flowtimes
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.metrics.report import Report
from sims.packing import Dependencies, unpacked
from sims.scenario import MeasuresSection, Scenario
from sims.scenario.own_code import imported
from sims.telling import units
from sims.world import run

EARLY = 10.0
"""How many times more faults than on average may come at the beginning, of laws whose rate
falls."""


class RunStatus(enum.Enum):
    """How a run ended, as far as comparisons distinguish it."""

    COMPLETED = "completed"
    CAPPED = "capped"
    DIVERGED = "diverged"
    STARVED = "starved"
    """Work was left and nothing more could happen, such as when its policy gave it no
    processors."""
    KILLED = "with jobs killed"
    DEPLETED = "ran out of workers"
    """Workers retired, and too few were left for a job."""
    RAISED = "raised"
    """An error ended the run: its policy's, or its worker died."""


@frozen
class OwnMeasure:
    """A measure of the user's: a function of a run, which stands where a `Measure` of Holdfast's
    can stand.

    The function gets a `Report` of the run, or an object of the class with which its argument is
    annotated: `Flowtimes`, `Summary` or any class that is made without arguments, is called with
    each record, and names in `wants` the kinds of events that it needs. With few kinds of events, a
    run takes a third of the time that it takes with a `Report`.
    """

    wants_all_done: ClassVar = True
    timed: ClassVar = False
    quantity: ClassVar = None
    least: ClassVar = 0
    counts_lost: ClassVar = False
    share: ClassVar = False
    counts_jobs: ClassVar = False
    event: ClassVar = False

    value: str
    """Name of the measure: `package.module:function`, or that of the function `given`."""
    higher_is_better: bool = False
    given: Callable[[Any], float | None] | None = None
    """The function itself, if a program gives one."""
    home: Path = field(default=Path(), repr=False)
    """Folder in which the function's module is sought: that of the campaign. It is no part of the
    digest of a result."""

    @property
    def function(self) -> Callable[[Any], float | None]:
        """The user's function: `given`, or else the one that the measure's name means.

        Raises InputError where it is missing or is not callable.
        """
        if self.given is not None:
            return self.given
        found: Callable[[Any], float | None] = imported(self.value, self.home, "measures")
        if not callable(found):
            raise unfit("measures", f"{self.value!r} is {found!r:.60}", "a function of a Report")
        return found

    def found_in(self, fold: Any) -> float | None:
        """Return the measure of a run from `fold`, an object of the class that `OwnMeasure.fold`
        names which has received the run's events; None where the measure is undefined.

        Raises MeasureRefused where the function returns neither a finite number nor None.
        """
        value = self.function(fold)
        if value is None or (finite(value) and not isinstance(value, bool)):
            return None if value is None else float(value)
        problem = f"{self.value!r} returned {value!r:.60}"
        accepted = "a finite number, or None for a run of which it is not defined"
        raise MeasureRefused(problem, accepted)

    @property
    def words(self) -> str:
        """Label of the measure on an axis of a picture."""
        return self.value.rpartition(":")[2].replace("_", " ")

    @property
    def fold(self) -> type:
        """Class whose objects receive a run's events and sum them up for the function: the one with
        which its argument is annotated, or else `Report`."""
        function = self.function
        names: dict[Any, Any] = getattr(function, "__globals__", {})
        known = (names.get(it, it) for it in get_annotations(function).values())
        folds: list[Any] = [it for it in known if hasattr(it, "wants")]
        found: type = (*folds, Report)[0]
        return found


AnyMeasure = Measure | OwnMeasure


class MeasureRefused(Exception):
    """A user's measure returned a value that is no number, so the campaign ends.

    The arguments are the problem and what would be accepted. The class is no InputError, which is
    frozen: once dask has been imported, frozen errors do not travel between processes, since its
    tblib sets their attributes.
    """


@frozen
class RunResult:
    """Result of one run of a campaign (a variant, in a cell, with a seed), as a store keeps it."""

    key: str
    """Digest of everything on which the result depends."""
    seed: int
    end: RunStatus
    time: float | None = None
    """Virtual time at which the run ended, in the scenario's unit."""
    jobs: int = 0
    """Number of submitted jobs."""
    left_out: int = 0
    """Number of jobs of its workload that do not take part."""
    work: str = ""
    """Digest of the names of its jobs; runs with different jobs are not compared."""
    seconds: float = 0.0
    """Seconds of real time that the run took."""
    error: str | None = None
    """Error that ended the run, in one line."""
    drew: bool | None = None
    """Whether the run drew anything at random; None where it is not known."""
    sampled: bool | None = None
    """Whether its jobs or workers are one sample of many, such as a log; None where it is not
    known."""
    expected: float | None = None
    """Number of faults, at most, that are to be expected during the run; None where it is not
    known."""
    struck: int | None = None
    """Number of times that faults or silent errors took from jobs what they had computed, or slowed
    them; None where none can."""
    values: dict[str, float | None] = field(factory=dict)
    """Maps each measure to its value, or to None if it is undefined for the run."""
    blocks: dict[str, dict[str, dict[str, Any]]] = field(factory=dict)
    """Maps each measure of jobs, and each class of jobs (the class of all has the empty name), to
    three entries: `value`; `blocks`, a number for each block of time (sims/blocks.py); and
    `informed`, whether any job of that block has more than the least possible value."""
    speaks: str = ""
    """Text on the evidence and the scope of intervals over those blocks."""

    def has(self, measures: Iterable[str]) -> bool:
        """Return whether all of these measures were looked at, or an error ended the run."""
        return self.end is RunStatus.RAISED or all(name in self.values for name in measures)

    def with_more(self, other: RunResult) -> RunResult:
        """Return the result of a run of which two results are known, with the measures of both."""
        if RunStatus.RAISED in (self.end, other.end):
            return other if self.end is RunStatus.RAISED else self
        return attrs.evolve(
            self, values=self.values | other.values, blocks=self.blocks | other.blocks
        )


@frozen
class Batch:
    """Runs of a campaign that one worker process simulates one after the other."""

    runs: tuple[tuple[str, Scenario, int], ...]
    """Triples (key, scenario, seed); pickle sends a scenario that several runs share once."""
    gauges: tuple[AnyMeasure, ...]
    by: By | None
    """Facts by which jobs are divided into classes, or None."""
    until: float | None
    """Time at which each run ends, if not before, in the scenario's unit."""
    folder: Path
    """Folder in which the files of scenarios are sought."""
    dependencies: Dependencies
    """Files and modules that the worker needs."""

    def halves(self) -> tuple[Batch, ...]:
        """Return the two halves of the batch, or the batch alone if it has one run."""
        half = len(self.runs) // 2
        parts = (self.runs[:half], self.runs[half:]) if half else (self.runs,)
        return tuple(attrs.evolve(self, runs=part) for part in parts)


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """Return a copy of the scenario with another seed."""
    return scenario.model_copy(update={"seed": seed})


def simulate_batch(batch: Batch) -> list[RunResult]:
    """Simulate the runs of a batch and return their results, in the batch's order. The result of a
    run that raises an error, or of which a measure does, has status RAISED and that error.

    Raises MeasureRefused where a user's measure returns neither a finite number nor None, and
    InputError where this process lacks something that all runs need.
    """
    # Between two runs the collector would look through the second one as it is set up.
    with rare_collections(), unpacked(batch.dependencies):
        return [_simulate(batch, *it) for it in batch.runs]


def _simulate(batch: Batch, key: str, scenario: Scenario, seed: int) -> RunResult:
    """Simulate a scenario at one seed and return its result under the digest `key`. An error of the
    run is in the result.

    Only MeasureRefused and Ctrl-C are raised.
    """
    # Changes of workers may be most of a run's events: they are read only where faults are counted.
    wants = FAULTS_TOO if Measure.FAULTS in batch.gauges else WANTED
    start, summary = time.perf_counter(), Summary(wants=wants)
    result = RunResult(key, seed, RunStatus.RAISED)
    try:
        result = _measured(batch, seeded(scenario, seed), summary, result)
    except (KeyboardInterrupt, MeasureRefused):
        raise
    # A campaign of thousands of runs must not end because one of them fails.
    except BaseException as raised:  # whatever a user's policy or measure makes of it
        result = attrs.evolve(result, error=_in_one_line(raised))
    return attrs.evolve(
        result,
        jobs=len(summary.submitted),
        left_out=sum(summary.left_out.values()),
        work=blake2b("\0".join(sorted(summary.submitted)).encode(), digest_size=8).hexdigest(),
        seconds=time.perf_counter() - start,
    )


def _measured(batch: Batch, scenario: Scenario, summary: Summary, result: RunResult) -> RunResult:
    """Run a scenario and return `result` with the run's status, end time, values and blocks.

    `summary` receives the run's events. A run with work left in which nothing more can happen is
    STARVED and has no values. One that ran out of workers has no value but that it did: times that
    are cut off there would only seem short.
    """
    kinds = {measure: measure.fold for measure in batch.gauges}
    whole = Report in kinds.values() or batch.by is not None
    # A Report feeds its summary itself, so the summary must not get the events twice.
    folds: dict[type, Any] = {Report: Report(summary=summary)} if whole else {Summary: summary}
    folds |= {kind: kind() for kind in kinds.values() if kind not in (Report, Summary)}
    try:
        ending = run(scenario, list(folds.values()), batch.folder, until=batch.until)
    except (Deadlock, Stalled) as ended:
        return attrs.evolve(result, end=RunStatus.STARVED, time=float(ended.time))
    except WorkersRetired as ended:
        values = {it.value: 1.0 if it is Measure.DEPLETED else None for it in kinds}
        return attrs.evolve(result, end=RunStatus.DEPLETED, time=float(ended.time), values=values)
    folds[Summary] = summary
    if report := folds.get(Report):
        report.close()
    end = RunStatus(ending.end.value)
    if end is RunStatus.COMPLETED and summary.killed:
        end = RunStatus.KILLED
    values = {
        measure.value: None
        if kind is Flowtimes and end is not RunStatus.COMPLETED
        else measure.found_in(folds[kind])
        for measure, kind in kinds.items()
    }
    blocks, speaks = _by_block(batch, scenario, summary, report)
    return attrs.evolve(
        result,
        end=end,
        time=float(ending.time),
        drew=ending.drew or scenario.begun_by_seed,
        sampled=scenario.one_sample,
        expected=_expected(scenario, float(ending.time)),
        struck=summary.struck if scenario.can_be_struck else None,
        values=values,
        blocks=blocks,
        speaks=speaks,
    )


def _expected(scenario: Scenario, time: float) -> float | None:
    """Return how many faults of all workers, at most, are to be expected up to a time; None where
    the scenario does not tell, or there are silent errors."""
    if scenario.mtbf == inf or scenario.errors.given:
        return None
    return EARLY * scenario.full_platform.size * time / scenario.mtbf


def _by_block(
    batch: Batch, scenario: Scenario, summary: Summary, report: Report | None
) -> tuple[dict[str, dict[str, dict[str, Any]]], str]:
    """Return what comparisons over blocks of time need, and a text on the scope of their intervals.

    The first maps each measure of jobs, and in it each class of jobs (`""` is the class of all), to
    the entries of `RunResult.blocks`. It is empty where the scenario has no blocks and the batch
    no `by`, or where no measure is one of jobs. The text is empty without blocks.
    """
    section = scenario.measures or MeasuresSection()
    # All jobs that a scenario states are no sample of others; one class of them may be.
    sample = scenario.one_sample or batch.by is not None
    blocks = section.blocks(scenario.times) if sample else None
    asked = [it for it in batch.gauges if isinstance(it, Measure) and it.quantity]
    if (blocks is None and batch.by is None) or not asked:
        return {}, ""
    if report:
        submitted, quantities = report.jobs.submitted, report.jobs.quantities()
    else:
        done = summary.completed
        times = [then for job, then in summary.submitted.items() if job in done]
        submitted = np.array(times, dtype=float)
        quantities = {"flowtime": np.array(summary.flowtimes, dtype=float)}
    if blocks and batch.by and section.block is None:
        blocks = blocks.enough(submitted, FEWEST_BLOCKS, section.warm_up)
    block_of = np.full(len(submitted), -1) if blocks is None else blocks.of(submitted)
    classes = [("", np.full(len(submitted), True))]
    classes += report.jobs.classes(batch.by) if report and batch.by else []
    found: dict[str, dict[str, dict[str, Any]]] = {it.value: {} for it in asked}
    for it, (name, members) in product(asked, classes):
        values = np.where(members, quantities[str(it.quantity)], np.nan)
        known = values[~np.isnan(values)]
        if known.size:
            each = by_block(it.summed, values, block_of)
            found[it.value][name] = {
                "value": it.summed(known),
                "blocks": each.tolist(),
                "informed": informed(values, block_of, it.least)[: len(each)],
            }
    speaks = "" if blocks is None else blocks.text(submitted, units(scenario.times.value))
    return found, speaks


def _in_one_line(error: BaseException) -> str:
    """Return the text of an error: a user's mistake in its own words, any other error with its
    class and the place where it was raised."""
    cause = error.error if isinstance(error, ActorFailed) else error
    if isinstance(cause, InputError | BadDecision):
        return str(cause)
    frames = traceback.extract_tb(cause.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(cause).__name__}: {cause}{where}"
