"""Writes rows as a log is read: each kind of row once it is complete.

The rows of jobs, runs, workers' states and the queue are written here, those of spans in `spans`,
and those of a mechanism (transfers, promises, repair ...) in the module of its name. A writer keeps
what is open at the moment, and nothing of what is over, so that its memory does not grow with the
log. `WRITERS` has the class that writes each kind of row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar

from attrs import define, evolve, field

from actors.events import WorkerChanged
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.history.rows import JobRow, QueueRow, RunRow, StateRow
from sims.history.states import Job, Listener, Run
from sims.history.workers import Handler

Take = Callable[[Any], object]
"""Function that takes a row."""


@define(eq=False)
class Writer(Listener):
    """Base class of the writers of rows. A writer listens to the history's state; what is no state,
    it takes from the events that its `handlers` name."""

    row: ClassVar[type]
    """Class of its rows."""
    over: Take = field(init=False)
    """Function that takes each row that is complete."""
    begun: Take | None = field(init=False, default=None)
    """Function that takes each row as it begins, with what is known then; None: rows are taken only
    when they are complete."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        """Map each event class that the writer needs to the method that takes its events."""
        return {}


@define(eq=False)
class SpellWriter(Writer):
    """Base class of writers whose rows begin with one event and end with a later one."""

    _open: dict[Hashable, Any] = field(init=False, factory=dict)
    """Maps keys to the rows that have begun and are not complete."""

    def begin(self, key: Hashable, row: Any) -> None:
        """Keep a row that begins now, under `key`."""
        self._open[key] = row
        if self.begun is not None:
            self.begun(row)

    def end(self, key: Hashable, **values: object) -> None:
        """Write the open row of this key, if there is one, with the values that end it."""
        row = self._open.pop(key, None)
        if row is not None:
            self.over(evolve(row, **values))

    def log_ended(self, now: float) -> None:
        for row in self._open.values():
            self.over(row)


@define(eq=False)
class JobWriter(Writer):
    """Writes a row for each job; it begins with the job's submission."""

    row: ClassVar[type] = JobRow

    def job_submitted(self, job: Job, record: Record) -> None:
        if self.begun is not None:
            self.begun(job.row(record.t))

    def job_over(self, row: JobRow) -> None:
        self.over(row)


@define(eq=False)
class RunWriter(Writer):
    """Writes a row for each run."""

    row: ClassVar[type] = RunRow
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
class StateWriter(SpellWriter):
    """Writes a row for each time for which a worker was not UP."""

    row: ClassVar[type] = StateRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {WorkerChanged: self._turn}

    def _turn(self, record: Record, event: WorkerChanged) -> None:
        self.end(event.worker, end=record.t)
        if event.state is not WorkerState.UP:
            row = StateRow(event.worker, event.state, record.seq, record.t, event.until)
            self.begin(event.worker, row)


@define(eq=False)
class QueueWriter(Writer):
    """Writes a row whenever the number of waiting or of running jobs may have changed."""

    row: ClassVar[type] = QueueRow

    def queue_changed(self, now: float) -> None:
        self.over(QueueRow(now, self.history.waiting, self.history.running))
