"""An event loop under a wall clock: the same instants, phases and order as in virtual time, but it
waits for real time and for real work.

A message that ends an activity which takes real time (a part of a run, a transfer) is *carried*:
its entry comes when the work is really complete. That is its nominal time if the work is late by no
more than the clock's tolerance, otherwise the time of completion. Real work is paced, so it is
never early. All other timers come at their nominal times. So a log's times are nominal except where
work was late.

Where the outside is *free* of a pace, a carried entry comes when its work is complete, however
early or late that is, and nothing is known of it before.

This loop is not that of the processes' client: that one stays open over many runs and orders its
callbacks as they come, this one lives for one run and orders them by instant, phase and number.
What comes from outside comes by `Outside.wait`, the only place where the loop blocks.
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
"""A message from outside: the phase, target, message and cause that `schedule` takes."""
Arrival = tuple[float, Timer | Injected]
"""An arrival from outside: its time, and a carried entry whose work is complete or a message."""


class Outside(Protocol):
    """The outside world in real time; its times are in the scenario's unit, from the run's
    start."""

    carried: frozenset[type]
    """Classes of the messages whose entries wait for real work."""
    tolerance: float
    """Largest delay with which work still counts as on time."""
    free: bool
    """Whether real work has no nominal time to keep, and takes what it takes."""

    def begin(self, entry: Timer) -> None:
        """Begin the real work that a carried entry stands for, which should end at the entry's due
        time."""

    def stop(self, entry: Timer) -> None:
        """Stop the real work that a carried entry stands for, as its result is not needed any
        more."""

    def wait(self, until: float) -> Sequence[Arrival]:
        """Return the arrivals since the last call; block until there is one, or until the time
        `until`. Raises any error that occurred outside."""

    def now(self) -> float:
        """Return the present time of the wall clock, in the scenario's unit from the run's
        start."""

    def measured(self, entry: Timer) -> tuple[Receiver, object]:
        """Return the receiver and the message by which a carried entry is delivered once its real
        work, which had no nominal time, is complete. The receiver logs how long the work took, then
        hands the entry's own message on to its target."""


class WallClockLoop(VirtualTimeLoop):
    """A virtual-time loop that keeps pace with the wall clock: it waits in real time for each
    instant, and for real work that is carried out outside."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(0.0)
        self._outside = outside
        self.together = not outside.free
        self._coming: list[Timer] = []
        """Entries due at a later instant, in order; the heap holds those of the present instant
        only."""
        self._open: dict[int, Timer] = {}
        """Carried entries whose real work is not complete, by the entry's order."""

    def schedule(
        self, when: float, phase: Phase, target: Receiver, message: object, cause: int
    ) -> Timer:
        carried, momentary = message.__class__ in self._outside.carried, when <= self.due_by
        # A free part may have taken longer than its nominal time when a worker returns to it; only
        # a last verification may take no time.
        free = carried and self._outside.free and not (momentary and phase is Phase.RUNS_END)
        if when == math.inf or (momentary and not free):
            return super().schedule(when, phase, target, message, cause)
        order = next(self._orders[phase])
        entry = [when, order, target, message, cause]
        if not free:
            insort(self._coming, entry)
        if carried:
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
        """Wait in real time for the next instant, and move the entries that are due then to the
        heap. Return whether there are any; False means that nothing is left to come."""
        until = -math.inf
        while self._coming or self._open:
            for time, it in self._outside.wait(until):
                self._arrive(time, it)
            due = self._coming[0][0] if self._coming else math.inf
            end = end_of_instant(due)
            awaited = [it for it in self._open.values() if it[0] <= end and it in self._coming]
            # Work may be late by the tolerance: only then does the clock go on without it.
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
        # Nothing from outside enters an instant that has begun: its order is settled.
        next_instant = max(time, math.nextafter(self.due_by, math.inf))
        if isinstance(it, tuple):
            insort(self._coming, [next_instant, next(self._orders[it[0]]), *it[1:]])
        elif self._open.pop(it[1], None) is not None:
            if it in self._coming:
                if time <= it[0] + self._outside.tolerance:
                    return
                self._coming.remove(it)
            if self._outside.free:
                it[2:4] = self._outside.measured(it)
            it[0] = next_instant
            insort(self._coming, it)
