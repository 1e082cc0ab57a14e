"""Cells: one run each, without a log, in whatever process; batches of them take seconds."""

from __future__ import annotations

import enum
import inspect
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import field, frozen

from actors.decisions import BadDecision
from actors.events import End
from actors.runtime import ActorFailed, Deadlock
from sims.campaign.kit import OWN, Kit, unpack
from sims.errors import InputError
from sims.metrics.blocks import by_block
from sims.metrics.flowtimes import FlowtimeFold, Flowtimes
from sims.metrics.measures import Measure, of_report, of_summary
from sims.report import Report
from sims.scenario.loader import Scenario
from sims.scenario.policies import imported
from sims.scenario.scenario import MeasuresSection
from sims.summary import Summary
from sims.telling import units
from sims.world import run


class RunStatus(enum.Enum):
    """How a run ended, as far as a comparison goes."""

    COMPLETED = "completed"
    CAPPED = "capped"
    DIVERGED = "diverged"
    STARVED = "starved"
    """Work was left and nothing more could happen: its policy gave it no processors, say."""
    KILLED = "with jobs killed"
    RAISED = "raised"
    """An error ended it: its policy's, or its worker died."""


STATUSES = {
    End.COMPLETED: RunStatus.COMPLETED,
    End.CAPPED: RunStatus.CAPPED,
    End.DIVERGED: RunStatus.DIVERGED,
}


@frozen
class Gauge:
    """What a run is measured by: one of `Measure`, or a user's function of a `Report`, or of what
    its argument is annotated with: the `Flowtimes` of jobs that come and go, the `Summary` or any
    other fold, a class that is made without arguments and wants (`wants`) some kinds of events.
    Few events take a third of the time."""

    name: str
    higher_is_better: bool = False

    @property
    def own(self) -> bool:
        """Whether it is `package.module:function`."""
        return OWN.fullmatch(self.name) is not None

    @property
    def wants_all_done(self) -> bool:
        """Whether a run that left work undone has no value."""
        return self.own or Measure(self.name).wants_all_done

    def function(self, home: Path) -> Callable[[Any], float | None]:
        """The user's, sought in `home`."""
        found: Callable[[Any], float | None] = imported(self.name, home, "measures")
        return found

    def given(self, home: Path) -> type | None:
        """What the user's function is given."""
        if not self.own:
            return None
        function = self.function(home)
        known = inspect.signature(function).parameters.values()
        kinds = [_class(function, it.annotation) for it in known]
        return next((it for it in kinds if it is Flowtimes or hasattr(it, "wants")), Report)

    def wants_report(self, home: Path) -> bool:
        """Whether only all events of a run can tell."""
        return self.given(home) is Report if self.own else Measure(self.name).wants_report

    @property
    def timed(self) -> bool:
        """Whether its unit is the scenario's unit of time."""
        return not self.own and Measure(self.name).timed


def _class(function: Callable[..., Any], annotation: Any) -> Any:
    if isinstance(annotation, str):
        return getattr(function, "__globals__", {}).get(annotation)
    return annotation


def gauge(name: str, higher: Sequence[str] = ()) -> Gauge:
    """The measure of that name; `higher`: those of the user's own of which more is better.

    Raises ValueError for a name that is none.
    """
    if OWN.fullmatch(name):
        return Gauge(name, name in higher)
    return Gauge(name, Measure(name).higher_is_better)


@frozen
class CellResult:
    """What is kept of a run."""

    key: str
    """Digest of all that it follows from."""
    seed: int
    end: RunStatus
    time: float | None
    """Virtual time of its end, in the scenario's unit."""
    jobs: int
    """Submitted."""
    left_out: int
    """Jobs of its workload that do not take part."""
    work: str
    """Digest of which jobs it had: runs with other ones are not alike."""
    seconds: float
    """It took."""
    error: str | None = None
    values: dict[str, float | None] = field(factory=dict)
    """By measure; None: not defined for that run."""
    blocks: dict[str, list[float]] = field(factory=dict)
    """By measure of jobs, a number for each block of time (sims/metrics/blocks.py)."""
    speaks: str = ""
    """What intervals over those blocks rest on, and what they speak for."""


