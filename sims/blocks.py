"""Divide a run into blocks of time, so that a single log shows how sure its figures are.

A log is one run: without randomness, another run of it gives the same numbers. What can be asked is
how much its figures would differ over other weeks like its own: the jobs submitted in one block of
time count as one observation. Neighbouring blocks may go together: an interval is wider by their
correlation (`widening`), and only so many count for a verdict as are independent.

Whatever is summed up over the jobs, a mean or a tail, has a number for each block (the grouped
jackknife's, Tukey 1958; Shao and Wu 1989 on tails): the mean of these numbers is the summary, and
their spread shows how sure it is. Two policies have the same jobs in the same blocks, so the
differences of their numbers are paired.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, sqrt

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WEEK = 604_800.0
LEAST = 2
"""Smallest number of blocks from which an interval is computed: a single block cannot show how
blocks differ."""

NEARLY = 1e-6
"""Largest part by which a slowdown of 1 may differ from 1: flowtimes are differences of times."""


@frozen
class Blocks:
    """The division of a run's time into blocks of equal length, after a warm-up during which the
    machine fills."""

    length: float = WEEK
    """Length of a block, time units."""
    warm_up: float = WEEK
    """Length of the warm-up from the run's start on, time units; jobs submitted in it are left
    out."""
    fitted: bool = False
    """Whether the length is the longest of which there are as many blocks as were asked for."""

    def enough(self, submitted: Floats, fewest: int, warm_up: float | None) -> Blocks:
        """Return the longest blocks, no longer than these, of which there are at least `fewest`.

        Their length is a whole number of time units. `submitted` is that of `of`; `warm_up` is
        their warm-up, or None for one block. These blocks are returned where they are enough, and
        where shorter ones would not do, as some would have no job.
        """
        if self.of(submitted).max(initial=-1) + 1 >= fewest:
            return self
        end = float(submitted.max(initial=0.0))
        # A warm-up of one block is one block more.
        length = floor(end / (fewest + 1) if warm_up is None else (end - warm_up) / fewest)
        if length < 1:
            return self
        found = Blocks(float(length), float(length) if warm_up is None else warm_up, fitted=True)
        places = found.of(submitted)
        return found if len(np.unique(places[places >= 0])) >= fewest else self

    def of(self, submitted: Floats) -> NDArray[np.intp]:
        """Return for each job the number of the block, from 0, in which it was submitted, or -1
        where it is left out.

        `submitted` has the jobs' submission times, in time units from the run's start. Left out are
        the jobs of the warm-up and those of the block of the latest submission, which the log's end
        cuts short.
        """
        place = np.floor((submitted - self.warm_up) / self.length).astype(np.intp)
        # The block of the last submission counts as the log's last, since nobody knows how much of
        # it the log holds.
        last = place.max(initial=0)
        return np.where((place >= 0) & (place < last), place, -1)

    def text(self, submitted: Floats, unit: str) -> str:
        """Return a text that says how many blocks and jobs an interval rests on, and that it says
        nothing of other logs or machines.

        `submitted` is that of `of`, and `unit` the word for a time unit.
        """
        blocks = self.of(submitted)
        used, total = int((blocks >= 0).sum()), int(blocks.max(initial=-1)) + 1
        longest = ", the longest that give as many as a verdict needs" if self.fitted else ""
        return (
            f"Intervals are over {total} blocks of {self.length:,.10g} {unit}{longest}, of "
            f"{used:,} of {len(submitted):,} jobs: the first {self.warm_up:,.10g} {unit}, in which "
            "the machine fills, and the last block, cut short, are left out (`measures.warm_up`, "
            "`measures.block`); `all jobs` has them. They speak for other such blocks of this "
            "log, not for other logs or machines; neighbours that go together count for less."
        )


def by_block(
    statistic: Callable[[Floats], float], values: Floats, blocks: NDArray[np.intp]
) -> Floats:
    """Return a number for each block: the mean of the numbers is the statistic of all jobs, and
    their spread shows how sure it is.

    `values` has a value for each job (nan for none), `blocks` the number of its block (-1: the job
    is left out), and `statistic` is computed of any of these values. The numbers are jackknife
    pseudo-values: each shows how much the statistic changes without the block. They are in the
    order of the blocks, only of blocks that have a job with a value; the result is empty with fewer
    than two of them.
    """
    kept = (blocks >= 0) & ~np.isnan(values)
    values, blocks = values[kept], blocks[kept]
    each = np.unique(blocks)
    if len(each) < LEAST:
        return np.empty(0)
    without = np.array([statistic(values[blocks != block]) for block in each])
    # Pseudo-values n S - (n - 1) S_without, shifted so that their mean is S itself and not its
    # bias-corrected form: tables then show the figure that `summary` shows.
    pseudo: Floats = statistic(values) + (len(each) - 1) * (without.mean() - without)
    return pseudo


SURELY = 1.0
"""Number of standard errors by which the correlation of neighbours may be above its estimate. With
6 to 52 blocks whose neighbours have a correlation of 0, 0.3 or 0.6, intervals of 95 % then cover in
94 % or more (`python -m tests.coverage blocks`)."""
MOST_ALIKE = 0.9
"""Largest correlation of neighbours that is allowed for."""


def correlation(values: Floats, errors: float = 0.0) -> float:
    """Return the correlation of neighbouring blocks by their values, in order of time: 0 or more,
    at most MOST_ALIKE, and `errors` standard errors above its estimate.

    An estimate from few values is too low, on average by (1 + 4 r)/n (Kendall 1954).
    """
    apart = values - values.mean()
    square = float(apart @ apart)
    if square == 0:
        return 0.0
    count, found = len(values), float(apart[1:] @ apart[:-1]) / square
    found += (1 + 4 * max(found, 0.0)) / count + errors / sqrt(count)
    return min(max(found, 0.0), MOST_ALIKE)


def independent(values: Floats) -> float:
    """Return how many independent blocks would show as much of a mean as these do, by the estimated
    correlation of neighbours."""
    alike = correlation(values)
    return len(values) * (1 - alike) / (1 + alike)


def widening(values: Floats) -> float:
    """Return the factor by which an interval of independent values has to be wider for blocks whose
    neighbours may go together."""
    alike = correlation(values, SURELY)
    return sqrt((1 + alike) / (1 - alike))


def informed(values: Floats, blocks: NDArray[np.intp], least: float = 0.0) -> list[bool]:
    """Return, for each block that has a job with a value, whether any of its values is above
    `least`, the smallest that a job can have.

    `values` and `blocks` are those of `by_block`, and the result is in the same order. Where the
    values are waiting times, a block is True if any of its jobs waited.
    """
    kept = (blocks >= 0) & ~np.isnan(values)
    values, blocks = values[kept], blocks[kept]
    above = values > least * (1 + NEARLY)
    return [bool(above[blocks == block].any()) for block in np.unique(blocks)]
