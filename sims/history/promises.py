"""Writes rows of promises: the starts that reservations promise to waiting jobs."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import ReservationDropped, ReservationMade
from actors.events.quantities import JobName, Time, WorkerCount
from actors.runtime import Event, Record
from sims.history.rows import Seq
from sims.history.states import Job, Run
from sims.history.workers import Handler
from sims.history.writers import SpellWriter


class PromiseEnd(enum.Enum):
    """Says how a promise of a start ended."""

    STARTED = "started"
    """The job has started."""
    REPLACED = "replaced"
    """The job got another promise."""
    DROPPED = "dropped"
    """The job has no promise any more, and waits on."""
    LEFT = "left"
    """The job has left the system without a start."""


@frozen
class PromiseRow:
    """A start that a reservation promises to a waiting job, for as long as the promise stands."""

    job: JobName
    seq: Seq
    made: Time
    """Time at which it was promised."""
    start: Time
    """Start that is promised."""
    processors: WorkerCount
    """Number of workers that are promised."""
    end: Time | None = None
    """Time at which the promise ended; None if the log ends before."""
    how: PromiseEnd | None = None
    """How it ended; None if the log ends before."""


@define(eq=False)
class PromiseWriter(SpellWriter):
    """Writes a row for each start that a reservation promises."""

    row: ClassVar[type] = PromiseRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {ReservationMade: self._make, ReservationDropped: self._drop}

    def _make(self, record: Record, event: ReservationMade) -> None:
        self.end(event.job, end=record.t, how=PromiseEnd.REPLACED)
        about = event.job, record.seq, record.t, event.start, event.processors
        self.begin(event.job, PromiseRow(*about))

    def _drop(self, record: Record, event: ReservationDropped) -> None:
        self.end(event.job, end=record.t, how=PromiseEnd.DROPPED)

    def run_started(self, run: Run, record: Record) -> None:
        self.end(run.job.name, end=record.t, how=PromiseEnd.STARTED)

    def job_ended(self, job: Job, record: Record) -> None:
        self.end(job.name, end=record.t, how=PromiseEnd.LEFT)
