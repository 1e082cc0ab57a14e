"""Decides on which kind of worker a job with a deadline continues, spot or on-demand (Wu et al.
2024)."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

from attrs import define, evolve, field

from actors.decider import Decider, DecidersHost
from actors.messages import CopyOver, Decide, RunProgress
from actors.runtime import Phase
from policies.availability import WorkerState
from policies.interface.deadline import DueJob, KindPolicy, Offer
from policies.interface.queue import BatchJob

DECIDE = Decide()


@define(eq=False)
class MovedJob:
    """State of the deadline decider for one job: its description, the copy and the kind of its
    present workers, and the work that it has saved, in time on its workers."""

    due: DueJob
    """Description of the job at its submission, which each decision copies and updates."""
    submitted: float
    processors: int
    pace: float
    """Time that the job takes for a unit of work, checkpoints included."""
    waits: bool = False
    """Whether the job has no workers."""
    copy: int = -1
    kind: str = ""
    """Kind of the job's workers; empty if it has none."""
    saved: float = 0


@define(eq=False)
class DeadlineDecider(Decider):
    """Decider that lets a policy choose the kind of worker (spot, on-demand) on which each job with
    a deadline continues. It calls the policy at each change and at regular times.

    A change of kind cancels the job's run; the policy is then called again, for a job that has no
    workers.
    """

    wants_progress = True

    policy: KindPolicy
    kinds: Mapping[str, tuple[Offer, tuple[int, ...]]]
    """Maps each kind to its offer and its workers, the cheapest kind first."""
    jobs: Mapping[int, MovedJob]
    """Maps a job's index to its state."""
    every: float
    """Time between two regular calls of the policy."""
    until: float
    """Time of the last deadline, after which no regular calls are made, so that jobs that wait for
    ever end in a deadlock report."""
    scheduler: DecidersHost = field(init=False, repr=False)
    tick: float = field(init=False, default=0)
    """Time of the next regular call of the policies."""

    def attach(self, scheduler: DecidersHost) -> None:
        self.scheduler = scheduler

    # --- messages from the scheduler ----------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        moved = self.jobs[job.index]
        moved.waits, moved.submitted = True, job.submitted
        self.until = max(self.until, job.submitted + moved.due.deadline)

    def over(self, message: CopyOver, cause: int) -> None:
        job = self.jobs[message.index]
        job.waits, job.copy, job.kind = message.waits, -1, ""

    def cancelled(self, index: int) -> None:
        self.jobs[index].waits = False

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        return True

    def progressed(self, message: RunProgress) -> None:
        job = self.jobs[message.index]
        job.saved = message.saved * job.pace

    def woken(self, cause: int) -> int | None:
        scheduler = self.scheduler
        # A regular call has no cause in the world but the passing of time.
        return None if scheduler.due_by < self.tick else scheduler.system.origin

    # --- decisions ----------------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        scheduler = self.scheduler
        for index, job in self.jobs.items():
            if job.waits or job.kind:
                self._decide(index, job, cause)
        tick = (floor(scheduler.due_by / self.every) + 1) * self.every
        if self.tick < tick <= self.until:
            self.tick = tick
            scheduler.at(tick, DECIDE, cause, Phase.DECISION)

    def _decide(self, index: int, job: MovedJob, cause: int) -> None:
        scheduler, found = self.scheduler, {kind: self._free(kind, job) for kind in self.kinds}
        offers = tuple(self.kinds[kind][0] for kind, free in found.items() if free)
        elapsed = scheduler.now - job.submitted
        now = evolve(job.due, elapsed=elapsed, saved=job.saved, kind=job.kind, offers=offers)
        kind = self.policy(now)
        if kind == job.kind:
            return
        # The run's end calls for another decision, in which the job has no workers and gets its new
        # kind.
        if job.kind:
            scheduler.dispatcher.cancel_copy(job.copy, cause)
        elif found[kind]:
            job.waits, job.kind = False, kind
            job.copy = scheduler.dispatcher.start_on(index, found[kind], cause)

    def _free(self, kind: str, job: MovedJob) -> list[int]:
        """Return the lowest workers of this kind that are UP and either free or the job's own, as
        many as the job needs. If there are too few, return an empty list."""
        pool, needed, mine = self.scheduler.pool, job.processors, (-1, job.copy)
        workers = self.kinds[kind][1]
        free = [n for n in workers if n not in pool.away and pool.holder(n) in mine][:needed]
        return free if len(free) == needed else []
