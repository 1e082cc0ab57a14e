"""Follows the checkpoints of runs, whether these stand still meanwhile or not, and writes one row
for each time that a checkpoint is taken, stored or lost."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import (
    CheckpointLost,
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    RestartedFromScratch,
)
from actors.events.quantities import JobName, RunNumber, Time, Work, WorkerSet
from actors.intervals import intervals_of, text
from actors.runtime import Event, Record
from sims.history.rows import Told
from sims.history.runs import Part
from sims.history.workers import Handler
from sims.history.writers import Writer


@frozen(eq=False)
class Checkpoints(Part):
    """The part of a history that keeps which checkpoints are under way, and what is saved."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {
            CheckpointStarted: self._begin,
            CheckpointTaken: self._save,
            CheckpointStored: self._end,
            RestartedFromScratch: self._restart,
        }

    def _begin(self, record: Record, event: CheckpointStarted) -> None:
        """Record that a checkpoint begins while its run goes on computing."""
        history = self.history
        run = history.run_of(event)
        if not run.rate:
            history.close_span(run, record, run.done)
        run.overlaps, run.second_level = True, event.done == run.checkpoint
        # Through a master a checkpoint consists of messages, and no time of its own passes.
        run.passing = history.head.link is None or run.job.stored is not None or run.saves_in_memory

    def _end(self, record: Record, event: CheckpointStored | CheckpointTaken) -> None:
        run = self.history.run_of(event)
        self.history.stop_passing(run, record)
        self.history.set_bandwidth(run, 0, record.t)
        run.passing = False

    def _save(self, record: Record, event: CheckpointTaken) -> None:
        self._end(record, event)
        run = self.history.run_of(event)
        run.checkpoint, run.job.saved = event.done, (event.run, event.done)

    def _restart(self, record: Record, event: RestartedFromScratch) -> None:
        self.history.jobs[event.job].saved = None


class CheckpointStep(enum.Enum):
    """Says what happened to a checkpoint."""

    TAKEN = "taken"
    """The checkpoint is complete: among members, at the master or on shared storage."""
    STORED = "stored"
    """The checkpoint, complete among members before, is so at the master or on shared storage
    too."""
    LOST = "lost"
    """The checkpoint was lost with the members that kept it in memory."""


@frozen
class CheckpointRow:
    """A moment at which a checkpoint of a run is complete, or lost."""

    job: JobName
    run: RunNumber
    """Run that took the checkpoint; of a lost one, the last run on the workers that kept it."""
    step: CheckpointStep
    """The change to the checkpoint."""
    seq: Told
    t: Time
    """Time of the change."""
    workers: WorkerSet
    """Members of the run; of a lost checkpoint, those of the workers that went DOWN."""
    done: Work | None = None
    """Work that the checkpoint saves; None for a lost one."""


@define(eq=False)
class CheckpointWriter(Writer):
    """Writes a row whenever a checkpoint is complete, or lost."""

    row: ClassVar[type] = CheckpointRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        taken = dict.fromkeys((CheckpointTaken, CheckpointStored), self._take)
        return {**taken, CheckpointLost: self._lose}

    def _take(self, record: Record, event: CheckpointTaken | CheckpointStored) -> None:
        taken = isinstance(event, CheckpointTaken)
        step = CheckpointStep.TAKEN if taken else CheckpointStep.STORED
        workers = self.history.runs[event.job, event.run].processors
        about = event.job, event.run, step, record.seq, record.t, workers
        self.over(CheckpointRow(*about, event.done))

    def _lose(self, record: Record, event: CheckpointLost) -> None:
        step, workers = CheckpointStep.LOST, text(intervals_of(event.workers))
        self.over(CheckpointRow(event.job, event.run, step, record.seq, record.t, workers))
