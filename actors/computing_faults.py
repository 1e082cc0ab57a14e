"""Faults of units whose clocks pass only while one of their workers computes (rules.md, F4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.hazards import FaultDue, Hazard
from actors.intervals import Members
from actors.messages import ComputingChanged
from actors.repair_messages import UnitCured
from actors.runtime import Phase, Timer, handles
from policies.maths.tolerance import ROUNDING

Units = NDArray[np.intp]


@define(eq=False)
class ComputingFaults(Hazard):
    """Makes units fail by clocks that pass, at rate 1 whatever the speed, only while one of their
    workers computes.

    Jobs tell it when the members of a run begin and cease to compute. A fault starts the clock of
    its unit anew, whether or not it changes anything. All clocks are one array each of what is left
    and of how many runs compute: a fault costs a few operations on arrays, however wide its job is.
    """

    gap: Callable[[int], float] = field(kw_only=True)
    """Draws the time from a unit's fault, or from the start, to its next fault."""
    units: Sequence[int] = field(kw_only=True)
    """The units, by number, that the law is of."""
    together: int = field(kw_only=True)
    """Number of workers of a unit."""
    count: int = field(kw_only=True)
    """Number of all units."""
    _left: NDArray[np.float64] = field(init=False)
    """Computing time until the next fault, by unit; inf for a unit that the law is not of."""
    _gaps: NDArray[np.float64] = field(init=False)
    """The whole of that time."""
    _computing: NDArray[np.int_] = field(init=False)
    """Number of runs that compute on the unit."""
    _of_copy: dict[int, Units] = field(init=False, factory=dict)
    """Maps the number of each copy that computes to its units."""
    _since: float = field(init=False, default=0)
    """Time until which the clocks have passed."""
    _timer: Timer | None = field(init=False, default=None)

    def started(self) -> None:
        self._left = np.full(self.count, np.inf)
        self._gaps = np.full(self.count, np.inf)
        self._computing = np.zeros(self.count, int)
        for unit in self.units:
            self._left[unit] = self._gaps[unit] = self.gap(unit)

    @handles(ComputingChanged)
    def change_clocks(self, message: ComputingChanged, _: int) -> None:
        """Let the clocks of a copy's units pass, or stop them."""
        self._pass()
        if message.computes:
            units = np.unique(_numbers(message.members) // self.together)
            self._of_copy[message.copy] = units
            self._computing[units] += 1
        else:
            self._computing[self._of_copy.pop(message.copy)] -= 1
        self._aim()

    def _pass(self) -> None:
        passed = self.now - self._since
        if passed:
            self._left[self._computing > 0] -= passed
            self._since = self.now

    def _over(self) -> NDArray[np.bool_]:
        """Return which clocks have run out: what is left below a part of 1e-12 is nothing."""
        over: NDArray[np.bool_] = self._left <= ROUNDING * self._gaps
        return over & np.isfinite(self._left)

    def _aim(self) -> None:
        """Await the next fault. A clock that runs out at the instant at which computing ends
        strikes at that instant."""
        if self._timer is not None:
            self.cancel(self._timer)
            self._timer = None
        passing = np.where((self._computing > 0) | self._over(), self._left, np.inf)
        unit = int(np.argmin(passing)) if self.count else 0
        if passing[unit] < np.inf:
            time, due = self.now + max(float(passing[unit]), 0.0), FaultDue(unit, self.fault)
            self._timer = self.at(time, due, self.system.origin, Phase.FAULTS_OCCUR)

    @handles(UnitCured)
    def cure(self, message: UnitCured, _: int) -> None:
        """Stop the clock of a unit for good."""
        self._pass()
        self._left[message.unit] = self._gaps[message.unit] = np.inf
        self._aim()

    @handles(FaultDue)
    def fail_workers(self, message: FaultDue, cause: int) -> None:
        """Make all units fail whose clocks have run out, by number."""
        self._timer = None
        self._pass()
        over = self._over()
        over[message.struck] |= np.isfinite(self._left[message.struck])  # rounding may leave more
        for unit in np.flatnonzero(over).tolist():
            self._left[unit] = self._gaps[unit] = self.gap(unit)
            self.strike(unit, message.fault, cause)
        self._aim()


def _numbers(workers: Sequence[int]) -> Units:
    """Return the workers as an array; those of few intervals without listing them one by one."""
    if isinstance(workers, Members):
        spans = [np.arange(first, last + 1, dtype=np.intp) for first, last in workers.intervals]
        return np.concatenate(spans)
    return np.asarray(workers, np.intp)
