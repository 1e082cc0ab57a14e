"""Admits jobs to the queue, on arrival or batch by batch, and updates their order there by users'
usage and past run times."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from attrs import Factory, define, evolve, field

from actors.deciders.queue.state import QueueState
from actors.events import Outcome
from policies.interface.queue import (
    Allocation,
    Allotment,
    BatchAllocation,
    BatchJob,
    Draw,
    Moment,
    Order,
    Queued,
    QueueKey,
    Rank,
    Run,
    TimedOrder,
)
from policies.queue.estimates import Estimates
from policies.queue.orders import Usage


@define
class Entries:
    """Makes the queue entry of a job on a number of processors: checks that number, estimates the
    job's time and computes its priority. `platform` is the number of processors P."""

    order: Order
    platform: int
    draw: Draw
    estimates: Estimates | None = None
    """Source of expected times; None for the users' estimates in BatchJob."""
    sizes: Sequence[int] = ()
    """Largest number of processors of a job of each partition; empty: there are none."""
    tiers: Sequence[int] = ()
    """Tier of each partition; empty: there are none, or all have the same."""

    def __call__(self, job: BatchJob, processors: int) -> Queued:
        """Return the queue entry of `job` on `processors` processors. Raises ValueError where that
        is not from 1 to P."""
        if not 1 <= processors <= self.platform:
            raise ValueError(f"{job.name} was allotted {processors} processors of {self.platform}")
        if self.estimates is not None:
            time = self.estimates(job, processors)
        else:
            # This is BatchJob.believed, inlined: it would be called for each job and run.
            time = job.profile.time(processors) if job.estimate is None else job.estimate
        priority = self.order(job, processors, time, self.platform, self.draw)
        rank: Rank = -priority
        if self.tiers:
            rank = -self.tiers[job.partition], rank
        return Queued(job, processors, time + job.overhead, (rank, job.index))


class Intake(Protocol):
    """Decides when a job enters the queue, and with which number of processors."""

    def again(self, waiting: Queued) -> Queued | None:
        """Return the queue entry of the next attempt of a job whose attempt failed; `waiting` is
        that attempt's entry. None: the job has to wait for the next batch."""

    def cancelled(self, index: int) -> None:
        """Forget the job with this index, which was cancelled, if it waits outside the queue."""

    def admit(self, arrived: Sequence[BatchJob], idle: bool) -> Sequence[Queued]:
        """Return the entries of the jobs that enter the queue now. These are some or all of those
        that `arrived` and of those that wait outside the queue for a batch. `idle` says that the
        queue is empty and nothing runs."""


@define
class LocalIntake:
    """Admits each job on arrival, with the allotment of a local rule that holds for all its
    attempts."""

    rule: Allocation
    entries: Entries

    def again(self, waiting: Queued) -> Queued | None:
        """Return `waiting`, the entry that the job had, because a failed job keeps its priority and
        its number of processors."""
        return waiting

    def cancelled(self, index: int) -> None:
        """Do nothing, as no job waits outside the queue."""

    def admit(self, arrived: Sequence[BatchJob], idle: bool) -> Sequence[Queued]:
        """Return entries of all jobs that arrived, whether the queue is idle or not."""
        entries = self.entries
        if entries.sizes:
            counts = [self.rule((job,), entries.sizes[job.partition])[0] for job in arrived]
        else:
            counts = list(self.rule(arrived, entries.platform))
        return [entries(job, count) for job, count in zip(arrived, counts, strict=True)]


@define
class BatchIntake:
    """Admits jobs in batches with a barrier between them: a batch opens once the last one is over
    (moldable21, section 4.4). In the b-th batch that a job is in, it can make 2^(b-1) attempts."""

    rule: BatchAllocation
    entries: Entries
    opened: Callable[[int, int, int], None]
    """Function that is called with (batch, jobs, attempts) when a batch opens."""
    _outside: list[BatchJob] = Factory(list)
    _batches: int = 0
    _joined: dict[int, int] = Factory(dict)
    """Number of batches that each job has been in, by job index."""
    _left: dict[int, list[int]] = Factory(dict)
    """Processors of each job's further attempts in this batch, the last attempt first."""

    def again(self, waiting: Queued) -> Queued | None:
        """Return the entry of the job's next attempt in this batch, with the processors allotted to
        that attempt; `waiting` is the entry of the one that failed. If no attempt is left, return
        None: the job waits for the next batch."""
        left = self._left[waiting.job.index]
        if not left:
            self._outside.append(waiting.job)
            return None
        processors = left.pop()
        same = processors == waiting.processors
        return waiting if same else self.entries(waiting.job, processors)

    def cancelled(self, index: int) -> None:
        """Leave the job with this index out of the next batch."""
        self._outside = [job for job in self._outside if job.index != index]

    def admit(self, arrived: Sequence[BatchJob], idle: bool) -> Sequence[Queued]:
        """Open a new batch of all jobs outside the queue, those that `arrived` included, and return
        its entries, if the last batch is over (`idle`). Otherwise return none: the jobs wait."""
        self._outside.extend(arrived)
        if not idle or not self._outside:
            return ()
        # The allotment must not depend on the order in which attempts failed.
        jobs = sorted(self._outside, key=lambda job: job.index)
        self._outside.clear()
        return self._open(jobs)

    def _open(self, jobs: Sequence[BatchJob]) -> list[Queued]:
        attempts = [2 ** self._joined.get(job.index, 0) for job in jobs]
        allotments = self.rule.allot(jobs, attempts, self.entries.platform)
        self._batches += 1
        self.opened(self._batches, len(jobs), max(attempts))
        rows = zip(jobs, attempts, allotments, strict=True)
        return [self._enter(job, g, allotment) for job, g, allotment in rows]

    def _enter(self, job: BatchJob, attempts: int, allotment: Allotment) -> Queued:
        index = job.index
        self._joined[index] = self._joined.get(index, 0) + 1
        if attempts == 1:
            self._left[index] = []  # as for nearly all jobs, in the first batch
            return self.entries(job, allotment[0][1])
        counts = [count for times, count in allotment for _ in range(times)]
        # All attempts but the first, reversed, so that `pop` takes the next one.
        self._left[index] = counts[:0:-1]
        return self.entries(job, counts[0])


