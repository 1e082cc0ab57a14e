"""The loop under a wall clock: the same instants, phases and order, but it waits for real time, and
for real work.

A message that ends something which takes real time (a part of a run, a transfer) is *carried*: its
entry comes when the work is really complete, at its nominal time if that is no later than this by
the clock's tolerance, else at the time of completion. Real work is paced: it is never early. All
other timers come at their nominal times. So a log's times are nominal but for what was late.

It is a loop of its own, and not that of the processes' client: that one stays open over many runs
and orders its callbacks as they come, this one lives for one run and orders them by instant, phase
and number. What comes from outside comes by `Outside.wait`, the one place where it blocks.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from heapq import heappush
from typing import Protocol

from actors.runtime.entries import Phase, Receiver, Timer, end_of_instant
from actors.runtime.loop import VirtualTimeLoop

Injected = tuple[Phase, Receiver, object, int]
"""A message from outside, as `schedule` takes it."""
Arrival = tuple[float, Timer | Injected]
"""What has come, and when: a carried entry whose work is complete, or a message."""


class Outside(Protocol):
    """What happens in real time; its times are in the scenario's unit, from the run's start."""

    carried: frozenset[type]
    """Classes of messages whose entries wait for real work."""
    tolerance: float
    """How late work may be that counts as on time."""

    def begin(self, entry: Timer) -> None:
        """Begin the real work that is complete at the entry's due time."""

    def stop(self, entry: Timer) -> None:
        """That work is not wanted any more."""

    def wait(self, until: float) -> Sequence[Arrival]:
        """What has come since it was asked last; blocks until something has, or until this time.
        Raises what went wrong outside."""

    def now(self) -> float:
        """The wall clock."""


class WallClockLoop(VirtualTimeLoop):
    """A virtual-time loop whose clock keeps to the wall's; see the module's docstring."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(0.0)
        self._outside = outside
        self._coming: list[Timer] = []
        """What is due at a later instant, in order: the heap has the present instant only."""
        self._open: dict[int, Timer] = {}
        """Carried entries whose work is not complete."""

    def schedule(
        self, when: float, phase: Phase, target: Receiver, message: object, cause: int
    ) -> Timer:
        if not self.due_by < when < math.inf:
            return super().schedule(when, phase, target, message, cause)
        order = next(self._orders[phase])
        entry = [when, order, target, message, cause]
        insort(self._coming, entry)
        if message.__class__ in self._outside.carried:
            self._open[order] = entry
            self._outside.begin(entry)
        return entry

    def cancel(self, timer: Timer) -> None:
        if self._open.pop(timer[1], None) is not None:
            self._outside.stop(timer)
        if timer in self._coming:
            self._coming.remove(timer)
        super().cancel(timer)

    def _idle(self) -> bool:
        """Wait for the next instant, and put what is due then on the heap."""
        until = -math.inf
        while self._coming or self._open:
            for time, it in self._outside.wait(until):
                self._arrive(time, it)
            due = self._coming[0][0] if self._coming else math.inf
            end = end_of_instant(due)
            awaited = [it for it in self._open.values() if it[0] <= end and it in self._coming]
            until = due + self._outside.tolerance if awaited else due
            if self._outside.now() < until:
                continue
            for late in awaited:
                self._coming.remove(late)  # it comes back once its work is complete
            if awaited:
                until = -math.inf
                continue
            while self._coming and self._coming[0][0] <= end:
                heappush(self._heap, self._coming.pop(0))
            return True
        return False

    def _arrive(self, time: float, it: Timer | Injected) -> None:
        next_instant = max(time, math.nextafter(self.due_by, math.inf))
        if isinstance(it, tuple):
            insort(self._coming, [next_instant, next(self._orders[it[0]]), *it[1:]])
        elif self._open.pop(it[1], None) is not None:
            if it in self._coming:
                if time <= it[0] + self._outside.tolerance:
                    return
                self._coming.remove(it)
            it[0] = next_instant
            insort(self._coming, it)
