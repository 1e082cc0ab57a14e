"""Boxes in time: what every Gantt chart is made of, kept as columns so that millions fit."""

from __future__ import annotations

from array import array

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@frozen(eq=False)
class Boxes:
    """Columns of one length: box k covers rows [low, high) over the time [start, end)."""

    low: Floats
    high: Floats
    start: Floats
    end: Floats
    kind: Integers
    """Index of its Paint."""
    share: Floats
    """Part of its area that it covers; below 1 where servers multitask."""
    job: Integers
    """Index of its job in order of first mention; -1: nobody's."""
    run: Integers
    """-1: no run's."""
    seq: Integers
    """The event that began it."""

    def __len__(self) -> int:
        return len(self.low)

    def where(self, chosen: NDArray[np.bool_] | Integers) -> Boxes:
        """The chosen ones, by a mask or by their numbers, in that order."""
        return Boxes(
            *(self.low[chosen], self.high[chosen], self.start[chosen], self.end[chosen]),
            *(self.kind[chosen], self.share[chosen], self.job[chosen], self.run[chosen]),
            self.seq[chosen],
        )

    def within(self, start: float, end: float) -> Boxes:
        """Those that reach into [start, end], cut to it."""
        inside = self.where((self.end >= start) & (self.start <= end))
        begun, ended = (np.clip(edge, start, end) for edge in (inside.start, inside.end))
        return evolve(inside, start=begun, end=ended)


def _reals() -> array[float]:
    return array("d")


def _wholes() -> array[int]:
    return array("q")


@define
class BoxTable:
    """Boxes under construction."""

    reals: array[float] = field(factory=_reals)
    wholes: array[int] = field(factory=_wholes)

    def add(
        self,
        span: tuple[float, float, float, float],
        kind: int,
        owner: tuple[int, int, int],
        share: float = 1,
    ) -> None:
        """Enter a box: span = (low, high, start, end), owner = (job, run, seq)."""
        self.reals.extend(span)
        self.reals.append(share)
        self.wholes.append(kind)
        self.wholes.extend(owner)

    def boxes(self) -> Boxes:
        """What was entered so far."""
        low, high, start, end, share = np.array(self.reals).reshape(-1, 5).T
        kind, job, run, seq = np.array(self.wholes, dtype=np.int64).reshape(-1, 4).T
        return Boxes(low, high, start, end, kind, share, job, run, seq)
