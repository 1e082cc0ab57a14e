"""Measure jobs that arrive over time: flowtimes and stretches (redundancy17)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from attrs import define, evolve, field

from actors.runtime import Record
from sims.blocks import Floats
from sims.history.summary import ARRIVALS, Summary


@define(eq=False)
class Flowtimes:
    """Sink that collects the submissions, sizes and completions of jobs. Each of its arrays has an
    element for each completed job of the run, in order of submission."""

    wants: ClassVar[frozenset[type]] = ARRIVALS

    _summary: Summary = field(factory=lambda: Summary(wants=ARRIVALS))

    def __call__(self, record: Record) -> None:
        self._summary(record)

    @property
    def jobs(self) -> tuple[str, ...]:
        """Names of the completed jobs, in order of submission."""
        completed = self._summary.completed
        return tuple(job for job in self._summary.submitted if job in completed)

    def _array(self, facts: dict[str, float]) -> Floats:
        return np.array([facts[job] for job in self.jobs])

    @property
    def submitted(self) -> Floats:
        """Submission times a_j, in time units; rational numbers stay exact, as in all arrays."""
        return self._array(self._summary.submitted)

    @property
    def sizes(self) -> Floats:
        """Sizes p_j, the times on a machine of unit speed."""
        return self._array(self._summary.sizes)

    @property
    def completed(self) -> Floats:
        """Completion times c_j, in time units."""
        return self._array(self._summary.completed)

    @property
    def flowtimes(self) -> Floats:
        """Flowtime of each job, f_j = c_j - a_j (completion minus arrival), in time units."""
        return self.completed - self.submitted

    @property
    def stretches(self) -> Floats:
        """Stretch of each job, f_j / p_j (flowtime over size)."""
        return self.flowtimes / self.sizes

    @property
    def total(self) -> float:
        """Sum of the flowtimes of all completed jobs, which redundancy17 minimizes."""
        return float(self.flowtimes.sum())

    def after(self, warm_up: float) -> Flowtimes:
        """Return the same facts without the first part of the completed jobs, which met an empty
        cluster; `warm_up`, in [0, 1), is the fraction of the jobs that is left out."""
        jobs, whole = self.jobs, self._summary
        later = {job: whole.submitted[job] for job in jobs[int(warm_up * len(jobs)) :]}
        return Flowtimes(evolve(whole, submitted=later))
