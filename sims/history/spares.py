"""Writes rows of spares: how many of them wait, from one instant to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import ScenarioStarted
from actors.events.quantities import Time, WorkerCount
from actors.runtime import Event, Record
from sims.history.rows import Start
from sims.history.states import Listener
from sims.history.workers import Handler
from sims.history.writers import Writer


@frozen
class SpareRow:
    """A time for which spares wait: workers that no run holds, at most as many as the platform has
    spares. Which workers they are changes: one that was replaced comes back and replaces others."""

    start: Start
    end: Time
    """Time at which something happened next."""
    waiting: WorkerCount
    """Number of spares that wait."""


@define(eq=False)
class SpareWriter(Writer):
    """Writes a row for each time between two instants at which something happens, where the
    platform has spares."""

    row: ClassVar[type] = SpareRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {ScenarioStarted: self._begin}

    def _begin(self, record: Record, event: ScenarioStarted) -> None:
        if self.history.head.spares:  # others need not look at each instant
            self.history.listen(_Passing(self))


@define(eq=False)
class _Passing(Listener):
    """Writes the rows of spares as time passes."""

    writer: SpareWriter

    def time_passed(self, until: float) -> None:
        history = self.history
        waiting = min(len(history.spares), history.unheld)
        self.writer.over(SpareRow(history.now, until, waiting))
