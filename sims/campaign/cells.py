"""Cells: one run each, without a log, in whatever process; batches of them take seconds."""

from __future__ import annotations

import enum
import time
import traceback
from collections.abc import Callable, Sequence
from hashlib import blake2b
from inspect import get_annotations
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import field, frozen

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, Deadlock, Stalled
from sims.campaign.kit import OWN, Kit, unpack
from sims.errors import InputError
from sims.metrics.arrivals import FlowtimeFold, Flowtimes, by_block, informed
from sims.metrics.jobs import By
from sims.metrics.measures import Measure, of_report, of_summary
from sims.report import Report
from sims.scenario import MeasuresSection, Scenario
from sims.scenario.own_code import imported
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


@frozen
class Gauge:
    """What a run is measured by: one of `Measure`, or a user's function of a `Report`, or of what
    its argument is annotated with: the `Flowtimes` of jobs that come and go, the `Summary` or any
    other fold, a class that is made without arguments and wants (`wants`) some kinds of events.
    Few events take a third of the time."""

    name: str
    higher_is_better: bool = False
    ours: Measure | None = None
    """None: it is `package.module:function`."""
    wants_all_done: bool = True
    """Whether a run that left work undone has no value."""
    timed: bool = False
    """Whether its unit is the scenario's unit of time."""

    def function(self, home: Path) -> Callable[[Any], float | None]:
        """The user's, sought in `home`."""
        found: Callable[[Any], float | None] = imported(self.name, home, "measures")
        return found

    @property
    def words(self) -> str:
        """What an axis of a picture calls it."""
        return self.ours.words if self.ours else self.name.rpartition(":")[2].replace("_", " ")

    @property
    def of_jobs(self) -> bool:
        """Whether it sums up values of jobs, so that blocks of time have one each."""
        return self.ours is not None and self.ours.quantity is not None

    def fold(self, home: Path) -> type:
        """The class of what it is told from."""
        if self.ours:
            return Report if self.ours.wants_report else Summary
        function = self.function(home)
        names: dict[Any, Any] = getattr(function, "__globals__", {})
        known = (names.get(it, it) for it in get_annotations(function).values())
        folds: list[Any] = [it for it in known if it is Flowtimes or hasattr(it, "wants")]
        found: type = (*folds, Report)[0]
        return found


def gauge(name: str, higher: Sequence[str] = ()) -> Gauge:
    """The measure of that name; `higher`: those of the user's own of which more is better.

    Raises ValueError for a name that is none.
    """
    if OWN.fullmatch(name):
        return Gauge(name, name in higher)
    ours = Measure(name)
    return Gauge(name, ours.higher_is_better, ours, ours.wants_all_done, ours.timed)


@frozen
class CellResult:
    """What is kept of a run."""

    key: str
    """Digest of all that it follows from."""
    seed: int
    end: RunStatus
    time: float | None = None
    """Virtual time of its end, in the scenario's unit."""
    jobs: int = 0
    """Submitted."""
    left_out: int = 0
    """Jobs of its workload that do not take part."""
    work: str = ""
    """Digest of which jobs it had: runs with other ones are not alike."""
    seconds: float = 0.0
    """It took."""
    error: str | None = None
    values: dict[str, float | None] = field(factory=dict)
    """By measure; None: not defined for that run."""
    blocks: dict[str, dict[str, dict[str, Any]]] = field(factory=dict)
    """By measure of jobs and class of them (that of all jobs has no name): its `value`; `blocks`, a
    number for each block of time (sims/metrics/arrivals.py); and `informed`, whether any job of
    that block has a value other than 0."""
    speaks: str = ""
    """What intervals over those blocks rest on, and what they speak for."""


@frozen
class Batch:
    """Cells that one worker simulates one after the other."""

    cells: tuple[tuple[str, Scenario, int], ...]
    """(key, scenario, seed); a scenario that several share is sent once."""
    gauges: tuple[Gauge, ...]
    by: By | None
    """What jobs are told apart by, if they are."""
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


