"""Plans a queue whose workers differ (`policies.interface.cells`; rules.md, G4, G5 and M2), from
counts of the free workers of each cell.

Which workers of a cell a job gets is the placement's choice, and no choice between cells is by
number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Protocol

from attrs import define, field, frozen

from policies.interface.cells import CellNumbers, Cells, Parts
from policies.interface.queue import BatchView, Decision, Queued, Reservation, Run
from policies.queue.cell_grid import NOW, Place
from policies.queue.cell_profile import CellProfile, bare_of, end_of, ends_of


class Room(Protocol):
    """The free workers of cells, now and later, among which jobs are given their places."""

    cells: Cells

    @property
    def bare(self) -> Sequence[int]:
        """Number of free workers of each partition now, those included that a window closes."""

    def fitting(self, waiting: Queued) -> Parts:
        """Return how many workers of each cell the job gets if it starts now; empty if it cannot
        start."""

    def earliest(self, waiting: Queued) -> Place:
        """Return the earliest start of a job and its workers by cell; inf without workers, if it
        cannot start at any time that is known."""

    def take(self, place: Place, waiting: Queued) -> None:
        """Take the workers of a place for a job."""


LAST = Run(inf, -1, 0, None, (), -1)
"""Stands behind all runs that end."""
Kind = tuple[int, int, float]
"""Kind of a job: (partition, processors, duration)."""


@frozen(eq=False)
class Later:
    """A later start."""

    place: Place
    """The time, and the workers by cell that the job gets; inf without workers, if there is
    none."""
    free: Sequence[int]
    """How many workers of each cell are free then."""


@define(eq=False)
class Foreseen:
    """Later starts of jobs on cells without reservations, computed once for each kind of job. They
    hold from one decision to the next as long as the same runs are under way, such as when a job
    arrives."""

    running: Sequence[Run]
    starts: dict[Kind, Later] = field(factory=dict)
    """Maps a kind of job to the first time at which one can start."""
    _ends: Sequence[Run] | None = field(init=False, default=None)

    @classmethod
    def of(cls, view: BatchView) -> Foreseen:
        """Return what the last decision knew, if nothing has changed since."""
        known, running = view.memory, view.running
        if isinstance(known, Foreseen) and known.running is running:
            return known
        return cls(running)

    def ends(self, view: BatchView) -> Sequence[Run]:
        """Return the runs, by expected end, with their parts, and LAST."""
        if self._ends is None:
            assert view.cells is not None
            self._ends = [*ends_of(self.running, view.cells, view.now), LAST]
        return self._ends

    def __deepcopy__(self, _: object) -> Foreseen:
        """Return the same object: what it knows does not depend on which copy of a decision's
        memory holds it."""
        return self


@define(eq=False)
class FreeNow:
    """The free workers of each cell now, and what reservations leave of them to jobs that run into
    these: two numbers by cell are enough where no cell is in two reservations (EASY), or in none
    (FCFS)."""

    view: BatchView
    cells: Cells
    free: list[int]
    bare: list[int]
    begin: list[float]
    """By cell, the start of the reservation that some of its workers are in; inf: there is none."""
    spare: list[int]
    """By cell, how many workers are free at that start besides those that the reservation has."""
    _known: Foreseen | None = field(init=False, default=None)
    _begun: list[Run] = field(init=False, factory=list)
    """The jobs that start at this decision, as runs."""
    _then: Sequence[int] = field(init=False, default=())
    """By cell, how many workers are free at the last start for which `earliest` was asked."""

    @classmethod
    def of(cls, view: BatchView) -> FreeNow:
        """Return what is free at this instant, without a reservation."""
        cells = view.cells
        assert cells is not None
        free = cells.free(view.vacant)
        begin, spare = [inf] * len(free), [0] * len(free)
        return cls(view, cells, free, bare_of(cells, free), begin, spare)

    @property
    def known(self) -> Foreseen:
        """Later starts of jobs, as far as they have been computed. A strategy that plans nothing
        does not ask for them, because the runs would be sorted by their ends for that."""
        if self._known is None:
            self._known = Foreseen.of(self.view)
        return self._known

    def fitting(self, waiting: Queued) -> Parts:
        processors, partition, held = waiting.processors, waiting.job.partition, waiting.held
        if processors > self.bare[partition]:
            return ()
        now, cells = self.view.now, self.cells
        order = cells.open_in_order(partition, processors, held, now, True)
        return cells.dealt(partition, processors, order, self._free_until(now + held, order))

    def _free_until(self, end: float, cells: CellNumbers) -> Iterator[int]:
        """Yield how many workers of each of these cells a job gets that starts now and ends at
        `end`."""
        free, begin, spare = self.free, self.begin, self.spare
        for cell in cells:
            yield free[cell] if end <= begin[cell] else min(free[cell], spare[cell])

    def earliest(self, waiting: Queued) -> Place:
        """Return the earliest start of a job of whose partition no worker is reserved, and its
        workers by cell; inf without workers, if it cannot start at any time that is known."""
        if parts := self.fitting(waiting):
            return NOW, parts
        later = self._later(waiting)
        self._then = later.free
        return later.place

    def _later(self, waiting: Queued) -> Later:
        """Return the first start of a job from now on, on workers that are not free now."""
        asked = waiting.job.partition, waiting.processors, waiting.held
        if self._begun:
            ends = sorted([*self.known.ends(self.view), *self._begun], key=end_of)
            return self._first(asked, ends)
        found = self.known.starts.get(asked)
        if found is None or found.place[0] < self.view.now:
            found = self._first(asked, self.known.ends(self.view))
            self.known.starts[asked] = found
        return found

    def _first(self, asked: Kind, ends: Sequence[Run]) -> Later:
        """Return what `_later` does for this kind of job; runs end as `ends` has them, with LAST.

        Nothing is reserved of its partition, so that its free workers only become more, and those
        of a start stay free as long as no window closes their cell.
        """
        cells, free, time, at = self.cells, self.free.copy(), self.view.now, 0
        processors = asked[1]
        while True:
            may, same, over = cells.opening(*asked, time)
            # As long as the same cells are open, only runs that end change the number.
            turn, count = min(same, over), sum(map(free.__getitem__, may))
            while True:
                following = ends[at].end
                if following > time:
                    if count >= processors and (parts := self._at(asked, may, time, free)):
                        return Later((time, parts), free)
                    if following >= turn:
                        break
                    time = following
                for cell, number in ends[at].parts:
                    free[cell] += number
                    count += number if cell in may else 0
                at += 1
            time = min(over, following)
            if time == inf:
                return Later((inf, ()), free)

    def _at(self, asked: Kind, may: CellNumbers, time: float, free: Sequence[int]) -> Parts:
        """Return how many workers of each cell a job of this kind gets at `time`, of the cells
        `may`, of which so many are free; empty if the nodes that are free whole are too few."""
        order = self.cells.in_order(may, time, False)
        return self.cells.dealt(asked[0], asked[1], order, map(free.__getitem__, order))

    def take(self, place: Place, waiting: Queued) -> None:
        """Take the workers of a place for a job: one for now, or that of `earliest`."""
        start, parts = place
        if start != NOW:
            for cell, count in parts:
                self.begin[cell], self.spare[cell] = start, self._then[cell] - count
            return
        end = self.view.now + waiting.held
        size, index = waiting.processors, waiting.key[1]
        self._begun.append(Run(end, index, size, waiting, (), -1, parts))
        for cell, count in parts:
            self.free[cell] -= count
            if end > self.begin[cell]:
                self.spare[cell] -= count
        self.cells.take(parts, self.bare)


@define(eq=False)
class _Round:
    """Collects the jobs that start and the reservations that are made in one decision."""

    room: Room
    left: list[int] = field(factory=list)
    """Number of reservations that jobs of each partition may still get."""
    starts: list[Queued] = field(factory=list)
    places: dict[int, Parts] = field(factory=dict)
    promises: list[Reservation] = field(factory=list)
    unfit: set[Kind] = field(factory=set)
    """Kinds of jobs that do not fit now. They are not tried again in this decision, which only
    takes free workers."""

    @classmethod
    def of(cls, room: Room, most: int) -> _Round:
        """Begin a decision in which at most `most` jobs that share workers get reservations."""
        return cls(room, [most] * len(room.bare))

    def start(self, waiting: Queued) -> bool:
        """Start a job now if it fits; return whether it does."""
        kind = waiting.job.partition, waiting.processors, waiting.held
        if kind in self.unfit:
            return False
        parts = self.room.fitting(waiting)
        if parts:
            self._begin(waiting, parts)
        else:
            self.unfit.add(kind)
        return bool(parts)

    def give(self, waiting: Queued) -> bool:
        """Give a job the earliest possible reservation or, if that begins now, start it; return
        whether it starts."""
        start, parts = place = self.room.earliest(waiting)
        if start == NOW:
            self._begin(waiting, parts)
            return True
        self.room.take(place, waiting)
        self.promises.append(Reservation(start, waiting, parts))
        return False

    def count(self, waiting: Queued) -> None:
        """Count one reservation of this job, which those that share its workers cannot have."""
        for partition in self.room.cells.sharing[waiting.job.partition]:
            self.left[partition] -= 1

    def widest(self) -> list[float]:
        """Return for each partition the most workers of a job that may start or get a reservation
        yet."""
        pairs = zip(self.left, self.room.bare, strict=True)
        return [inf if left > 0 else bare for left, bare in pairs]

    def _begin(self, waiting: Queued, parts: Parts) -> None:
        self.room.take((NOW, parts), waiting)
        self.starts.append(waiting)
        self.places[waiting.job.index] = parts

    def decision(self) -> Decision:
        return Decision(self.starts, reservations=self.promises, places=self.places)


def greedy_in_cells(view: BatchView) -> Decision:
    """Return the decision that starts each job that fits, in the queue's order. Nothing is planned,
    so the placement chooses among all workers that a job may have (M2, G5)."""
    current = _Round(FreeNow.of(view))
    bare = current.room.bare
    for waiting in view.queue:
        if waiting.processors <= bare[waiting.job.partition]:
            current.start(waiting)
    return Decision(current.starts)


def begun_in_cells(view: BatchView, queue: Sequence[Queued], skips: bool) -> Decision:
    """Return the decision that starts jobs in the order of `queue`. A job that does not fit is
    passed over with `skips`; without it, it blocks each later job whose partition shares a worker
    with its own."""
    current, blocked = _Round(FreeNow.of(view)), set[int]()
    room = current.room
    for waiting in queue:
        partition = waiting.job.partition
        if partition not in blocked and not current.start(waiting) and not skips:
            blocked |= room.cells.sharing[partition]
            if len(blocked) == len(room.bare):
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
    now = FreeNow.of(view) if most == 1 else None
    room: Room = CellProfile.of(view) if now is None else now
    current = _Round.of(room, len(queue) if most is None else most)
    left, widest = current.left, current.widest()
    for waiting in queue:
        if waiting.processors > widest[waiting.job.partition]:
            continue
        if left[waiting.job.partition] > 0:
            if not current.give(waiting) or counted:
                current.count(waiting)
        elif not current.start(waiting):
            continue
        widest = current.widest()
    decision = current.decision()
    decision.memory = None if now is None else now.known
    if most is None:
        decision.reservations = ()
    return decision


def kept_in_cells(view: BatchView, most: int | None) -> Decision:
    """Return the decision of R-LIST under the reading KEPT, under which no reservation is cancelled
    and each decision makes up to `most` more for jobs that share workers."""
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
