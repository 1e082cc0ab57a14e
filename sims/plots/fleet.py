"""Keeps how many workers wait for repair, are in repair, and have retired, over time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import define, field

from actors.events import (
    FaultBlamed,
    RepairEnded,
    RepairOutcome,
    RepairStarted,
    Struck,
    UnitFailed,
    UnitRetired,
)
from actors.intervals import count_in
from actors.runtime import Event, Record
from sims.history import History
from sims.plots.boxes import Table

FLEET = ("waits for repair", "in repair", "retired")
"""Levels that are drawn, from the bottom up."""
WAITS, REPAIRED, RETIRED = FLEET
COLUMNS = {"t": float} | dict.fromkeys(FLEET, int)


@define(eq=False)
class Fleet:
    """Counts over time the workers that wait for repair, are in repair, or have retired, from a
    log's events on failed units: workers, or nodes and the like that have several workers."""

    table: Table = field(factory=partial(Table, COLUMNS))
    """A row for each change: its time, and the number of workers at each level from then on."""
    _units: dict[tuple[Struck, str], str] = field(factory=dict)
    """Maps each unit to its level."""
    _counts: dict[str, int] = field(factory=lambda: dict.fromkeys(FLEET, 0))

    def listen(self, history: History) -> None:
        """Count by the events of this history from now on."""
        moves: dict[type[Event], Callable[[Any], None]] = {
            UnitFailed: lambda it: self._move(it.of, it.workers, WAITS),
            FaultBlamed: self._blame,
            RepairStarted: lambda it: self._move(it.of, it.workers, REPAIRED),
            RepairEnded: self._end,
            UnitRetired: lambda it: self._move(it.of, it.workers, RETIRED),
        }
        for kind, move in moves.items():
            history.on(kind, partial(self._follow, move))

    def _follow(self, move: Callable[[Any], None], record: Record, event: Event) -> None:
        move(event)
        self.table.add(record.t, *self._counts.values())

    def _move(self, of: Struck, workers: str, level: str | None) -> None:
        size, before = count_in(workers), self._units.pop((of, workers), None)
        if before is not None:
            self._counts[before] -= size
        if level is not None:
            self._units[of, workers] = level
            self._counts[level] += size

    def _blame(self, event: FaultBlamed) -> None:
        if event.blamed != event.workers:
            self._move(event.of, event.workers, None)
        if event.blamed is not None and (event.of, event.blamed) not in self._units:
            self._move(event.of, event.blamed, WAITS)

    def _end(self, event: RepairEnded) -> None:
        again = event.outcome is RepairOutcome.PASSED_ON
        self._move(event.of, event.workers, WAITS if again else None)
