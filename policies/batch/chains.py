"""The dynamic programme of MT-ALLOTMENT for one chain of equal attempts (000, section 4.4)."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.interface.batch import Allotment
from policies.maths.profiles import SAME, Floats, Listed

Picks = NDArray[np.int64]


@frozen(eq=False)
class Chain:
    """The cheapest way to spend `units` of time on `attempts` attempts, a power of two or not."""

    area: float
    """Least total area; infinite where the chain cannot be that short."""
    counts: tuple[int, ...]
    """Processors of each attempt, the shorter attempts first; empty where infeasible."""

    @classmethod
    def of(cls, table: Listed, attempts: int, units: int, unit: float) -> Chain:
        """Solve the programme: attempt i costs floor(t/unit) units and its area."""
        cost, count = _prices(table, units, unit)
        total, split = cost, list[Picks]()
        for _ in range(attempts - 1):
            total, pick = _add(total, cost)
            split.append(pick)
        if not math.isfinite(total[units]):
            return cls(math.inf, ())
        chosen = sorted(_trace(split, units))
        return cls(float(total[units]), tuple(int(count[k]) for k in chosen))

    def allotment(self) -> Allotment:
        """Runs of equal attempts."""
        parts: list[tuple[int, int]] = []
        for count in self.counts:
            if parts and parts[-1][1] == count:
                parts[-1] = (parts[-1][0] + 1, count)
            else:
                parts.append((1, count))
        return tuple(parts)


def _prices(table: Listed, units: int, unit: float) -> tuple[Floats, Picks]:
    """By k = 0..units: the least area of one attempt with floor(t/unit) <= k, and its count;
    at equal area the faster."""
    cost, count = np.full(units + 1, np.inf), np.zeros(units + 1, dtype=np.int64)
    needed = np.floor(table.times / unit * (1 + SAME))
    for p in np.argsort(table.times, kind="stable").tolist():
        k = needed[p]
        if k <= units and table.areas[p] < cost[int(k)] * (1 - SAME):
            cost[int(k) :] = table.areas[p]
            count[int(k) :] = p + 1
    return cost, count


def _add(total: Floats, cost: Floats) -> tuple[Floats, Picks]:
    """One attempt more: for each budget the best split, the last attempt's units on ties few."""
    size = len(cost)
    best, pick = np.full(size, np.inf), np.zeros(size, dtype=np.int64)
    for k in range(size):
        sums = total[: size - k] + cost[k]
        better = sums < best[k:] * (1 - SAME)
        best[k:][better] = sums[better]
        pick[k:][better] = k
    return best, pick


def _trace(split: list[Picks], units: int) -> list[int]:
    """Units of each attempt, the last first."""
    chosen = []
    for pick in reversed(split):
        chosen.append(int(pick[units]))
        units -= chosen[-1]
    chosen.append(units)
    return chosen
