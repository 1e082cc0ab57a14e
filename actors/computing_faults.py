"""Faults of units whose clocks pass only while one of their workers computes (rules.md, F4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import count
from math import inf
from typing import Any

from attrs import define, field

from actors.hazards import FAULTS_OCCUR, FaultDue, Hazard
from actors.intervals import Intervals, Members, intervals_of, members
from actors.messages import ComputingChanged
from actors.repair_messages import UnitCured
from actors.runtime import Timer, handles
from policies.maths.tolerance import ROUNDING

STALE = 64
"""Number of entries of a heap, beyond twice those that count, from which the others are removed."""


@define(eq=False)
class Clock:
    """Computing time of one job on a set of workers, and the computing times at which units fail
    (deadlines) on which the job computes.

    All units have the same clock, so that a run that begins or ends touches none of them.
    """

    number: int
    """Number of the clock, by which the job's messages name it."""
    passed: float = 0
    """Computing time until `since`."""
    since: float | None = None
    """Time until which computing time is in `passed`, while the clock passes; None: it stands
    still."""
    members: Sequence[int] = ()
    """Workers on which the job computes."""
    deadlines: dict[int, float] = field(factory=dict)
    """Maps each unit that is on this clock to its deadline."""
    heap: list[tuple[float, int]] = field(factory=list)
    """(deadline, unit), the earliest first; units that are on the clock no more, or have another
    deadline by now, do not count."""
    lent: set[int] = field(factory=set)
    """Units of the members that are on other clocks, because other jobs compute on them too, or did
    so last."""
    shared: dict[int, list[Clock]] = field(factory=dict)
    """Maps units on this clock, which passes, to clocks of other jobs that compute on them, too."""
    turn: list[Any] | None = None
    """Entry [time, number, clock] of the next fault among those of all clocks; None: there is
    none."""

    def settle(self, now: float) -> None:
        """Add the computing time up to `now` to `passed`."""
        if self.since is not None:
            self.passed += now - self.since
            self.since = now

    def put(self, unit: int, left: float) -> None:
        """Have the unit fail once `left` of computing time has passed from now on."""
        heap, deadlines = self.heap, self.deadlines
        deadlines[unit] = deadline = self.passed + left
        if heap and heap[0][1] == unit:  # an earlier deadline, now void
            heapreplace(heap, (deadline, unit))
            return
        heappush(heap, (deadline, unit))
        if len(heap) > 2 * len(deadlines) + STALE:
            self.heap = [(time, unit) for unit, time in deadlines.items()]
            heapify(self.heap)

    def take(self, unit: int) -> float:
        """Take a unit off the clock, and return the computing time that is left to its fault."""
        return self.deadlines.pop(unit) - self.passed

    def next(self) -> tuple[float, int] | None:
        """Return the earliest deadline and its unit; None if no unit is on the clock."""
        heap, deadlines = self.heap, self.deadlines
        while heap:
            first = heap[0]
            if deadlines.get(first[1]) == first[0]:
                return first
            heappop(heap)
        return None


