"""Holds the state of the queue's decider (waiting jobs and running copies), which is also a
strategy's view."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import reduce
from itertools import islice
from math import inf
from operator import attrgetter

from attrs import Factory, define, frozen

from actors.intervals import Intervals, among, members, merged, without
from actors.pool import Pool
from actors.runtime import VirtualTimeLoop
from policies.interface.cells import Cells
from policies.interface.queue import BatchView, Decision, Queued, Reservation, Run


@define(eq=False)
class QueueState:
    """State of the queue's decider: the waiting jobs and the running copies, as a strategy sees
    them (satisfies policies.interface.queue.BatchView)."""

    loop: VirtualTimeLoop
    pool: Pool
    queue: list[Queued] = Factory(list)
    failed: list[Queued] = Factory(list)
    shelf_end: float | None = None
    reservations: dict[int, Reservation] = Factory(dict)
    memory: object = None
    early: list[Run] = Factory(list)
    moved: bool = False
    cancelled: list[int] = Factory(list)
    resumable: Collection[int] = ()
    compared: bool = True
    """Whether the sort keys of running jobs, of which there may be thousands, are kept up to date.
    Only a policy that compares running jobs with waiting ones needs them."""
    _keys: list[tuple[float, int]] = Factory(list)
    _widths: list[int] = Factory(list)
    """Allotments of the waiting jobs, in the queue's order."""
    _least: int = 0
    """The smallest allotment in the queue; 0 if it has to be computed again."""
    runs: dict[int, Run] = Factory(dict)
    """Maps each copy to its run."""
    _by_end: list[Run] = Factory(list)
    _sorted: tuple[int, int] = (0, -1)
    """Number of runs and the latest copy when `_by_end` was sorted. If either has changed, it has
    to be sorted again, because a copy's number is not used again."""
    cells: Cells | None = None
    changed: list[int] = Factory(list)
    resized: set[int] = Factory(set)
    """Indices of jobs whose number of workers has changed since the last reservations."""
    former: dict[int, Intervals] = Factory(dict)
    """Maps a job's index to the workers of its copies that ended at this instant."""

    @property
    def processors(self) -> int:
        return self.pool.size

    @property
    def free(self) -> int:
        return self.pool.free

    @property
    def vacant(self) -> Intervals:
        numbers = self.pool.numbers
        return () if numbers is None else numbers.intervals()

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
        """Running attempts, and workers that are not UP and that no copy holds, in the form of runs
        without a job; by expected end, then by job index.

        They are sorted only on access, and nearly sorted then: the new runs are the dictionary's
        last.
        """
        alive = self.runs
        latest = len(alive), next(reversed(alive), -1)
        if latest == self._sorted:
            runs = self._by_end
        else:
            self._sorted = latest
            self._by_end = runs = self._in_order(alive)
        if not self.pool.away:
            return runs
        # Absent workers are listed as runs without a job: strategies count on the worker from its
        # return on.
        absent = [_absent_run(n, until) for n, until in self.pool.absent()]
        return sorted([*runs, *absent], key=_end)

    def absent(self, run: Run) -> Sequence[Run]:
        away = self.pool.away
        return [_absent_run(n, away[n]) for n in among(run.numbers, away)] if away else ()

    def without(self, gone: Sequence[Run]) -> BatchView:
        return view_without(self, gone)

    def _in_order(self, alive: dict[int, Run]) -> list[Run]:
        runs = [run for run in self._by_end if alive.get(run.copy) is run]
        runs.extend(islice(reversed(alive.values()), len(alive) - len(runs)))
        runs.sort(key=_end)
        return runs

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits in the queue."""
        return not self.queue and not self.runs

    def enqueue(self, waiting: Queued) -> None:
        """Insert a job's entry into the queue, at the place that its sort key gives it."""
        # Keys and widths are lists beside the queue, so that a search needs no look-up of
        # attributes.
        place = bisect_left(self._keys, waiting.key)
        self._keys.insert(place, waiting.key)
        self.queue.insert(place, waiting)
        self._widths.insert(place, waiting.processors)
        if waiting.processors < self._least:
            self._least = waiting.processors

    def resize(self, waiting: Queued, processors: int) -> None:
        """Set the number of free workers that a waiting job needs to start to `processors`. If the
        job has a reservation, that of the next decision counts as a new one."""
        place = bisect_left(self._keys, waiting.key)
        waiting.processors = self._widths[place] = processors
        self._least = 0
        self.resized.add(waiting.key[1])

    def requeue(self, waiting: Queued) -> None:
        """Insert the entry of a job whose run failed, was lost or was cancelled at this instant,
        and add it to `failed`."""
        self.enqueue(waiting)
        self.failed.append(waiting)

    def enqueue_all(self, many: Sequence[Queued]) -> None:
        """Insert the entries of many jobs, each at its place. For an empty queue this is faster
        than one by one."""
        if self.queue or len(many) == 1:
            for waiting in many:
                self.enqueue(waiting)
            return
        self.queue.extend(sorted(many, key=_key))
        self._keys.extend([waiting.key for waiting in self.queue])
        self._widths.extend([waiting.processors for waiting in self.queue])
        self._least = 0

    def leave(self, waiting: Queued) -> None:
        """Remove `waiting` from the queue, because it starts.

        Raises ValueError where it is not in the queue, or too few workers are free.
        """
        keys, queue, key, processors = self._keys, self.queue, waiting.key, waiting.processors
        place = bisect_left(keys, key)
        if place == len(keys) or queue[place] is not waiting:
            raise ValueError(f"{waiting.job.name} is not in the queue")
        if processors > self.pool.free:
            raise ValueError(f"{waiting.job.name} needs {processors}, more than are free")
        del keys[place], queue[place], self._widths[place]
        # Looking for another job of the same size first saves thousands of one-processor jobs a
        # third of their time.
        if processors == self._least and processors not in self._widths:
            self._least = 0

    def withdraw(self, gone: Iterable[Queued]) -> None:
        """Take these entries out of the queue, because their jobs must not start now."""
        left = set(map(id, gone))
        kept = [waiting for waiting in self.queue if id(waiting) not in left]
        self.queue, self._least = kept, 0
        self._keys = [waiting.key for waiting in kept]
        self._widths = [waiting.processors for waiting in kept]
        self.failed = [waiting for waiting in self.failed if id(waiting) not in left]

    def cancel(self, index: int) -> Queued | None:
        """Take the entry of the job with this index, which was cancelled, out of the queue, with
        its reservation. Return the entry; None if the job is not in the queue."""
        waiting = next((it for it in self.queue if it.job.index == index), None)
        if waiting is not None:
            self.withdraw((waiting,))
            self.reservations.pop(index, None)
            self.resized.discard(index)
            self.cancelled.append(index)
            self.moved = True  # what was planned around the job is planned anew
        return waiting

    def sort(self, key: Callable[[Queued], tuple[float, int]]) -> None:
        """Sort the queue anew by this key, which each entry stores. Entries of running jobs get
        their new keys too, if the policy compares them with waiting ones."""
        for run in self.runs.values() if self.compared else ():
            if run.entry is not None:
                run.entry.key = key(run.entry)
        for waiting in self.queue:
            waiting.key = key(waiting)
        self.queue.sort(key=_key)
        self._keys = [waiting.key for waiting in self.queue]
        self._widths = [waiting.processors for waiting in self.queue]

    def replace(self, run: Run) -> None:
        """Replace the run of a copy by `run`, which has the same copy number and another expected
        end or other workers."""
        del self.runs[run.copy]
        self.runs[run.copy] = run
        # This makes `_by_end` out of date, which the number of runs and the latest copy would not
        # show. (0, -1) would not do: it stands for no runs.
        self._sorted = (-1, -1)

    def forget_instant(self) -> None:
        """Clear what strategies see of this instant only: jobs that failed or were cancelled, runs
        that ended early, workers that changed, and the former workers of jobs."""
        self.early.clear()
        self.failed.clear()
        self.former.clear()
        if self.moved:  # as it is wherever the other two have anything
            self.moved = False
            self.cancelled.clear()
            self.changed.clear()

    def keep(self, decision: Decision) -> tuple[list[Reservation], list[Reservation]]:
        """Store a decision's reservations. Return two lists: the reservations that are new or
        changed, and the earlier ones whose jobs continue to wait without a reservation.

        A reservation at infinity promises nothing, because the return of workers is not known; it
        counts as none.
        """
        known, now = self.reservations, {it.waiting.key[1]: it for it in decision.reservations}
        self.reservations = now
        new = [
            it
            for index, it in now.items()
            if it.start < inf and self._differs(known.get(index), it)
        ]
        started = {waiting.key[1] for waiting in decision.starts}
        gone = [
            it
            for index, it in known.items()
            if it.start < inf and index not in started
            if index not in now or now[index].start == inf
        ]
        if self.resized:
            self.resized.clear()
        return new, gone

    def _differs(self, before: Reservation | None, promise: Reservation) -> bool:
        """Return whether the reservation `promise` has to be logged: its job had none (`before` is
        None) or has been resized, or its start differs. A start in the past, of a job behind one
        that outlives its estimate, counts as now, so that it does not change."""
        if before is None or promise.waiting.key[1] in self.resized:
            return True
        return max(before.start, self.now) != max(promise.start, self.now)


