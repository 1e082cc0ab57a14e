"""Keeps the plan of conservative backfilling where workers differ (rules.md, G4 and G5)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf
from operator import attrgetter

from attrs import define, field

from policies.interface.cells import CellNumbers, Parts
from policies.interface.queue import BatchView, Decision, Queued, QueueKey, Reservation
from policies.maths.tolerance import ROUNDING
from policies.queue.cell_grid import NOW
from policies.queue.cell_profile import CellProfile, by_component
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
        ends, numbers = self._ends, self._numbers
        while ends and ends[-1] <= end:
            ends.pop()
            numbers.pop()
        numbers.append(number)
        ends.append(end)

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
    alike: tuple[int, bool]
    """The job's partition, and whether windows leave the job no place at all: jobs with the same
    answers find no place where others of them have found none (`Sought`)."""
    start: float = inf
    parts: Parts = ()
    rank: tuple[float, QueueKey] = field(default=(inf, (0, 0)))
    """Sort key of places: the start, then the job's key in the queue."""
    tried: int = -1
    """Number of the last opening that was there when no earlier place was found."""
    settled: int = -1
    """Number of the last opening that was there when its cells were chosen, or known to stay."""
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
    free: Sequence[int]
    """Number of free workers of each cell at the last decision, before its starts."""
    due: dict[int, Placed] = field(factory=dict)
    """Maps a waiting job's index to its place."""
    promised: dict[int, float] = field(factory=dict)
    """Maps a job's index to the start that it was promised last."""
    new_promises: list[Reservation] = field(factory=list)
    """Promises of this decision that are new or postponed."""
    starts: list[Queued] = field(factory=list)
    places: dict[int, Parts] = field(factory=dict)
    """Maps the indices of the jobs that start at this decision to their workers by cell."""
    _orders: dict[int, list[Placed]] = field(init=False)
    """Maps each component to the places of its jobs, in the order of their starts but while jobs
    move."""
    _openings: list[Openings] = field(init=False)
    """For each partition, the times up to which its workers have become free."""
    _openings_of_cell: list[Openings] = field(init=False)
    """For each cell, the times up to which its workers have become free."""
    _around: list[tuple[Openings, ...]] = field(init=False)
    """For each cell its own openings, and those of each partition that has it."""
    _opened: int = field(init=False, default=0)
    """Number of openings so far."""

    def __attrs_post_init__(self) -> None:
        cells = self.profile.cells
        self._openings = [Openings() for _ in cells.names]
        self._openings_of_cell = [Openings() for _ in cells.cells]
        pairs = zip(self._openings_of_cell, cells.containing, strict=True)
        self._around = [(own, *(self._openings[it] for it in its)) for own, its in pairs]
        self._orders = {component: [] for component in self.profile.grids}

    def follow(self, view: BatchView) -> None:
        """Bring the plan up to this instant: let due jobs start, move others up where runs have
        ended early, and plan anew the jobs whose components something unforeseen has changed."""
        free = self.profile.cells.free(view.vacant)
        overdue = self._overdue(view.now)
        quiet = self._quiet(view, free, overdue) if overdue else overdue
        self.free = free
        self.new_promises, self.starts, self.places = [], [], {}
        spoilt, opened = self._advance(view, free, overdue - quiet, quiet)
        if spoilt:
            self._plan_anew(view, spoilt, quiet)
        self._move_up(spoilt | quiet, opened - spoilt)

    def fill(self, queue: Sequence[Queued]) -> None:
        """Give each job of the queue that has no place and does not start the earliest one that is
        left."""
        due, starting, cells = self.due, self.places, self.profile.cells
        for waiting in newcomers(queue, len(due) + len(starting), due, starting):
            partition = waiting.job.partition
            kind = partition, waiting.processors, waiting.held
            alike = partition, cells.never_fits(*kind)
            it = Placed(waiting, cells.linked[partition], kind, alike)
            if self._give(it) != NOW:
                insort(self._orders[it.component], it, key=_rank)

    # --- what has come otherwise than planned --------------------------------------------------

    def _overdue(self, now: float) -> set[int]:
        """Return the components in which a run has outlived its estimate: jobs that waited for it
        end later, too."""
        late, found = now * (1 - ROUNDING), set[int]()
        for component, order in self._orders.items():
            if (order and order[0].start < late) or self.profile.grids[component].late:
                found.add(component)
        return found

    def _quiet(self, view: BatchView, free: Sequence[int], overdue: set[int]) -> set[int]:
        """Return those of the `overdue` components in which nothing has happened since the last
        decision: the run still goes on. What happens elsewhere does not change their plans."""
        cells, left = self.profile.cells, list(self.free)
        component_of = cells.component_of
        for parts in self.places.values():
            for cell, count in parts:
                left[cell] -= count
        pairs = zip(left, free, component_of, strict=True)
        changed = {component for before, after, component in pairs if before != after}
        numbers = (cells.parts(((worker, worker),)) for worker in view.changed)
        for parts in (*numbers, *(run.parts for run in view.early)):
            changed.update(component_of[cell] for cell, _ in parts)
        gone = (self.due[index] for index in view.cancelled if index in self.due)
        changed.update(it.component for it in gone)
        come = newcomers(view.queue, len(self.due), self.due)
        changed.update(cells.linked[it.job.partition] for it in come)
        return overdue - changed

    def _advance(
        self, view: BatchView, free: Sequence[int], spoilt: set[int], quiet: set[int]
    ) -> tuple[set[int], set[int]]:
        """Move the profile to this instant, but for the components `quiet`. Return two sets of
        components (see `Cells.linked`): those that have to be planned anew, `spoilt` among them,
        and those in which workers have become free early or a job was cancelled."""
        profile, now = self.profile, view.now
        cells = profile.cells
        profile.now = now
        for component, grid in profile.grids.items():
            if component not in quiet:
                grid.advance(now)
        opened = set[int]()
        for run in view.early:
            self._open(run.parts, run.end)
            for component, parts in by_component(cells, run.parts):
                opened.add(component)
                profile.grids[component].change(parts, 1, 0, run.end)
        spoilt.update(self._disagreeing(now, free, quiet))
        for worker in view.changed:
            its = cells.parts(((worker, worker),))  # none for a spare
            spoilt.update(
                cells.component_of[it] for it, _ in its if not cells.cells[it].windows.turns(now)
            )
        for index in view.cancelled:
            opened.update(self._give_up(index))
        return spoilt - {-1}, opened

    def _give_up(self, index: int) -> Iterator[int]:
        """Give up the place, if it has one, of the job with this index, which was cancelled; yield
        its component."""
        self.promised.pop(index, None)
        it = self.due.pop(index, None)
        if it is not None:
            self.profile.take((it.start, it.parts), it.waiting, 1)
            self._open(it.parts, it.start + it.waiting.held)
            self._orders[it.component].remove(it)
            yield it.component

    def _disagreeing(self, now: float, free: Sequence[int], quiet: set[int]) -> Iterator[int]:
        """Yield the components, but for `quiet` ones, of which the plan has other numbers of free
        workers now than there are in `free`. Idle workers that have gone DOWN in a window, as was
        planned for, are taken out of the plan."""
        cells = self.profile.cells.cells
        for component, grid in self.profile.grids.items():
            if component in quiet:
                continue
            starting, planned = self._due(component), grid.now()
            there = list(map(free.__getitem__, grid.column_of))
            if planned == there and not starting:
                continue
            due = Counter[int]()
            for it in starting:
                due.update(dict(it.parts))
            for cell, plan, count in zip(grid.column_of, planned, there, strict=True):
                if plan > count and (down := cells[cell].windows.back(now, now)) > now:
                    grid.change(((cell, plan - count),), -1, 0, down)
                    plan = count
                if plan + due[cell] != count:
                    yield component

    def _due(self, component: int) -> list[Placed]:
        """Return the jobs of a component whose starts have come, in the order of these."""
        order, now = self._orders[component], self.profile.now
        return (
            order[: bisect_right(order, now, key=_start)] if order and order[0].start <= now else []
        )

    def _open(self, parts: Parts, end: float) -> None:
        """Record that workers of these cells have become free, up to the time `end` at most."""
        self._opened = number = self._opened + 1
        for cell, _ in parts:
            for openings in self._around[cell]:
                openings.add(number, end)

    def _plan_anew(self, view: BatchView, spoilt: set[int], quiet: set[int]) -> None:
        """Give the jobs of the components `spoilt` their places anew, in the order of their starts;
        all others keep theirs. The plans of `quiet` components stay as they are."""
        kept = {it: self.profile.grids[it] for it in quiet}
        self.profile = CellProfile.of(view)
        self.profile.grids |= kept
        self._open(tuple((cell, 1) for cell in range(len(self.profile.cells.cells))), inf)
        for component, order in self._orders.items():
            for it in order if component not in spoilt | quiet else ():
                self.profile.take((it.start, it.parts), it.waiting)
        anew = _in_order(self._orders[component] for component in spoilt)
        for it in anew:
            del self.due[it.waiting.key[1]]
            it.parts = ()
        for it in anew:
            self._give(it)
        self._sort(spoilt)

    # --- places --------------------------------------------------------------------------------

    def _move_up(self, spoilt: set[int], opened: set[int]) -> None:
        """Let due jobs start, and give those of the components `opened` the earliest places, in the
        order of their starts; those of `spoilt` have them already."""
        now = self.profile.now
        them = {
            component: order.copy() if component in opened else self._due(component)
            for component, order in self._orders.items()
            if (component in opened or (order and order[0].start <= now))
            and component not in spoilt
        }
        if not them:
            return
        tried: dict[Kind, float] = {}
        sought: dict[tuple[int, bool], Sought] = {}
        moved, changed = self._moved, False
        for it in _in_order(them.values()):
            # Where one of a kind has not found an earlier place, its twins have none.
            start, kind = it.start, it.kind
            if kind in tried and tried[kind] >= start:
                continue
            if start <= now:
                changed, earlier = True, self._start_or_wait(it)
            elif earlier := moved(it, sought):
                changed = True
            if earlier:
                tried.clear()
            else:
                tried[kind] = start
        if changed:
            self._sort(them)

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
        profile, start = self.profile, it.start
        openings = self._openings[it.kind[0]]
        reach = far = openings.since(it.tried)
        if it.settled != it.tried:
            far = openings.since(it.settled)
        elif reach <= profile.now:
            return False
        it.tried = self._opened
        place = None
        if reach > profile.now:
            others = sought.get(it.alike)
            if others is None:
                others = sought[it.alike] = Sought()
            before = start, it.parts
            place = profile.earlier(it.waiting, before, min(reach, start), others)
        if place is not None:
            profile.move(it.waiting, (start, it.parts), place)
            self._note_left(it, *place)
            self._settle(it, *place)
        elif far <= start or self._none_wanted(it):
            it.settled = self._opened
        elif profile.may_be_earlier(it.waiting, start):
            self._deal_again(it)
        return place is not None

    def _deal_again(self, it: Placed) -> None:
        """Let a job that stays where it is take its workers from the cells from which it would take
        them now."""
        profile, start = self.profile, it.start
        before = start, it.parts
        grid = profile.grids[it.component]
        parts = profile.parts(grid, it.waiting, grid.at(start), before)
        if parts != it.parts:
            profile.take(before, it.waiting, 1)
            profile.take((start, parts), it.waiting)
            self._note_left(it, start, parts)
        self._settle(it, start, parts)

    def _none_wanted(self, it: Placed) -> bool:
        """Return whether a job that stays where it is has no reason to take its workers from other
        cells than it does: none has become free, then or later, in a cell that it would rather take
        from and that had too few."""
        start = it.start
        if it.wanted is None:
            cells = self.profile.cells
            order = cells.open_in_order(*it.kind, start, False)
            some = it.parts and it.kind[0] not in cells.exclusive
            it.wanted = order[: order.index(it.parts[-1][0])] if some else order
        openings = self._openings_of_cell
        return all(openings[cell].since(it.settled) <= start for cell in it.wanted)

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
        it.start, it.rank = start, (start, waiting.key)
        if start == NOW:
            self.starts.append(waiting)
            self.places[index] = parts
            self.promised.pop(index, None)
            self.due.pop(index, None)
            return start
        self.due[index] = it
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

    def _sort(self, components: Iterable[int]) -> None:
        """Bring the places of these components into the order of their starts again, and leave out
        those of jobs that have started."""
        for component in components:
            order = self._orders[component]
            order.sort(key=_rank)
            del order[: bisect_right(order, NOW, key=_start)]


def conservative_in_cells(view: BatchView) -> Decision:
    """Return the decision of conservative backfilling where workers differ."""
    plan = view.memory
    if isinstance(plan, CellPlaces):
        plan.follow(view)
    else:
        profile = CellProfile.of(view)
        plan = CellPlaces(profile, profile.cells.free(view.vacant))
    plan.fill(view.queue)
    return Decision(plan.starts, memory=plan, promised=plan.new_promises, places=plan.places)


_start, _rank = attrgetter("start"), attrgetter("rank")


def _in_order(orders: Iterable[Sequence[Placed]]) -> Sequence[Placed]:
    """Return the places of several components in the order of their starts; those of each are in
    it."""
    some = [order for order in orders if order]
    return some[0] if len(some) == 1 else sorted(chain.from_iterable(some), key=_rank)
