"""Keeps the plan of conservative backfilling where workers differ (rules.md, G4 and G5)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from math import inf
from operator import attrgetter

from attrs import define, field

from policies.interface.cells import CellNumbers, Parts
from policies.interface.queue import BatchView, Queued, QueueKey, Reservation
from policies.maths.tolerance import ROUNDING
from policies.queue.cell_grid import NOW, Place
from policies.queue.cell_profile import CellProfile, bare_of, by_component
from policies.queue.free_profile import Sought, newcomers

Kind = tuple[int, int, float]
"""Kind of a job, (partition, processors, held), on which its place depends."""


@define(eq=False)
class Openings:
    """The times up to which workers of a partition have become free, other than as planned."""

    _numbers: list[int] = field(factory=list)
    """Numbers of the openings that reach further than all after them, ascending."""
    _ends: list[float] = field(factory=list)
    """The time up to which each of these reaches, descending."""

    def add(self, number: int, end: float) -> None:
        """Record an opening that reaches up to the time `end`; `number` is above all before."""
        while self._ends and self._ends[-1] <= end:
            del self._ends[-1], self._numbers[-1]
        self._numbers.append(number)
        self._ends.append(end)

    def since(self, number: int) -> float:
        """Return the time up to which the openings after that numbered `number` reach; -inf if
        there is none."""
        if not self._numbers or self._numbers[-1] <= number:
            return -inf
        return self._ends[bisect_right(self._numbers, number)]


@define(eq=False)
class Placed:
    """A waiting job, and its place in the plan of conservative backfilling."""

    waiting: Queued
    component: int
    """Component of the job's partition: the lowest number of all that are linked with it
    (`Cells.linked`)."""
    kind: Kind
    start: float = inf
    parts: Parts = ()
    rank: tuple[float, QueueKey] = field(default=(inf, (0, 0)))
    """Sort key of places: the start, then the job's key in the queue."""
    tried: int = -1
    """Number of the last opening that was there when no earlier place was found."""
    settled: int = -1
    """Number of the last opening that was there when its cells were chosen."""
    wanted: CellNumbers | None = None
    """Cells that it would rather take more workers from than there are; None: not known yet."""


