"""Follows whole nodes: workers that a run holds beside its members because they are of the same
nodes, and that are idle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import frozen

from actors.events import NodesHeld
from actors.runtime import Event, Record
from sims.history.runs import Part
from sims.history.workers import Handler


@frozen(eq=False)
class WholeNodes(Part):
    """The part of a history that keeps which workers runs hold idle (`Run.rest`)."""

    holds: ClassVar[frozenset[type[Event]]] = frozenset((NodesHeld,))

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {NodesHeld: self._hold}

    def _hold(self, record: Record, event: NodesHeld) -> None:
        run = self.history.run_of(event)
        run.rest = event.processors
        self.history.widen(run, event.processors, record)
