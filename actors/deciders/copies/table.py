"""The table of active jobs, oldest first, as arrays that grow and shrink in place."""

from __future__ import annotations

import numpy as np
from attrs import define, field

from policies.interface.copies import ActiveJobs, Counts, Numbers
from policies.interface.queue import BatchJob

ARRIVAL, SIZE, REMAINING = range(3)
CAPACITY = 64


@define(eq=False)
class ActiveTable:
    """One column for each job; a job is known by its column, which changes as others leave."""

    exact: bool = False
    jobs: list[BatchJob] = field(init=False, factory=list)
    names: list[str] = field(init=False, factory=list)
    buffer: Numbers = field(init=False)
    """Rows arrival, size, remaining work; columns from the last job's on are free."""

    def __attrs_post_init__(self) -> None:
        self.buffer = np.zeros((3, CAPACITY), dtype=object if self.exact else float)

    def view(self, workers: int) -> ActiveJobs:
        """What a policy sees (live)."""
        active = self.buffer[:, : len(self.jobs)]
        return ActiveJobs(workers, active[ARRIVAL], active[SIZE], active[REMAINING])

    def add(self, job: BatchJob, now: float) -> None:
        """The newest job."""
        column = len(self.jobs)
        if column == self.buffer.shape[1]:
            self.buffer = np.concatenate((self.buffer, np.zeros_like(self.buffer)), axis=1)
        buffer = self.buffer
        buffer[ARRIVAL, column] = now
        buffer[SIZE, column] = buffer[REMAINING, column] = job.profile.time(1)
        self.jobs.append(job)
        self.names.append(job.name)

    def update(self, columns: Counts, remaining: Numbers) -> None:
        """How much work the jobs in `columns` still lack."""
        self.buffer[REMAINING, columns] = remaining

    def remove(self, column: int) -> BatchJob:
        """The job is over; those that are newer move up."""
        job = self.jobs.pop(column)
        del self.names[column]
        count = len(self.jobs)
        self.buffer[:, column:count] = self.buffer[:, column + 1 : count + 1]
        return job

    def names_of(self, columns: Counts) -> list[str]:
        """Of these jobs."""
        return list(map(self.names.__getitem__, columns.tolist()))
