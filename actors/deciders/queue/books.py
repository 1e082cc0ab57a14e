"""What the queue's decider knows: who waits, what runs until when; also a strategy's view."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice
from operator import attrgetter, itemgetter

from attrs import Factory, define

from actors.intervals import Intervals
from actors.pool import Pool
from actors.runtime import VirtualTimeLoop
from policies.interface.queue import Queued, Reservation, Run


@define(eq=False)
class Books:
    """Satisfies policies.interface.queue.BatchView."""

    loop: VirtualTimeLoop
    pool: Pool
    queue: list[Queued] = Factory(list)
    failed: list[Queued] = Factory(list)
    shelf_end: float | None = None
    reservations: dict[int, Reservation] = Factory(dict)
    _keys: list[tuple[float, int]] = Factory(list)
    _widths: list[int] = Factory(list)
    """Allotments, in the queue's order."""
    _least: int = 0
    """0: to be looked up."""
    runs: dict[int, Run] = Factory(dict)
    """By copy."""
    _by_end: list[Run] = Factory(list)
    former: dict[int, Intervals] = Factory(dict)
    """By job index: the workers of the copies that ended at this instant."""

    @property
    def processors(self) -> int:
        return self.pool.size

    @property
    def free(self) -> int:
        return self.pool.free

    @property
    def busy(self) -> bool:
        return bool(self.runs)

    @property
    def now(self) -> float:
        return self.loop.now

    @property
    def least(self) -> int:
        if not self._least:
            self._least = min(self._widths) if self._widths else self.pool.size + 1
        return self._least

    @property
    def running(self) -> Sequence[Run]:
        """By expected end. Sorted only when somebody looks, and nearly sorted then: the new runs
        are the dictionary's last."""
        alive = self.runs
        runs = [run for run in self._by_end if alive.get(run[5]) is run]
        runs.extend(islice(reversed(alive.values()), len(alive) - len(runs)))
        runs.sort(key=_end)
        self._by_end = runs
        if not self.pool.away:
            return runs
        # As runs of nobody's: strategies count on its worker when it will be back.
        absent = [(until, ~n, 1, None, ((n, n),), ~n) for n, until in self.pool.absent()]
        return sorted([*runs, *absent], key=_end)

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits in the queue."""
        return not self.queue and not self.runs

    def enqueue(self, waiting: Queued) -> None:
        """Insert by priority."""
        place = bisect_left(self._keys, waiting.key)
        self._keys.insert(place, waiting.key)
        self.queue.insert(place, waiting)
        self._widths.insert(place, waiting.processors)
        if waiting.processors < self._least:
            self._least = waiting.processors

    def requeue(self, waiting: Queued) -> None:
        """Insert a job whose attempt failed at this instant."""
        self.enqueue(waiting)
        self.failed.append(waiting)

    def enqueue_all(self, many: Sequence[Queued]) -> None:
        """Insert many at once."""
        if self.queue or len(many) == 1:
            for waiting in many:
                self.enqueue(waiting)
            return
        self.queue.extend(sorted(many, key=_key))
        self._keys.extend([waiting.key for waiting in self.queue])
        self._widths.extend([waiting.processors for waiting in self.queue])
        self._least = 0

    def leave(self, waiting: Queued) -> None:
        """Take `waiting` out of the queue: it starts.

        Raises ValueError where it is not in the queue, or too few workers are free.
        """
        keys, queue, key, processors = self._keys, self.queue, waiting.key, waiting.processors
        place = bisect_left(keys, key)
        if place == len(keys) or queue[place] is not waiting:
            raise ValueError(f"{waiting.job.name} is not in the queue")
        if processors > self.pool.free:
            raise ValueError(f"{waiting.job.name} needs {processors}, more than are free")
        del keys[place], queue[place], self._widths[place]
        # To look for a twin first saves thousands of one-processor jobs a third of their time.
        if processors == self._least and processors not in self._widths:
            self._least = 0

    def forget_instant(self) -> None:
        """The instant has been decided on: what failed in it is history."""
        self.failed.clear()
        self.former.clear()

    def keep(self, promises: Sequence[Reservation]) -> list[Reservation]:
        """Store a decision's reservations; those not stored before are returned."""
        known = self.reservations
        new = [promise for promise in promises if known.get(promise.waiting.key[1]) is not promise]
        self.reservations = {promise.waiting.key[1]: promise for promise in promises}
        return new


_end = itemgetter(0, 1)

_key = attrgetter("key")
