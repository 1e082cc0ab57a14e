"""Lanes for what overlaps: copies of one job lie side by side in its row."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from attrs import define, evolve, field

from sims.plots.boxes import Boxes

MARGIN = 0.1
"""Part of a row left free above and below."""
TOLERANCE = 1e-9
"""Shares of a processor add up to 1 but for rounding."""

Key = tuple[int, Hashable]


@define
class Lanes:
    """The lowest free lane of its row for whoever starts; rows and keys name who."""

    _busy: dict[int, set[int]] = field(factory=dict)
    _given: dict[Key, int] = field(factory=dict)
    deepest: dict[int, int] = field(factory=dict)
    """Row -> how many lanes it ever had."""

    def start(self, row: int, key: Hashable) -> int:
        """A lane for (row, key) from now on."""
        busy = self._busy.setdefault(row, set())
        lane = next(k for k in range(len(busy) + 1) if k not in busy)
        busy.add(lane)
        self._given[row, key] = lane
        self.deepest[row] = max(self.deepest.get(row, 0), lane + 1)
        return lane

    def end(self, row: int, key: Hashable) -> None:
        """Its lane is free again; `lane_of` still knows it."""
        self._busy[row].discard(self._given[row, key])

    def lane_of(self, row: int, key: Hashable) -> int:
        """The lane of (row, key), which is forgotten."""
        return self._given.pop((row, key))

    def in_rows(self, boxes: Boxes) -> Boxes:
        """Boxes of runs (low = lane) laid into their rows; what is no run's lies behind them."""
        behind = boxes.run < 0
        depth = np.array([self.deepest.get(int(row), 1) for row in boxes.job], dtype=float)
        margin = np.where(behind, MARGIN, 2 * MARGIN)
        height = (1 - 2 * margin) / np.where(behind, 1.0, depth)
        low = boxes.job + margin + height * boxes.low
        return evolve(boxes, low=low, high=low + height)


def side_by_side(boxes: Boxes) -> Boxes:
    """Boxes of one row each that share it, as whole boxes beside each other, of height `share`."""
    part = boxes.share < 1
    if not part.any():
        return boxes
    low, high = boxes.low.copy(), boxes.high.copy()
    under_way: dict[float, list[tuple[float, float, float]]] = {}
    order = np.lexsort((boxes.seq, boxes.start))
    for k in order[part[order]].tolist():
        row, start, share = boxes.low[k], boxes.start[k], boxes.share[k]
        others = [it for it in under_way.get(row, ()) if it[0] > start]
        bottom = _gap(others, share)
        under_way[row] = [*others, (boxes.end[k], bottom, bottom + share)]
        low[k], high[k] = row + bottom, min(row + bottom + share, row + 1)
    return evolve(boxes, low=low, high=high, share=np.ones(len(boxes)))


def _gap(others: list[tuple[float, float, float]], share: float) -> float:
    """The lowest free place of height `share`; the top one where rounding leaves none."""
    bottom = 0.0
    for _, low, high in sorted(others, key=lambda it: it[1]):
        if low - bottom >= share - TOLERANCE:
            return bottom
        bottom = high
    return min(bottom, 1 - share)
