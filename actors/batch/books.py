"""What a batch scheduler knows: its queue, what runs, what is free; also a strategy's view."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice
from operator import attrgetter, itemgetter

from attrs import Factory, define

from actors.batch.pool import Intervals, Numbers
from actors.runtime import VirtualTimeLoop
from policies.interface.batch import Queued, Reservation, Run


@define(eq=False)
class Books:
    """Satisfies policies.interface.batch.BatchView."""

    loop: VirtualTimeLoop
    processors: int
    numbers: Numbers | None
    """None where no log wants them: counting alone costs a fifth."""
    free: int
    queue: list[Queued] = Factory(list)
    failed: list[Queued] = Factory(list)
    shelf_end: float | None = None
    reservations: dict[int, Reservation] = Factory(dict)
    _keys: list[tuple[float, int]] = Factory(list)
    _widths: list[int] = Factory(list)
    """Allotments, in the queue's order."""
    _least: int = 0
    """0: to be looked up."""
    _runs: dict[int, Run] = Factory(dict)
    _by_end: list[Run] = Factory(list)
    former: dict[int, Intervals] = Factory(dict)
    """By job index: the processors of the attempts that ended at this instant."""
    up: int = Factory(attrgetter("processors"), takes_self=True)
    _struck: dict[int, list[tuple[int, float]]] = Factory(dict)
    """By job index: its processors that went DOWN, while it still holds them, with when they will
    be back."""

    @property
    def now(self) -> float:
        return self.loop.now

    @property
    def least(self) -> int:
        if not self._least:
            self._least = min(self._widths) if self._widths else self.processors + 1
        return self._least

    @property
    def running(self) -> Sequence[Run]:
        """By expected end. Sorted only when somebody looks, and nearly sorted then: the new runs
        are the dictionary's last."""
        alive = self._runs
        runs = [run for run in self._by_end if alive.get(run[1]) is run]
        runs.extend(islice(reversed(alive.values()), len(alive) - len(runs)))
        runs.sort(key=_end)
        self._by_end = runs
        return runs

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits in the queue."""
        return not self.queue and len(self._runs) == self.processors - self.up

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

    def start(self, waiting: Queued) -> Intervals:
        """Move `waiting` from the queue to its processors.

        Raises ValueError where it is not in the queue, or too few processors are free.
        """
        keys, queue, key, processors = self._keys, self.queue, waiting.key, waiting.processors
        place = bisect_left(keys, key)
        if place == len(keys) or queue[place] is not waiting:
            raise ValueError(f"{waiting.job.name} is not in the queue")
        if processors > self.free:
            raise ValueError(f"{waiting.job.name} needs {processors}, more than are free")
        del keys[place], queue[place], self._widths[place]
        self.free -= processors
        # To look for a twin first saves thousands of one-processor jobs a third of their time.
        if processors == self._least and processors not in self._widths:
            self._least = 0
        index = key[1]
        numbers: Intervals = ()
        if self.numbers is not None:
            numbers = self.numbers.take(processors, self.former.get(index, ()))
        self._runs[index] = self.loop.now + waiting.held, index, processors, waiting, numbers
        return numbers

    def end(self, index: int) -> Queued:
        """Take back the processors of job `index`; what ran is returned."""
        _, _, processors, waiting, numbers = self._runs.pop(index)
        assert waiting is not None
        self.free += processors
        if self.numbers is not None:
            self.numbers.give(numbers)
            self.former[index] = numbers
        return waiting

    def fail(self, processor: int, until: float) -> int | None:
        """This processor is DOWN. Where a job ran on it: its index, at the first such processor;
        its processors are then to be taken back by `lose`."""
        index = next((run[1] for run in self._runs.values() if _holds(run, processor)), None)
        if index is None:
            self._take_down(processor, until)
            return None
        lost = self._struck.setdefault(index, [])
        lost.append((processor, until))
        return index if len(lost) == 1 else None

    def lose(self, index: int) -> Queued:
        """As `end`, but what is DOWN stays away."""
        waiting = self.end(index)
        for processor, until in self._struck.pop(index):
            self._take_down(processor, until)
        return waiting

    def repair(self, processor: int) -> None:
        """This processor is back."""
        numbers = self._runs.pop(~processor)[4]
        assert self.numbers is not None
        self.numbers.give(numbers)
        self.free += 1
        self.up += 1

    def _take_down(self, processor: int, until: float) -> None:
        # As a run of nobody's: strategies count on its processor when it will be back.
        assert self.numbers is not None
        self.numbers.remove(processor)
        self._runs[~processor] = until, ~processor, 1, None, ((processor, processor),)
        self.free -= 1
        self.up -= 1

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


def _holds(run: Run, processor: int) -> bool:
    return any(first <= processor <= last for first, last in run[4])


_end = itemgetter(0, 1)

_key = attrgetter("key")
