"""Keeps the free workers of each cell over time, in which a queue's reservations are made where
workers differ (rules.md, G4 and G5).

Cells of one component (`Cells.component_of`) have their steps in common; all others have nothing to
do with them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import inf, nextafter
from operator import attrgetter

import numpy as np
from attrs import define

from policies.interface.cells import Cells, Parts
from policies.interface.queue import BatchView, Queued, Reservation, Run
from policies.queue.cell_grid import NOW, Grid, Place
from policies.queue.free_profile import Sought


@define(eq=False)
class CellProfile:
    """The free workers of each cell over time. Windows are not counted as used: a cell that one
    closes to a job counts as nothing for it."""

    now: float
    cells: Cells
    grids: dict[int, Grid]
    """The free workers of each component (`Cells.of_component`)."""

    @classmethod
    def of(cls, view: BatchView, promises: Iterable[Reservation] = ()) -> CellProfile:
        """Build the profile of this instant: workers become free as `view` expects runs to end and
        workers to come back. Each of `promises` (reservations) takes its workers at its start."""
        now, cells = view.now, view.cells
        assert cells is not None
        free = cells.free(view.vacant)
        changes: dict[int, list[tuple[float, Parts]]] = {it: [] for it in cells.of_component}
        for run in ends_of(view.running, cells, now):
            for component, own in by_component(cells, run.parts):
                changes[component].append((run.end, own))
        grids = {
            component: Grid.of(now, free, cells, component, its)
            for component, its in changes.items()
        }
        profile = cls(now, cells, grids)
        for promise in promises:
            profile.take((promise.start, promise.parts), promise.waiting)
        return profile

    @property
    def bare(self) -> list[int]:
        """Number of free workers of each partition now, those included that a window closes."""
        found = [0] * len(self.cells.names)
        for grid in self.grids.values():
            for partition, column in grid.column_of_partition.items():
                found[partition] = grid.counts[column]
        return found

    def grid(self, waiting: Queued) -> Grid:
        """Return the grid of the cells that the job may use, and others."""
        return self.grids[self.cells.linked[waiting.job.partition]]

    def fitting(self, waiting: Queued) -> Parts:
        """Return how many workers of each cell the job gets if it starts now; empty if it cannot
        start."""
        grid = self.grid(waiting)
        if waiting.processors > grid.counts[grid.column_of_partition[waiting.job.partition]]:
            return ()
        return self.parts(grid, waiting, 0)

    def parts(self, grid: Grid, waiting: Queued, step: int, place: Place | None = None) -> Parts:
        """Return how many workers of each cell the job gets if it starts at this step of its grid
        (0: now); empty if too few stay free until its end in cells that no window closes meanwhile.
        With `place`, which begins later, it gives up this place."""
        cells, partition = self.cells, waiting.job.partition
        processors, held = waiting.processors, waiting.held
        times, time = grid.times, grid.times[step]
        order = cells.open_in_order(partition, processors, held, time, step == 0)
        free = grid.free(order, step, bisect_left(times, time + held, step + 1), place)
        return cells.dealt(partition, processors, order, free)

    def earliest(self, waiting: Queued) -> Place:
        """Return the earliest start of a job and its workers by cell: NOW, if it can start at this
        instant; inf without workers, if it cannot at any time that is known."""
        grid = self.grid(waiting)
        step = self._candidate(grid, waiting, 0)
        while step >= 0:
            if parts := self.parts(grid, waiting, step):
                return grid.times[step] if step else NOW, parts
            step = self._candidate(grid, waiting, step + 1)
        return inf, ()

    def earlier(self, waiting: Queued, place: Place, until: float, sought: Sought) -> Place | None:
        """Return the earliest place of a job that has the place `place`, before the time `until`;
        None if there is none. `sought` keeps how far earlier searches, for jobs of its partition
        that begin no later, were in vain; the result of this search is added to it."""
        processors, held, start = waiting.processors, waiting.held, place[0]
        since, shortest = sought.before(processors, held)
        if since >= until:
            return None
        partition = waiting.job.partition
        grid = self.grids[self.cells.linked[partition]]
        times, column = grid.times, grid.column_of_partition[partition]
        first = bisect_right(times, since) - 1 if since > times[0] else 0
        last = bisect_left(times, start)
        enough, beside = grid.spells(column, processors, first, last)
        if enough == last:
            sought.add(processors, shortest, start)
            return None
        # It may end before the old place begins, or go on in that.
        apart, into = nextafter(start - held, inf), times[beside] if beside < last else inf
        found, seen, over = None, until, until if until < apart else apart
        if since < over and times[enough] < over:
            found, soonest = self._apart(grid, waiting, enough, over)
            seen = min(seen, soonest)
        if found is None and apart < until and into < inf:
            found, soonest = self._into(grid, waiting, place, max(since, apart, into), until)
            seen = min(seen, soonest)
        sought.add(processors, held, seen)
        return found

    def _apart(
        self, grid: Grid, waiting: Queued, first: int, until: float
    ) -> tuple[Place | None, float]:
        """Return the earliest place from step `first` on and before `until`, beside all others; and
        the first time at which enough workers are free, all cells taken together (inf: none)."""
        times, soonest = grid.times, inf
        while (step := self._candidate(grid, waiting, first, until)) >= 0:
            soonest = min(soonest, times[step])
            if parts := self.parts(grid, waiting, step):
                return self._place(times[step], parts), soonest
            first = step + 1
        return None, soonest

    def _into(
        self, grid: Grid, waiting: Queued, place: Place, since: float, until: float
    ) -> tuple[Place | None, float]:
        """Return the earliest place at `since` or later and before `until` from which a job goes on
        in its place `place`; and the time from which enough workers are free up to then, all cells
        taken together, as they are from `since` on."""
        times, start = grid.times, place[0]
        for over in self.cells.ends_within(waiting.job.partition, since, start):
            grid.at(over)
        first = bisect_left(times, since)
        begin = times[first]
        if begin >= until:
            return None, begin
        # That is the one for most; the next ones are looked at together.
        if parts := self.parts(grid, waiting, first, place):
            return self._place(begin, parts), begin
        for step in self._beside(grid, waiting, place, first + 1, grid.at(start)):
            if times[step] >= until:
                break
            if parts := self.parts(grid, waiting, step, place):
                return self._place(times[step], parts), begin
        return None, begin

    def _beside(
        self, grid: Grid, waiting: Queued, place: Place, first: int, last: int
    ) -> Sequence[int]:
        """Return some of the steps from step `first` on and before step `last`, at which the job's
        place `place` begins. Among them are all steps at which the job may be able to start and go
        on in that place."""
        if last - first < 2:
            return range(first, last)
        processors = waiting.processors
        times, rows, given = grid.times, grid.rows, dict(place[1])
        own = self.cells.of_partition[waiting.job.partition]
        cells, gained = [grid.column_of[cell] for cell in own], [given.get(cell, 0) for cell in own]
        # What is free in a cell until then must be free then, too, or be in the place.
        then = rows[last].tolist()
        left = [max(0, then[cell] + more) for cell, more in zip(cells, gained, strict=True)]
        step = last
        while step > first:
            row = rows[step - 1].tolist()
            left = [min(most, row[cell]) for most, cell in zip(left, cells, strict=True)]
            if sum(left) < processors:
                break
            step -= 1
        if last - step < 3:
            return range(step, last)
        # And it must be free until its end, or be in the place.
        ends = [bisect_left(times, times[k] + waiting.held, last + 1) for k in range(step, last)]
        until = np.minimum.accumulate(rows[step:last, cells][::-1])[::-1]
        after = np.minimum.accumulate(rows[last : ends[-1], cells]) + np.array(gained)
        both = np.minimum(until, after[np.array(ends) - last - 1])
        enough = np.maximum(both, 0).sum(axis=1) >= processors
        return (step + np.flatnonzero(enough)).tolist()

    def _place(self, start: float, parts: Parts) -> Place:
        return (NOW if start == self.now else start), parts

    def _candidate(self, grid: Grid, waiting: Queued, first: int, until: float = inf) -> int:
        """Return the first step, from step `first` on and before the time `until`, at which a job
        may be able to start: from then on enough workers are free in the cells that no window
        closes, all taken together. Return -1 if there is no such step."""
        times, cells, partition = grid.times, self.cells, waiting.job.partition
        processors, held = waiting.processors, waiting.held
        own, column = cells.of_partition[partition], grid.column_of_partition[partition]
        most = len(times) if until == inf else bisect_left(times, until)
        while first < most:
            first = grid.search(column, processors, held, first, most)
            if first == most:
                break
            may, same, over = cells.opening(partition, processors, held, times[first])
            if len(may) == len(own):
                return first
            if over < until:
                # Workers can be used again as a window ends, though none becomes free then.
                before = len(times)
                grid.at(over)
                most += len(times) - before
            turn, stop = min(same, over), most
            if turn < until:
                stop = max(first + 1, bisect_left(times, turn, 0, most))
            if may:
                found = grid.search(grid.column(may), processors, held, first, stop)
                if found < stop:
                    return found
            first = stop
        return -1

    def may_be_earlier(self, waiting: Queued, start: float) -> bool:
        """Return whether enough workers of the job's partition are free at some time before
        `start`, windows aside."""
        grid = self.grid(waiting)
        column, before = (
            grid.column_of_partition[waiting.job.partition],
            bisect_left(grid.times, start),
        )
        return 0 in grid.few(column, waiting.processors, 0, before)

    def take(self, place: Place, waiting: Queued, sign: int = -1) -> None:
        """Take the workers of a place for a job; with `sign` 1, give them back."""
        start, parts = place
        if not parts:
            return
        grid, held = self.grid(waiting), waiting.held
        if start == NOW:
            grid.change(parts, sign, 0, self.now + held)
        else:
            grid.hold(parts, sign, max(start, self.now), start + held)

    def move(self, waiting: Queued, before: Place, after: Place) -> None:
        """Let a job give up its place `before` for an earlier one."""
        start, parts = after
        begin = self.now if start == NOW else start
        if parts == before[1] and begin + waiting.held > before[0]:
            self.grid(waiting).slide(parts, begin, before[0], waiting.held)
        else:
            self.take(before, waiting, 1)
            self.take(after, waiting)


def bare_of(cells: Cells, free: Sequence[int]) -> list[int]:
    """Return the number of free workers of each partition, from that of each cell."""
    of_cell = free.__getitem__
    return [sum(map(of_cell, own)) for own in cells.of_partition]


def ends_of(running: Sequence[Run], cells: Cells, now: float) -> Sequence[Run]:
    """Return, by expected end, these runs and the workers that are not UP in the form of runs, all
    with their parts; `running` is that of a view at the time `now`."""
    if all(map(_parts, running)):
        return running
    runs = [_with_parts(run, cells) for run in running if run.entry is not None]
    return sorted([*runs, *_returns(running, cells, now)], key=end_of)


def _with_parts(run: Run, cells: Cells) -> Run:
    if run.parts:
        return run
    parts = cells.parts(run.numbers)
    return Run(run.end, run.index, run.processors, run.entry, run.numbers, run.copy, parts)


def _returns(running: Sequence[Run], cells: Cells, now: float) -> Iterator[Run]:
    """Yield the workers that are not UP and that no run holds, those of a cell that are expected
    back together in the form of one run that ends then: those that a window has taken DOWN at its
    end. A node that is taken whole is back when all its workers are."""
    nodes, counts = dict[tuple[int, int], float](), Counter[tuple[float, int]]()
    for run in running:
        if run.entry is not None:
            continue
        worker = run.numbers[0][0]
        number = cells.of_worker[worker]
        cell = cells.cells[number]
        back = cell.windows.back(now, run.end)
        if cell.unit == 1:
            counts[back, number] += 1
        else:
            node = number, worker // cells.node
            nodes[node] = max(back, nodes.get(node, -inf))
    for (number, _), back in nodes.items():
        counts[back, number] += cells.cells[number].unit
    for (back, number), count in counts.items():
        yield Run(back, -1, count, None, (), -1, ((number, count),))


end_of, _parts = attrgetter("end"), attrgetter("parts")


def by_component(cells: Cells, parts: Parts) -> Iterable[tuple[int, Parts]]:
    """Yield (component, parts) for each component that has some of these parts; those of no
    partition are left out."""
    component_of = cells.component_of
    for component in {component_of[cell] for cell, _ in parts} - {-1}:
        yield component, tuple([it for it in parts if component_of[it[0]] == component])
