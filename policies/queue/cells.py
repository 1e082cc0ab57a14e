"""Plans a queue whose workers differ by partitions or by windows of time (rules.md, G4, G5
and M2), from counts of the free workers of each cell over time.

A cell is a set of workers that are in the same partitions and have the same windows. Which workers
of a cell a job gets is the placement's choice, and no choice between cells is by number.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.cells import Cells, Parts
from policies.interface.queue import BatchView, Decision, Queued, Reservation
from policies.maths.tolerance import ROUNDING
from policies.queue.free_profile import FreeProfile, profile_of_changes

Place = tuple[float, Parts]
"""A start, and how many workers of each cell the job gets then."""
NOW = -inf
"""Stands for a start at this very instant, on workers that are free. A start at the time of the
instant is one on workers of runs that outlive their estimates: expected at any moment, not yet
free."""


@define(eq=False)
class CellProfile:
    """The free workers of each cell over time. Windows are not counted as used: a cell that one
    closes to a job counts as nothing for it."""

    now: float
    cells: Cells
    free: list[FreeProfile]
    """The free workers of each cell, by its number."""
    bare: list[int]
    """Number of free workers of each partition now, those included that a window closes."""
    rising: list[bool] = field(init=False)
    """Whether no start after now is reserved in a cell, so that its free workers only become
    more."""

    _known: dict[int, tuple[list[float], NDArray[np.int64]]] = field(init=False, factory=dict)
    """Results of `_sums` for partitions whose workers have not been reserved since."""

    def __attrs_post_init__(self) -> None:
        self.rising = [True] * len(self.free)

    @classmethod
    def of(
        cls,
        view: BatchView,
        promises: Iterable[Reservation] = (),
        only: Collection[int] | None = None,
    ) -> CellProfile:
        """Build the profile of this instant: workers become free as `view` expects runs to end and
        workers to come back. Each of `promises` (reservations) takes its workers at its start. With
        `only` the future is built of these cells alone, which are all that is asked for."""
        profile = cls.of_free(view)
        now, cells = view.now, profile.cells
        changes: list[list[tuple[float, int]]] = [[] for _ in profile.free]
        for run in view.running:
            if run.entry is not None:
                for cell, count in run.parts or cells.parts(run.numbers):
                    changes[cell].append((run.end, count))
        for cell, back, count in _returns(view, cells):
            changes[cell].append((back, count))
        for cell, its in enumerate(changes):
            if its and (only is None or cell in only):
                its.sort()
                profile.free[cell] = profile_of_changes(now, profile.free[cell].counts[0], its)
        for promise in promises:
            profile.take((promise.start, promise.parts), promise.waiting.held)
        return profile

    @classmethod
    def of_free(cls, view: BatchView) -> CellProfile:
        """Build the profile of what is free now; enough for jobs that start now where nothing is
        reserved."""
        cells, now = view.cells, view.now
        assert cells is not None
        counts = cells.free(view.vacant)
        free = [FreeProfile([now], array("q", (count,))) for count in counts]
        bare = [sum(counts[k] for k in own) for own in cells.of_partition]
        return cls(now, cells, free, bare)

    # --- places --------------------------------------------------------------------------------

    def parts(self, waiting: Queued, start: float) -> Parts:
        """Return how many workers of each cell the job gets if it starts at `start` (NOW: now);
        empty if too few stay free until its end in cells that no window closes meanwhile."""
        cells, partition, left = self.cells, waiting.job.partition, waiting.processors
        time = self.now if start == NOW else start
        may = cells.open_to(partition, left, waiting.held, time)
        found: list[tuple[int, int]] = []
        in_order = cells.in_order(may, time, start == NOW)
        if partition in cells.exclusive:
            held = waiting.held
            return cells.whole_nodes(left, in_order, lambda cell: self._room(cell, start, held))
        for cell in in_order:
            count = min(left, self._room(cell, start, waiting.held))
            if count > 0:
                found.append((cell, count))
                left -= count
                if not left:
                    return tuple(found)
        return ()

    def fitting(self, waiting: Queued) -> Parts:
        """Return how many workers of each cell the job gets if it starts now; empty if it cannot
        start."""
        if waiting.processors > self.bare[waiting.job.partition]:
            return ()
        return self.parts(waiting, NOW)

    def earliest(self, waiting: Queued, since: float = NOW) -> Place:
        """Return the earliest start of a job, at `since` or later, and its workers by cell: NOW, if
        it can start at this instant; inf without workers, if it cannot at any time that is
        known."""
        if since == NOW and (parts := self.fitting(waiting)):
            return NOW, parts
        times, free = self._sums(waiting.job.partition)
        first = 0 if since == NOW else bisect_left(times, since)
        # Most times are too early, which the free workers at that time tell at once.
        for step in np.flatnonzero(free[first:] >= waiting.processors).tolist():
            time = times[first + step]
            if parts := self.parts(waiting, time):
                return time, parts
        return inf, ()

    def may_be_earlier(self, waiting: Queued, start: float) -> bool:
        """Return whether the job may have a place before `start`, where it has one: enough workers
        are free at some time before that."""
        times, free = self._sums(waiting.job.partition)
        return bool((free[: bisect_left(times, start)] >= waiting.processors).any())

    def take(self, place: Place, held: float, sign: int = -1) -> None:
        """Reserve the workers of a place for a duration `held`; with `sign` 1, give them back."""
        start, parts = place
        for cell, count in parts:
            profile = self.free[cell]
            begin = self.now if start == NOW else start
            step = 0 if start == NOW else profile.at(max(start, self.now))
            profile.change(sign * count, step, begin + held)
            if step and sign < 0:
                self.rising[cell] = False
            for number in self.cells.cells[cell].partitions:
                self._known.pop(number, None)
                if start == NOW:
                    self.bare[number] += sign * count

    def _room(self, cell: int, start: float, held: float) -> int:
        """Return the least number of workers of a cell that are free at any time in the duration
        `held` from `start` on; below 0 where more are reserved than there are."""
        profile = self.free[cell]
        step = 0 if start == NOW else bisect_right(profile.times, start) - 1
        if self.rising[cell]:
            return profile.counts[step]
        begin = self.now if start == NOW else start
        return profile.least(step, bisect_left(profile.times, begin + held, step + 1))

    def forget(self) -> None:
        """Forget what is known of partitions, because the profile has changed."""
        self._known.clear()

    def _sums(self, partition: int) -> tuple[list[float], NDArray[np.int64]]:
        """Return the times at which a job of this partition may be able to start although it was
        not before (workers become free, or a window ends), and the number of workers of the
        partition that are free from each of them on, windows aside."""
        found = self._known.get(partition)
        if found is None:
            own = self.cells.of_partition[partition]
            ends = (self.cells.cells[k].ends for k in own)
            left = {over for its in ends for over in its[bisect_right(its, self.now) :]} - {inf}
            times = sorted(left.union(*(self.free[k].times for k in own)))
            at, free = np.array(times), np.zeros(len(times), dtype=np.int64)
            for k in own:
                profile = self.free[k]
                steps = np.array(profile.times).searchsorted(at, side="right") - 1
                free += np.frombuffer(profile.counts, dtype=np.int64)[steps]
            found = self._known[partition] = times, free
        return found


def _returns(view: BatchView, cells: Cells) -> Iterator[tuple[int, float, int]]:
    """Yield the cell of each worker that is not UP and that no run holds, the time at which it is
    expected back, and 1; a node that is taken whole is back when all its workers are."""
    nodes: dict[tuple[int, int], float] = {}
    for run in view.running:
        if run.entry is not None:
            continue
        worker = run.numbers[0][0]
        cell = cells.of_worker[worker]
        back = cells.cells[cell].back(view.now, run.end)
        if cells.cells[cell].unit == 1:
            yield cell, back, 1
        else:
            node = cell, worker // cells.node
            nodes[node] = max(back, nodes.get(node, -inf))
    for (cell, _), back in nodes.items():
        yield cell, back, cells.cells[cell].unit


@define(eq=False)
class _Round:
    """Collects the jobs that start and the reservations that are made in one decision."""

    profile: CellProfile
    left: list[int] = field(factory=list)
    """Number of reservations that jobs of each partition may still get."""
    starts: list[Queued] = field(factory=list)
    places: dict[int, Parts] = field(factory=dict)
    promises: list[Reservation] = field(factory=list)

    @classmethod
    def of(cls, profile: CellProfile, most: int) -> _Round:
        """Begin a decision in which at most `most` jobs whose partitions share workers get
        reservations."""
        return cls(profile, [most] * len(profile.bare))

    def start(self, waiting: Queued) -> bool:
        """Start a job now if it fits; return whether it does."""
        parts = self.profile.fitting(waiting)
        if parts:
            self._begin(waiting, parts)
        return bool(parts)

    def give(self, waiting: Queued) -> None:
        """Give a job the earliest possible reservation or, if that begins now, start it."""
        start, parts = self.profile.earliest(waiting)
        if start == NOW:
            self._begin(waiting, parts)
            return
        self.profile.take((start, parts), waiting.held)
        self.promises.append(Reservation(start, waiting, parts))

    def count(self, waiting: Queued) -> None:
        """Count one reservation of this job, which those that share its workers cannot have."""
        for partition in self.profile.cells.sharing[waiting.job.partition]:
            self.left[partition] -= 1

    def _begin(self, waiting: Queued, parts: Parts) -> None:
        self.profile.take((NOW, parts), waiting.held)
        self.starts.append(waiting)
        self.places[waiting.job.index] = parts

    def decision(self) -> Decision:
        return Decision(self.starts, reservations=self.promises, places=self.places)


def greedy_in_cells(view: BatchView) -> Decision:
    """Return the decision that starts each job that fits, in the queue's order. Nothing is planned,
    so the placement chooses among all workers that a job may have (M2, G5)."""
    current = _Round(CellProfile.of_free(view))
    for waiting in view.queue:
        current.start(waiting)
    return Decision(current.starts)


def begun_in_cells(view: BatchView, queue: Sequence[Queued], skips: bool) -> Decision:
    """Return the decision that starts jobs in the order of `queue`. A job that does not fit is
    passed over with `skips`; without it, it blocks each later job whose partition shares a worker
    with its own."""
    current, blocked = _Round(CellProfile.of_free(view)), set[int]()
    profile = current.profile
    for waiting in queue:
        partition = waiting.job.partition
        if partition not in blocked and not current.start(waiting) and not skips:
            blocked |= profile.cells.sharing[partition]
            if len(blocked) == len(profile.bare):
                break
    return current.decision()


def planned_in_cells(view: BatchView, most: int | None, counted: bool) -> Decision:
    """Return the decision with reservations for jobs that cannot start now, which are logged: a job
    gets one if fewer than `most` jobs with one have a partition that shares a worker with its own.
    With `counted` a job that starts at once uses one of these. `most` None: each job gets one, and
    none is logged."""
    queue = view.queue
    if not queue or (most is None and view.free < view.least):
        return Decision()
    assert view.cells is not None
    own = view.cells.of_partition
    only = {cell for number in {it.job.partition for it in queue} for cell in own[number]}
    profile = CellProfile.of(view, only=only)
    current = _Round.of(profile, len(queue) if most is None else most)
    left, bare = current.left, current.profile.bare
    for waiting in queue:
        partition = waiting.job.partition
        if left[partition] > 0:
            before = len(current.starts)
            current.give(waiting)
            if counted or len(current.starts) == before:
                current.count(waiting)
        elif waiting.processors <= bare[partition]:
            current.start(waiting)
    decision = current.decision()
    if most is None:
        decision.reservations = ()
    return decision


def kept_in_cells(view: BatchView, most: int | None) -> Decision:
    """Return the decision of R-LIST under the reading KEPT, under which no reservation is cancelled
    and each decision makes up to `most` more for jobs whose partitions share workers."""
    now, earlier, queue = view.now, view.reservations, view.queue
    later = [promise for promise in earlier.values() if now < promise.start < inf]
    current = _Round.of(CellProfile.of(view, later), len(queue) if most is None else most)
    current.promises.extend(later)
    for promise in earlier.values():
        if not now < promise.start < inf:
            current.give(promise.waiting)
    for waiting in queue:
        if waiting.job.index in earlier:
            continue
        if current.left[waiting.job.partition] > 0:
            current.give(waiting)
            current.count(waiting)
        else:
            current.start(waiting)
    decision = current.decision()
    times = (it.start for it in current.promises)
    decision.wake = min((start for start in times if now < start < inf), default=None)
    return decision


# --- conservative backfilling ----------------------------------------------------------------


@define(eq=False)
class Placed:
    """A waiting job, and its place in the plan of conservative backfilling."""

    waiting: Queued
    start: float
    parts: Parts


@define(eq=False)
class CellPlaces:
    """The plan of conservative backfilling by cells: the places of all waiting jobs, kept from one
    decision to the next, each with its workers by cell. A job leaves its place only for an earlier
    one, unless something comes otherwise than expected."""

    profile: CellProfile
    due: dict[int, Placed] = field(factory=dict)
    """Maps a waiting job's index to its place."""
    promised: dict[int, float] = field(factory=dict)
    """Maps a job's index to the start that it was promised."""
    new_promises: list[Reservation] = field(factory=list)
    """Promises of this decision that are new or postponed."""
    starts: list[Queued] = field(factory=list)
    places: dict[int, Parts] = field(factory=dict)
    """Maps the indices of the jobs that start at this decision to their workers by cell."""

    def follow(self, view: BatchView) -> None:
        """Bring the plan up to this instant: let due jobs start, move others up where runs have
        ended early, and plan those anew whose partitions something unforeseen has changed."""
        self.new_promises, self.starts, self.places = [], [], {}
        spoilt, opened = self._advance(view)
        if spoilt:
            self._plan_anew(view, spoilt)
        tried: dict[tuple[int, int, float], float] = {}
        for it in self.by_start():
            component = self._component(it.waiting)
            if component not in spoilt and (it.start <= view.now or component in opened):
                self._move(it, tried)

    def _plan_anew(self, view: BatchView, spoilt: set[int]) -> None:
        """Give the jobs of these components their places anew, in the order of their starts; all
        others keep theirs."""
        anew = [it for it in self.by_start() if self._component(it.waiting) in spoilt]
        for it in anew:
            del self.due[it.waiting.job.index]
        self.profile = CellProfile.of(view)
        for it in self.due.values():
            self.profile.take((it.start, it.parts), it.waiting.held)
        for it in anew:
            self._give(it.waiting)

    def _move(self, it: Placed, tried: dict[tuple[int, int, float], float]) -> None:
        """Move a job to its earliest place. `tried` maps kinds of jobs to times before which no
        job of the kind has a place, as long as nothing has moved since."""
        waiting = it.waiting
        kind = waiting.job.partition, waiting.processors, waiting.held
        due = it.start <= self.profile.now
        if tried.get(kind, -inf) >= it.start:
            return
        if not due and not self.profile.may_be_earlier(waiting, it.start):
            tried[kind] = it.start
            return
        self.profile.take((it.start, it.parts), waiting.held, 1)
        del self.due[waiting.job.index]
        before = it.start
        if self._give(waiting) < before:
            tried.clear()
        else:
            tried[kind] = before

    def _advance(self, view: BatchView) -> tuple[set[int], set[int]]:
        """Move the profile to this instant. Return two sets of components (see `Cells.linked`):
        those that have to be planned anew, and those in which workers have become free early or a
        job was cancelled."""
        profile, now = self.profile, view.now
        cells, free = profile.cells, CellProfile.of_free(view)
        spoilt = {cell for cell, own in enumerate(profile.free) if own.overdue}
        # A run that outlived its estimate has ended by now: jobs that waited for it end later, too.
        late = (it for it in self.due.values() if it.start < now * (1 - ROUNDING))
        spoilt.update(cell for it in late for cell, _ in it.parts)
        for own in profile.free:
            own.advance(now)
        opened = set[int]()
        for run in view.early:
            opened.update(cell for cell, _ in run.parts)
            for cell, count in run.parts:
                profile.free[cell].release(now, run.end, count)
        spoilt.update(self._disagreeing(free))
        for worker in view.changed:
            parts = cells.parts(((worker, worker),))  # none for a spare
            spoilt.update(cell for cell, _ in parts if not cells.cells[cell].turns(now))
        profile.now, profile.bare = now, free.bare
        profile.forget()
        left = {self._component(it) for it in map(self._give_up, view.cancelled) if it is not None}
        return self._components(spoilt), self._components(opened) | left

    def _give_up(self, index: int) -> Queued | None:
        """Give up the place of the job with this index, which was cancelled. Return its entry; None
        if it has no place."""
        self.promised.pop(index, None)
        it = self.due.pop(index, None)
        if it is None:
            return None
        self.profile.take((it.start, it.parts), it.waiting.held, 1)
        return it.waiting

    def _disagreeing(self, free: CellProfile) -> Iterator[int]:
        """Yield the cells of which the plan has other numbers of free workers now than there are in
        `free`. Idle workers that have gone DOWN in a window, as was planned for, are taken out of
        the plan."""
        now, due = free.now, [0] * len(free.free)
        for it in self.due.values():
            for cell, count in it.parts if it.start <= now else ():
                due[cell] += count
        for number, own in enumerate(self.profile.free):
            there = free.free[number].counts[0]
            down = free.cells.cells[number].back(now, now)
            if down > now and own.counts[0] > there:
                own.change(there - own.counts[0], 0, down)
            if own.counts[0] + due[number] != there:
                yield number

    def _components(self, numbers: Iterable[int]) -> set[int]:
        cells = self.profile.cells
        return {cells.linked[p] for number in numbers for p in cells.cells[number].partitions}

    def _component(self, waiting: Queued) -> int:
        return self.profile.cells.linked[waiting.job.partition]

    def by_start(self) -> list[Placed]:
        """Return the places of all waiting jobs in the order of their starts."""
        return sorted(self.due.values(), key=lambda it: (it.start, it.waiting.key))

    def fill(self, queue: Sequence[Queued]) -> None:
        """Give each job of the queue that has no place and does not start the earliest one that is
        left."""
        for waiting in queue:
            index = waiting.job.index
            if index not in self.due and index not in self.places:
                self._give(waiting)

    def _give(self, waiting: Queued) -> float:
        """Give a job the earliest place that is left; return its start."""
        start, parts = self.profile.earliest(waiting)
        self.profile.take((start, parts), waiting.held)
        index = waiting.job.index
        if start == NOW:
            self.starts.append(waiting)
            self.places[index] = parts
            self.promised.pop(index, None)
            return start
        self.due[index] = Placed(waiting, start, parts)
        if start > self.promised.get(index, -inf):
            self.promised[index] = start
            if start < inf:
                self.new_promises.append(Reservation(start, waiting))
        return start