@define(eq=False)
class CellPlaces:
    """The plan of conservative backfilling by cells: the places of all waiting jobs, kept from one
    decision to the next, each with its workers by cell. A job leaves its place only for an earlier
    one, unless something comes otherwise than expected.

    An earlier place can only come into being where workers of the job's partition become free that
    were not to. So a job is looked at again only if they have since it was last looked at, and for
    starts only before the time up to which they have.
    """

    profile: CellProfile
    due: dict[int, Placed] = field(factory=dict)
    """Maps a waiting job's index to its place."""
    promised: dict[int, float] = field(factory=dict)
    """Maps a job's index to the start that it was promised last."""
    new_promises: list[Reservation] = field(factory=list)
    """Promises of this decision that are new or postponed."""
    starts: list[Queued] = field(factory=list)
    places: dict[int, Parts] = field(factory=dict)
    """Maps the indices of the jobs that start at this decision to their workers by cell."""
    _order: list[Placed] = field(init=False, factory=list)
    """The places of `due` in the order of their starts, but while jobs move."""
    _openings: list[Openings] = field(init=False)
    """For each partition, the times up to which its workers have become free."""
    _openings_of_cell: list[Openings] = field(init=False)
    """For each cell, the times up to which its workers have become free."""
    _opened: int = field(init=False, default=0)
    """Number of openings so far."""

    def __attrs_post_init__(self) -> None:
        self._openings = [Openings() for _ in self.profile.bare]
        self._openings_of_cell = [Openings() for _ in self.profile.cells.cells]

    def follow(self, view: BatchView) -> None:
        """Bring the plan up to this instant: let due jobs start, move others up where runs have
        ended early, and plan anew the jobs whose components something unforeseen has changed."""
        self.new_promises, self.starts, self.places = [], [], {}
        spoilt, opened = self._advance(view)
        if spoilt:
            self._plan_anew(view, spoilt)
        self._move_up(spoilt, opened)
        for grid in self.profile.grids.values():
            grid.tidy()

    def fill(self, queue: Sequence[Queued]) -> None:
        """Give each job of the queue that has no place and does not start the earliest one that is
        left."""
        due, starting, linked = self.due, self.places, self.profile.cells.linked
        for waiting in newcomers(queue, len(due) + len(starting), due, starting):
            partition = waiting.job.partition
            kind = partition, waiting.processors, waiting.held
            it = Placed(waiting, linked[partition], kind)
            if self._give(it) != NOW:
                insort(self._order, it, key=_rank)

    # --- what has come otherwise than planned --------------------------------------------------

    def _advance(self, view: BatchView) -> tuple[set[int], set[int]]:
        """Move the profile to this instant. Return two sets of components (see `Cells.linked`):
        those that have to be planned anew, and those in which workers have become free early or a
        job was cancelled."""
        profile, now = self.profile, view.now
        cells = profile.cells
        free = cells.free(view.vacant)
        spoilt = {cell for grid in profile.grids.values() for cell in grid.late}
        # A run that outlived its estimate has ended by now: jobs that waited for it end later, too.
        for it in self._order:
            if it.start >= now * (1 - ROUNDING):
                break
            spoilt.update(cell for cell, _ in it.parts)
        for grid in profile.grids.values():
            grid.advance(now)
        opened = set[int]()
        for run in view.early:
            self._open(run.parts, run.end)
            for component, parts in by_component(cells, run.parts):
                opened.add(component)
                profile.grids[component].change(parts, 1, 0, run.end)
        spoilt.update(self._disagreeing(now, free))
        for worker in view.changed:
            its = cells.parts(((worker, worker),))  # none for a spare
            spoilt.update(cell for cell, _ in its if not cells.cells[cell].turns(now))
        profile.now, profile.bare = now, bare_of(cells, free)
        for index in view.cancelled:
            opened.update(self._give_up(index))
        return {cells.component_of[cell] for cell in spoilt} - {-1}, opened

    def _give_up(self, index: int) -> Iterator[int]:
        """Give up the place, if it has one, of the job with this index, which was cancelled; yield
        its component."""
        self.promised.pop(index, None)
        it = self.due.pop(index, None)
        if it is not None:
            self.profile.take((it.start, it.parts), it.waiting, 1)
            self._open(it.parts, it.start + it.waiting.held)
            self._sort()
            yield it.component

    def _disagreeing(self, now: float, free: Sequence[int]) -> Iterator[int]:
        """Yield the cells of which the plan has other numbers of free workers now than there are in
        `free`. Idle workers that have gone DOWN in a window, as was planned for, are taken out of
        the plan."""
        profile, due = self.profile, [0] * len(free)
        for it in self._order:
            if it.start > now:
                break
            for cell, count in it.parts:
                due[cell] += count
        for grid in profile.grids.values():
            for cell, planned in grid.now():
                there = free[cell]
                if planned > there and (down := profile.cells.cells[cell].back(now, now)) > now:
                    grid.change(((cell, planned - there),), -1, 0, down)
                    planned = there
                if planned + due[cell] != there:
                    yield cell

    def _open(self, parts: Parts, end: float) -> None:
        """Record that workers of these cells have become free, up to the time `end` at most."""
        self._opened += 1
        for partition in self.profile.cells.around(parts):
            self._openings[partition].add(self._opened, end)
        for cell, _ in parts:
            self._openings_of_cell[cell].add(self._opened, end)

    def _plan_anew(self, view: BatchView, spoilt: set[int]) -> None:
        """Give the jobs of these components their places anew, in the order of their starts; all
        others keep theirs."""
        self.profile = CellProfile.of(view)
        self._open(tuple((cell, 1) for cell in range(len(self.profile.cells.cells))), inf)
        kept = [it for it in self._order if it.component not in spoilt]
        for it in kept:
            self.profile.take((it.start, it.parts), it.waiting)
        anew = [it for it in self._order if it.component in spoilt]
        for it in anew:
            del self.due[it.waiting.key[1]]
            it.parts = ()
        for it in anew:
            self._give(it)
        self._sort()

    # --- places --------------------------------------------------------------------------------

    def _move_up(self, spoilt: set[int], opened: set[int]) -> None:
        """Let due jobs start, and give those of the components `opened` the earliest places, in the
        order of their starts; those of `spoilt` have them already."""
        tried: dict[Kind, float] = {}
        sought: dict[tuple[int, bool], Sought] = {}
        now, opened, changed = self.profile.now, opened - spoilt, False
        for it in self._order.copy():
            due = it.start <= now
            if not (due or opened):
                break
            if it.component in spoilt or not (due or it.component in opened):
                continue
            # Where one of a kind has not found an earlier place, its twins have none.
            start = it.start
            if tried.get(it.kind, -inf) >= start:
                continue
            if self._start_or_wait(it) if due else self._moved(it, sought):
                changed = True
                tried.clear()
            else:
                changed = changed or due
                tried[it.kind] = start
        if changed:
            self._sort()

    def _start_or_wait(self, it: Placed) -> bool:
        """Give a job whose start has come the earliest place; return whether that is earlier than
        its own, or now."""
        before = it.start
        self.profile.take((before, it.parts), it.waiting, 1)
        return self._give(it) < before

    def _moved(self, it: Placed, sought: dict[tuple[int, bool], Sought]) -> bool:
        """Give a job an earlier place than its own, if there is one; return whether there is.
        `sought` has, by partition and by whether windows leave jobs no place at all, how far
        others have been looked for in vain."""
        profile, start, reach = self.profile, it.start, self._openings[it.kind[0]].since(it.tried)
        it.tried = self._opened
        place = None if reach <= profile.now else self._earlier(it, min(reach, start), sought)
        if place is not None:
            profile.move(it.waiting, (start, it.parts), place)
            self._note_left(it, *place)
            self._settle(it, *place)
        elif not self._is_settled(it):
            # The job stays, but may take its workers from other cells than before.
            before = start, it.parts
            parts = profile.parts(it.waiting, profile.grid(it.waiting).at(start), before)
            if parts != it.parts:
                profile.take(before, it.waiting, 1)
                profile.take((start, parts), it.waiting)
                self._note_left(it, start, parts)
            self._settle(it, start, parts)
        return place is not None

    def _earlier(
        self, it: Placed, until: float, sought: dict[tuple[int, bool], Sought]
    ) -> Place | None:
        """Return the earliest place of a job before the time `until`, if there is one."""
        key = it.kind[0], self.profile.cells.never_fits(*it.kind)
        others = sought.get(key)
        if others is None:
            others = sought[key] = Sought()
        return self.profile.earlier(it.waiting, (it.start, it.parts), until, others)

    def _is_settled(self, it: Placed) -> bool:
        """Return whether a job that stays where it is has no reason to take its workers from other
        cells than it does."""
        profile, start = self.profile, it.start
        if self._openings[it.kind[0]].since(it.settled) <= start:
            return True
        if it.wanted is None:
            cells = profile.cells
            order = cells.in_order(cells.open_to(*it.kind, start), start, False)
            some = it.parts and it.kind[0] not in cells.exclusive
            it.wanted = order[: order.index(it.parts[-1][0])] if some else order
        # Only cells that it would rather take from, and which had too few, matter.
        for cell in it.wanted:
            if self._openings_of_cell[cell].since(it.settled) > start:
                return not profile.may_be_earlier(it.waiting, start)
        return True

    def _give(self, it: Placed) -> float:
        """Give a job the earliest place that is left; return its start."""
        start, parts = place = self.profile.earliest(it.waiting)
        self.profile.take(place, it.waiting)
        if it.parts:
            self._note_left(it, start, parts)
        return self._settle(it, start, parts)

    def _settle(self, it: Placed, start: float, parts: Parts) -> float:
        """Record a job's new place, and return its start."""
        waiting, index = it.waiting, it.waiting.key[1]
        it.tried = it.settled = self._opened
        it.parts, it.wanted = parts, None
        if start == NOW:
            self.starts.append(waiting)
            self.places[index] = parts
            self.promised.pop(index, None)
            self.due.pop(index, None)
            return start
        self.due[index] = it
        it.start, it.rank = start, (start, waiting.key)
        if self.promised.get(index, -inf) < start < inf:
            self.promised[index] = start
            self.new_promises.append(Reservation(start, waiting))
        return start

    def _note_left(self, it: Placed, start: float, parts: Parts) -> None:
        """Record what has become free as a job left its place for one at `start` with these
        parts."""
        now, left = self.profile.now, it.parts
        if max(start, now) == max(it.start, now):
            have = dict(parts)
            left = tuple((cell, count) for cell, count in left if have.get(cell, 0) < count)
        if left:
            self._open(left, it.start + it.waiting.held)

    def _sort(self) -> None:
        """Bring the places into the order of their starts again."""
        due = self.due
        self._order = [it for it in self._order if due.get(it.waiting.key[1]) is it]
        self._order.sort(key=_rank)


_rank = attrgetter("rank")
