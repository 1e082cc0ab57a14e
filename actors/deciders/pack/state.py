"""The state of the pack's decider: sizes, waiting applications and each application's progress, and
what its policies see of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from actors.intervals import members
from actors.messages import ProgressReport
from actors.scheduler import Scheduler
from policies.interface.pack import Cause
from policies.maths.cosched import Costs


@frozen
class ApplicationProgress:
    """An application's progress at its last fault or redistribution (malleable17, section 3.3.2);
    times in s."""

    index: int
    copy: int
    size: int
    since: float
    """t_lastR: when it computes again, or did; inf: not known."""
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
class PackState:
    """The state of a pack. t^U serves decisions only: it is updated when an application reports its
    progress, not between (malleable17, section 3.3.2).

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
    all_progress: dict[int, ApplicationProgress] = field(init=False, factory=dict)
    """By copy: its last report."""
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
        self.all_progress.pop(copy, None)
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

    def note(self, message: ProgressReport) -> ApplicationProgress | None:
        """Record a report; returns the progress that it changes, None where it changes none, the
        copy has ended, or it is not its application's oldest."""
        index, copy = message.index, message.copy
        size = self.sizes.get(index, {}).get(copy)
        if size is None:
            return None
        since = self._back(copy) if message.start is None else message.start
        for part in message.parts:
            since += part
        costs, left, speed = self.costs[index], message.left, message.speed
        known = since < math.inf and speed > 0
        progress = ApplicationProgress(
            *(index, copy, size, since if known else math.inf, left),
            since + costs.expected(size, left) / speed if known else math.inf,
            since + costs.duration(size, left) / speed if known else math.inf,
            message.moving,
            speed,
        )
        if progress == self.all_progress.get(copy):
            return None
        self.all_progress[copy] = progress
        return progress if self.leads(copy) else None

    def _back(self, copy: int) -> float:
        """When all its members are expected to be UP."""
        away, now = self.scheduler.pool.away, self.scheduler.now
        held = members(self.scheduler.held[copy][2])
        return max((away[n] for n in held if n in away), default=now)

    def running(self) -> list[ApplicationProgress]:
        """Progress of each application's oldest copy, by index, without those that have promised
        their workers or not reported yet."""
        all_progress, released = self.all_progress, self.released
        first = [next(iter(copies)) for _, copies in sorted(self.sizes.items())]
        return [all_progress[it] for it in first if it in all_progress and it not in released]

    def candidates(
        self, running: Sequence[ApplicationProgress], faulty: int | None
    ) -> list[Candidate]:
        """Applications that may be resized: those that compute, and the faulty one unless its own
        redistribution has to be repeated (malleable17, section 3.3.3)."""
        now, due_by, found = self.scheduler.now, self.scheduler.due_by, []
        for progress in running:
            if progress.index == faulty and not progress.moving and progress.known:
                found.append(self._candidate(progress, progress.since, progress.left))
            elif progress.since <= due_by:
                found.append(self._candidate(progress, now, self._left(progress, now)))
        return found

    def _candidate(self, progress: ApplicationProgress, start: float, left: float) -> Candidate:
        index, speed = progress.index, progress.speed
        known = (index, progress.size, self.costs[index], start, left, progress.expected)
        return Candidate(*known) if speed == 1 else CandidateAtSpeed(*known, speed)

    def _left(self, progress: ApplicationProgress, now: float) -> float:
        costs, elapsed = self.costs[progress.index], max(now - progress.since, 0) * progress.speed
        taken = costs.taken(progress.size, elapsed)
        return costs.left(progress.size, progress.left, elapsed, taken)


@define(eq=False)
class NewApplication:
    """An application before the start, of size 0 (a `CandidateView`)."""

    index: int
    size: int
    costs: Costs = field(repr=False)

    @property
    def largest(self) -> int:
        return self.costs.largest

    @property
    def most(self) -> int:
        return self.costs.most

    def finish(self, size: int) -> float:
        return self.costs.expected(size, 1.0)


@define(eq=False)
class Candidate(NewApplication):
    """A running application that may be redistributed (a `CandidateView`)."""

    start: float
    """When a redistribution could begin: now, or after the recovery from this fault."""
    left: float
    """alpha at that time."""
    expected: float
    """t^U with the present size."""

    def finish(self, size: int) -> float:
        if size == self.size:
            return self.expected
        return self.costs.finish(self.start, self.size, size, self.left)


@define(eq=False)
class CandidateAtSpeed(Candidate):
    """A candidate whose members are not of speed 1; its expectations assume its present speed for
    every size."""

    speed: float = 1

    def finish(self, size: int) -> float:
        """All but the start takes longer, or less."""
        if size == self.size:
            return self.expected
        return self.start + (super().finish(size) - self.start) / self.speed


@frozen
class Pack:
    """All applications before the start (an `AllocationView`)."""

    pair: int
    processors: int
    applications: Sequence[NewApplication]


@define
class Occasion:
    """One end or fault (a `RedistributionView`); the candidates are worked out when asked for."""

    now: float
    cause: Cause
    faulty: int | None
    pair: int
    idle: int
    longest: float
    _find: Callable[[], Sequence[Candidate]] = field(repr=False)
    _candidates: Sequence[Candidate] | None = field(init=False, default=None)

    @property
    def candidates(self) -> Sequence[Candidate]:
        if self._candidates is None:
            self._candidates = self._find()
        return self._candidates
