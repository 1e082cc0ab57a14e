"""Jobs that arrive over time: their flowtimes and stretches (redundancy17), and how sure a
single log makes us of such figures: its blocks of time are what is observed.

A log is one run: without randomness, another run of it says nothing new. What can be asked is how
much its figures would differ over other weeks like its own: the jobs submitted in a block count as
one observation, and blocks as independent. Whatever is summed up over the jobs, a mean or a tail,
has a number for each block (the grouped jackknife's, Tukey 1958; Shao and Wu 1989 on tails): their
mean is the summary, and their spread is how sure it is. Two policies have the same jobs in the same
blocks, so that the differences of their numbers are pairs.
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
    """The completed jobs of a run, in order of submission."""

    jobs: tuple[str, ...]
    submitted: NDArray[np.float64]
    """a_j, time units."""
    sizes: NDArray[np.float64]
    """p_j, time on a machine of unit speed."""
    completed: NDArray[np.float64]
    """c_j, time units."""

    @property
    def flowtimes(self) -> NDArray[np.float64]:
        """f_j = c_j - a_j, time units."""
        return self.completed - self.submitted

    @property
    def stretches(self) -> NDArray[np.float64]:
        """f_j / p_j."""
        return self.flowtimes / self.sizes

    @property
    def total(self) -> float:
        """Overall flowtime, what redundancy17 minimizes."""
        return float(self.flowtimes.sum())

    def after(self, warm_up: float) -> Flowtimes:
        """Without the first part `warm_up` (in [0, 1)) of the jobs, which met an empty cluster."""
        first = int(warm_up * len(self.jobs))
        arrays = (self.submitted, self.sizes, self.completed)
        return Flowtimes(self.jobs[first:], *(array[first:] for array in arrays))


@define
class FlowtimeFold:
    """Sink: collects submissions and completions; `result` where the run is over."""

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
        """What the jobs that have completed met; `exact` keeps rational numbers."""
        kind = object if exact else float
        jobs = tuple(job for job in self._submitted if job in self._completed)
        facts = self._submitted, self._sizes, self._completed
        return Flowtimes(jobs, *(np.array([it[job] for job in jobs], dtype=kind) for it in facts))


# --- how sure a log makes us ---------------------------------------------------------------------

WEEK = 604_800.0
LEAST = 2
"""Blocks from which there are numbers: one says nothing of others."""


@frozen
class Blocks:
    """How time is cut: after a warm-up, during which the machine fills, into blocks."""

    length: float = WEEK
    """Time units."""
    warm_up: float = WEEK
    """Time units from the run's start on, whose jobs are left out."""

    def of(self, submitted: Floats) -> NDArray[np.intp]:
        """Each job's block, from 0; -1: submitted during the warm-up, or in the log's last block,
        which it cuts short."""
        place = np.floor((submitted - self.warm_up) / self.length).astype(np.intp)
        last = place.max(initial=0)
        return np.where((place >= 0) & (place < last), place, -1)

    def told(self, submitted: Floats, unit: str) -> str:
        """Return what an interval over these blocks rests on, and what it speaks for."""
        blocks = self.of(submitted)
        used, many = int((blocks >= 0).sum()), int(blocks.max(initial=-1)) + 1
        return (
            f"Intervals are over {many} blocks of {self.length:,.10g} {unit}, of {used:,} of "
            f"{len(submitted):,} jobs: the first {self.warm_up:,.10g} {unit}, in which the machine "
            "fills, and the last block, cut short, are left out (`measures.warm_up`, "
            "`measures.block`); `all jobs` has them. They speak for other such blocks of this log, "
            "taken as independent, not for other logs or machines."
        )


def by_block(
    statistic: Callable[[Floats], float], values: Floats, blocks: NDArray[np.intp]
) -> Floats:
    """A number for each block in which some job has a value (is a number): their mean is the
    statistic over all those jobs, their spread what one block more or less makes of it. None where
    there are fewer than two such blocks."""
    kept = (blocks >= 0) & ~np.isnan(values)
    values, blocks = values[kept], blocks[kept]
    each = np.unique(blocks)
    if len(each) < LEAST:
        return np.empty(0)
    without = np.array([statistic(values[blocks != block]) for block in each])
    own: Floats = statistic(values) + (len(each) - 1) * (without.mean() - without)
    return own


def informed(values: Floats, blocks: NDArray[np.intp]) -> list[bool]:
    """Return for each block of `by_block` whether any of its values is other than 0: whether, say,
    any job waited."""
    kept = (blocks >= 0) & ~np.isnan(values)
    values, blocks = values[kept], blocks[kept]
    return [bool(values[blocks == block].any()) for block in np.unique(blocks)]
