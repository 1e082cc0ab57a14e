"""Keeps the profile of free processors over time, in which reservations are made; it is fast where
many jobs in a row have the same size.

A log's queue is long where a user submitted hundreds of equal jobs: UniLu-Gaia-2014-2 on half of
its machine has 440 jobs waiting at a decision, of 18 kinds, in 83 runs of equal jobs.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence
from itertools import compress
from math import inf
from typing import Protocol

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.queue import Queued, Reservation, Run
from policies.maths.tolerance import ROUNDING


def _steps(
    now: float, free: int, changes: Iterable[tuple[float, int]]
) -> tuple[list[float], list[int]]:
    times, frees = [now], [free]
    for time, processors in changes:
        free += processors
        # Entry 0 is what is free right now: an attempt that outlives its estimate is expected to
        # end at any moment, but its processors cannot be used before it does.
        if len(times) > 1 and time <= times[-1]:
            frees[-1] = free
        else:
            times.append(time if time > now else now)
            frees.append(free)
    return times, frees


KEPT = 64
"""Largest number of sizes of jobs for which a `Sought` keeps how far it has looked for a place in
vain."""
FEW = 16
"""Number of steps up to which a Python loop is as fast as a call of compiled code."""


@define(eq=False)
class FreeProfile:
    """The number of free processors over time as a step function: counts[i] are free over
    [times[i], times[i+1]), and the last count holds for ever. times[0] is now.

    It is updated in place: a reservation costs two searches among the times, each of logarithmic
    time, and passes over its steps in compiled code (`python -m sims.bench queues`).
    """

    times: list[float]
    counts: array[int]
    """Number of free processors of each step. A few are read and changed one by one; many through a
    numpy view of the same memory."""

    @classmethod
    def of(
        cls,
        now: float,
        free: int,
        running: Iterable[Run],
        promises: Iterable[Reservation] = (),
    ) -> FreeProfile:
        """Build the profile at the time `now`, at which `free` processors are free. The runs in
        `running` release their processors at their expected ends; each of `promises` takes its
        job's processors at its start, for the time for which the job holds them."""
        changes = [(run.end, run.processors) for run in running]
        for promise in promises:
            waiting = promise.waiting
            changes.append((promise.start, -waiting.processors))
            changes.append((promise.start + waiting.held, waiting.processors))
        changes.sort()
        return profile_of_changes(now, free, changes)

    @property
    def free_now(self) -> int:
        return self.counts[0]

    @property
    def overdue(self) -> bool:
        """Whether processors that were expected to be free by now are not free, because a run has
        outlived its estimate."""
        return len(self.times) > 1 and self.times[1] == self.times[0]

    def lowest(self) -> list[int]:
        """Return, for each step, the fewest processors that are free at any time from now to that
        step's end. A job that ends by then and needs no more processors can start now."""
        lowest: list[int] = np.minimum.accumulate(self._all).tolist()
        return lowest

    def fits(self, step: int, processors: int, held: float) -> bool:
        """Return whether at least `processors` processors are free throughout a duration `held`
        from times[step] on."""
        return self.room(step, held) >= processors

    def room(self, step: int, held: float) -> int:
        """Return the least number of processors that are free at any time in the duration `held`
        from times[step] on."""
        end = bisect_left(self.times, self.times[step] + held, step + 1)
        return self.least(step, end)

    def earliest(self, processors: int, held: float, since: float | None = None) -> tuple[int, int]:
        """Return the first step, of those that begin at `since` or later (None: of all), from which
        at least `processors` processors are free throughout a duration `held`, and the least number
        that are free in that duration. Step 0 is now."""
        times, obstacle = self.times, -1
        first = 0 if since is None else bisect_left(times, since)
        # One pass in compiled code; then a search for a byte costs less than any array operation.
        blocked = (self._all[first:] < processors).tobytes()
        while (at := blocked.find(0, obstacle + 1)) >= 0:
            step = first + at
            time = times[step] + held
            obstacle = blocked.find(1, at + 1)
            if obstacle < 0 or times[first + obstacle] >= time:
                return step, self.least(step, bisect_left(times, time, step + 1))
        return len(times), 0

    def gap(
        self, over: int, processors: int, held: float, since: float, until: float
    ) -> tuple[int, float]:
        """Return the first step, of those that begin at `since` or later and before `until`, from
        which at least `processors` processors are free throughout a duration `held` that is over
        when step `over` begins; `over` if there is none. Return also a duration such that for it,
        and for all longer ones, no earlier step would do."""
        times, longest, obstacle = self.times, 0.0, -1
        first = bisect_left(times, since)
        blocked = (self._all[first:over] < processors).tobytes()
        while (at := blocked.find(0, obstacle + 1)) >= 0 and times[first + at] < until:
            step, obstacle = first + at, blocked.find(1, at + 1)
            if obstacle < 0:
                obstacle = over - first
            end = times[first + obstacle]
            if end >= times[step] + held:
                return step, longest
            longest = max(longest, end * (1 + ROUNDING) - times[step])
        return over, longest

    def take(self, step: int, processors: int, held: float) -> None:
        """Reserve `processors` processors from times[step] for a duration `held`: that many fewer
        are free then."""
        self._add(-processors, step, self._break(self.times[step] + held, step))

    def change(self, processors: int, step: int, end: float) -> None:
        """Count `processors` processors more (fewer, if negative) as free from times[step] until
        the time `end`."""
        self._add(processors, step, self._break(end, step))

    def at(self, time: float) -> int:
        """Return the index of the last step that begins at `time`; insert one if there is none.
        `time` is now or later."""
        step = bisect_right(self.times, time) - 1
        if self.times[step] != time:
            step += 1
            self._insert(step, time)
        return step

    def release(self, start: float, end: float, processors: int) -> None:
        """Count `processors` processors more as free over [start, end), because a run has ended
        early or a reservation is given up. `start` is now or later."""
        first = bisect_left(self.times, start)
        if first == len(self.times) or self.times[first] != start:
            first = self._break(start, first - 1)
        self._add(processors, first, self._break(end, first))

    def slide(self, start: float, step: int, processors: int, held: float, at: int) -> None:
        """Move a reservation of `processors` processors for a duration `held` from the time `start`
        to the earlier time times[step]. `at` is the first step that begins at `start` or later."""
        times, begin = self.times, self.times[step]
        if begin + held <= start:
            self.take(step, processors, held)
            self.release(start, start + held, processors)
            return
        # Only the parts that do not overlap change: most jobs slide by a step or two.
        if at == len(times) or times[at] != start:
            self._insert(at, start)
        self._add(-processors, step, at)
        first = self._break(begin + held, at)
        self._add(processors, first, self._break(start + held, first - 1))

    def merge(self) -> None:
        """Remove the steps at which the number of free processors does not change."""
        counts = self._all
        differs = np.empty(len(counts), dtype=bool)
        differs[0] = True
        np.not_equal(counts[1:], counts[:-1], out=differs[1:])
        self.times = list(compress(self.times, differs.tolist()))
        self.counts = array("q", counts[differs].tobytes())

    def advance(self, now: float) -> None:
        """Move the beginning of the profile to the time `now`. The caller guarantees that all
        changes expected by then have come as expected."""
        passed = bisect_right(self.times, now) - 1
        if passed > 0:
            del self.times[:passed], self.counts[:passed]
        self.times[0] = now

    def _break(self, time: float, after: int) -> int:
        """Return the index of the step that begins at `time`; insert one if there is none. The
        search begins behind step `after`."""
        times = self.times
        i = bisect_left(times, time, after + 1)
        if i == len(times) or times[i] != time:
            self._insert(i, time)
        return i

    def _insert(self, step: int, time: float) -> None:
        self.times.insert(step, time)
        self.counts.insert(step, self.counts[step - 1])

    @property
    def _all(self) -> NDArray[np.int64]:
        """The counts of all steps as a numpy view of the same memory. It must not be kept, because
        no count can be inserted while it exists."""
        return np.frombuffer(self.counts, dtype=np.int64)

    def least(self, step: int, end: int) -> int:
        """Return the least number of processors that are free in the steps from `step` on, before
        step `end`."""
        if end - step <= FEW:
            return min(self.counts[step:end])
        return int(np.minimum.reduce(self._all[step:end]))

    def _add(self, processors: int, step: int, end: int) -> None:
        counts = self.counts
        if end - step <= FEW:
            for i in range(step, end):
                counts[i] += processors
        else:
            self._all[step:end] += processors


