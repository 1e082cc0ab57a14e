"""The decider of deadlines: its policy, its jobs, and which workers are of one kind."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import cast

from attrs import frozen

from actors.deciders.deadline import DeadlineDecider, MovedJob
from actors.decisions import answer, refusal
from policies.deadline import NAMED, ON_DEMAND
from policies.interface import DueJob, KindPolicy, Offer
from policies.maths.speedup import Asking
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.platform import Platform
from sims.scenario.policy import load_policy
from sims.scenario.workers import WorkerSection
from sims.scenario.workload import Submission, Workload

POOL = "pool"
"""What the workers of `[platform]` are called as a kind."""


def decider(scenario: Scenario, jobs: Workload, folder: Path) -> DeadlineDecider:
    """Raises InputError for a policy that there is not, and for jobs that it cannot decide for."""
    section, policy = scenario.policy, load_policy(scenario.policy, _named, folder)
    due = {it: _deadline(it) for it in jobs.submissions}
    every = section.every or section.changeover or min(due.values()) / 1000
    moved = {it.job.index: _moved(scenario, it, at, every) for it, at in due.items()}
    last = max(it.job.submitted + deadline for it, deadline in due.items())
    kinds = _kinds(scenario.full_platform)
    return DeadlineDecider(KindAmong(policy, kinds), kinds, moved, every, last)


@frozen
class KindAmong:
    """A policy whose answers are checked."""

    policy: KindPolicy
    kinds: Collection[str]

    def __call__(self, job: DueJob) -> str:
        """Raises BadDecision, naming the policy, where it answers none of the kinds."""
        kind = answer(self.policy, job)
        if kind == "" or kind in self.kinds:
            return kind
        known = f"accepted: {', '.join(self.kinds)}, or an empty text"
        raise refusal(self.policy, repr(kind), known, repr(job))


def _moved(scenario: Scenario, submission: Submission, deadline: float, every: float) -> MovedJob:
    job, said, image = submission.job, submission.protection, submission.image
    width = cast(Asking, job.profile).processors
    cost, recovery = (said.cost or 0, said.recovery or 0) if image is None else (image, image)
    if said.verified:
        cost += job.verification
    pace = 1 + cost / submission.rules(scenario).period(width)
    work = job.profile.time(width) * pace + job.verification
    changeover = scenario.policy.changeover + recovery
    due = DueJob(0, deadline, work, 0, changeover, every, "", ())
    return MovedJob(due, job.submitted, width, pace)


def _named(name: str) -> KindPolicy:
    if name not in NAMED:
        raise ValueError(f"{name!r} is no policy of deadlines; accepted: {', '.join(NAMED)}")
    return NAMED[name]


def _deadline(submission: Submission) -> float:
    """Raises InputError for a job that this decider cannot move."""
    job, own = submission.job, submission.own
    if job.kind != "rigid":
        raise unfit(
            "job.kind",
            f"{job.name} is {job.kind}",
            "rigid jobs, where they have deadlines",
        )
    if submission.protection.copies > 1:
        raise unfit(
            "protection.copies",
            f"{job.name} has several copies, and moves from kind to kind",
            "1",
        )
    if own is None or own.deadline is None:
        raise unfit(
            "job.jobs.deadline",
            f"missing: {job.name} has none",
            "a time from its release",
        )
    return own.deadline


def _kinds(platform: Platform) -> dict[str, tuple[Offer, tuple[int, ...]]]:
    """Workers by the name of their table, the cheapest first."""
    found: dict[str, tuple[Offer, tuple[int, ...]]] = {}
    for worker, own in enumerate(islice(platform, platform.able)):  # spares start no job
        kind = own.name.partition(".")[0] if isinstance(own, WorkerSection) else POOL
        offer, others = found.get(kind, (Offer(kind, own.price or 0), ()))
        found[kind] = offer, (*others, worker)
    if ON_DEMAND not in found:
        raise unfit(
            "workers.name",
            f"none is called {ON_DEMAND}: there are {', '.join(found)}",
            f"{ON_DEMAND}, of some",
        )
    return dict(sorted(found.items(), key=lambda it: it[1][0].price))
