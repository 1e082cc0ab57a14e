"""The free workers of cells over time, as step functions that share their steps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import compress
from math import inf

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.cells import CellNumbers, Parts

Place = tuple[float, Parts]
"""A start, and how many workers of each cell the job gets then."""
NOW = -inf
"""Stands for a start at this very instant, on workers that are free. A start at the time of the
instant is one on workers of runs that outlive their estimates: expected at any moment, not yet
free."""
SUMS = 24
"""Number of sets of cells whose sums are kept; with more, all are dropped and made again."""
KEPT = 4_096
"""Largest number of sets of workers whose addition to a row is kept."""
FEW = 16
"""Number of steps below which none are merged."""
Changes = Sequence[tuple[float, Parts]]
"""Pairs (time, workers of each cell that become free then), sorted by time."""


@define(eq=False)
class Grid:
    """The free workers of some cells over time, as step functions with the same steps: row i holds
    over [times[i], times[i+1]), the last one for ever; times[0] is now.

    A row has a column for each cell, and one for each set of cells whose sum has been asked for, so
    that a reservation costs two insertions and one pass in compiled code, however many of them its
    job's cells are in.
    """

    times: list[float]
    rows: NDArray[np.int64]
    """As many rows as there are steps, and room for more."""
    column_of: dict[int, int]
    """Maps each cell to its column; the cells' columns come first, in this order."""
    late: set[int]
    """Cells with workers that were expected to be free by now and are not, because a run has
    outlived its estimate. They are free from step 1 on, which begins now, too."""
    _sums: dict[CellNumbers, int] = field(init=False, factory=dict)
    """Maps sets of cells to the columns of their sums."""
    _added: dict[Parts, NDArray[np.int64]] = field(init=False, factory=dict)
    """Maps workers, counted by cell, to the numbers that they add to the columns of a row."""
    _most: dict[int, list[int]] = field(init=False, factory=dict)
    """By column, the most workers that are free at any time from now to each step."""
    _merged: int = field(init=False)
    """Number of steps when they were last merged."""

    def __attrs_post_init__(self) -> None:
        self._merged = max(FEW, len(self.times))

    @classmethod
    def of(cls, now: float, free: Sequence[int], cells: CellNumbers, changes: Changes) -> Grid:
        """Build the grid of these cells at the time `now`, of which `free` has the number of free
        workers of each cell of the platform."""
        column_of = {cell: column for column, cell in enumerate(cells)}
        row, late, width = [free[cell] for cell in cells], set[int](), len(cells)
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
        made = np.empty((2 * len(times) + FEW, width), dtype=np.int64)
        made[: len(times)] = np.array(rows, dtype=np.int64).reshape(-1, width)
        return cls(times, made, column_of, late)

    def now(self) -> Iterable[tuple[int, int]]:
        """Return pairs (cell, number of its free workers now)."""
        return zip(self.column_of, self.rows[0].tolist(), strict=False)

    def least(self, step: int, end: int, place: Place | None = None) -> list[int]:
        """Return, by column, the least numbers of workers that are free in the steps from `step`
        on, before step `end`. With `place`, which begins after step `step` and ends at `end` or
        later, its workers count as free."""
        rows, parts = self.rows, () if place is None else place[1]
        begin = end if place is None else min(end, bisect_left(self.times, place[0]))
        if begin <= step:
            found = np.minimum.reduce(rows[step:end]) + self.adds(parts)
        else:
            found = rows[step] if begin - step == 1 else np.minimum.reduce(rows[step:begin])
            if begin < end:
                then = np.minimum.reduce(rows[begin:end]) + self.adds(parts)
                found = np.minimum(found, then)
        least: list[int] = found.tolist()
        return least

    def column(self, cells: CellNumbers) -> int:
        """Return the column of the sum over these cells."""
        if len(cells) == 1:
            return self.column_of[cells[0]]
        found = self._sums.get(cells)
        if found is None:
            kept, width = self.rows, len(self.column_of)
            if len(self._sums) == SUMS:
                kept = kept[:, :width]
                self._sums.clear()
                self._most.clear()
            own = kept[:, [self.column_of[cell] for cell in cells]].sum(axis=1)
            self.rows = np.column_stack((kept, own))
            self._added.clear()
            found = self._sums[cells] = width + len(self._sums)
        return found

    def search(self, column: int, processors: int, held: float, first: int, most: int) -> int:
        """Return the first step from `first` on, before `most`, from which at least `processors`
        workers of this column are free throughout a duration `held`; `most` if there is none."""
        times = self.times
        end = bisect_left(times, times[most - 1] + held, most)
        blocked = (self.rows[first:end, column] < processors).tobytes()
        obstacle = -1
        while (at := blocked.find(0, obstacle + 1)) >= 0 and first + at < most:
            time = times[first + at] + held
            obstacle = blocked.find(1, at + 1)
            if obstacle < 0 or times[first + obstacle] >= time:
                return first + at
        return most

    def first(self, column: int, processors: int) -> int:
        """Return the first step at which at least `processors` workers of this column are free, or
        the number of steps if there is none."""
        most = self._most.get(column)
        if most is None:
            its = self.rows[: len(self.times), column]
            most = self._most[column] = np.maximum.accumulate(its).tolist()
        return bisect_left(most, processors)

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
        if sign > 0:
            self.rows[step:stop] += self.adds(parts)
        else:
            self.rows[step:stop] -= self.adds(parts)
        self._most.clear()

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
        times, row = self.times, self.adds(parts)
        last = self.at(before)  # a new step may make the rows anew
        self.rows[bisect_left(times, start) : last] -= row
        stop = self.at(start + held)
        end = self.at(before + held)
        self.rows[stop:end] += row
        self._most.clear()

    def advance(self, now: float) -> None:
        """Move the beginning of the grid to the time `now`. The caller guarantees that all changes
        expected by then have come as expected."""
        passed = bisect_right(self.times, now) - 1
        if passed > 0:
            self.rows[: len(self.times) - passed] = self.rows[passed : len(self.times)]
            del self.times[:passed]
            self._most.clear()
        self.times[0] = now
        self.late.clear()

    def tidy(self) -> None:
        """Remove the steps at which no number of free workers changes, if there may be many."""
        if len(self.times) < 2 * self._merged:
            return
        rows = self.rows[: len(self.times)]
        differs = np.ones(len(rows), dtype=bool)
        (rows[1:] != rows[:-1]).any(axis=1, out=differs[1:])
        self.times = list(compress(self.times, differs.tolist()))
        self.rows[: len(self.times)] = rows[differs]
        self._merged = max(FEW, len(self.times))
        self._most.clear()

    def adds(self, parts: Parts) -> NDArray[np.int64]:
        """Return what these workers add to each column of a row."""
        row = self._added.get(parts)
        if row is None:
            if len(self._added) == KEPT:
                self._added.clear()
            row = self._added[parts] = np.zeros(self.rows.shape[1], dtype=np.int64)
            for cell, count in parts:
                row[self.column_of[cell]] = count
                for cells, column in self._sums.items():
                    row[column] += count if cell in cells else 0
        return row

    def _insert(self, step: int, time: float) -> None:
        rows, count = self.rows, len(self.times)
        if count == len(rows):
            self.rows = rows = np.concatenate((rows, rows))
        self.times.insert(step, time)
        rows[step + 1 : count + 1] = rows[step:count]
        rows[step] = rows[step - 1]
        self._most.clear()
