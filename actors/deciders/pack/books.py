"""What the pack's decider knows: who holds how many workers, who waits, where each stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from actors.deciders.pack.views import Candidate, SpedCandidate
from actors.intervals import members
from actors.messages import Stood
from actors.scheduler import Scheduler
from policies.maths.cosched import Costs


@frozen
class Standing:
    """An application at its last fault or redistribution (003, section 3.3.2); times in s."""

    index: int
    copy: int
    size: int
    since: float
    """t_lastR: when it computes again, or did; inf: nobody knows."""
    left: float
    """alpha at that time."""
    expected: float
    """t^U."""
    end: float
    """When it ends if no fault comes."""
    moving: bool = False
    """A fault interrupted a redistribution, which has to be made again: no other meanwhile."""
    speed: float = 1

    @property
    def known(self) -> bool:
        """Whether it is known when it computes."""
        return self.since < math.inf


@define(eq=False)
class PackBooks:
    """The pack's bookkeeping. t^U serves decisions only: it is looked at again when an application
    says where it stands, not between (003, section 3.3.2).

    Of an application with several copies the oldest is the one that is resized; the others stay as
    they were placed.
    """

    scheduler: Scheduler = field(repr=False)
    costs: Mapping[int, Costs] = field(repr=False)
    """By application index."""
    pair: int
    sizes: dict[int, dict[int, int]] = field(init=False, factory=dict)
    """Application -> its copies in the order of their placing -> their sizes."""
    waiting: dict[int, int] = field(init=False, factory=dict)
    """Applications without workers -> the last size; 0: they never had one."""
    standings: dict[int, Standing] = field(init=False, factory=dict)
    """By copy: what each said last."""
    released: set[int] = field(init=False, factory=set)
    """Copies that have promised their workers."""

    @property
    def idle(self) -> int:
        """Free workers that are UP, in whole groups."""
        free = self.scheduler.pool.free
        return free - free % self.pair

    # --- copies -------------------------------------------------------------------------------

    def place(self, index: int, copy: int, size: int) -> None:
        """One more copy runs."""
        self.waiting.pop(index, None)
        self.sizes.setdefault(index, {})[copy] = size

    def end(self, index: int, copy: int, waits: bool) -> None:
        """It runs no longer."""
        size = self.sizes[index].pop(copy)
        self.standings.pop(copy, None)
        self.released.discard(copy)
        if not self.sizes[index]:
            del self.sizes[index]
        if waits:
            self.waiting[index] = size

    def first(self, index: int) -> int:
        """The application's oldest copy."""
        return next(iter(self.sizes[index]))

    def size(self, index: int) -> int:
        """Of its oldest copy."""
        return self.sizes[index][self.first(index)]

    def leads(self, copy: int) -> bool:
        """Whether it is its application's oldest."""
        return self.first(self.scheduler.held[copy][0]) == copy

    # --- where they stand ---------------------------------------------------------------------

    def settle(self, message: Stood) -> Standing | None:
        """Note what a job says of a copy; None: that is nothing new, or it ended since, or it is
        not its application's oldest."""
        index, copy = message.index, message.copy
        size = self.sizes.get(index, {}).get(copy)
        if size is None:
            return None
        since = self._back(copy) if message.start is None else message.start
        for part in message.parts:
            since += part
        costs, left, speed = self.costs[index], message.left, message.speed
        known = since < math.inf and speed > 0
        standing = Standing(
            *(index, copy, size, since if known else math.inf, left),
            since + costs.expected(size, left) / speed if known else math.inf,
            since + costs.duration(size, left) / speed if known else math.inf,
            message.moving,
            speed,
        )
        if standing == self.standings.get(copy):
            return None
        self.standings[copy] = standing
        return standing if self.leads(copy) else None

    def _back(self, copy: int) -> float:
        """When all its members are expected to be UP."""
        away, now = self.scheduler.pool.away, self.scheduler.now
        held = members(self.scheduler.held[copy][2])
        return max((away[n] for n in held if n in away), default=now)

    def running(self) -> list[Standing]:
        """Of each application's oldest copy, by index; not those that have promised their workers,
        nor those that have not said yet where they stand."""
        standings, released = self.standings, self.released
        first = [next(iter(copies)) for _, copies in sorted(self.sizes.items())]
        return [standings[it] for it in first if it in standings and it not in released]

    def candidates(self, running: Sequence[Standing], faulty: int | None) -> list[Candidate]:
        """Who may be redistributed: who computes, and the faulty one unless a redistribution of
        its own has to be made again (003, section 3.3.3)."""
        now, due_by, found = self.scheduler.now, self.scheduler.due_by, []
        for standing in running:
            if standing.index == faulty and not standing.moving and standing.known:
                found.append(self._candidate(standing, standing.since, standing.left))
            elif standing.since <= due_by:
                found.append(self._candidate(standing, now, self._left(standing, now)))
        return found

    def _candidate(self, standing: Standing, start: float, left: float) -> Candidate:
        index, speed = standing.index, standing.speed
        known = (index, standing.size, self.costs[index], start, left, standing.expected)
        return Candidate(*known) if speed == 1 else SpedCandidate(*known, speed)

    def _left(self, standing: Standing, now: float) -> float:
        costs, elapsed = self.costs[standing.index], max(now - standing.since, 0) * standing.speed
        taken = costs.taken(standing.size, elapsed)
        return costs.left(standing.size, standing.left, elapsed, taken)
