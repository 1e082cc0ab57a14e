"""Divide a run into blocks of time, so that a single log shows how sure its figures are.

A log is one run: without randomness, another run of it gives the same numbers. What can be asked is
how much its figures would differ over other weeks like its own: the jobs submitted in one block of
time count as one observation, and blocks as independent. Whatever is summed up over the jobs, a
mean or a tail, has a number for each block (the grouped jackknife's, Tukey 1958; Shao and Wu 1989
on tails): the mean of these numbers is the summary, and their spread shows how sure it is. Two
policies have the same jobs in the same blocks, so the differences of their numbers are paired.
"""

from __future__ import annotations

from collections.abc import Callable

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
        return (
            f"Intervals are over {total} blocks of {self.length:,.10g} {unit}, of {used:,} of "
            f"{len(submitted):,} jobs: the first {self.warm_up:,.10g} {unit}, in which the machine "
            "fills, and the last block, cut short, are left out (`measures.warm_up`, "
            "`measures.block`); `all jobs` has them. They speak for other such blocks of this log, "
            "taken as independent, not for other logs or machines."
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
