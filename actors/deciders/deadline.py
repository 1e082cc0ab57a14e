"""Deadlines: on which kind of worker a job goes on, spot or on-demand (Wu et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

from attrs import define, evolve, field

from actors.messages import CopyOver, Decide, RunProgress
from actors.runtime import Phase
from actors.scheduler import Decider, Scheduler
from policies.availability import WorkerState
from policies.interface.deadline import DueJob, KindPolicy, Offer
from policies.interface.queue import BatchJob

DECIDE = Decide()


@define(eq=False)
class MovedJob:
    """The decider's state for one job."""

    due: DueJob
    """As its policy saw it last."""
    submitted: float
    processors: int
    pace: float
    """Time that a unit of work takes, with its checkpoints."""
    copy: int = -1
    """-1: none runs."""


@define(eq=False)
class DeadlineDecider(Decider):
    """Asks a policy for each job's kind of worker, at each change and every so often. A change of
    kind cancels the job's run; its policy is then asked again, for a job that has no workers."""

    policy: KindPolicy
    kinds: Mapping[str, tuple[Offer, tuple[int, ...]]]
    """Each kind's offer and workers, the cheapest first."""
    planned: Mapping[int, MovedJob]
    """By job index."""
    every: float
    """Time between two questions."""
    until: float
    """After the last deadline time alone changes nothing: what waits for ever is found out."""
    scheduler: Scheduler = field(init=False, repr=False)
    jobs: dict[int, MovedJob] = field(init=False, factory=dict)
    """Those that are not over."""
    tick: float = field(init=False, default=0)
    """When policies are asked next, whatever happens."""

    @property
    def wants_progress(self) -> bool:
        return True

    def attach(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.jobs[job.index] = self.planned[job.index]

    def over(self, message: CopyOver, cause: int) -> None:
        job = self.jobs[message.index]
        job.copy, job.due = -1, evolve(job.due, kind="")
        if message.gone:
            del self.jobs[message.index]

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        return True

    def progressed(self, message: RunProgress) -> None:
        job = self.planned[message.index]
        job.due = evolve(job.due, saved=message.saved * job.pace)

    def woken(self, cause: int) -> int | None:
        scheduler = self.scheduler
        return None if scheduler.due_by < self.tick else scheduler.system.origin

    # --- what it decides ----------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        scheduler = self.scheduler
        for index, job in self.jobs.items():
            self._decide(index, job, cause)
        tick = (floor(scheduler.due_by / self.every) + 1) * self.every
        if self.tick < tick <= self.until:
            self.tick = tick
            scheduler.at(tick, DECIDE, cause, Phase.DECISION)

    def _decide(self, index: int, job: MovedJob, cause: int) -> None:
        free, scheduler = self._free(job), self.scheduler
        offers = tuple(self.kinds[kind][0] for kind in free)
        job.due = evolve(job.due, elapsed=scheduler.now - job.submitted, offers=offers)
        kind = self.policy(job.due)
        if kind == job.due.kind:
            return
        if job.copy >= 0:
            scheduler.cancel_copy(job.copy, cause)
        elif kind in free:
            job.copy = scheduler.start_on(index, free[kind], cause)
            job.due = evolve(job.due, kind=kind)

    def _free(self, job: MovedJob) -> dict[str, list[int]]:
        """Of each kind of which the job can have enough: workers that are UP, and free or its own,
        the lowest first."""
        pool, needed, mine = self.scheduler.pool, job.processors, (-1, job.copy)
        found = {
            kind: [n for n in workers if n not in pool.away and pool.holder(n) in mine]
            for kind, (_, workers) in self.kinds.items()
        }
        return {kind: free[:needed] for kind, free in found.items() if len(free) >= needed}
