"""Decides on vectorised copies: all copies of all jobs are in arrays, for platforms where only
speeds change (redundancy17)."""

from __future__ import annotations

from typing import cast

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.decider import Decider, DecidersHost
from actors.deciders.copies.checks import ActiveTable, CheckedCopies
from actors.deciders.copies.jobs import FirstCopyEnded
from actors.deciders.copies.placement import OwnStates, Placed, PlacementRule, Placer, RunLog
from actors.deciders.copies.running import (
    NEVER,
    Rotation,
    RunningCopies,
    RunningMean,
    RunningPlacement,
    WorkAccount,
)
from actors.events import CopiesPlaced, CopiesSettled
from actors.messages import CopyOver, Decide
from actors.runtime import Phase, Timer
from policies.availability import WorkerState
from policies.interface.copies import (
    WHOLE,
    ActiveJobs,
    CopyAllocation,
    Counts,
    RedundancyPolicy,
    Sharing,
)
from policies.interface.queue import BatchJob
from policies.maths.gains import Gain

DECIDE, ENDED = Decide(), FirstCopyEnded()
NO_WORKERS = np.zeros(0, dtype=np.intp)


@define(eq=False)
class VectorisedCopies(Decider):
    """Decider that calls a policy of copies at each arrival and departure, and keeps the progress
    of all copies in arrays.

    Twice per arrival every copy is placed afresh: M runs of their own, and messages to each, would
    cost more than everything else (measured: `sims.bench redundancy`). Jobs are `VectorisedJob`.
    """

    policy: RedundancyPolicy
    rule: PlacementRule = PlacementRule.UNIFORM
    multitasking: bool = True
    """Whether a worker may run several copies at once."""
    gain: Gain | None = None
    """Function g(r, t) for mean semantics, in which no worker has a path of its own; None for
    sample paths."""
    augmentation: float = 1
    """Factor that multiplies g; with sample paths it is part of the workers' speeds."""
    exact: bool = False
    """Whether all times, sizes and speeds are Fractions, computed in rational arithmetic to check
    results."""
    scheduler: DecidersHost = field(init=False, repr=False)
    table: ActiveTable = field(init=False)
    service: WorkAccount = field(init=False)
    placer: Placer = field(init=False)
    log: RunLog = field(init=False)
    ask: CheckedCopies = field(init=False)
    rng: Generator = field(init=False)
    logging: bool = field(init=False)
    states: OwnStates = field(init=False, factory=OwnStates)
    arrived: list[BatchJob] = field(init=False, factory=list)
    placed: Placed | None = field(init=False, default=None)
    served: Counts = field(init=False, default=NO_WORKERS)
    """Columns of the jobs that the last decision serves, in its order."""
    timer: Timer | None = field(init=False, default=None)
    due: float = field(init=False, default=NEVER)
    """Time of `timer`: the end of the copy that ends first."""

    def attach(self, scheduler: DecidersHost) -> None:
        self.scheduler = scheduler
        system, workers = scheduler.system, scheduler.pool.size
        self.table = ActiveTable(self.exact)
        self.service = WorkAccount(workers, self.exact)
        self.placer = Placer(np.arange(workers), self.rule, system.stream("placement"))
        self.log = RunLog(workers)
        self.ask = CheckedCopies(self.policy, self.multitasking)
        self.rng = system.stream("policy")
        journal = system.journal
        self.logging = journal.wants(CopiesPlaced) or journal.wants(CopiesSettled)

    # --- messages from the scheduler ----------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.arrived.append(job)

    def over(self, message: CopyOver, cause: int) -> None:
        raise AssertionError("no job carries a copy of its own")

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        raise AssertionError("only the speeds of workers change here")

    def speed_changed(self, worker: int, speed: float, cause: int) -> None:
        if worker >= self.scheduler.pool.size:
            return  # a spare, which no copy runs on
        now, placed, due_by = self.scheduler.now, self.placed, self.scheduler.due_by
        # Ends of this instant are marked before the speed changes: intervals are half-open (phase
        # WORK_ENDS).
        if placed is not None and due_by >= self.due:
            placed.running.mark_ended(due_by)
        self.service.change(worker, now, speed)
        if placed is not None:
            placed.running.change(worker, now)
            if due_by < self.due:
                end = placed.running.earliest()
                if end != self.due:  # else this worker's speed does not matter
                    self._aim(end, cause)

    def woken(self, cause: int) -> int | None:
        """Return `cause`, the number of the event for which the timer was set, if a copy ends now,
        else None. Change nothing."""
        return cause if self.scheduler.due_by >= self.due else None

    def _aim(self, end: float, cause: int) -> None:
        """Set the timer to `end`, the time at which the first copy ends; with NEVER there is no
        timer. One suffices, because at the end of any copy all copies are placed afresh. `cause` is
        the number of the event that determines the end."""
        if end == self.due:
            if self.timer is not None:
                self.scheduler.system.loop.recause(self.timer, cause)
            return
        if self.timer is not None:
            self.scheduler.cancel(self.timer)
        at, self.due = self.scheduler.at, end
        self.timer = at(end, DECIDE, cause, Phase.DECISION) if end < NEVER else None

    # --- decisions ----------------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        """End every copy, complete the jobs that have no work left, then call the policy and place
        the copies of all other jobs afresh."""
        if self.placed is not None:
            cause = self._settle(self.placed, cause)
        for job in self.arrived:
            self.table.add(job, self.scheduler.now)
        self.arrived.clear()
        if self.table.jobs:
            self._place(cause)

    def _settle(self, placed: Placed, cause: int) -> int:
        now, due_by = self.scheduler.now, self.scheduler.due_by
        if due_by >= self.due:
            placed.running.mark_ended(due_by)
            self.timer, self.due = None, NEVER
        lefts = placed.running.lefts(now)
        left = placed.left(lefts, self.exact)
        if self.logging:
            self.log.note(placed, lefts)
        cause = self.scheduler.system.journal.record_costly(
            cause, CopiesSettled, lambda: self.log.settlement(placed, lefts, left)
        )
        self.scheduler.count_copies(len(lefts))
        self.placed = None
        if not placed.allocation.cloning:
            self.states.keep(placed, lefts, self.log.runs(placed))
        self.table.update(self.served, left)
        if np.count_nonzero(left) < len(left):
            self._depart(self.served[left == 0], cause)
        return cause

    def _depart(self, columns: Counts, cause: int) -> None:
        # The last column goes first, because removing a job moves the columns behind it.
        for column in sorted(columns.tolist(), reverse=True):
            job = self.table.remove(column)
            self.log.forget(job.name)
            self.states.forget(job.name)
            self.scheduler.send(self.scheduler.dispatcher.jobs[job.index], ENDED, cause)

    def _place(self, cause: int) -> None:
        view = self.table.view(self.service.workers)
        allocation = self.ask(view, self.rng)
        served = self.served = allocation.jobs
        names, sizes, copies = self.table.names_of(served), view.sizes[served], allocation.copies
        workers, first = self._workers(allocation, names), copies.cumsum() - copies
        running = self._running(allocation, names, view, workers, first)
        self.placed = placed = Placed(allocation, names, sizes, workers, first, running)
        # The start is logged before the timer is set, because it is the cause of the copies' end.
        now, journal = self.scheduler.now, self.scheduler.system.journal
        cause = journal.record_costly(
            cause, CopiesPlaced, lambda: self.log.placement(placed, now, self.states)
        )
        self._aim(running.earliest(), cause)

    def _workers(self, allocation: CopyAllocation, names: list[str]) -> Counts:
        """Return an array with the worker of each copy, job after job. A job that rotates over all
        workers counts as being on worker 0."""
        if allocation.sharing is Sharing.ROTATION:
            return np.zeros(len(names), dtype=np.intp)
        return self.placer.place(allocation, names)

    def _running(
        self,
        allocation: CopyAllocation,
        names: list[str],
        view: ActiveJobs,
        workers: Counts,
        first: Counts,
    ) -> RunningPlacement:
        factor, now, copies = self._share(allocation), self.scheduler.now, allocation.copies
        remaining = view.remaining[allocation.jobs]
        rotating = allocation.sharing is Sharing.ROTATION
        if self.gain is not None:
            factor *= self.augmentation * (self.service.workers if rotating else 1)
            return RunningMean(remaining, factor, self.gain, copies, now)
        self.service.restart(now)
        if rotating:
            return Rotation(remaining, factor, self.service)
        if allocation.cloning:
            left = remaining.repeat(copies)
        else:
            left = self.states.starts(names, view.sizes[allocation.jobs], copies)
        return RunningCopies(left, factor, self.service, workers, first)

    def _share(self, allocation: CopyAllocation) -> float:
        share = allocation.share
        if share is WHOLE:
            return 1
        return cast(float, share) if self.exact else float(share)
