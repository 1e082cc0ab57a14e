"""Writes rows of the iterations of iterative jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import IterationCompleted, IterationStarted
from actors.events.quantities import IterationNumber, JobName, Time
from actors.runtime import Event, Record
from sims.history.rows import Seq, Start
from sims.history.states import Job
from sims.history.workers import Handler
from sims.history.writers import SpellWriter


@frozen
class IterationRow:
    """An iteration of an iterative job, whose tasks run in lockstep."""

    job: JobName
    iteration: IterationNumber
    seq: Seq
    start: Start
    end: Time | None = None
    """Time at which all of its tasks were completed; None if its job, or the log, ends before."""


@define(eq=False)
class IterationWriter(SpellWriter):
    """Writes a row for each iteration."""

    row: ClassVar[type] = IterationRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {IterationStarted: self._start, IterationCompleted: self._complete}

    def _start(self, record: Record, event: IterationStarted) -> None:
        self.begin(event.job, IterationRow(event.job, event.iteration, record.seq, record.t))

    def _complete(self, record: Record, event: IterationCompleted) -> None:
        self.end(event.job, end=record.t)

    def job_ended(self, job: Job, record: Record) -> None:
        self.end(job.name)
