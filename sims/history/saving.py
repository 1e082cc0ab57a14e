"""Follows the checkpoints of runs: those that stand still for them and those that go on."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from actors.events import (
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    RestartedFromScratch,
)
from actors.runtime import Event, Record
from sims.history.runs import Runs
from sims.history.workers import Handler


@frozen(eq=False)
class Checkpoints:
    """The part of a history that keeps which checkpoints are under way, and what is saved."""

    history: Runs

    def handlers(self) -> Mapping[type[Event], Handler]:
        """Map each event class to the method that brings the state up to date with it."""
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
        run.passing = history.link is None or run.job.stored is not None or run.saves_in_memory

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
