"""Computes the best allotment of a batch, by MT-ALLOTMENT's full dynamic programme (moldable21,
section 4.4) and with attempts that may differ in size (moldable21, equation 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from policies.interface.queue import Allotment, BatchJob
from policies.maths.profiles import Counts, Floats, Listed
from policies.maths.tolerance import ROUNDING
from policies.queue.batches import EPS, TargetTrial, smallest
from policies.queue.chains import Chain, Ties, runs


@frozen
class Programme:
    """Batch rule that solves MT-ALLOTMENT's dynamic programme in full: it finds, over rounded
    times, the least area of each job's chain (its attempts in a row), whose attempts can differ in
    processors. `Scaled` takes a short cut.

    A formula's area is convex in its time except for whole processors: an attempt at k + 2 units
    and one at k can be cheaper than two at k + 1. At equal area it takes the fewest processors. It
    costs n g (g/eps)^2 additions per makespan tried, besides a table of P times for each job.
    """

    eps: float = field(default=0.1, validator=EPS)
    """Rounding parameter: times count in units eps X / g."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """Return for each of `jobs` the processors of its attempts in this batch, of which job i
        can make attempts[i], as pairs (number of attempts, processors of each). P = `processors`.
        Raises ValueError for rigid jobs."""
        rows, least = tabulated(jobs, attempts, processors)
        # Rounding down lets a chain be longer than X by up to g units of eps X / g each.
        least /= 1 + 2 * self.eps
        return smallest(least, processors, lambda target: self._trial(rows, target)).listed

    def _trial(self, rows: Sequence[tuple[Listed, int]], target: float) -> TargetTrial:
        chains = [self._chain(table, g, target) for table, g in rows]
        allotments = tuple(chain.allotment() for chain in chains)
        return TargetTrial((), allotments, sum(chain.area for chain in chains))

    def _chain(self, table: Listed, attempts: int, target: float) -> Chain:
        units = math.floor(attempts / self.eps * (1 + ROUNDING))
        return Chain.of(table, attempts, units, self.eps * target / attempts, Ties.FEWEST)


def tabulated(
    jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
) -> tuple[list[tuple[Listed, int]], float]:
    """Return (table of times on 1..P processors, number of attempts) for each job, and a lower
    bound on the batch's length. The bound is the longest chain of attempts in a row, each at its
    fastest, or the least total area over P = `processors`, whichever is larger."""
    tables = [Listed.tabulated(job.profile, processors) for job in jobs]
    rows = list(zip(tables, attempts, strict=True))
    longest = max(g * float(table.times.min()) for table, g in rows)
    area = sum(g * float(table.areas.min()) for table, g in rows)
    return rows, max(longest, area / processors)


MOST_CHAINS = 4_000_000
"""Number of pairs of shorter chains that are compared at once, in about 200 MB."""


@frozen(eq=False)
class Frontier:
    """All chains of a given number of attempts of one job, run in a row, that no other such chain
    beats in both time and area; times rise and areas fall.

    A chain of two or more attempts is represented by the two shorter chains that it joins.
    """

    times: Floats
    areas: Floats
    places: Counts
    """Number of processors, for chains of one attempt; otherwise the index of the pair of chains of
    `halves` that are joined."""
    halves: tuple[Frontier, Frontier] | None = None

    @classmethod
    def of(cls, table: Listed, attempts: int) -> Frontier:
        """Return the frontier of the chains of `attempts` attempts in a row of the job with this
        table of times. Raises ValueError where more than MOST_CHAINS pairs of chains would have to
        be compared."""
        single = cls._single(table)
        whole: Frontier | None = None
        power = single
        # Chains of 1, 2, 4... attempts are joined by the binary digits of `attempts`.
        for bit in range(attempts.bit_length()):
            power = power if bit == 0 else cls._joined(power, power)
            if attempts >> bit & 1:
                whole = power if whole is None else cls._joined(whole, power)
        return whole if whole is not None else single

    @classmethod
    def _single(cls, table: Listed) -> Frontier:
        kept = _unbeaten(table.times, table.areas)
        return cls(table.times[kept], table.areas[kept], kept + 1)

    @classmethod
    def _joined(cls, one: Frontier, other: Frontier) -> Frontier:
        size = len(other.times)
        if len(one.times) * size > MOST_CHAINS:
            raise ValueError(
                f"the mixed allotment compares every chain of a job's attempts, and "
                f"{len(one.times)} x {size} of them are too many: allot by `scaled` instead"
            )
        times = np.add.outer(one.times, other.times).ravel()
        areas = np.add.outer(one.areas, other.areas).ravel()
        kept = _unbeaten(times, areas)
        return cls(times[kept], areas[kept], kept, (one, other))

    def within(self, length: float) -> int:
        """Return the index of the chain with the least area among those that last at most `length`,
        up to rounding; -1 if all last longer."""
        return int(np.searchsorted(self.times, length * (1 + ROUNDING), side="right")) - 1

    def chain(self, index: int) -> list[int]:
        """Return the number of processors of each attempt of the chain at `index`, the largest
        first."""
        return sorted(self._members(index), reverse=True)

    def _members(self, index: int) -> list[int]:
        place = int(self.places[index])
        if self.halves is None:
            return [place]
        one, other = self.halves
        first, second = divmod(place, len(other.times))
        return one._members(first) + other._members(second)


def _unbeaten(times: Floats, areas: Floats) -> Counts:
    """Return the indices, by rising time, of the points (time, area) that no other point beats in
    both: of areas equal but for rounding the fastest, of equal points the first."""
    order = np.lexsort((areas, times))
    before = np.minimum.accumulate(np.concatenate(([np.inf], areas[order][:-1])))
    return order[areas[order] < before * (1 - ROUNDING)]


@frozen
class Mixed:
    """Batch rule without rounding whose chains, the attempts of a job in a row, can have attempts
    of different numbers of processors. It finds the smallest makespan X for which every job's chain
    fits within X at least area, and the total area is at most P X; at equal area it takes the
    faster chain.

    No allotment has a smaller L (moldable21, equation 8; section 4.7's second batch: 5.75 against 6
    for the best uniform one). It compares all unbeaten chains of each job, so it is meant for small
    platforms. The larger attempts of a chain come first.
    """

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """Return for each of `jobs` the processors of its attempts in this batch, of which job i
        can make attempts[i], as pairs (number of attempts, processors of each). P = `processors`.
        Raises ValueError for rigid jobs, and where a chain has more than MOST_CHAINS pairs of
        halves to compare."""
        rows, least = tabulated(jobs, attempts, processors)
        frontiers = [Frontier.of(table, g) for table, g in rows]
        return smallest(least, processors, lambda target: _trial(frontiers, target)).listed


def _trial(frontiers: Sequence[Frontier], target: float) -> TargetTrial:
    places = [frontier.within(target) for frontier in frontiers]
    pairs = list(zip(frontiers, places, strict=True))
    allotments = tuple(runs(frontier.chain(i)) for frontier, i in pairs)
    return TargetTrial((), allotments, sum(float(frontier.areas[i]) for frontier, i in pairs))
