"""Follows the replicas of runs: groups of members that drop out, and rejoin after a pause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import frozen

from actors.events import PauseEnded, ReplicasDropped, ReplicasRejoined, RunPaused
from actors.intervals import members, merged, numbers_in, spans_in, text, within, without
from actors.runtime import Event, Record
from sims.history.runs import Part
from sims.history.workers import Handler


@frozen(eq=False)
class Replicas(Part):
    """The part of a history that keeps which members have dropped out (`Run.dropped`), and which
    runs pause."""

    holds: ClassVar[frozenset[type[Event]]] = frozenset((ReplicasDropped, ReplicasRejoined))

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {
            ReplicasDropped: self._drop,
            ReplicasRejoined: self._rejoin,
            RunPaused: self._pause,
            PauseEnded: self._pause,
        }

    def _drop(self, record: Record, event: ReplicasDropped) -> None:
        """Move the members of replicas that drop out from the run's members to the workers that it
        holds aside.

        Those that are aside already, because a pause after which they would have rejoined is broken
        off, stay there. If the member that hangs is among those that drop out, the run hangs no
        longer.
        """
        run, gone = self.history.run_of(event), event.processors
        fresh = without(spans_in(gone), numbers_in(run.dropped))
        if fresh:
            run.dropped = text(merged(spans_in(run.dropped), fresh))
            left = without(spans_in(run.processors), members(fresh))
            aside = text(merged(spans_in(run.aside), fresh))
            self.history.regroup(run, record, text(left), aside)
        if run.hung is not None and within(gone, run.hung):
            run.hung = None

    def _rejoin(self, record: Record, event: ReplicasRejoined) -> None:
        self.history.let_in(self.history.run_of(event), record, event.processors)

    def _pause(self, record: Record, event: RunPaused | PauseEnded) -> None:
        """Record that a run pauses, or goes on. While it pauses, messages of its members are not
        counted as time of their own."""
        history, run = self.history, self.history.run_of(event)
        history.close_span(run, record, run.done)
        history.cut_all(run.apart, record)
        run.paused = isinstance(event, RunPaused)
        for worker in list(run.apart):
            history.note_member(run, worker, record)
