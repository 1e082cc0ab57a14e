"""Measure jobs that arrive over time: flowtimes and stretches (redundancy17)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from actors.events import JobCompleted, JobDescribed, JobSubmitted
from actors.runtime import Record


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
        """Flowtime of each job, f_j = c_j - a_j (completion minus arrival), in time units."""
        return self.completed - self.submitted

    @property
    def stretches(self) -> NDArray[np.float64]:
        """Stretch of each job, f_j / p_j (flowtime over size)."""
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
    """Listener that collects the submissions, sizes and completions of jobs; `result` returns
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
        """Return the arrays of the jobs that have completed; with `exact`, times are rational
        numbers."""
        kind = object if exact else float
        jobs = tuple(job for job in self._submitted if job in self._completed)
        facts = self._submitted, self._sizes, self._completed
        return Flowtimes(jobs, *(np.array([it[job] for job in jobs], dtype=kind) for it in facts))
