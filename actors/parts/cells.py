"""Cells of workers, as the scheduler of a queue sees them: a job starts only on workers of its
partition that no window of maintenance takes DOWN before its expected end (rules.md, G4, G5 and
M2)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, frozen

from actors.intervals import Intervals, common, merged, size_of
from actors.pool import Pool, Source
from policies.interface.cells import Cells, Parts
from policies.interface.queue import Queued, Run


@frozen
class Sources:
    """The free workers from which those of one start are chosen."""

    members: Sequence[Source]
    """Sets of free workers, and how many members the placement chooses in each."""
    others: Intervals
    """Free workers among which those held ready are chosen, once the members are: those of the
    partition. A window that takes one of these DOWN costs the run nothing."""


ANY = Sources((), ())
"""Leaves the choice among all free workers, those held ready included, to the placement."""


@define(eq=False)
class CellsOfPool:
    """Keeps the starts of a queue's jobs to their partitions, and clear of windows."""

    cells: Cells
    pool: Pool

    def sources(self, waiting: Queued, parts: Parts, now: float) -> Sources | None:
        """Return the workers from which those of a start are chosen: `parts` says how many of each
        cell; if it is empty, all that the job may have. Return None if too few are free."""
        numbers = self.pool.numbers
        assert numbers is not None
        free, cells = numbers.intervals(), self.cells.cells
        partition, wanted = waiting.job.partition, waiting.processors
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
        return Sources(found, self._among(free, own))

    def _among(self, free: Intervals, cells: Sequence[int]) -> Intervals:
        return merged((), [it for k in cells for it in common(free, self.cells.cells[k].workers)])

    def parts(self, workers: Intervals) -> Parts:
        """Return how many of these workers are in each cell."""
        return self.cells.parts(workers)

    def run(
        self, waiting: Queued, numbers: Intervals, members: Intervals, copy: int, now: float
    ) -> Run:
        """Return a run that starts now: the copy numbered `copy` of the job of `waiting`, which
        holds the workers `numbers` and computes on `members`. It is expected to end when its job is
        believed to, or when a window takes a member DOWN."""
        parts = self.cells.parts(numbers)
        own = parts if members is numbers else self.cells.parts(members)
        end = min(now + waiting.held, self.cells.next_from((cell for cell, _ in own), now))
        return Run(end, waiting.key[1], size_of(numbers), waiting, numbers, copy, parts)