def profile_of_changes(now: float, free: int, changes: Iterable[tuple[float, int]]) -> FreeProfile:
    """Return the profile at the time `now`, at which `free` processors are free; `changes` has
    pairs (time, number of processors that become free then), sorted."""
    times, frees = _steps(now, free, changes)
    return FreeProfile(times, array("q", frees))


class Places(Protocol):
    """A profile over time in which jobs are given the earliest place where they fit."""

    times: list[float]

    def earliest(
        self, processors: int, held: float, since: float | None = None
    ) -> tuple[int, int]: ...

    def take(self, step: int, processors: int, held: float) -> None: ...


Kind = tuple[int, float]
"""Kind of a job, (processors, held), on which its reservation depends."""


def run_of_twins(kinds: Sequence[Kind], first: int, limit: int) -> int:
    """Return the position after the last of the jobs, from position `first` on, that follow each
    other in `kinds` and are of the same kind (processors, held); at most `limit`."""
    kind, end = kinds[first], first + 1
    while end < limit and kinds[end] == kind:
        end += 1
    return end


def newcomers(queue: Sequence[Queued], known: int, *placed: Container[int]) -> list[Queued]:
    """Return the jobs of `queue`, in its order, that have arrived since the last decision: all but
    `known`, those whose indices are in one of `placed`.

    The search goes backwards because most orders put new jobs last.
    """
    missing, found = len(queue) - known, list[Queued]()
    for waiting in reversed(queue if missing > 0 else ()):
        index = waiting.key[1]
        if not any(index in some for some in placed):
            found.append(waiting)
            if len(found) == missing:
                break
    return found[::-1]


