"""Solves the dynamic programme of MT-ALLOTMENT for one chain of equal attempts (moldable21, section
4.4)."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.interface.queue import Allotment
from policies.maths.profiles import Floats, Listed
from policies.maths.tolerance import ROUNDING

Picks = NDArray[np.int64]


class Ties(enum.Enum):
    """Says which of equally large areas a chain prefers."""

    FASTEST = "fastest"
    FEWEST = "fewest"
    """Prefer the smaller number of processors."""


@frozen
class Choice:
    """One way to run an attempt of a job: its time in whole units of rounded time, its area
    (processors x time) and its number of processors."""

    units: int
    """Time of the attempt in whole units, floor(t/u)."""
    area: float
    processors: int


@frozen(eq=False)
class Chain:
    """The attempts of one job in a row that together take at most a given number of units of
    rounded time, at the least area. The number of attempts need not be a power of two."""

    area: float
    """Least total area; infinite where the chain cannot be that short."""
    counts: tuple[int, ...]
    """Processors of each attempt, the shorter attempts first; empty where infeasible."""

    @classmethod
    def of(cls, table: Listed, attempts: int, units: int, unit: float, ties: Ties) -> Chain:
        """Find, by dynamic programming, the chain of `attempts` attempts that takes at most `units`
        units together. An attempt on p processors costs floor(t(p)/unit) units of time and its
        area, both from `table`; of equal areas the choice that `ties` says wins."""
        choices = _choices(table, units, unit, ties)
        total, picks = np.zeros(units + 1), list[Picks]()
        for _ in range(attempts):
            total, pick = _add(total, choices)
            picks.append(pick)
        if not math.isfinite(total[units]):
            return cls(math.inf, ())
        taken = sorted(_trace(picks, choices, units), key=lambda choice: choice.units)
        return cls(float(total[units]), tuple(choice.processors for choice in taken))

    def allotment(self) -> Allotment:
        """Return the chain as an allotment: pairs (number of attempts, processors of each), in the
        chain's order."""
        return runs(self.counts)


def runs(counts: Iterable[int]) -> Allotment:
    """Convert numbers of processors, attempt by attempt, to an allotment: pairs (number of
    attempts, processors of each), one for each run of equal numbers."""
    return tuple((len(list(same)), count) for count, same in groupby(counts))


def _choices(table: Listed, units: int, unit: float, ties: Ties) -> list[Choice]:
    """Return the ways to run one attempt that can be part of a cheapest chain: for each k from 0 to
    `units`, the p of least area with floor(t(p)/unit) <= k; of equal areas the one that `ties`
    prefers. They are sorted by that preference, each once."""
    # A time that is a whole number of units up to rounding must not fall to the unit below.
    needed = np.floor(table.times / unit * (1 + ROUNDING))
    ranks = table.times if ties is Ties.FASTEST else np.arange(len(needed))
    cheapest = {_cheapest(table.areas, needed <= k, ranks) for k in range(units + 1)} - {-1}
    return [
        Choice(int(needed[i]), float(table.areas[i]), i + 1)
        for i in sorted(cheapest, key=lambda i: (ranks[i], i))
    ]


def _cheapest(areas: Floats, able: NDArray[np.bool_], ranks: NDArray[np.generic]) -> int:
    """Return the index of the smallest of `areas` among those where `able` is True. Of areas equal
    up to rounding it is that of the lowest of `ranks`; -1 if none is able."""
    if not able.any():
        return -1
    cheap = able & (areas <= areas[able].min() * (1 + ROUNDING))
    return int(np.where(cheap, ranks, np.inf).argmin())


def _add(total: Floats, choices: Sequence[Choice]) -> tuple[Floats, Picks]:
    """Add one attempt to the programme. `total` is the least area of the attempts so far, by budget
    of units from 0. Return the table with the attempt and, for each budget, the index of the choice
    made for it; ties go to the earliest choice."""
    best, pick = np.full_like(total, np.inf), np.zeros(len(total), dtype=np.int64)
    for number, choice in enumerate(choices):
        k = choice.units
        sums = total[: len(total) - k] + choice.area
        better = sums < best[k:] * (1 - ROUNDING)
        best[k:][better] = sums[better]
        pick[k:][better] = number
    return best, pick


def _trace(picks: list[Picks], choices: Sequence[Choice], units: int) -> list[Choice]:
    """Return the choice made for each attempt of the cheapest chain of at most `units` units, the
    last attempt first. `picks` has, for each attempt, the index of its choice by budget of units,
    as `_add` returns it."""
    taken = []
    for pick in reversed(picks):
        choice = choices[int(pick[units])]
        taken.append(choice)
        units -= choice.units
    return taken
