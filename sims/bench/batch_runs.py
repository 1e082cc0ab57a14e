"""Rigid or moldable jobs that are all there at time 0, a world of them, and their benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from actors.deciders.queue import QueueDecider
from actors.events import RunStarted
from actors.job import JobOfAttempts
from actors.pool import Pool
from actors.runtime import System, stream
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.silent_errors import draw_failures, failure_probabilities, rate_probabilities
from policies.maths.speedup import Profile
from policies.queue.allocation import LPA, requested
from policies.queue.batches import Scaled
from policies.queue.lists import RList
from policies.queue.orders import longest_time
from sims.bench.timing import Body, Case, finished
from sims.scenario.jobs.drawn import SyntheticJobs, UniformJobs


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


def batches(size: float) -> Iterator[Case]:
    """Attempts of rigid jobs (rigid21, section 5.1, q-bar = 0.3) and of moldable ones (moldable21,
    section 5.1: n = 500, lambda = 1e-7), whose allocation is part of every simulation."""
    rigid, moldable = UniformJobs(seed=1).draw(), SyntheticJobs(seed=1).draw()
    often = failure_probabilities([job.work for job in rigid], 0.3)
    rarely = rate_probabilities([job.work for job in moldable], 1e-7)
    many = max(1, int(200 * size))
    few = max(1, many // 10)
    for name, jobs, fails, runs, processors, allocation, most in (
        ("rigid R-LIST-0", rigid, often, many, 10_000, lambda: requested, 0.8),
        ("moldable LPA", moldable, rarely, few, 7_500, lambda: LPA, 2.0),
        ("moldable BATCH", moldable, rarely, few, 7_500, Scaled, 2.0),
    ):
        rng = stream(1, "failures")
        drawn = [draw_failures(fails, rng) for _ in range(runs)]
        ready = partial(attempts, processors, described(jobs), drawn, allocation)
        yield Case(name, ready, "attempts", most)


def attempts(
    processors: int,
    jobs: Sequence[BatchJob],
    failures: Sequence[list[int]],
    allocation: Callable[[], Any],
) -> Body:
    """A set of jobs under many failure scenarios."""
    systems = [System(start=0) for _ in failures]
    for system, failed in zip(systems, failures, strict=True):
        policy = BatchPolicy(longest_time, RList(0), allocation())
        spawn(system, processors, jobs, failed, policy)
    return finished(systems, sum(len(jobs) + sum(failed) for failed in failures))