@define(eq=False)
class Filling:
    """Reserves processors in a profile for the jobs of a queue. Jobs of one kind, with the same
    processors and duration, that follow each other are reserved in one step."""

    free_profile: Places
    _since: dict[Kind, float] = field(factory=dict)
    """Maps each kind to the time before which no job of it fits. Reservations only reduce the room,
    so the time never moves back."""

    def promise(self, kind: Kind, now: int, later: int) -> tuple[int, int]:
        """Reserve the earliest place for one job of this kind, and for as many more of the kind as
        fit beside it: up to `now` jobs in all if they start now, else up to `later`. Return (step
        of the profile at which they start, number of jobs)."""
        free_profile, (processors, held) = self.free_profile, kind
        step, room = free_profile.earliest(processors, held, self._since.get(kind))
        self._since[kind] = free_profile.times[step]
        count = min(later if step else now, room // processors)
        free_profile.take(step, count * processors, held)
        return step, count

    def squeeze(self, kind: Kind, most: int) -> int:
        """Reserve processors from now on for as many jobs of this kind as can start now without
        taking reserved processors, at most `most`. Return how many can."""
        processors, held = kind
        assert isinstance(self.free_profile, FreeProfile)
        count = min(most, self.free_profile.room(0, held) // processors)
        if count:
            self.free_profile.take(0, count * processors, held)
        return count


@define(eq=False)
class Horizon:
    """Tracks the position of the queue behind which no job could start now, `end`. Reservations for
    jobs behind it need not be made unless they are kept."""

    free_profile: FreeProfile
    _last: dict[Kind, int]
    """Maps each kind that fits now to the last position of a job of this kind."""
    end: int = 0
    _rest: int = 0
    """Number of calls of `review` to skip before the next one computes, so that reviews do not cost
    more than they save."""

    @classmethod
    def of(cls, free_profile: FreeProfile, kinds: Sequence[Kind]) -> Horizon:
        """Return the horizon of a queue whose jobs are of these kinds, in its order."""
        horizon = cls(free_profile, {kind: at for at, kind in enumerate(kinds)})
        horizon.review()
        return horizon

    def review(self) -> None:
        """Compute the horizon anew after reservations have been made, if enough calls have passed
        since it was last computed."""
        self._rest -= 1
        if self._rest >= 0:
            return
        times, lowest = self.free_profile.times, self.free_profile.lowest()
        now, free = times[0], lowest[0]
        self._last = {
            (processors, held): at
            for (processors, held), at in self._last.items()
            if processors <= free and processors <= lowest[bisect_left(times, now + held, 1) - 1]
        }
        self.end = max(self._last.values(), default=-1) + 1
        # A review passes over all kinds that may still start, so it is repeated less often if they
        # are many.
        self._rest = 4 + len(self._last) // 8


@define(eq=False)
class Sought:
    """Keeps how far searches for places were in vain, for jobs of one partition in the order of
    their starts. A job that needs as many processors or more, for as long or longer, has none there
    either: what hinders the one before its own start hinders the other."""

    _tried: list[tuple[int, float, float]] = field(factory=list)
    """(processors, duration, time before which there is no place), the latest last."""

    def before(self, processors: int, held: float) -> tuple[float, float]:
        """Return a time before which no job that needs so many processors has a place, and the
        shortest duration, at most `held`, for which this is known; (-inf, 0) if no such time is
        known."""
        # The latest entry that applies nearly always has the latest time.
        for least, shortest, time in reversed(self._tried):
            if least <= processors and shortest <= held:
                return time, shortest
        return -inf, 0.0

    def add(self, processors: int, shortest: float, time: float) -> None:
        """Record that no job that needs so many processors for the duration `shortest` or longer
        has a place before `time`."""
        tried = self._tried
        while tried:
            least, longer, until = tried[-1]
            if least < processors or longer < shortest or until > time:
                break
            tried.pop()
        tried.append((processors, shortest, time))
        if len(tried) > KEPT:
            del tried[: KEPT // 2]
