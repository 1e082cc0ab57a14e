"""Writes rows (`sims.history.rows`) as a log is read: each kind of row once it is complete.

A writer keeps what is open at the moment, and nothing of what is over, so that its memory does not
grow with the log. `WRITERS` has the class that writes each kind of row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, evolve, field

from actors.events import (
    FaultBlamed,
    PlatformDescribed,
    RepairEnded,
    RepairOutcome,
    RepairStarted,
    ReservationDropped,
    ReservationMade,
    Stage,
    Struck,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    UnitFailed,
    UnitRetired,
    WorkerChanged,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.history.rows import (
    JobRow,
    PromiseEnd,
    PromiseRow,
    QueueRow,
    RepairRow,
    RepairStep,
    RunRow,
    SpareRow,
    StateRow,
    StorageRow,
    TransferEnd,
    TransferRow,
)
from sims.history.states import Job, Listener, Run

Take = Callable[[Any], object]
"""Function that takes a row."""


@define(eq=False)
class Writer(Listener):
    """Base class of the writers of rows. A writer listens to the history's state; what is no state,
    it takes from the events that its `handlers` name."""

    over: Take = field(init=False)
    """Function that takes each row that is complete."""
    begun: Take | None = field(init=False, default=None)
    """Function that takes each row as it begins, with what is known then; None: nobody asks."""

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        """Map each event class that the writer needs to the method that takes its events."""
        return {}


@define(eq=False)
class JobWriter(Writer):
    """Writes a row for each job; it begins with the job's submission."""

    def job_submitted(self, job: Job, record: Record) -> None:
        if self.begun is not None:
            self.begun(job.row(record.t))

    def job_over(self, row: JobRow) -> None:
        self.over(row)


@define(eq=False)
class RunWriter(Writer):
    """Writes a row for each run."""

    _end: tuple[int, float] = field(init=False, default=(-1, 0.0))
    """Number of the event that ended the run which ends now, and the work done by then."""
    _open: dict[Run, tuple[Any, ...]] = field(init=False, factory=dict)
    """First values of the rows of runs under way, where rows are taken as they begin."""

    def run_started(self, run: Run, record: Record) -> None:
        if self.begun is not None:
            known = self._open[run] = _started(run)
            self.begun(RunRow(*known))

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        self._end = record.seq, done

    def run_over(self, run: Run, end: float) -> None:
        seq, done = self._end
        rest = () if run.outcome is None else (end, seq, run.outcome, done, run.processors)
        known = self._open.pop(run, None) or _started(run)
        self.over(RunRow(*known, *rest))


def _started(run: Run) -> tuple[Any, ...]:
    """Return the first values of a run's row, which are known at its start."""
    it, record, job = run.event, run.record, run.job
    return (
        *(it.job, it.run, record.seq, record.cause, job.submitted, job.estimate, record.t),
        *(it.processors, it.share, it.work, it.begun, it.source, it.keeps),
    )


@define(eq=False)
class StateWriter(Writer):
    """Writes a row for each time for which a worker was not UP."""

    _open: dict[int, StateRow] = field(init=False, factory=dict)

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        return {WorkerChanged: self._turn}

    def _turn(self, record: Record, event: WorkerChanged) -> None:
        before = self._open.pop(event.worker, None)
        if before is not None:
            self.over(evolve(before, end=record.t))
        if event.state is not WorkerState.UP:
            row = StateRow(event.worker, event.state, record.seq, record.t, event.until)
            self._open[event.worker] = row
            if self.begun is not None:
                self.begun(row)

    def log_ended(self, now: float) -> None:
        for row in self._open.values():
            self.over(row)


@define(eq=False)
class SpareWriter(Writer):
    """Writes a row for each time between two instants at which something happens, where the
    platform has spares."""

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        return {PlatformDescribed: self._equip}

    def _equip(self, record: Record, event: PlatformDescribed) -> None:
        if event.spares:  # others need not look at each instant
            self.history.listen(_Passing(self))


@define(eq=False)
class _Passing(Listener):
    """Writes the rows of spares as time passes."""

    writer: SpareWriter

    def time_passed(self, until: float) -> None:
        history = self.history
        waiting = min(len(history.spares), history.unheld)
        self.writer.over(SpareRow(history.now, until, waiting))


Stopped = TransferSuspended | TransferEnded | TransferDropped
LEFT: Mapping[type[Event], TransferEnd] = {
    TransferEnded: TransferEnd.ENDED,
    TransferSuspended: TransferEnd.SUSPENDED,
    TransferDropped: TransferEnd.DROPPED,
}


