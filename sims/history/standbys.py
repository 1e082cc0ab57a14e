"""Follows standbys: workers that a run holds ready beside its members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import frozen

from actors.events import StandbyJoined, StandbyLost, StandbysHeld
from actors.intervals import added, spans_in, text, without
from actors.runtime import Event, Record
from sims.history.runs import Part
from sims.history.workers import Handler


@frozen(eq=False)
class Standbys(Part):
    """The part of a history that keeps which workers runs hold as standbys (`Run.aside`)."""

    holds: ClassVar[frozenset[type[Event]]] = frozenset((StandbysHeld, StandbyJoined, StandbyLost))

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {StandbysHeld: self._hold, StandbyJoined: self._gain, StandbyLost: self._lose}

    def _hold(self, record: Record, event: StandbysHeld) -> None:
        self.history.widen(self.history.run_of(event), event.processors, record)

    def _gain(self, record: Record, event: StandbyJoined) -> None:
        run = self.history.run_of(event)
        aside = text(added(spans_in(run.aside), event.worker))
        self.history.regroup(run, record, run.processors, aside)

    def _lose(self, record: Record, event: StandbyLost) -> None:
        run = self.history.run_of(event)
        left = text(without(spans_in(run.aside), (event.worker,)))
        self.history.regroup(run, record, run.processors, left)
