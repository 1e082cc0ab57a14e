"""The free workers of cells over time, as step functions that share their steps."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import compress
from math import inf

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.cells import CellNumbers, Cells, Parts

Place = tuple[float, Parts]
"""A start, and how many workers of each cell the job gets then."""
NOW = -inf
"""Stands for a start at this very instant, on workers that are free. A start at the time of the
instant is one on workers of runs that outlive their estimates: expected at any moment, not yet
free."""
SUMS = 24
"""Number of sets of cells, besides those of each partition, whose sums are kept; with more, all are
dropped and made again."""
KEPT = 4_096
"""Largest number of sets of workers whose addition to a row is kept."""
FEW = 48
"""Number of steps up to which reading their numbers one by one is as fast as through numpy."""
SHORT = 4
"""Number of steps up to which their numbers are changed one by one."""
LEAST = 16
"""Number of steps below which none are merged."""
Adds = list[tuple[int, int]]
"""Pairs (column, number)."""
Changes = Sequence[tuple[float, Parts]]
"""Pairs (time, workers of each cell that become free then), sorted by time."""


@define(eq=False)
class Grid:
    """The free workers of some cells over time, as step functions with the same steps: step i holds
    over [times[i], times[i+1]), the last one for ever; times[0] is now.

    A step has a column for each cell, one for each partition and one for each other set of cells
    whose sum has been asked for. All numbers are in one array, so that a step is inserted by one
    copy, however many columns there are.
    """

    times: list[float]
    counts: array[int]
    """The numbers of all steps, one step after the other. A few are read and changed one by one;
    many through a numpy view of the same memory."""
    width: int
    """Number of columns."""
    column_of: dict[int, int]
    """Maps each cell to its column; the cells' columns come first, in this order."""
    column_of_partition: dict[int, int]
    """Maps each partition to the column of the sum over its cells."""
    late: set[int]
    """Cells with workers that were expected to be free by now and are not, because a run has
    outlived its estimate. They are free from step 1 on, which begins now, too."""
    _sums: dict[CellNumbers, int]
    """Maps sets of cells to the columns of their sums; those of each partition come first."""
    _own: int = field(init=False)
    """Number of columns of single cells and of each partition."""
    _added: dict[Parts, Adds] = field(init=False, factory=dict)
    """Maps workers, counted by cell, to what they add to a step."""
    _rows_added: dict[Parts, NDArray[np.int64]] = field(init=False, factory=dict)
    """Maps workers, counted by cell, to the same as a row of numbers."""
    _merged: int = field(init=False)
    """Number of steps when they were last merged."""

    def __attrs_post_init__(self) -> None:
        self._merged, self._own = max(LEAST, len(self.times)), self.width

    @classmethod
    def of(
        cls, now: float, free: Sequence[int], cells: Cells, component: int, changes: Changes
    ) -> Grid:
        """Build the grid of a component's cells (`Cells.of_component`) at the time `now`. `free`
        has the number of free workers of each cell of the platform."""
        column_of = {cell: column for column, cell in enumerate(cells.of_component[component])}
        row, late, width = [free[cell] for cell in column_of], set[int](), len(column_of)
        times, rows = [now], list(row)
        for time, parts in changes:
            if time <= now:
                late.update(cell for cell, _ in parts)
                time = now
            # Step 0 is what is free right now.
            if len(times) == 1 or time > times[-1]:
                times.append(time)
                rows += row
            for cell, count in parts:
                row[column_of[cell]] += count
            rows[-width:] = row
        grid = cls(times, array("q", rows), width, column_of, {}, late, {})
        for partition, linked in enumerate(cells.linked):
            if linked == component:
                column = grid.column(cells.of_partition[partition])
                grid.column_of_partition[partition] = column
        grid._own = grid.width
        return grid

    @property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of all steps, a row each, as a numpy view of the same memory. It must not be
        kept, because no step can be inserted while it exists."""
        return np.frombuffer(self.counts, dtype=np.int64).reshape(-1, self.width)

    def now(self) -> list[int]:
        """Return the number of free workers of each cell now, in the order of the columns."""
        return self.counts[: len(self.column_of)].tolist()

    def free(
        self, cells: CellNumbers, step: int, end: int, place: Place | None = None
    ) -> Iterator[int]:
        """Yield for each of these cells the least number of its workers that are free in the steps
        from `step` on, before step `end`. With `place`, which ends at `end` or later, its workers
        count as free."""
        counts, width, column_of = self.counts, self.width, self.column_of
        least = min if end - step <= FEW else _least
        first, stop = step * width, end * width
        begin = end if place is None else bisect_left(self.times, place[0])
        if begin >= end or place is None:
            for cell in cells:
                yield least(counts[first + column_of[cell] : stop : width])
            return
        given, turn = dict(place[1]), max(step, begin) * width
        for cell in cells:
            column = column_of[cell]
            count = least(counts[turn + column : stop : width]) + given.get(cell, 0)
            yield (
                count if begin <= step else min(count, least(counts[first + column : turn : width]))
            )

    def column(self, cells: CellNumbers) -> int:
        """Return the column of the sum over these cells."""
        if len(cells) == 1:
            return self.column_of[cells[0]]
        found = self._sums.get(cells)
        if found is None:
            kept = self.rows
            if self.width == self._own + SUMS:
                kept = kept[:, : self._own]
                self._sums = {its: at for its, at in self._sums.items() if at < self._own}
            own = kept[:, [self.column_of[cell] for cell in cells]].sum(axis=1)
            found = self._sums[cells] = kept.shape[1]
            self.counts = array("q", np.column_stack((kept, own)).tobytes())
            self.width = found + 1
            self._forget()
        return found

    def few(self, column: int, processors: int, first: int, end: int) -> bytes:
        """Return, for each step from step `first` on and before step `end`, 1 if fewer than
        `processors` workers of this column are free, else 0."""
        if end - first > FEW:
            return (self.rows[first:end, column] < processors).tobytes()
        width = self.width
        its = self.counts[first * width + column : end * width : width]
        return bytes([count < processors for count in its])

    def spells(self, column: int, processors: int, first: int, end: int) -> tuple[int, int]:
        """Return two steps of those from step `first` on and before step `end`: the first at which
        at least `processors` workers of this column are free, and the first from which on they are
        up to the end. Each is `end` if there is none."""
        if end - first > FEW:
            few = self.few(column, processors, first, end)
            at = few.find(0)
            return (end if at < 0 else first + at), first + few.rfind(1) + 1
        width = self.width
        its = self.counts[first * width + column : end * width : width]
        if not its or max(its) < processors:
            return end, end
        at, last = 0, len(its)
        while its[at] < processors:
            at += 1
        while last > at and its[last - 1] >= processors:
            last -= 1
        return first + at, first + last

    def search(self, column: int, processors: int, held: float, first: int, most: int) -> int:
        """Return the first step from `first` on, before `most`, from which at least `processors`
        workers of this column are free throughout a duration `held`; `most` if there is none."""
        times = self.times
        end = bisect_left(times, times[most - 1] + held, most)
        blocked, obstacle = self.few(column, processors, first, end), -1
        while (at := blocked.find(0, obstacle + 1)) >= 0 and first + at < most:
            time = times[first + at] + held
            obstacle = blocked.find(1, at + 1)
            if obstacle < 0 or times[first + obstacle] >= time:
                return first + at
        return most

    def at(self, time: float) -> int:
        """Return the index of the last step that begins at `time`; insert one if there is none.
        `time` is now or later."""
        step = bisect_right(self.times, time) - 1
        if self.times[step] != time:
            step += 1
            self._insert(step, time)
        return step

    def change(self, parts: Parts, sign: int, step: int, end: float) -> None:
        """Count these workers as free (`sign` 1) or as used (-1) from times[step] until the time
        `end`."""
        times = self.times
        stop = bisect_left(times, end, step + 1)
        if stop == len(times) or times[stop] != end:
            self._insert(stop, end)
        self._add(parts, sign, step, stop)

    def hold(self, parts: Parts, sign: int, start: float, end: float) -> None:
        """Count these workers as used (`sign` -1) or as free (1) over [start, end). `start` is now
        or later, and no start on what is free now."""
        step = self.at(start)
        if step and start == self.times[0]:
            # Only what should be free already waits for the runs that outlive their estimates.
            free = tuple(it for it in parts if it[0] not in self.late)
            if free:
                self.change(free, sign, 0, end)
                parts = tuple(it for it in parts if it[0] in self.late)
        self.change(parts, sign, step, end)

    def slide(self, parts: Parts, start: float, before: float, held: float) -> None:
        """Move a reservation of these workers for a duration `held` from the time `before` to the
        earlier time `start`; it would not be over by then."""
        self._add(parts, -1, bisect_left(self.times, start), self.at(before))
        stop = self.at(start + held)
        self._add(parts, 1, stop, self.at(before + held))

    def advance(self, now: float) -> None:
        """Move the beginning of the grid to the time `now`. The caller guarantees that all changes
        expected by then have come as expected."""
        if len(self.times) >= 2 * self._merged:
            self._tidy()
        passed = bisect_right(self.times, now) - 1
        if passed > 0:
            del self.times[:passed], self.counts[: passed * self.width]
        self.times[0] = now
        self.late.clear()

    def _tidy(self) -> None:
        """Remove the steps at which no number of free workers changes."""
        rows = self.rows
        differs = np.ones(len(rows), dtype=bool)
        (rows[1:] != rows[:-1]).any(axis=1, out=differs[1:])
        self.times = list(compress(self.times, differs.tolist()))
        self.counts = array("q", rows[differs].tobytes())
        self._merged = max(LEAST, len(self.times))

    def _add(self, parts: Parts, sign: int, step: int, end: int) -> None:
        """Add these workers, times `sign`, to the steps from `step` on, before step `end`."""
        adds = self._added.get(parts) or self._adds(parts)
        counts, width = self.counts, self.width
        if end - step == 1:
            for column, count in adds:
                counts[step * width + column] += sign * count
        elif end - step <= SHORT:
            first, stop = step * width, end * width
            for column, count in adds:
                count *= sign
                for at in range(first + column, stop, width):
                    counts[at] += count
        else:
            row = self._rows_added.get(parts)
            if row is None:
                row = self._rows_added[parts] = np.zeros(width, dtype=np.int64)
                for column, count in adds:
                    row[column] = count
            (np.add if sign > 0 else np.subtract)(rows := self.rows[step:end], row, out=rows)

    def _adds(self, parts: Parts) -> Adds:
        """Return what these workers add to a step."""
        if len(self._added) == KEPT:
            self._forget()
        own = [(self.column_of[cell], count) for cell, count in parts]
        for cells, column in self._sums.items():
            if count := sum(count for cell, count in parts if cell in cells):
                own.append((column, count))
        self._added[parts] = own
        return own

    def _forget(self) -> None:
        self._added.clear()
        self._rows_added.clear()

    def _insert(self, step: int, time: float) -> None:
        self.times.insert(step, time)
        at = step * self.width
        self.counts[at:at] = self.counts[at - self.width : at]


def _least(counts: array[int]) -> int:
    return int(np.frombuffer(counts, dtype=np.int64).min())