@define(eq=False)
class TransferWriter(Writer):
    """Writes a row for each time for which a message holds a channel."""

    _open: dict[int, TransferRow] = field(init=False, factory=dict)

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        return {TransferStarted: self._start, **dict.fromkeys(LEFT, self._stop)}

    def _start(self, record: Record, event: TransferStarted) -> None:
        of = event.worker, event.kind, event.job, event.run
        row = self._open[event.worker] = TransferRow(*of, record.seq, record.t, event.left)
        if self.begun is not None:
            self.begun(row)

    def _stop(self, record: Record, event: Stopped) -> None:
        row = self._open.pop(event.worker, None)
        if row is not None:  # what a suspended message has sent may be dropped later
            self.over(evolve(row, end=record.t, how=LEFT[type(event)]))

    def log_ended(self, now: float) -> None:
        for row in self._open.values():
            self.over(row)


@define(eq=False)
class PromiseWriter(Writer):
    """Writes a row for each start that a reservation promises."""

    _open: dict[str, PromiseRow] = field(init=False, factory=dict)

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        return {ReservationMade: self._make, ReservationDropped: self._drop}

    def _make(self, record: Record, event: ReservationMade) -> None:
        self._close(event.job, record.t, PromiseEnd.REPLACED)
        about = event.job, record.seq, record.t, event.start, event.processors
        row = self._open[event.job] = PromiseRow(*about)
        if self.begun is not None:
            self.begun(row)

    def _drop(self, record: Record, event: ReservationDropped) -> None:
        self._close(event.job, record.t, PromiseEnd.DROPPED)

    def run_started(self, run: Run, record: Record) -> None:
        self._close(run.job.name, record.t, PromiseEnd.STARTED)

    def job_ended(self, job: Job, record: Record) -> None:
        self._close(job.name, record.t, PromiseEnd.LEFT)

    def _close(self, job: str, now: float, how: PromiseEnd) -> None:
        row = self._open.pop(job, None)
        if row is not None:
            self.over(evolve(row, end=now, how=how))

    def log_ended(self, now: float) -> None:
        for row in self._open.values():
            self.over(row)


@define(eq=False)
class QueueWriter(Writer):
    """Writes a row whenever the number of waiting or of running jobs may have changed."""

    def queue_changed(self, now: float) -> None:
        self.over(QueueRow(now, self.history.waiting, self.history.running))


@define(eq=False)
class StorageWriter(Writer):
    """Writes a row whenever the bandwidth of a run to the shared storage changes."""

    def storage_changed(self, now: float) -> None:
        runs = self.history.sharing.values()
        loading = sum(run.bandwidth for run in runs if run.stage is Stage.RECOVERING)
        self.over(StorageRow(now, sum(run.bandwidth for run in runs), loading))


@define(eq=False)
class RepairWriter(Writer):
    """Writes a row for each step of a unit that a fault has struck, or that a fault is blamed
    on."""

    _open: dict[tuple[Struck, str], RepairRow] = field(init=False, factory=dict)

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        return {
            UnitFailed: self._wait,
            FaultBlamed: self._blame,
            RepairStarted: self._repair,
            RepairEnded: self._end,
            UnitRetired: self._retire,
        }

    def _wait(self, record: Record, event: UnitFailed) -> None:
        self._move(record, event.of, event.workers, RepairStep.WAITS)

    def _blame(self, record: Record, event: FaultBlamed) -> None:
        if event.blamed != event.workers:
            self._close(record, event.of, event.workers)
        if event.blamed is not None and (event.of, event.blamed) not in self._open:
            self._move(record, event.of, event.blamed, RepairStep.WAITS)

    def _repair(self, record: Record, event: RepairStarted) -> None:
        self._move(record, event.of, event.workers, RepairStep.IN_REPAIR, event.stage)

    def _end(self, record: Record, event: RepairEnded) -> None:
        self._close(record, event.of, event.workers, event.outcome)
        if event.outcome is RepairOutcome.PASSED_ON:
            self._move(record, event.of, event.workers, RepairStep.WAITS)

    def _retire(self, record: Record, event: UnitRetired) -> None:
        self._move(record, event.of, event.workers, RepairStep.RETIRED)

    def _move(
        self, record: Record, of: Struck, workers: str, step: RepairStep, stage: int | None = None
    ) -> None:
        self._close(record, of, workers)
        row = RepairRow(of, workers, step, record.seq, record.t, stage)
        self._open[of, workers] = row
        if self.begun is not None:
            self.begun(row)

    def _close(
        self, record: Record, of: Struck, workers: str, outcome: RepairOutcome | None = None
    ) -> None:
        row = self._open.pop((of, workers), None)
        if row is not None:
            self.over(evolve(row, end=record.t, outcome=outcome))

    def log_ended(self, now: float) -> None:
        for row in self._open.values():
            self.over(row)