def _absent_run(worker: int, until: float) -> Run:
    return Run(until, ~worker, 1, None, ((worker, worker),), ~worker)


_end = attrgetter("end", "index")

_key = attrgetter("key")


@frozen(eq=False)
class ViewWithout:
    """The state of a queue as it would be after some runs are cancelled, for a strategy that asks
    what cancellations would bring (satisfies policies.interface.queue.BatchView). `view` is the
    present state."""

    view: BatchView
    queue: Sequence[Queued]
    free: int
    least: int
    failed: Sequence[Queued]
    running: Sequence[Run]
    memory: object
    early: Sequence[Run]
    vacant: Intervals
    now: float
    processors: int
    shelf_end: float | None
    reservations: Mapping[int, Reservation]
    resumable: Collection[int]
    moved: bool
    cancelled: Collection[int]
    cells: Cells | None
    changed: Collection[int]

    @property
    def busy(self) -> bool:
        return any(run.entry is not None for run in self.running)

    def absent(self, run: Run) -> Sequence[Run]:
        return self.view.absent(run)

    def without(self, gone: Sequence[Run]) -> BatchView:
        return view_without(self, gone)


def view_without(view: BatchView, gone: Sequence[Run]) -> BatchView:
    """Return `view` as it will be once the runs in `gone` are cancelled: their processors that are
    UP are free, and their jobs wait, unless another copy of them runs."""
    over = {run.copy for run in gone}
    left = [run for run in view.running if run.copy not in over]
    absent = [one for run in gone for one in view.absent(run)]
    # A job that has another running copy does not wait.
    on = {run.index for run in left}
    back = {run.index: run.entry for run in gone if run.entry is not None and run.index not in on}
    queue = list(view.queue)
    for waiting in back.values():
        insort(queue, waiting, key=_key)
    free = view.free + sum(run.processors for run in gone) - len(absent)
    away = [n for one in absent for n in members(one.numbers)]
    vacant = reduce(merged, [without(run.numbers, away) for run in gone], tuple(view.vacant))
    return ViewWithout(
        *(view, queue, free, min(waiting.processors for waiting in queue)),
        [*view.failed, *back.values()],
        sorted([*left, *absent], key=_end),
        # A strategy may change its memory in place, so it gets a copy; entries of the queue stay
        # the same objects.
        deepcopy(view.memory, {id(waiting): waiting for waiting in queue}),
        [*view.early, *(run for run in gone if run.end > view.now)],
        vacant,
        *_same(view),
    )


_same = attrgetter(
    *("now", "processors", "shelf_end", "reservations", "resumable", "moved", "cancelled"),
    *("cells", "changed"),
)
