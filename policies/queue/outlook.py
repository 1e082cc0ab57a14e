"""Free processors as they are expected to be from now on: where reservations are made."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from attrs import define

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


@define
class Outlook:
    """A step function: frees[i] processors over [times[i], times[i+1])."""

    times: list[float]
    frees: list[int]

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
        return cls(*_steps(now, free, changes))

    @property
    def free_now(self) -> int:
        return self.frees[0]

    def fits(self, step: int, processors: int, held: float) -> bool:
        """Whether `processors` stay free for `held` from times[step] on."""
        return self._obstacle(step, processors, self.times[step] + held) is None

    def _obstacle(self, step: int, processors: int, end: float) -> int | None:
        times, frees = self.times, self.frees
        for i in range(step, len(times)):
            if i > step and times[i] >= end:
                return None
            if frees[i] < processors:
                return i
        return None

    def earliest(self, processors: int, held: float) -> int:
        """The first step from which `processors` stay free for `held`; 0 is now."""
        step, frees = 0, self.frees
        while True:
            while frees[step] < processors:
                step += 1
            obstacle = self._obstacle(step, processors, self.times[step] + held)
            if obstacle is None:
                return step
            step = obstacle + 1

    def take(self, step: int, processors: int, held: float) -> None:
        """Use `processors` from times[step] for `held`."""
        end = self._break(self.times[step] + held, step)
        for i in range(step, end):
            self.frees[i] -= processors

    def _break(self, time: float, after: int) -> int:
        """The step that begins at `time`, made where there is none."""
        i = bisect_left(self.times, time, after + 1)
        if i == len(self.times) or self.times[i] != time:
            self.times.insert(i, time)
            self.frees.insert(i, self.frees[i - 1])
        return i
