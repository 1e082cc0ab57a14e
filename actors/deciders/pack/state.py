"""Holds the state of the pack's decider (sizes, waiting applications and the progress of each
application) and the views of its policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from actors.decider import DecidersHost
from actors.intervals import members
from actors.messages import ProgressReport
from policies.interface.pack import Cause
from policies.maths.cosched import Costs


@frozen
class ApplicationProgress:
    """Progress of one copy of a malleable application, as last reported: when it computes again,
    the work left then, and the ends to expect (malleable17, section 3.3.2); times are in s."""

    index: int
    copy: int
    size: int
    since: float
    """Time t_lastR at which the application begins, or began, to compute again; inf if it is not
    known."""
    left: float
    """Part alpha of the work that is left at `since`."""
    expected: float
    """Expected end t^U."""
    end: float
    """Time at which the application ends if no fault occurs."""
    moving: bool = False
    """Whether a fault interrupted a redistribution, which has to be repeated before any other
    one."""
    speed: float = 1

    @property
    def known(self) -> bool:
        """Whether the time `since`, at which the application begins or began to compute, is
        known."""
        return self.since < math.inf


@define(eq=False)
class PackState:
    """State of the pack's decider: the sizes of running copies, the waiting applications, and the
    progress of each copy.

    The expected end t^U serves decisions only: it is updated when an application reports its
    progress, and not in between (malleable17, section 3.3.2). Of an application with several copies
    the oldest copy is the one that is resized; the others stay as they were placed.
    """

    scheduler: DecidersHost = field(repr=False)
    costs: Mapping[int, Costs] = field(repr=False)
    """Maps an application's index to its costs."""
    pair: int
    sizes: dict[int, dict[int, int]] = field(init=False, factory=dict)
    """Maps each application to the sizes of its copies, in the order in which they were placed."""
    waiting: dict[int, int] = field(init=False, factory=dict)
    """Maps each application without workers to its last size; 0 if it never had one."""
    all_progress: dict[int, ApplicationProgress] = field(init=False, factory=dict)
    """Maps each copy to its last progress report."""
    released: set[int] = field(init=False, factory=set)
    """Copies that have promised their workers to others."""

    @property
    def idle(self) -> int:
        """Number of workers that are free and UP, rounded down to a multiple of `pair`."""
        free = self.scheduler.pool.free
        return free - free % self.pair

    # --- copies -------------------------------------------------------------------------------

    def place(self, index: int, copy: int, size: int) -> None:
        """Record that a copy of the application `index` runs from now on, on `size` workers."""
        self.waiting.pop(index, None)
        self.sizes.setdefault(index, {})[copy] = size

    def end(self, index: int, copy: int, waits: bool) -> None:
        """Record that the copy numbered `copy` of the application `index` has ended; `waits`: the
        application now waits for workers, and remembers this copy's size."""
        size = self.sizes[index].pop(copy)
        self.all_progress.pop(copy, None)
        self.released.discard(copy)
        if not self.sizes[index]:
            del self.sizes[index]
        if waits:
            self.waiting[index] = size

    def first(self, index: int) -> int:
        """Return the number of the oldest copy that the application `index` runs: of its redundant
        copies, the one that was placed first."""
        return next(iter(self.sizes[index]))

    def size(self, index: int) -> int:
        """Return the number of workers of the oldest copy that the application `index` runs."""
        return self.sizes[index][self.first(index)]

    def leads(self, copy: int) -> bool:
        """Return whether the copy with this number is the oldest one that its application runs."""
        return self.first(self.scheduler.pool.held[copy][0]) == copy

    # --- progress -----------------------------------------------------------------------------

    def note(self, message: ProgressReport) -> ApplicationProgress | None:
        """Record a job's progress report on one copy. Return the copy's new progress. Return None
        if the report changes nothing, the copy has ended, or it is not its application's oldest
        copy."""
        index, copy = message.index, message.copy
        size = self.sizes.get(index, {}).get(copy)
        if size is None:
            return None
        since = self._back(copy) if message.start is None else message.start
        for part in message.parts:
            # Added one by one, as the run passes them: another order could differ in the last bit.
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
        """Return the time at which the last of the copy's workers is expected to be UP: now if all
        are, inf if that is not known of one."""
        away, now = self.scheduler.pool.away, self.scheduler.now
        held = members(self.scheduler.pool.held[copy][2])
        return max((away[n] for n in held if n in away), default=now)

    def running(self) -> list[ApplicationProgress]:
        """Return the progress of each running application's oldest copy, by ascending application
        index. Copies that have promised their workers to others, or have not reported yet, are left
        out."""
        all_progress, released = self.all_progress, self.released
        first = [next(iter(copies)) for _, copies in sorted(self.sizes.items())]
        return [all_progress[it] for it in first if it in all_progress and it not in released]

    def candidates(
        self, running: Sequence[ApplicationProgress], faulty: int | None
    ) -> list[Candidate]:
        """Return the applications that can be resized, of those whose progress is in `running`:
        those that compute now, and the one with index `faulty`, unless the time of its return is
        not known or a redistribution that the fault interrupted has to be repeated (malleable17,
        section 3.3.3)."""
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
    """An application that has not started, of size 0, as the allocation policy sees it (satisfies
    policies.interface.CandidateView)."""

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
    """A running application that the redistribution policy can resize (satisfies
    policies.interface.CandidateView)."""

    start: float
    """Time at which a redistribution could begin: now, or after the recovery from this fault."""
    left: float
    """Part alpha of the work that is left at `start`."""
    expected: float
    """Expected end t^U with the present size."""

    def finish(self, size: int) -> float:
        if size == self.size:
            return self.expected
        return self.costs.finish(self.start, self.size, size, self.left)


@define(eq=False)
class CandidateAtSpeed(Candidate):
    """A running application that can be resized and whose members' speed is not 1. Expected ends
    assume that its present speed holds for every size."""

    speed: float = 1

    def finish(self, size: int) -> float:
        """Return the time, in s, at which the application is expected to end with `size`
        processors. Its durations from `start` on are those at speed 1 divided by its present
        speed."""
        if size == self.size:
            return self.expected
        return self.start + (super().finish(size) - self.start) / self.speed


@frozen
class Pack:
    """The applications of a pack that have not started, and the processors to share out among them,
    as the allocation policy sees them (satisfies policies.interface.AllocationView)."""

    pair: int
    processors: int
    applications: Sequence[NewApplication]


@define
class Occasion:
    """The state of the pack as the redistribution policy sees it when an application has ended or a
    fault has struck one (satisfies policies.interface.RedistributionView). The candidates are
    computed when they are first needed."""

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
