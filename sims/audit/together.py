"""Derives which jobs a queue's policy starts together: on a shelf, or in a batch (rigid21, section
4; moldable21, section 4.2)."""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from attrs import Factory, define

from actors.events import BatchOpened, Outcome, ShelfOpened
from sims.audit.facts import ExpectedCopy
from sims.audit.law import allowed, same


@define(eq=False)
class Shelf:
    """The shelf that opened at this instant: the jobs that start at it form it."""

    opened: ShelfOpened | None = None
    """The line that opened it; None: none did at this instant."""
    ends: list[float] = Factory(list)
    """Believed ends of the attempts on the shelf; inf where the log does not say what is
    believed."""

    def open(self, event: ShelfOpened) -> None:
        """Note that a shelf opens."""
        self.opened, self.ends = event, []

    def close(self, seq: int) -> None:
        """Check the line numbered `seq`, which says how many jobs start on the shelf and when they
        are believed to end."""
        if self.opened is not None:
            jobs, end = len(self.ends), max(self.ends, default=0)
            right = jobs == self.opened.jobs and (end == inf or same(self.opened.end, end))
            allowed(right, f"{jobs} start that end by {end}, not as #{seq} says")
            self.opened = None


@define(eq=False)
class Batches:
    """The batches of waiting jobs, one after the other, and the attempts that a job may make in the
    present one: 2^k if it has been in k batches before."""

    count: int = 0
    joined: dict[str, int] = Factory(dict)
    """Maps jobs of the present batch to the number of batches that they have been in."""
    attempts: dict[str, int] = Factory(dict)
    """Maps jobs to the number of attempts that they may still make in this batch."""

    def open(self, jobs: Collection[str]) -> BatchOpened:
        """Open a batch of these jobs, and return the line that logs it."""
        self.count += 1
        self.attempts.clear()
        self.attempts.update((name, 2 ** self.joined.get(name, 0)) for name in jobs)
        self.joined = {name: self.joined.get(name, 0) + 1 for name in jobs}
        return BatchOpened(self.count, len(jobs), max(self.attempts.values(), default=0))

    def started(self, job: str) -> None:
        """Check that the job, which starts an attempt, may make it in this batch."""
        if self.count:
            left = self.attempts[job] = self.attempts.get(job, 0) - 1
            allowed(left >= 0, f"{job} makes more attempts than its batch lets it")

    def ended(self, copy: ExpectedCopy, outcome: Outcome) -> None:
        """Note that an attempt has ended and its job waits again. If it has not failed, the job may
        make it again."""
        job = copy.job
        if self.count and outcome is not Outcome.FAILED and not job.copies:
            self.attempts[job.name] = self.attempts.get(job.name, 0) + 1
