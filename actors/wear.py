"""Wear: units that come under a law of faults in the course of time, as nodes do that become lemons
(rules.md, F8)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from attrs import define, field
from numpy.random import Generator

from actors.runtime import message


@message
class WearDue:
    """A hazard tells itself that units wear out now."""


WEAR_DUE = WearDue()


@define(eq=False)
class Wear:
    """Chooses the units of one law of faults that wear out: at each multiple of an interval some of
    those that the law does not strike, which it strikes from then on."""

    law: int
    """Number of the law."""
    units: int
    """Number of all units of the law's kind."""
    struck: set[int]
    """Numbers of the units that the law strikes at present."""
    interval: float
    """Time units from one instant at which units wear out to the next; the first is one interval
    after the start."""
    count: int
    """Number of units that wear out at each of these instants, as long as so many are left."""
    listed: Sequence[Collection[int]]
    """Units that wear out at the first of these instants, in place of drawn ones."""
    stream: Callable[[int], Generator]
    """Returns the random stream of an instant from its number, the first being 1."""
    gap: Callable[[int], float]
    """Draws the time from the instant at which a unit wears out, or from its last fault, to its
    next fault."""
    _number: int = field(init=False, default=0)
    """Number of the last instant for which a timer was set."""

    def next(self, due_by: float) -> float | None:
        """Return the time of the next instant at which units wear out, after the present one, which
        lasts until `due_by`; None if the law strikes all units, or none are left to be added."""
        number = max(self._number, int(due_by // self.interval)) + 1
        over = not self.count and number > len(self.listed)
        if over or len(self.struck) == self.units:
            return None
        self._number = number
        return number * self.interval

    def worn(self) -> list[int]:
        """Return the units that wear out at this instant, ascending, and count them as units of the
        law.

        A drawn unit is one of the first `count` of all units in a random order, of which those are
        left out that the law strikes: which units these are changes little of the rest.
        """
        if self._number <= len(self.listed):
            chosen = set(self.listed[self._number - 1]) - self.struck
        else:
            order = self.stream(self._number).permutation(self.units).tolist()
            well = (unit for unit in order if unit not in self.struck)
            chosen = {unit for unit, _ in zip(well, range(self.count), strict=False)}
        self.struck |= chosen
        return sorted(chosen)
