"""Measure jobs that arrive over time: flowtimes, stretches (redundancy17), and how sure a single
log makes such figures.

A log is one run: without randomness, another run of it gives the same numbers. What can be asked is
how much its figures would differ over other weeks like its own: the jobs submitted in one block of
time count as one observation, and blocks as independent. Whatever is summed up over the jobs, a
mean or a tail, has a number for each block (the grouped jackknife's, Tukey 1958; Shao and Wu 1989
on tails): the mean of these numbers is the summary, and their spread shows how sure it is. Two
policies have the same jobs in the same blocks, so the differences of their numbers are paired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from actors.events import JobCompleted, JobDescribed, JobSubmitted
from actors.runtime import Record

if TYPE_CHECKING:
    from sims.metrics.jobs import Floats


@frozen(eq=False)
class Flowtimes:
    """The completed jobs of a run, in order of submission, as an array for each fact."""

    jobs: tuple[str, ...]
    submitted: NDArray[np.float64]
    """Submission times a_j, in time units."""
    sizes: NDArray[np.float64]
    """Sizes p_j, the times on a machine of unit speed."""
    completed: NDArray[np.float64]
    """Completion times c_j, in time units."""

    @property
    def flowtimes(self) -> NDArray[np.float64]:
        """Flowtimes f_j = c_j - a_j, in time units."""
        return self.completed - self.submitted

    @property
    def stretches(self) -> NDArray[np.float64]:
        """Stretches f_j / p_j."""
        return self.flowtimes / self.sizes

    @property
    def total(self) -> float:
        """Overall flowtime, which redundancy17 minimizes."""
        return float(self.flowtimes.sum())

    def after(self, warm_up: float) -> Flowtimes:
        """Return the jobs without the first share `warm_up` (in [0, 1)) of them, which met an empty
        cluster."""
        first = int(warm_up * len(self.jobs))
        arrays = (self.submitted, self.sizes, self.completed)
        return Flowtimes(self.jobs[first:], *(array[first:] for array in arrays))


@define
class FlowtimeFold:
    """Collects the submissions, sizes and completions of jobs from a run's events; `result` returns
    them."""

    wants: ClassVar[frozenset[type]] = frozenset({JobSubmitted, JobDescribed, JobCompleted})

    _submitted: dict[str, float] = field(factory=dict)
    _sizes: dict[str, float] = field(factory=dict)
    _completed: dict[str, float] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, JobSubmitted):
            self._submitted[event.job] = record.t
        elif isinstance(event, JobDescribed):
            self._sizes[event.job] = event.work
        elif isinstance(event, JobCompleted):
            self._completed[event.job] = record.t

    def result(self, exact: bool = False) -> Flowtimes:
        """Return the flowtimes of the jobs that have completed; `exact` keeps rational numbers."""
        kind = object if exact else float
        jobs = tuple(job for job in self._submitted if job in self._completed)
        facts = self._submitted, self._sizes, self._completed
        return Flowtimes(jobs, *(np.array([it[job] for job in jobs], dtype=kind) for it in facts))


# --- how sure a log makes us ---------------------------------------------------------------------

WEEK = 604_800.0
LEAST = 2
"""Smallest number of blocks that have numbers: a single block cannot show how blocks differ."""


@frozen
class Blocks:
    """Divides a run's time into blocks of equal length after a warm-up, during which the machine
    fills."""

    length: float = WEEK
    """Length of a block, in time units."""
    warm_up: float = WEEK
    """Time units from the run's start on; jobs submitted in them are left out."""

    def of(self, submitted: Floats) -> NDArray[np.intp]:
        """Return the number of each job's block, from 0, or -1 for a job of the warm-up or of the
        log's last block, which the log's end cuts short."""
        place = np.floor((submitted - self.warm_up) / self.length).astype(np.intp)
        # The block of the last submission counts as the log's last, since nobody knows how much of
        # it the log holds.
        last = place.max(initial=0)
        return np.where((place >= 0) & (place < last), place, -1)

    def text(self, submitted: Floats, unit: str) -> str:
        """Return a text on which jobs an interval over these blocks rests, and to what it
        generalizes."""
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
    """Return a number for each block that has a job with a value; a job without one has nan.

    The numbers are jackknife pseudo-values: their mean is the statistic over all these jobs, and
    their spread shows how much one block more or less would change it. The result is empty with
    fewer than two such blocks.
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


def informed(values: Floats, blocks: NDArray[np.intp]) -> list[bool]:
    """Return for each block of `by_block` whether any of its values is not 0, such as whether any
    job waited."""
    kept = (blocks >= 0) & ~np.isnan(values)
    values, blocks = values[kept], blocks[kept]
    return [bool(values[blocks == block].any()) for block in np.unique(blocks)]
