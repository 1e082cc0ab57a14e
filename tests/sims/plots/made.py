"""What pictures are made of, by hand."""

from __future__ import annotations

from sims.intervals import Estimate
from sims.plots.boxes import BOX, Columns, Table


def bar(mean: float, half: float) -> Estimate:
    """A mean of nine observations, and the half-width of its interval."""
    return Estimate(mean, mean - half, mean + half, 9)


def boxes(*rows: tuple[float, ...]) -> Columns:
    """Boxes (low, high, start, end, kind, and share if not 1), each of a run of its own."""
    table = Table(BOX)
    for k, (low, high, start, end, kind, *share) in enumerate(rows):
        table.add(low, high, start, end, *(share or [1]), kind, 0, k, k)
    return table.columns()
