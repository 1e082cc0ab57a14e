"""Boxes in time: what every Gantt chart is made of, kept as columns so that millions fit."""

from __future__ import annotations

from array import array
from bisect import insort
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns: TypeAlias = Any
"""A numpy.recarray, whose columns' names numpy's types do not tell."""

BOX = {
    **dict.fromkeys(("low", "high", "start", "end", "share"), float),
    **dict.fromkeys(("kind", "job", "run", "seq"), int),
}
"""A box covers rows [low, high) over the time [start, end): `share` of its area, below 1 where
servers multitask. `kind`: index of its Paint; `job`: index of its job in order of submission, -1:
nobody's; `run`: -1: no run's; `seq`: the event that began it."""

TOLERANCE = 1e-9
"""Shares of a processor add up to 1 but for rounding."""


def _reals() -> array[float]:
    return array("d")


@define
class Table:
    """Columns under construction."""

    types: dict[str, type]
    """By name."""
    values: array[float] = field(factory=_reals)

    def add(self, *row: float) -> None:
        """Enter a row."""
        self.values.extend(row)

    def columns(self) -> Columns:
        """What was entered so far."""
        columns = np.array(self.values).reshape(-1, len(self.types)).T
        return np.rec.fromarrays(list(columns), dtype=list(self.types.items()))


def within(boxes: Columns, start: float, end: float) -> Columns:
    """Those that reach into [start, end], cut to it."""
    inside = boxes[(boxes.end >= start) & (boxes.start <= end)]
    inside.start, inside.end = (np.clip(edge, start, end) for edge in (inside.start, inside.end))
    return inside


@define
class Lanes:
    """For what overlaps: whoever starts takes the lowest lane that is free."""

    depth: int = 0
    """How many there ever were."""
    _free: list[int] = field(factory=list)

    def take(self) -> int:
        """A lane, until it is given back."""
        if self._free:
            return self._free.pop(0)
        self.depth += 1
        return self.depth - 1

    def give(self, lane: int) -> None:
        """It is free again."""
        insort(self._free, lane)


def side_by_side(boxes: Columns) -> Columns:
    """Boxes of one row each that share it, as whole boxes beside each other, of height `share`."""
    boxes = boxes.copy()
    under_way: dict[float, list[tuple[float, float, float]]] = {}
    order = np.lexsort((boxes.seq, boxes.start))
    for k in order[boxes.share[order] < 1].tolist():
        row, share = boxes.low[k], boxes.share[k]
        others = [it for it in under_way.get(row, ()) if it[2] > boxes.start[k]]
        bottom = _gap(others, share)
        under_way[row] = [*others, (bottom, bottom + share, boxes.end[k])]
        boxes.low[k], boxes.high[k] = row + bottom, min(row + bottom + share, row + 1)
    boxes.share = 1
    return boxes


def _gap(others: list[tuple[float, float, float]], share: float) -> float:
    """The lowest free place of height `share`; the top one where rounding leaves none."""
    bottom = 0.0
    for low, high, _ in sorted(others):
        if low - bottom >= share - TOLERANCE:
            return bottom
        bottom = high
    return min(bottom, 1 - share)