@frozen
class Batch:
    """Cells that one worker simulates one after the other."""

    scenarios: tuple[Scenario, ...]
    cells: tuple[tuple[str, int, int], ...]
    """(key, which scenario, seed)."""
    gauges: tuple[Gauge, ...]
    until: float | None
    folder: Path
    """Where scenarios' files are sought."""
    home: Path
    """Where own measures are."""
    kit: Kit

    def halves(self) -> tuple[Batch, ...]:
        """Itself where it is one cell."""
        half = len(self.cells) // 2
        parts = (self.cells[:half], self.cells[half:]) if half else (self.cells,)
        return tuple(attrs.evolve(self, cells=part) for part in parts)


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with another seed."""
    return scenario.model_copy(update={"seed": seed})


def simulate_batch(batch: Batch) -> list[CellResult]:
    """Simulate its cells; what one raises is its result. Raises InputError where this process
    lacks something that all cells need."""
    unpack(batch.kit)
    return [_simulate(batch, *cell) for cell in batch.cells]


def _simulate(batch: Batch, key: str, index: int, seed: int) -> CellResult:
    began = time.perf_counter()
    summary = Summary()
    try:
        end, at, values, blocks, speaks = _measured(
            batch, seeded(batch.scenarios[index], seed), summary
        )
        error = None
    except Exception as raised:  # whatever a user's policy or measure makes of it
        end, at, values, blocks, speaks = RunStatus.RAISED, None, {}, {}, ""
        error = _told(raised)
    work, seconds = _work(summary), time.perf_counter() - began
    left = sum(summary.left_out.values())
    jobs = len(summary.submitted)
    return CellResult(
        *(key, seed, end, at, jobs, left, work, seconds, error), values, blocks, speaks
    )


Measured = tuple[RunStatus, float, dict[str, float | None], dict[str, list[float]], str]


def _measured(batch: Batch, scenario: Scenario, summary: Summary) -> Measured:
    report, folds = Report(summary=summary), _folds(batch, summary)
    whole = any(gauge.wants_report(batch.home) for gauge in batch.gauges)
    own = [it for kind, it in folds.items() if kind is not Summary]
    try:
        sinks = [report if whole else summary, *own]
        ending = run(scenario, sinks, batch.folder, until=batch.until)
    except Deadlock as deadlock:
        return RunStatus.STARVED, float(deadlock.time), {}, {}, ""
    if whole:
        report.close()
    killed = bool(summary.killed) and ending.end is End.COMPLETED
    status = RunStatus.KILLED if killed else STATUSES[ending.end]
    given = folds | {Report: report}
    if Flowtimes in folds:
        given[Flowtimes] = folds[Flowtimes].result() if status is RunStatus.COMPLETED else None
    values = dict(_values(batch, report, whole, given))
    return status, float(ending.time), values, *_by_block(batch, scenario, report, whole)


def _folds(batch: Batch, summary: Summary) -> dict[type, Any]:
    """What users' functions are given, beside reports, by class."""
    kinds = {gauge.given(batch.home) for gauge in batch.gauges} - {None, Report, Summary}
    folds: dict[type, Any] = {it: FlowtimeFold() if it is Flowtimes else it() for it in kinds if it}
    return {Summary: summary, **folds}


def _by_block(
    batch: Batch, scenario: Scenario, report: Report, whole: bool
) -> tuple[dict[str, list[float]], str]:
    """Of each measure of jobs; and what they speak for."""
    blocks = (scenario.measures or MeasuresSection()).blocks(scenario.times)
    asked = [it for it in batch.gauges if not it.own and Measure(it.name).quantity]
    if blocks is None or not asked:
        return {}, ""
    done = report.summary.completed
    told = [then for job, then in report.summary.submitted.items() if job in done]
    submitted = report.jobs.submitted if whole else np.array(told, dtype=float)
    known = {} if whole else {"flowtime": np.array(report.summary.flowtimes, dtype=float)}
    quantities = known or report.jobs.quantities()
    numbers = {}
    for gauge in asked:
        measure = Measure(gauge.name)
        values = quantities[str(measure.quantity)]
        numbers[gauge.name] = by_block(measure.summed, values, blocks.of(submitted)).tolist()
    return numbers, blocks.told(submitted, units(scenario.times.value))


def _values(
    batch: Batch, report: Report, whole: bool, given: Mapping[type, Any]
) -> Iterator[tuple[str, float | None]]:
    known = of_report(report) if whole else of_summary(report.summary)
    for it in batch.gauges:
        kind = it.given(batch.home)
        if kind is not None:
            value = None if given[kind] is None else it.function(batch.home)(given[kind])
            yield it.name, None if value is None else float(value)
        else:
            yield it.name, known[Measure(it.name)]


def _told(error: Exception) -> str:
    """In a line: what a user made impossible, or what went wrong and where."""
    cause = error.error if isinstance(error, ActorFailed) else error
    if isinstance(cause, InputError | BadDecision):
        return str(cause)
    frames = traceback.extract_tb(cause.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(cause).__name__}: {cause}{where}"


def _work(summary: Summary) -> str:
    names: Any = sorted(summary.submitted)
    return blake2b("\0".join(names).encode(), digest_size=8).hexdigest()
