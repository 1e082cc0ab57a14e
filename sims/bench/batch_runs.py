"""Rigid or moldable jobs that are all there at time 0, and a world of them."""

from __future__ import annotations

from collections.abc import Sequence

from actors.attempts import JobOfAttempts
from actors.deciders.queue import QueueDecider
from actors.events import RunStarted
from actors.pool import Pool
from actors.runtime import System
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.speedup import Profile


def described(profiles: Sequence[Profile], verification: float = 0) -> tuple[BatchJob, ...]:
    """Jobs that are all there at time 0, named by their index."""
    return tuple(
        BatchJob(index, f"J{index + 1}", profile, verification)
        for index, profile in enumerate(profiles)
    )


def spawn(
    system: System,
    processors: int,
    jobs: Sequence[BatchJob],
    failures: Sequence[int],
    policy: BatchPolicy,
) -> None:
    """Populate `system` with one scheduler and its jobs."""
    pool = Pool(processors, system.journal.wants(RunStarted))
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy), len(jobs)))
    for job, count in zip(jobs, failures, strict=True):
        system.spawn(JobOfAttempts(job.name, job, scheduler, failures=count))
