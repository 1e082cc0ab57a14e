"""Free processors as they are expected to be from now on: where reservations are made."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import compress

import numpy as np
from attrs import define
from numpy.typing import NDArray

from policies.interface.queue import Reservation, Run


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


least = np.minimum.reduce


@define(eq=False)
class Outlook:
    """A step function: frees[i] processors over [times[i], times[i+1]).

    It is changed, not made again: a reservation costs two searches among the times, each of
    logarithmic time, and passes over its steps in compiled code (`python -m sims.bench queues`).
    """

    times: list[float]
    _counts: NDArray[np.int64]
    """Of each step; behind the last one there is room for more."""

    @classmethod
    def of(
        cls,
        now: float,
        free: int,
        running: Iterable[Run],
        promises: Iterable[Reservation] = (),
    ) -> Outlook:
        """What `running` gives back and what later `promises` take and give back."""
        changes = [(run[0], run[2]) for run in running]
        for promise in promises:
            waiting = promise.waiting
            changes.append((promise.start, -waiting.processors))
            changes.append((promise.start + waiting.held, waiting.processors))
        changes.sort()
        times, frees = _steps(now, free, changes)
        counts = np.empty(2 * len(frees) + 16, dtype=np.int64)
        counts[: len(frees)] = frees
        return cls(times, counts)

    @property
    def frees(self) -> list[int]:
        """Free processors, by step."""
        return list(map(int, self._counts[: len(self.times)]))

    @property
    def free_now(self) -> int:
        return int(self._counts[0])

    @property
    def overdue(self) -> bool:
        """Whether processors should be free by now, and are not."""
        return len(self.times) > 1 and self.times[1] == self.times[0]

    def lowest(self) -> list[int]:
        """By step, the fewest that are free from now up to its end: what fits now is below."""
        lowest: list[int] = np.minimum.accumulate(self._counts[: len(self.times)]).tolist()
        return lowest

    def fits(self, step: int, processors: int, held: float) -> bool:
        """Whether `processors` stay free for `held` from times[step] on."""
        return self.room(step, held) >= processors

    def room(self, step: int, held: float) -> int:
        """How many processors stay free for `held` from times[step] on."""
        end = bisect_left(self.times, self.times[step] + held, step + 1)
        return int(least(self._counts[step:end]))

    def earliest(self, processors: int, held: float, since: float | None = None) -> tuple[int, int]:
        """The first step, beginning `since` or later, from which `processors` stay free for `held`,
        and how many do; 0 is now."""
        first = 0 if since is None else bisect_left(self.times, since)
        return self._search(processors, held, first, len(self.times))

    def sooner(
        self, processors: int, held: float, since: float, start: float
    ) -> tuple[int, int] | None:
        """As `earliest`, before `start`, from when on somebody has `processors` for `held` who
        would give them up; None: there is nothing sooner."""
        first, last = bisect_left(self.times, since), bisect_left(self.times, start)
        if first >= last:
            return None
        step, room = self._search(processors, held, first, last)
        return (step, room) if step < last else None

    def _search(self, processors: int, held: float, step: int, last: int) -> tuple[int, int]:
        """From step `step` on, as if there were enough from step `last` on."""
        # One pass in compiled code; from then on, looking for a byte costs less than any array.
        times, first = self.times, step
        blocked = (self._counts[first:last] < processors).tobytes()
        while (at := blocked.find(0, step - first)) >= 0:
            step = first + at
            end = bisect_left(times, times[step] + held, step + 1, last)
            obstacle = blocked.find(1, at + 1, end - first)
            if obstacle < 0:
                return step, int(least(self._counts[step:end]))
            step = first + obstacle + 1
        return last, 0

    def take(self, step: int, processors: int, held: float) -> None:
        """Use `processors` from times[step] for `held`."""
        end = self._break(self.times[step] + held, step)
        self._counts[step:end] -= processors

    def give(self, start: float, end: float, processors: int) -> None:
        """Nobody uses `processors` over [start, end) any more; `start` is now or later."""
        first = bisect_left(self.times, start)
        if first == len(self.times) or self.times[first] != start:
            first = self._break(start, first - 1)
        last = self._break(end, first)  # before `_counts` is looked at, which it may replace
        self._counts[first:last] += processors

    def merge(self) -> None:
        """Forget the steps at which nothing changes any more."""
        count = len(self.times)
        differs = np.empty(count, dtype=bool)
        differs[0] = True
        np.not_equal(self._counts[1:count], self._counts[: count - 1], out=differs[1:])
        self.times = list(compress(self.times, differs.tolist()))
        self._counts[: len(self.times)] = self._counts[:count][differs]

    def advance(self, now: float) -> None:
        """Time has passed, and all went as was expected."""
        passed = bisect_right(self.times, now) - 1
        if passed > 0:
            count = len(self.times)
            self._counts[: count - passed] = self._counts[passed:count]
            del self.times[:passed]
        self.times[0] = now

    def _break(self, time: float, after: int) -> int:
        """The step that begins at `time`, made where there is none."""
        times = self.times
        i, count = bisect_left(times, time, after + 1), len(times)
        if i == count or times[i] != time:
            if count == len(self._counts):
                self._counts = np.concatenate([self._counts, np.empty_like(self._counts)])
            self._counts[i + 1 : count + 1] = self._counts[i:count]
            self._counts[i] = self._counts[i - 1]
            times.insert(i, time)
        return i
