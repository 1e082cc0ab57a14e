"""The scheduler's table of active jobs, oldest first: arrays that grow and shrink in place."""

from __future__ import annotations

import numpy as np
from attrs import define, field

from policies.interface.redundancy import ActiveJobs, Counts, Numbers

ARRIVAL, SIZE, REMAINING = range(3)
CAPACITY = 64


@define(eq=False)
class ActiveTable:
    """One column for each job; a job is known by its column, which changes as others leave."""

    exact: bool = False
    count: int = field(init=False, default=0)
    names: list[str] = field(init=False, factory=list)
    buffer: Numbers = field(init=False)
    """Rows arrival, size, remaining work; columns from `count` on are free."""

    def __attrs_post_init__(self) -> None:
        self.buffer = np.zeros((3, CAPACITY), dtype=object if self.exact else float)

    def view(self, servers: int) -> ActiveJobs:
        """What a policy sees (live)."""
        active = self.buffer[:, : self.count]
        return ActiveJobs(servers, active[ARRIVAL], active[SIZE], active[REMAINING])

    def add(self, name: str, arrival: float, size: float) -> None:
        """The newest job."""
        if self.count == self.buffer.shape[1]:
            self.buffer = np.concatenate((self.buffer, np.zeros_like(self.buffer)), axis=1)
        buffer, column = self.buffer, self.count
        buffer[ARRIVAL, column] = arrival
        buffer[SIZE, column] = buffer[REMAINING, column] = size
        self.names.append(name)
        self.count = column + 1

    def update(self, columns: Counts, remaining: Numbers) -> None:
        """How much work the jobs in `columns` still lack."""
        self.buffer[REMAINING, columns] = remaining

    def remove(self, column: int) -> None:
        """The job is over; those that are newer move up."""
        count = self.count = self.count - 1
        del self.names[column]
        self.buffer[:, column:count] = self.buffer[:, column + 1 : count + 1]
