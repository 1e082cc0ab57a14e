"""Cells of workers, as the scheduler of a queue sees them: a job starts only on workers of its
partition that no window takes DOWN before its expected end (rules.md, G4, G5 and M2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define

from actors.intervals import Intervals, common, merged, size_of, without
from actors.pool import ANY, Pool, Source, Sources
from policies.interface.cells import Cells, Parts
from policies.interface.queue import Queued, Run


@define(eq=False)
class CellsOfPool:
    """Keeps the start of each job of a queue to its partition, and clear of windows."""

    cells: Cells
    pool: Pool

    def sources(self, waiting: Queued, parts: Parts, now: float) -> Sources | None:
        """Return the workers from which those of a start are chosen: `parts` says how many of each
        cell; if it is empty, all that the job may have. Return None if too few are free."""
        numbers = self.pool.numbers
        assert numbers is not None
        free, cells = numbers.intervals(), self.cells.cells
        partition, wanted = waiting.job.partition, waiting.processors
        if partition in self.cells.exclusive:
            return self._whole_nodes(waiting, parts, free, now)
        if parts:
            found = [Source(common(free, cells[cell].workers), count) for cell, count in parts]
            if any(source.size < source.count for source in found):
                return None
        else:
            may = self.cells.open_to(partition, wanted, waiting.held, now)
            if len(may) == len(cells):
                return ANY if wanted <= self.pool.free else None
            found = [Source(self._among(free, may), wanted)]
            if found[0].size < wanted:
                return None
        own = self.cells.of_partition[partition] if waiting.job.held_ready else ()
        return Sources(found, self._among(free, own), (), tuple(sorted(parts)))

    def _whole_nodes(
        self, waiting: Queued, parts: Parts, free: Intervals, now: float
    ) -> Sources | None:
        """Return the workers of the nodes that a job of an exclusive partition holds: so many of
        each cell as `parts` says, or of all that it may have. Nodes are taken by number. In the
        last of all the placement chooses which workers are members; the rest of it is idle."""
        left, counts = waiting.processors, self.cells.free(free)
        if any(counts[cell] < count for cell, count in parts):
            return None
        found = list[Source]()
        for workers in self._nodes(parts, free) if parts else self._all_nodes(waiting, free, now):
            # A part of a divided node may have no member, and is held all the same.
            if left > 0 or parts:
                found.append(Source(workers, min(left, size_of(workers))))
                left -= found[-1].count
        whole = merged((), [span for source in found for span in source.workers])
        return None if left > 0 else Sources(found, (), whole)

    def _all_nodes(self, waiting: Queued, free: Intervals, now: float) -> Iterator[Intervals]:
        """Yield the workers of each node that is free whole and that the job may have."""
        job, processors = waiting.job, waiting.processors
        may = self.cells.open_to(job.partition, processors, waiting.held, now)
        return ((node,) for node in self.cells.whole(set(may), free))

    def _nodes(self, parts: Parts, free: Intervals) -> Iterator[Intervals]:
        """Yield the workers of each node, or of each cell of a divided one, that are so many of
        each cell as `parts` says."""
        for number, count in parts:
            cell, node = self.cells.cells[number], self.cells.node
            if cell.unit == 1:
                yield cell.workers
                continue
            for it in self.cells.free_nodes(number, free)[: count // node]:
                yield ((it * node, (it + 1) * node - 1),)

    def _among(self, free: Intervals, cells: Sequence[int]) -> Intervals:
        return merged((), [it for k in cells for it in common(free, self.cells.cells[k].workers)])

    def left(self, partition: int) -> int:
        """Return how many workers jobs of the partition can use at most, without those that have
        retired; in an exclusive one those of nodes of which none has."""
        size = self.pool.size
        gone = [it for it in self.pool.retired if it < size]
        return self.cells.usable(partition, self.cells.free(without(((0, size - 1),), gone)))

    def parts(self, workers: Intervals) -> Parts:
        """Return how many of these workers are in each cell."""
        return self.cells.parts(workers)

    def run(
        self,
        waiting: Queued,
        numbers: Intervals,
        members: Intervals,
        copy: int,
        now: float,
        chosen: Parts = (),
    ) -> Run:
        """Return a run that starts now: the copy numbered `copy` of the job of `waiting`, which
        holds the workers `numbers` and computes on `members`. `chosen` says how many of these are
        of each cell, where the decision did (`Sources.parts`). The run is expected to end when its
        job is believed to, or when a window takes a member DOWN."""
        size = size_of(numbers)
        if members is numbers and chosen and size == waiting.processors:
            parts = own = chosen
        else:
            parts = self.cells.parts(numbers)
            own = parts if members is numbers else self.cells.parts(members)
        end = min(now + waiting.held, self.cells.next_from([cell for cell, _ in own], now))
        return Run(end, waiting.key[1], size, waiting, numbers, copy, parts)