def _simulate(batch: Batch, key: str, scenario: Scenario, seed: int) -> CellResult:
    began, summary = time.perf_counter(), Summary()
    result = CellResult(key, seed, RunStatus.RAISED)
    try:
        result = _measured(batch, seeded(scenario, seed), summary, result)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # whatever a user's policy or measure makes of it
        result = attrs.evolve(result, error=_told(raised))
    return attrs.evolve(
        result,
        jobs=len(summary.submitted),
        left_out=sum(summary.left_out.values()),
        work=blake2b("\0".join(sorted(summary.submitted)).encode(), digest_size=8).hexdigest(),
        seconds=time.perf_counter() - began,
    )


def _measured(batch: Batch, scenario: Scenario, summary: Summary, result: CellResult) -> CellResult:
    kinds = {it: it.fold(batch.home) for it in batch.gauges}
    report = Report(summary=summary)
    folds: dict[type, Any] = {it: it() for it in kinds.values() if it is not Flowtimes}
    folds |= {Summary: summary, Report: report, Flowtimes: FlowtimeFold()}
    whole = Report in kinds.values() or batch.by is not None
    heard = {*kinds.values(), Report} - {Summary} if whole else {*kinds.values(), Summary}
    try:
        ending = run(scenario, [folds[it] for it in heard], batch.folder, until=batch.until)
    except (Deadlock, Stalled) as ended:
        return attrs.evolve(result, end=RunStatus.STARVED, time=float(ended.time))
    if whole:
        report.close()
    end = RunStatus(ending.end.value)
    if end is RunStatus.COMPLETED and summary.killed:
        end = RunStatus.KILLED
    folds[Flowtimes] = folds[Flowtimes].result() if end is RunStatus.COMPLETED else None
    known = of_report(report) if whole else of_summary(summary)
    values: dict[str, float | None] = {}
    for it, kind in kinds.items():
        of = folds[kind]
        value = known[it.ours] if it.ours else None if of is None else it.function(batch.home)(of)
        values[it.name] = None if value is None else float(value)
    blocks, speaks = _by_block(batch, scenario, report, whole)
    time = float(ending.time)
    return attrs.evolve(result, end=end, time=time, values=values, blocks=blocks, speaks=speaks)


def _by_block(
    batch: Batch, scenario: Scenario, report: Report, whole: bool
) -> tuple[dict[str, dict[str, dict[str, Any]]], str]:
    """Of each measure of jobs, by class; and what blocks speak for."""
    blocks = (scenario.measures or MeasuresSection()).blocks(scenario.times)
    asked = [it.ours for it in batch.gauges if it.ours and it.ours.quantity]
    if (blocks is None and batch.by is None) or not asked:
        return {}, ""
    if whole:
        submitted, quantities = report.jobs.submitted, report.jobs.quantities()
    else:
        done = report.summary.completed
        told = [then for job, then in report.summary.submitted.items() if job in done]
        submitted = np.array(told, dtype=float)
        quantities = {"flowtime": np.array(report.summary.flowtimes, dtype=float)}
    of = np.full(len(submitted), -1) if blocks is None else blocks.of(submitted)
    classes = [("", np.full(len(submitted), True))]
    classes += report.jobs.classes(batch.by) if batch.by else []
    found: dict[str, dict[str, dict[str, Any]]] = {it.value: {} for it in asked}
    for it, (name, members) in product(asked, classes):
        values = quantities[str(it.quantity)]
        which = members & ~np.isnan(values)
        if which.any():
            own = values[which], of[which]
            each = by_block(it.summed, *own)
            found[it.value][name] = {
                "value": it.summed(own[0]),
                "blocks": each.tolist(),
                "informed": informed(*own)[: len(each)],
            }
    speaks = "" if blocks is None else blocks.told(submitted, units(scenario.times.value))
    return found, speaks


def _told(error: BaseException) -> str:
    """In a line: what a user made impossible, or what went wrong and where."""
    cause = error.error if isinstance(error, ActorFailed) else error
    if isinstance(cause, InputError | BadDecision):
        return str(cause)
    frames = traceback.extract_tb(cause.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(cause).__name__}: {cause}{where}"
