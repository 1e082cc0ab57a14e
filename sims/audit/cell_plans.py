"""Finds the earliest places of jobs where workers differ, by cells (rules.md, G5 and G6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import inf
from typing import Any

from attrs import Factory, define, field

from sims.audit import cells
from sims.audit.cells import CellKey
from sims.audit.facts import ExpectedJob
from sims.audit.law import same
from sims.audit.workers import numbers
from sims.audit.world import World

Taken = dict[CellKey, int]
"""Number of workers of each cell."""


@define(eq=False)
class CellPlan:
    """The workers of each cell that are free now or become free later, and the reservations made on
    them."""

    w: World
    keys: list[CellKey]
    """The cell of each worker."""
    free: Taken
    """Workers that are free now."""
    later: list[tuple[float, Taken]] = Factory(list)
    """Times, now or later, from which more are free."""
    promised: list[tuple[float, float, Taken]] = Factory(list)
    """Start, end and workers of what has been promised."""
    sizes: Counter[CellKey] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.sizes = Counter(self.keys)

    def counted(self, workers: Iterable[int]) -> Taken:
        """Return how many of these workers can be given of each cell: where a cell deals in nodes,
        those of whole nodes."""
        these = [n for n in workers if n < len(self.keys)]
        found = Counter(self.keys[n] for n in these)
        for key in [it for it in found if self.deals_in_nodes(it)]:
            own = [n for n in these if self.keys[n] == key]
            found[key] = sum(map(len, cells.in_whole_nodes(self.w, own).values()))
        return found

    def deals_in_nodes(self, key: CellKey) -> bool:
        """Return whether the workers of a cell are given by whole nodes, of which it has
        several."""
        return key[2] < 0 and not cells.exclusive(self.w).isdisjoint(key[0])

    def place(self, job: ExpectedJob, size: int, held: float) -> tuple[float, Taken]:
        """Return the earliest start, now or later, at which the job fits, with its workers; inf
        without any, if there is none. One that begins at this very instant without a promise is
        `now`, too: a job that fits there would have started."""
        now = self.w.now
        ends = {over for _, over, _ in self.w.windows}
        ends |= {time for time, _ in self.later} | {end for _, end, _ in self.promised}
        for time in [-inf, *sorted({max(it, now) for it in ends if it < inf} | {now})]:
            if taken := self.at(job, size, time, held):
                return max(time, now), taken
        return inf, {}

    def at(self, job: ExpectedJob, size: int, time: float, held: float) -> Taken:
        """Return the workers of each cell that the job gets from `time` on (-inf: at once); none
        where they are too few."""
        start = max(time, self.w.now)
        number = job.partition.number if job.partition is not None else None
        own = {it for it in self.sizes if number is None or number in it[0]}
        if size <= cells.most_of(self.w, job, self._endless()):
            own = {it for it in own if not self._closed(it, start, start + held)}
        room = {it: self._room(it, time, start + held) for it in own}
        order = sorted(own, key=lambda it: self._rank(it, time))
        if cells.is_exclusive(job):
            return self._nodes(size, order, room)
        left, found = size, Taken()
        for key in order:
            some = min(left, room[key])
            if some > 0:
                found[key], left = some, left - some
        return {} if left else found

    def _nodes(self, size: int, order: list[CellKey], room: Taken) -> Taken:
        """Return the workers of the first nodes that are free whole and have `size` workers."""
        found, node = Taken(), self.w.platform.node
        for key in order:
            left = size - sum(found.values())
            if left <= 0:
                break
            if key[2] < 0:
                found[key] = max(0, min(room[key], -(-left // node) * node))
                continue
            its = [it for it in self.sizes if it[2] == key[2]]
            if all(room.get(it) == self.sizes[it] for it in its):
                found.update((it, self.sizes[it]) for it in its)
        return found if sum(found.values()) >= size else {}

    def _rank(self, key: CellKey, time: float) -> tuple[Any, ...]:
        """Return what sorts a cell (G5)."""
        spans = [self.w.windows[place] for place in key[1]]
        over = [end for _, end, _ in spans if end <= time or same(end, time)]
        begins = [start for start, _, _ in spans if start > max(time, self.w.now)]
        last = -max(over, default=-inf) if time > -inf else 0.0
        return last, len(key[0]) or 1, min(begins, default=inf), key

    def _endless(self) -> set[int]:
        return {n for _, over, them in self.w.windows if over == inf for n in numbers(them)}

    def _closed(self, key: CellKey, start: float, end: float) -> bool:
        spans = (self.w.windows[place] for place in key[1])
        return any(
            begin < end and not same(begin, end) and over > start and not same(over, start)
            for begin, over, _ in spans
        )

    def _room(self, key: CellKey, time: float, end: float) -> int:
        """Return the least number of the cell's workers that are free from `time` to `end`."""
        begins = [start for start, _, its in self.promised if time < start < end and key in its]
        times = [time, self.w.now, *begins] if time == -inf else [time, *begins]
        return min(self._free_at(key, it) for it in times)

    def _free_at(self, key: CellKey, time: float) -> int:
        more = sum(
            its.get(key, 0) for since, its in self.later if since <= time or same(since, time)
        )
        more = more if time > -inf else 0
        gone = (
            its.get(key, 0)
            for start, end, its in self.promised
            if (start <= time or same(start, time)) and end > time and not same(end, time)
        )
        return self.free.get(key, 0) + more - sum(gone)