def intake(
    rule: Allocation | BatchAllocation, entries: Entries, opened: Callable[[int, int, int], None]
) -> Intake:
    """Return the intake that serves the allocation rule: BatchIntake for a rule of batches, which
    calls `opened` for each batch, else LocalIntake.

    The test uses `hasattr` because `isinstance` of a protocol takes as long as two attempts.
    """
    if hasattr(rule, "allot"):
        return BatchIntake(cast(BatchAllocation, rule), entries, opened)
    return LocalIntake(rule, entries)


class Book(Protocol):
    """An account of the runs that hold workers."""

    def started(self, run: Run) -> None:
        """Record that a run has begun now."""

    def ended(self, run: Run, outcome: Outcome) -> None:
        """Record that a run has ended now with this outcome."""


@define(eq=False)
class QueueMemory:
    """Keeps the queue sorted by `order`, if that changes with time, and the users' usage up to date
    that it depends on; passes the times of completed jobs to `estimates`, if these predict run
    times."""

    state: QueueState
    entries: Entries
    order: TimedOrder | None
    estimates: Estimates | None
    usage: Usage | None = field(init=False, default=None)
    users: set[str] = field(init=False, factory=set)
    """Names of the users who have submitted a job."""
    begun: dict[int, float] = field(init=False, factory=dict)
    """Maps each copy to the time at which it began."""
    _due: list[tuple[float, int, float]] = field(init=False, factory=list)
    """Entries (expected end, copy, expected run time) of the running copies, the next end first;
    used where past jobs predict run times."""

    def __attrs_post_init__(self) -> None:
        if self.order is not None and self.order.half_life is not None:
            self.usage = Usage(self.order.half_life)

    def started(self, run: Run) -> None:
        """Record that a run has begun now: its user's usage grows from now on by the run's
        processors."""
        waiting = run.entry
        assert waiting is not None
        self.begun[run.copy] = now = self.state.now
        if self.usage is not None:
            self.usage.change(waiting.job.user, run.processors, now)
        if self.estimates is not None:
            insort(self._due, (run.end, run.copy, waiting.held - waiting.job.overhead))

    def ended(self, run: Run, outcome: Outcome) -> None:
        """Record that a run has ended now with this outcome: its user's usage grows no more by the
        run's processors. If it completed its job, the estimates learn the time that it took."""
        waiting = run.entry
        assert waiting is not None
        now, begun = self.state.now, self.begun.pop(run.copy)
        if self.usage is not None:
            self.usage.change(waiting.job.user, -run.processors, now)
        if self.estimates is not None and outcome is Outcome.COMPLETED:
            self.estimates.completed(waiting.job, now - begun - waiting.job.overhead)

    def refresh(self, arrived: Sequence[BatchJob]) -> None:
        """Bring the expected ends of runs and the queue's order up to date before a decision, at
        which the jobs `arrived` have come since the last one."""
        self.users.update(job.user for job in arrived)
        if self.estimates is not None:
            self._lengthen(self.estimates)
        if self.order is not None:
            self._sort(self.order)

    def _lengthen(self, estimates: Estimates) -> None:
        """Extend the expected end of each run that has lasted as long as was estimated, to what the
        estimates say then; where they say nothing, the expected end stays."""
        due, runs, due_by = self._due, self.state.runs, self.state.loop.due_by
        while due and due[0][0] <= due_by:
            _, copy, believed = due.pop(0)
            run = runs.get(copy)
            # The copy has ended since its end was expected.
            if run is None or run.entry is None:
                continue
            longer = estimates.longer(run.entry.job, believed)
            if longer is not None:
                end = self.begun[copy] + longer + run.entry.job.overhead
                self.state.replace(evolve(run, end=end))
                insort(due, (end, copy, longer))

    def _sort(self, order: TimedOrder) -> None:
        now, usage, entries = self.state.now, self.usage, self.entries
        moment = Moment(now)
        if usage:
            moment = Moment(now, lambda user: usage.of(user, now), self.users)
        entries.order = current = order.at(moment)

        platform, draw = entries.platform, entries.draw

        tiers = entries.tiers

        def key(it: Queued) -> QueueKey:
            job = it.job
            rank = -current(job, it.processors, it.held - job.overhead, platform, draw)
            return ((-tiers[job.partition], rank) if tiers else rank), job.index

        self.state.sort(key)
