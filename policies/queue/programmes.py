"""MT-ALLOTMENT's dynamic programme in full, for every chain of a batch (moldable21,
section 4.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import field, frozen

from policies.interface.queue import Allotment, BatchJob
from policies.maths.profiles import SAME, Listed
from policies.queue.batches import EPS, TargetTrial, smallest
from policies.queue.chains import Chain, Ties


@frozen
class Programme:
    """What `Scaled` short-cuts: the best chain of rounded times, whether balanced or not.

    A formula's area is convex in its time but for whole processors: an attempt at k + 2 units and
    one at k can be cheaper than two at k + 1. At equal area the fewest processors. It costs
    n g (g/eps)^2 additions per makespan tried, besides a table of P times for each job.
    """

    eps: float = field(default=0.1, validator=EPS)
    """Times count in units eps X / g."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """Raises ValueError for rigid jobs."""
        tables = [Listed.tabulated(job.profile, processors) for job in jobs]
        rows = list(zip(tables, attempts, strict=True))
        least = least_length(rows, processors) / (1 + 2 * self.eps)
        return smallest(least, processors, lambda target: self._trial(rows, target)).listed

    def _trial(self, rows: Sequence[tuple[Listed, int]], target: float) -> TargetTrial:
        chains = [self._chain(table, g, target) for table, g in rows]
        allotments = tuple(chain.allotment() for chain in chains)
        return TargetTrial((), allotments, sum(chain.area for chain in chains))

    def _chain(self, table: Listed, attempts: int, target: float) -> Chain:
        units = math.floor(attempts / self.eps * (1 + SAME))
        return Chain.of(table, attempts, units, self.eps * target / attempts, Ties.FEWEST)


def least_length(rows: Sequence[tuple[Listed, int]], processors: int) -> float:
    """No batch can be shorter: the longest chain at its fastest, the area at its least."""
    longest = max(g * float(table.times.min()) for table, g in rows)
    area = sum(g * float(table.areas.min()) for table, g in rows)
    return max(longest, area / processors)