@define(eq=False)
class ComputingFaults(Hazard):
    """Strikes units of workers (a worker, a node or a rack) with faults by clocks that run only
    while one of the unit's workers computes, at rate 1 whatever the workers' speed.

    Jobs send it a message when the members of a run begin and cease to compute. A fault starts the
    clock of its unit anew, whether or not the fault changes anything. The units on which one job
    computes have one clock, and a heap of their deadlines: only units that come or go are touched,
    and those that fail.
    """

    gap: Callable[[int], float] = field(kw_only=True)
    """Draws the computing time from a fault of the unit, or from the start, to its next fault."""
    units: Collection[int] = field(kw_only=True)
    """Numbers of the units that the law strikes."""
    unit_size: int = field(kw_only=True)
    """Number of workers in a unit."""
    _clocks: dict[int, Clock] = field(init=False, factory=dict)
    _clock_of: dict[int, Clock] = field(init=False, factory=dict)
    """Maps each unit to the clock that it is on, if it is on any."""
    _left: dict[int, float] = field(init=False, factory=dict)
    """Computing time until the next fault of each unit that has been on a clock and is on none."""
    _gaps: dict[int, float] = field(init=False, factory=dict)
    """Computing time from the last fault, or the start, to the next fault, by unit."""
    _longest: float = field(init=False, default=0)
    """The longest of `_gaps` so far."""
    _turns: list[list[Any]] = field(init=False, factory=list)
    """Entries [time, number, clock], the earliest first; one that is not its clock's present `turn`
    does not count."""
    _numbers: Iterator[int] = field(init=False, factory=count)
    _aimed: list[Any] | None = field(init=False, default=None)
    """Entry of `_turns` for which the timer is set; None: no timer is set."""
    _timer: Timer | None = field(init=False, default=None)

    def started(self) -> None:
        if not isinstance(self.units, range):
            self.units = set(self.units)
        self._await_wear()

    # --- runs begin and cease to compute ------------------------------------------------------

    @handles(ComputingChanged)
    def change_clocks(self, message: ComputingChanged, _: int) -> None:
        """Let the time pass for the units on which a copy's run begins to compute, or stand still
        for those on which no run computes any more."""
        clock, loop = self._clocks.get(message.clock), self.system.loop
        now = loop.now
        if clock is None:
            clock = self._clocks[message.clock] = Clock(message.clock)
        if message.computes:
            if message.members is not clock.members or clock.lent:
                self._change_members(clock, message.members)
            clock.since = now
        else:
            if clock.since is not None:  # `settle`, inlined for speed
                clock.passed += now - clock.since
            clock.since = None
            if clock.shared:
                self._hand_over(clock)
            turn = clock.turn
            if turn is not None and turn[0] > loop.due_by + 2 * ROUNDING * self._longest:
                clock.turn = None  # not even the next unit's time has run out by now
                self._set_timer()
                return
        self._aim(clock, now)
        self._set_timer()

    def _change_members(self, clock: Clock, after: Sequence[int]) -> None:
        """Take the units off a clock on which its job computes no more, and put those on it on
        which the job computes, those of the members `after`."""
        before, clock.members = clock.members, after
        steps: Sequence[tuple[int, int]] | None = None
        if isinstance(after, Members) and isinstance(before, Members) and self.unit_size == 1:
            steps = after.since(before)
        if steps is None:
            self._change_units(clock, *(_units(it, self.unit_size) for it in (before, after)))
            steps = ()
        for worker, other in steps:
            self._take_off(clock, worker)
            if other in self.units:
                self._put_on(clock, other)
        for unit in list(clock.lent) if clock.lent else ():
            self._put_on(clock, unit)

    def _change_units(self, clock: Clock, before: Intervals, after: Intervals) -> None:
        same = set(before).intersection(after)
        gone, came = (
            set(members(tuple(it for it in spans if it not in same))) for spans in (before, after)
        )
        units = self.units
        for unit in sorted(gone - came):
            if unit in units:
                self._take_off(clock, unit)
        for unit in sorted(came - gone):
            if unit in units:
                self._put_on(clock, unit)

    def _take_off(self, clock: Clock, unit: int) -> None:
        if clock.lent:
            clock.lent.discard(unit)
        if self._clock_of.get(unit) is clock:
            self._left[unit] = clock.take(unit)
            del self._clock_of[unit]

    def _put_on(self, clock: Clock, unit: int) -> None:
        """Put a unit on a clock whose job computes on it from now on, unless it is on one that
        passes already."""
        other = self._clock_of.get(unit)
        if unit in self.cured or other is clock:
            return
        if other is None:
            left = self._left.pop(unit, inf)
            if left == inf:
                left = self._draw(unit)
        elif other.since is not None:
            clock.lent.add(unit)
            other.shared.setdefault(unit, []).append(clock)
            return
        else:
            left = self._leave(other, unit)
        if clock.lent:
            clock.lent.discard(unit)
        clock.put(unit, left)
        self._clock_of[unit] = clock

    def _leave(self, clock: Clock, unit: int) -> float:
        """Take a unit off a clock that stands still, as another job computes on it; return the
        computing time left to its fault."""
        left = clock.take(unit)
        clock.lent.add(unit)
        if not clock.deadlines:  # its job is over, or puts all of its units on it when it computes
            self._clocks.pop(clock.number, None)
        return left

    def _hand_over(self, clock: Clock) -> None:
        """Put the units of a clock that stands still from now on, and on which other jobs compute,
        on the clock of one of these."""
        shared, clock.shared = clock.shared, {}
        for unit, others in shared.items():
            heirs = [it for it in others if it.since is not None and unit in it.lent]
            if not heirs or self._clock_of.get(unit) is not clock:
                continue
            heir = heirs[0]
            heir.settle(self.now)
            heir.lent.discard(unit)
            heir.put(unit, self._leave(clock, unit))
            self._clock_of[unit] = heir
            if heirs[1:]:
                heir.shared[unit] = heirs[1:]
            self._aim(heir, self.now)

    # --- faults -------------------------------------------------------------------------------

    def _draw(self, unit: int) -> float:
        gap = self._gaps[unit] = self.gap(unit)
        if gap > self._longest:
            self._longest = gap
        return gap

    def _over(self, clock: Clock, deadline: float, unit: int) -> bool:
        """Return whether the time to a unit's fault has run out: what is left is at most 1e-12 of
        the whole."""
        return deadline - clock.passed <= ROUNDING * self._gaps[unit]

    def _aim(self, clock: Clock, now: float) -> None:
        """Give a clock, whose time has been settled, its turn among all clocks: the time at which
        the next of its units fails. One whose time has run out already strikes at this instant,
        even if its job ceases to compute now."""
        entry, clock.turn = clock.next(), None
        if entry is None:
            return
        left = entry[0] - clock.passed
        if left <= 0:
            left = 0.0
        elif left == inf or (clock.since is None and not self._over(clock, *entry)):
            return
        clock.turn = [now + left, next(self._numbers), clock]
        heappush(self._turns, clock.turn)

    def _set_timer(self) -> None:
        """Set the timer to the first turn of all clocks; no timer if none has one."""
        turns, aimed = self._turns, self._aimed
        first: list[Any] | None = None
        while turns:
            first = turns[0]
            if first[2].turn is first:
                break
            heappop(turns)
            first = None
        if first is aimed:
            return
        loop = self.system.loop
        if self._timer is not None:
            loop.cancel(self._timer)
        self._aimed, self._timer = first, None
        if first is not None:
            due, origin = FaultDue(first[2].heap[0][1], self.fault), self.system.origin
            self._timer = loop.schedule(first[0], FAULTS_OCCUR, self, due, origin)

    @handles(UnitCured)
    def cure(self, message: UnitCured, _: int) -> None:
        """Take a unit off its clock for good, as a repair has removed the cause of its faults."""
        unit = message.unit
        struck = self.wear is not None and unit in self.units and unit not in self.cured
        if struck and self._gaps.pop(unit, None) is None:
            # Its next time, if it wears out, does not depend on whether this one had begun.
            self.gap(unit)
        self.cured.add(unit)
        self._left.pop(unit, None)
        clock = self._clock_of.pop(unit, None)
        if clock is not None:
            clock.settle(self.now)
            clock.take(unit)
            self._aim(clock, self.now)
            self._set_timer()
        self.note_cure(unit)

    def take_on(self, units: Sequence[int]) -> None:
        """Put units that have worn out at this instant on the clocks of the jobs that compute on
        them."""
        assert isinstance(self.units, set)
        self.cured.difference_update(units)
        self.units.update(units)
        for clock in list(self._clocks.values()):
            held = set(members(_units(clock.members, self.unit_size)))
            joins = [unit for unit in units if unit in held]
            if joins:
                clock.settle(self.now)
            for unit in joins:
                self._put_on(clock, unit)
            if joins:
                self._aim(clock, self.now)
        self._set_timer()

    @handles(FaultDue)
    def fail_workers(self, message: FaultDue, cause: int) -> None:
        """Make all units fail, or hang, whose time has run out, the lowest number first, and start
        their time anew."""
        self._timer = self._aimed = None
        struck: dict[int, Clock] = {}  # `dict[int, Clock]()` takes 15 times as long
        clocks: list[Clock] = []
        turns = self._turns
        now, due_by = self.system.loop.now, self.system.loop.due_by
        while turns and turns[0][0] <= due_by:
            turn = heappop(turns)
            clock: Clock = turn[2]
            if clock.turn is turn:
                clocks.append(clock)
                clock.settle(now)
                self._run_out(clock, message.struck, struck)
        for unit in sorted(struck):
            struck[unit].put(unit, self._draw(unit))
            self.strike(unit, message.fault, cause)
        for clock in clocks:
            self._aim(clock, now)
        self._set_timer()

    def _run_out(self, clock: Clock, first: int, struck: dict[int, Clock]) -> None:
        """Take the units whose time has run out from the clock's heap, and add them, with the
        clock, to `struck`. The timer was set for the unit `first`: rounding may leave a rest."""
        latest = max(clock.passed + ROUNDING * self._longest, clock.deadlines.get(first, -inf))
        entry, second = clock.next(), min(clock.heap[1:3], default=None)
        if entry is not None and entry[1] == first and (second is None or second[0] > latest):
            struck[first] = clock  # alone, as most are: its new deadline takes the old one's place
            return
        others = []
        while (entry := clock.next()) is not None and entry[0] <= latest:
            heappop(clock.heap)
            if entry[1] == first or self._over(clock, *entry):
                struck[entry[1]] = clock
            else:
                others.append(entry)
        for entry in others:
            heappush(clock.heap, entry)


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
