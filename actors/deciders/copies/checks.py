"""Holds the view of a policy of copies, and checks the policy's decision before it is carried
out."""

from __future__ import annotations

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.decisions import BadDecision, answer, finite, ours, refusal
from policies.interface.copies import (
    WHOLE,
    ActiveJobs,
    CopyAllocation,
    Counts,
    Numbers,
    RedundancyPolicy,
    Sharing,
)
from policies.interface.queue import BatchJob
from policies.maths.tolerance import SAME


@define(eq=False)
class CheckedCopies:
    """Calls a policy of copies and checks that its answer can be carried out: jobs that are there,
    numbers of copies, and loads of workers. Of a user's policy the types are checked too."""

    policy: RedundancyPolicy
    multitasking: bool
    """Whether a worker may run several copies at once."""
    cloning: bool | None = None
    """Whether the policy must ask for cloning; None if it may choose."""
    _ask: RedundancyPolicy = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._ask = self.policy if ours(self.policy) else self._typed

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        """Return the policy's allocation. Raises BadDecision, with the policy and its view, where
        it cannot be carried out."""
        allocation = self._ask(jobs, rng)
        problem = _problem(allocation, jobs, self.multitasking)
        if self.cloning is not None and allocation.cloning is not self.cloning:
            problem = f"`cloning` is {self.cloning} for these jobs' copies"
        if problem:
            raise _refused(self.policy, allocation, problem, jobs)
        return allocation

    def _typed(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        allocation = answer(self.policy, jobs, rng)
        problem = _type_problem(allocation)
        if problem:
            raise _refused(self.policy, allocation, problem, jobs)
        return allocation


def _type_problem(allocation: object) -> str | None:
    if not isinstance(allocation, CopyAllocation):
        return "an answer is a CopyAllocation(jobs, copies)"
    for name, given in (("jobs", allocation.jobs), ("copies", allocation.copies)):
        # A user's policy may return a list, although the type says that it is an ndarray.
        if not isinstance(given, np.ndarray) or given.ndim != 1 or given.dtype.kind not in "iu":
            return f"`{name}` is an array of whole numbers, of one dimension"
    if not finite(allocation.share):
        return "`share` is a number above 0, up to 1"
    if not isinstance(allocation.sharing, Sharing):
        return f"`sharing` is {' or '.join(map(str, Sharing))}"
    return None


def _refused(
    policy: RedundancyPolicy, allocation: object, problem: str, view: ActiveJobs
) -> BadDecision:
    remaining = ", ".join(map(str, view.remaining.tolist()))
    seen = f"{len(view)} jobs on {view.servers} workers, remaining {remaining}"
    return refusal(policy, repr(allocation), problem, seen)


def _problem(allocation: CopyAllocation, view: ActiveJobs, multitasking: bool) -> str | None:
    jobs, copies = allocation.jobs, allocation.copies
    if len(jobs) != len(copies) or not len(jobs):
        return "`jobs` and `copies` are as long as each other, and not empty"
    # Lists, because reductions of arrays this short take two to three times as long.
    positions, counts = jobs.tolist(), copies.tolist()
    if not 0 <= min(positions) <= max(positions) < len(view.remaining):
        return f"it serves a job that is not there; positions are 0 to {len(view) - 1}"
    if len(set(positions)) < len(positions):
        return "it names a job twice; once is accepted"
    if not 1 <= min(counts) <= max(counts) <= view.servers:
        return f"a job has 1 to {view.servers} copies, no more than there are workers"
    return _overload(allocation, sum(counts), view.servers, multitasking)


def _overload(
    allocation: CopyAllocation, copies: int, servers: int, multitasking: bool
) -> str | None:
    share = allocation.share
    rotating = allocation.sharing is Sharing.ROTATION
    # The usual case, tested first because it needs no arithmetic.
    if share is WHOLE and not rotating and copies <= servers and not allocation.stay:
        return None
    if not 0 < share <= 1:
        return f"it gives a share of {share}; above 0, up to 1 is accepted"
    if not multitasking and (share < 1 or rotating):
        return "it shares workers, and each holds one run; a share of 1 is accepted"
    if allocation.stay and (copies > servers or copies > len(allocation.jobs)):
        return "jobs that stay have one copy each, and a worker of their own"
    if rotating and copies > len(allocation.jobs):
        return "a job that rotates has one copy"
    # Copies on the fullest worker: M copies go round the workers before any worker gets a second
    # one.
    together = copies if rotating else -(-copies // servers)
    if together * share > 1 + SAME:
        few = f"at share {share} a worker has room for {int(1 / share)}"
        return f"it puts {together} copies on one worker; {few}"
    return None


ARRIVAL, SIZE, REMAINING = range(3)
CAPACITY = 64


@define(eq=False)
class ActiveTable:
    """The active jobs as a table with a column for each job, the oldest first, and the rows
    arrival, size and remaining work. A column's number identifies its job until a job in a lower
    column leaves."""

    exact: bool = False
    jobs: list[BatchJob] = field(init=False, factory=list)
    names: list[str] = field(init=False, factory=list)
    buffer: Numbers = field(init=False)
    """Rows of arrival, size and remaining work; the columns after the last job's are free."""

    def __attrs_post_init__(self) -> None:
        self.buffer = np.zeros((3, CAPACITY), dtype=object if self.exact else float)

    def view(self, workers: int) -> ActiveJobs:
        """Return the table as the view that a policy of copies gets, on a platform of `workers`
        workers. Its arrays are the table's own, not copies: they change with it."""
        active = self.buffer[:, : len(self.jobs)]
        return ActiveJobs(workers, active[ARRIVAL], active[SIZE], active[REMAINING])

    def add(self, job: BatchJob, now: float) -> None:
        """Append a job, the newest one, in the last column; `now` is its time of arrival."""
        column = len(self.jobs)
        # Doubling the buffer keeps the cost of adding a job constant on average.
        if column == self.buffer.shape[1]:
            self.buffer = np.concatenate((self.buffer, np.zeros_like(self.buffer)), axis=1)
        buffer = self.buffer
        buffer[ARRIVAL, column] = now
        buffer[SIZE, column] = buffer[REMAINING, column] = job.profile.time(1)
        self.jobs.append(job)
        self.names.append(job.name)

    def update(self, columns: Counts, remaining: Numbers) -> None:
        """Set the remaining work of the jobs in `columns` to `remaining`, in the same order."""
        self.buffer[REMAINING, columns] = remaining

    def remove(self, column: int) -> BatchJob:
        """Remove the job in `column`, which is over, and return it; newer jobs move up by a
        column."""
        job = self.jobs.pop(column)
        del self.names[column]
        count = len(self.jobs)
        self.buffer[:, column:count] = self.buffer[:, column + 1 : count + 1]
        return job

    def names_of(self, columns: Counts) -> list[str]:
        """Return the names of the jobs in `columns`."""
        return list(map(self.names.__getitem__, columns.tolist()))
