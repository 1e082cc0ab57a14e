"""The platform as its scheduler knows it: which workers are UP and free, and which copy holds
each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from itertools import chain

from attrs import define, field

from actors.intervals import Intervals, Numbers, intervals_of, members
from policies.availability import WorkerState

Take = Callable[[Numbers, int, Intervals, int], Intervals]
"""Takes so many of the free numbers; the last arguments are what the job had a moment ago, and the
job's index."""

UP = WorkerState.UP


def lowest(numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
    """The lowest numbers (WORLD.md, D2)."""
    return numbers.lowest(count)


def compact(numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
    """Those that the job had a moment ago, or the fewest gaps: where workers are alike, numbers are
    only names, and it is intervals that cost (of a run of 50,000 jobs with its log, up to a
    tenth)."""
    return numbers.take(count, former)


@define(eq=False)
class Pool:
    """Workers 0 .. P-1, all UP and free at first.

    Identical workers to which nothing happens are only counted; with `numbered` runs hold workers
    by number, because a log or a hazard needs to know which.
    """

    size: int
    """P."""
    numbered: bool
    changing: bool = False
    """Whether workers change state or speed; the copy that holds each worker is then recorded."""
    take: Take = lowest
    spares: int = 0
    """Workers from P on that are nobody's: they replace members that are away (WORLD.md, P10)."""
    named: bool = False
    """Whether the decider chooses a copy's workers itself. Intervals of free workers are then not
    kept: they would cost a tenth of the run of a volatile platform."""
    free: int = field(init=False)
    """Workers that are UP and not held by any copy."""
    numbers: Numbers | None = field(init=False, default=None)
    """The free ones."""
    away: dict[int, float] = field(init=False, factory=dict)
    """Worker that is not UP -> when it is expected back; inf: not known."""
    speeds: list[float] = field(init=False, factory=list)
    """By worker, where they differ from 1."""
    _holders: list[int] = field(init=False, factory=list)
    """Worker -> the copy that holds it, or -1."""

    def __attrs_post_init__(self) -> None:
        self.free = self.size
        if (self.numbered or self.changing) and not self.named:
            self.numbers = Numbers(self.size)
        if self.changing:
            self._holders = [-1] * (self.size + self.spares)

    # --- copies take workers, and give them back ----------------------------------------------

    def allocate(self, copy: int, count: int, former: Intervals = (), index: int = 0) -> Intervals:
        """`count` free workers, which `copy` of job `index` holds from now on."""
        assert self.numbers is not None
        self.free -= count
        taken = self.take(self.numbers, count, former, index)
        if self.changing:
            self._hold(taken, copy)
        return taken

    def assign(self, copy: int, numbers: Sequence[int]) -> Intervals:
        """These free workers, ascending. Raises ValueError where one is not free."""
        taken = intervals_of(numbers)
        if not self._all_free(taken, numbers):
            raise ValueError(f"not all of {list(numbers)} are free")
        if self.numbers is not None:
            self.numbers.remove(taken)
        self.free -= len(numbers)
        if self.changing:
            self._hold(taken, copy)
        return taken

    def _all_free(self, taken: Intervals, numbers: Sequence[int]) -> bool:
        if self.numbers is not None:
            return self.numbers.has(taken)
        holders, away = self._holders, self.away
        return all(holders[n] < 0 and n not in away for n in numbers)

    def exchange(self, copy: int, held: Intervals, count: int, index: int = 0) -> Intervals:
        """Give `copy` of job `index` `count` workers in place of those that it holds: it gets more
        of the free ones, or gives back its highest. Those that are not UP, and spares, it gives
        back last: nobody else could use them."""
        had = members(held)
        if count < len(had):
            lost = self._spare(had, len(had) - count)
            self.release(len(lost), intervals_of(lost))
            return intervals_of(sorted(set(had).difference(lost)))
        if count == len(had):
            return held
        gained = self.allocate(copy, count - len(had), (), index)
        return intervals_of(sorted((*had, *members(gained))))

    def returned(self, held: Intervals, count: int) -> int:
        """How many others can use of `count` workers that a copy gives back."""
        return sum(map(self._usable, self._spare(members(held), count)))

    def _usable(self, worker: int) -> bool:
        """Whether others can use it, once it is held no longer."""
        return worker not in self.away and worker < self.size

    def _spare(self, had: Sequence[int], count: int) -> list[int]:
        """Workers to release, ascending."""
        if self.away or self.spares:
            had = sorted(had, key=lambda n: (self._usable(n), n))
        return sorted(had[-count:])

    def release(self, count: int, taken: Intervals) -> None:
        """These workers are held no longer; those that are UP are free."""
        if self.changing:
            self._hold(taken, -1)
        if self.away or self.spares:
            here = list(filter(self._usable, members(taken)))
            count = len(here)
            if self.numbers is not None:
                taken = intervals_of(here)
        self.free += count
        if self.numbers is not None:
            self.numbers.release(taken)

    def _hold(self, taken: Intervals, copy: int) -> None:
        for first, last in taken:
            self._holders[first : last + 1] = [copy] * (last - first + 1)

    # --- workers change -----------------------------------------------------------------------

    def holder(self, worker: int) -> int:
        """The copy that holds this worker; -1: none."""
        return self._holders[worker]

    def move(self, worker: int, state: WorkerState, until: float | None) -> None:
        """The worker is in this state now."""
        if state is UP:
            self._return(worker)
            return
        if worker not in self.away and self._holders[worker] < 0 and worker < self.size:
            self.free -= 1
            if self.numbers is not None:
                self.numbers.remove(((worker, worker),))
        self.away[worker] = math.inf if until is None else until

    def _return(self, worker: int) -> None:
        if self.away.pop(worker, None) is None:
            return
        if self._holders[worker] < 0 and worker < self.size:
            self.free += 1
            if self.numbers is not None:
                self.numbers.release(((worker, worker),))

    def change_speed(self, worker: int, speed: float) -> None:
        """The worker's speed from now on."""
        if not self.speeds:
            self.speeds = [1.0] * (self.size + self.spares)
        self.speeds[worker] = speed

    def absent(self) -> list[tuple[int, float]]:
        """Workers that no copy holds and that are not UP, with when each is expected back."""
        away, size = self.away.items(), self.size
        return [(n, until) for n, until in away if self._holders[n] < 0 and n < size]

    # --- spares -------------------------------------------------------------------------------

    def replacement(self, promised: Collection[int]) -> int | None:
        """The lowest spare that is UP and free, else the lowest other worker that is; of those
        promised others compute to their ends."""
        size = self.size
        for worker in chain(range(size, size + self.spares), range(size if self.free else 0)):
            free = self._holders[worker] < 0 and worker not in promised
            if free and worker not in self.away:
                return worker
        return None

    def replace(self, copy: int, held: Intervals, worker: int, other: int) -> Intervals:
        """`copy` holds `other`, which is free, in place of `worker`, which is not UP; returns all
        that it holds."""
        if other < self.size:
            self.assign(copy, (other,))
        self._holders[worker], self._holders[other] = -1, copy
        return intervals_of(sorted({*members(held), other} - {worker}))
