"""Keeps how many workers wait for repair, are in repair, and have retired, over time."""

from __future__ import annotations

from functools import partial

from attrs import define, field

from actors.intervals import count_in
from sims.history.reader import History
from sims.history.repair import RepairRow, RepairStep
from sims.plots.boxes import Table

FLEET = tuple(step.value for step in RepairStep)
"""Levels that are drawn, from the bottom up."""
COLUMNS = {"t": float} | dict.fromkeys(FLEET, int)


@define(eq=False)
class Fleet:
    """Counts over time the workers that wait for repair, are in repair, or have retired; units that
    fail as one, such as nodes, have several workers."""

    table: Table = field(factory=partial(Table, COLUMNS))
    """A row for each change: its time, and the number of workers at each level from then on."""
    _counts: dict[RepairStep, int] = field(factory=lambda: dict.fromkeys(RepairStep, 0))

    def listen(self, history: History) -> None:
        """Count by the rows of this history from now on."""
        history.take(RepairRow, self._end, self._begin)

    def _begin(self, row: RepairRow) -> None:
        self._counts[row.step] += count_in(row.workers)
        self.table.add(row.start, *self._counts.values())

    def _end(self, row: RepairRow) -> None:
        if row.end is not None:
            self._counts[row.step] -= count_in(row.workers)
            self.table.add(row.end, *self._counts.values())
