"""Faults of units whose clocks pass only while one of their workers computes (rules.md, F4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.hazards import FaultDue, Hazard
from actors.intervals import Intervals, Members, intervals_of
from actors.messages import ComputingChanged
from actors.repair_messages import UnitCured
from actors.runtime import Phase, Timer, handles
from policies.maths.tolerance import ROUNDING


@define(eq=False)
class ComputingFaults(Hazard):
    """Strikes units of workers (a worker, a node or a rack) with faults by clocks that run only
    while one of the unit's workers computes, at rate 1 whatever the workers' speed.

    Jobs send it a message when the members of a run begin and cease to compute. A fault starts the
    clock of its unit anew, whether or not the fault changes anything. The computing time left on
    each clock, and the number of runs that compute on each unit, are arrays: a fault costs a few
    operations on them, however many workers a job has.
    """

    gap: Callable[[int], float] = field(kw_only=True)
    """Draws the computing time from a fault of the unit, or from the start, to its next fault."""
    units: Sequence[int] = field(kw_only=True)
    """Numbers of the units that the law strikes."""
    unit_size: int = field(kw_only=True)
    """Number of workers in a unit."""
    count: int = field(kw_only=True)
    """Number of units on the platform, those that the law does not strike included."""
    _left: NDArray[np.float64] = field(init=False)
    """Computing time until the next fault, by unit; inf for a unit that the law does not strike."""
    _gaps: NDArray[np.float64] = field(init=False)
    """Computing time from the last fault, or the start, to the next fault, by unit; inf as in
    `_left`."""
    _computing: NDArray[np.int_] = field(init=False)
    """Number of runs that compute on each unit."""
    _passing: NDArray[np.bool_] = field(init=False)
    """Whether the clock of each unit passes, because a run computes on it."""
    _of_copy: dict[int, NDArray[np.int_]] = field(init=False, factory=dict)
    """Maps the number of each copy that computes to an array that is 1 at its units and 0
    elsewhere."""
    _since: float = field(init=False, default=0)
    """Time up to which computing time has been subtracted from `_left`."""
    _timer: Timer | None = field(init=False, default=None)

    def started(self) -> None:
        self._left = np.full(self.count, np.inf)
        self._gaps = np.full(self.count, np.inf)
        self._computing = np.zeros(self.count, int)
        self._passing = np.zeros(self.count, bool)
        for unit in self.units:
            self._left[unit] = self._gaps[unit] = self.gap(unit)

    @handles(ComputingChanged)
    def change_clocks(self, message: ComputingChanged, _: int) -> None:
        """Start the clocks of the units on which a copy's run begins to compute, or stop those on
        which no run computes any more."""
        self._pass()
        if message.computes:
            counts = _counts(_units(message.members, self.unit_size), self.count)
            self._of_copy[message.copy] = counts
            self._computing += counts
        else:
            self._computing -= self._of_copy.pop(message.copy)
        self._passing = self._computing > 0
        self._aim()

    def _pass(self) -> None:
        passed = self.now - self._since
        if passed:
            np.subtract(self._left, passed, out=self._left, where=self._passing)
            self._since = self.now

    def _over(self) -> NDArray[np.bool_]:
        """Return, by unit, whether its clock has run out: what is left is at most 1e-12 of the
        clock's whole time. The clock of a unit that the law does not strike never runs out."""
        over: NDArray[np.bool_] = self._left <= ROUNDING * self._gaps
        return over & np.isfinite(self._left)

    def _aim(self) -> None:
        """Set the timer to the next time at which a clock runs out, if none changes; no timer if
        none passes. A clock that has run out already strikes at this instant, even if its unit's
        computing ends now."""
        if self._timer is not None:
            self.cancel(self._timer)
            self._timer = None
        if not self.count:
            return
        unit = int(self._left.argmin())
        # If this does not hold, the clock of `unit` has run out already.
        if not self._left[unit] <= ROUNDING * self._gaps[unit] < np.inf:
            passing = np.where(self._passing, self._left, np.inf)
            unit = int(passing.argmin())
            if not self._passing[unit]:
                return
        left = float(self._left[unit])
        if left < np.inf:
            time, due = self.now + max(left, 0.0), FaultDue(unit, self.fault)
            self._timer = self.at(time, due, self.system.origin, Phase.FAULTS_OCCUR)

    @handles(UnitCured)
    def cure(self, message: UnitCured, _: int) -> None:
        """Stop the clock of a unit for good, as a repair has removed the cause of its faults."""
        self._pass()
        self._left[message.unit] = self._gaps[message.unit] = np.inf
        self._aim()

    @handles(FaultDue)
    def fail_workers(self, message: FaultDue, cause: int) -> None:
        """Make all units fail, or hang, whose clocks have run out, the lowest number first, and
        start their clocks anew."""
        self._timer = None
        self._pass()
        over = self._over()
        over[message.struck] |= np.isfinite(self._left[message.struck])  # rounding may leave a rest
        for unit in np.flatnonzero(over).tolist():
            self._left[unit] = self._gaps[unit] = self.gap(unit)
            self.strike(unit, message.fault, cause)
        self._aim()


def _counts(units: Intervals, count: int) -> NDArray[np.int_]:
    """Return an array of length `count` that is 1 at the positions in the intervals `units`, and 0
    elsewhere."""
    bounds = np.array(units).reshape(-1, 2)
    steps = np.zeros(count + 1, int)
    steps[bounds[:, 0]] += 1
    steps[bounds[:, 1] + 1] -= 1
    return np.cumsum(steps[:-1])


def _units(workers: Sequence[int], size: int) -> Intervals:
    """Return, as intervals, the numbers of the units to which these workers belong; a unit is
    `size` workers in a row.

    The workers of an interval are not listed one by one: a wide job has few intervals.
    """
    held = workers.intervals if isinstance(workers, Members) else intervals_of(sorted(workers))
    if size == 1:
        return held
    spans: list[tuple[int, int]] = []
    for first, last in held:
        begin, end = first // size, last // size
        if spans and begin <= spans[-1][1]:
            begin = spans[-1][1] + 1  # the unit before has some of these workers too
        if begin <= end:
            spans.append((begin, end))
    return tuple(spans)
