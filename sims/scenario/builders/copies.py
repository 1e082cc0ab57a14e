"""Builder of the decider of redundant copies: its policy, its jobs, and whether arrays or runs
carry the copies (redundancy17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isinf
from typing import cast

from attrs import evolve

from actors.decider import Decider
from actors.deciders.copies import (
    CopyRuns,
    PlacementRule,
    PreemptibleJob,
    VectorisedCopies,
    VectorisedJob,
)
from actors.job import Job
from actors.protection import ProtectionKind, Rules
from actors.runtime import System
from policies.copies import Laps, LapsR, ProcessorSharing, named
from policies.interface import RedundancyPolicy
from policies.interface.queue import BatchJob
from policies.maths.gains import Gain
from policies.maths.speedup import Rigid
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.builders.jobs import Counterparts, JobMaker
from sims.scenario.faults import NoFaults
from sims.scenario.jobs import AnyJob, RigidJob, RigidSection
from sims.scenario.jobs.sources import arrivals
from sims.scenario.parts import PARTS
from sims.scenario.submissions import Workload
from sims.scenario.workers import gain_of, process_of
from sims.scenario.workload import tell, workload

ACCEPTED = "platform.gain left out"
SHARING = (Laps, LapsR, ProcessorSharing)
"""Policies of redundancy17 that give a worker to several copies at once when there are many jobs.
"""


Coming = Callable[[Counterparts], Iterator[tuple[float, Job]]]
"""Function that yields the jobs in order of submission, once the actors to which they report
exist."""


Prepared = tuple[Decider, int, Coming, Workload | None]
"""The decider of redundant copies, the number of jobs to come, the function that yields the jobs as
they arrive, and all jobs; None for these: each is made when it arrives."""


def prepared(scenario: Scenario, system: System) -> Prepared:
    """Return the decider of redundant copies, and the jobs to come.

    Raises InputError for a scenario that cannot be simulated.
    """
    prepare = _columns if _in_columns(scenario) else _runs
    return prepare(scenario, system)


def _in_columns(scenario: Scenario) -> bool:
    """Return whether the state of all copies fits into arrays, with one entry for each copy:
    workers change only their speed, and jobs have nothing but work that takes time."""
    job, own = scenario.job, scenario.protection
    if not isinstance(job, RigidSection) or not (job.stream or job.jobs):
        return False
    bare = own.kind is ProtectionKind.NONE and not own.delay and not job.verification
    bare = bare and not any(job.before(it, first=True) for it in (None, *job.jobs))
    listed = all(map(_only_work, job.jobs))
    return bare and listed and not any(_disturbances(scenario))


def _only_work(job: AnyJob) -> bool:
    """Return whether a listed job is rigid with one worker, follows no other, and has no
    protection, listed failures, verification or estimate of its own."""
    more = job.protection or job.verdicts or job.verification or job.estimate
    alone = not more and not job.after
    return isinstance(job, RigidJob) and job.processors == 1 and alone


def _disturbances(scenario: Scenario) -> Iterator[str]:
    """Yield the section or key of each thing other than changes of speed that can happen to the
    scenario's runs."""
    known = {
        "faults": not isinstance(scenario.faults, NoFaults),
        "errors": any(scenario.errors.given.values()),
        "master": scenario.master is not None,
        "platform.availability": scenario.full_platform.owned,
        "job.cap": not isinf(scenario.cap),
    }
    yield from (key for key, there in known.items() if there)
    for part in PARTS:
        yield from part.disturbs(scenario)


def _policy(scenario: Scenario) -> tuple[RedundancyPolicy, bool]:
    """Return (the policy for redundant copies, whether its new copies start from the furthest
    copy's state).

    Raises InputError for an unknown policy.
    """
    found: RedundancyPolicy = scenario.policy.load("name", named, scenario.folder, RedundancyPolicy)
    return found, bool(getattr(found, "cloning", True))


def _rule(scenario: Scenario) -> PlacementRule:
    name = scenario.policy.placement or PlacementRule.UNIFORM.value
    known = {rule.value: rule for rule in PlacementRule}
    if name not in known:
        raise unfit("policy.placement", f"{name!r}", " or ".join(known))
    return known[name]


# --- arrays ---------------------------------------------------------------------------------------


def _columns(scenario: Scenario, system: System) -> Prepared:
    size, pool = scenario.full_platform.able, scenario.full_platform.pool
    decides, cloning = _policy(scenario)
    decider = VectorisedCopies(
        decides,
        _rule(scenario),
        multitasking=pool.multitasking,
        gain=_gain(scenario, system, cloning),
        augmentation=pool.augmentation,
    )
    jobs, count = _listed(scenario, system)

    def coming(others: Counterparts) -> Iterator[tuple[float, Job]]:
        make = partial(VectorisedJob, scheduler=others.scheduler, copies=size, cloning=cloning)
        for it in jobs:
            yield it.submitted, make(it.name, it)

    return decider, count, coming, None


def _listed(scenario: Scenario, system: System) -> tuple[Iterator[BatchJob], int]:
    """Return the jobs in order of submission, and their number; the jobs of a stream are drawn one
    after the other as they are asked for."""
    job = cast(RigidSection, scenario.job)
    if job.stream is None or job.jobs:
        listed = workload(scenario, system).jobs
        return iter(sorted(listed, key=lambda job: job.submitted)), len(listed)
    return arrivals(job.stream, scenario.full_platform.size, system, scenario.folder)


def _gain(scenario: Scenario, system: System, cloning: bool) -> Gain | None:
    """Return the scenario's gain g(r, t), the mean work that a job with r copies has done after a
    time t; None if it sets no gain, so that each copy progresses as its worker does.

    `cloning` says whether the policy's copies start from the furthest one's state. Raises
    InputError for a gain without cloning, or with workers that are not all alike.
    """
    pool = scenario.full_platform.pool
    if pool.gain is None:
        return None
    if not cloning:
        raise unfit(
            "policy.name",
            "g(r, t) is the furthest of copies that start from one state, by cloning",
            ACCEPTED,
        )
    if scenario.full_platform.own:
        raise unfit("workers", "g(r, t) is of workers that are all alike", ACCEPTED)
    return gain_of(pool.gain, process_of(pool.speed, scenario.folder), system.stream("gain"))


# --- runs -----------------------------------------------------------------------------------------


def _runs(scenario: Scenario, system: System) -> Prepared:
    decides, cloning = _policy(scenario)
    jobs = workload(scenario, system)
    _refuse_mean(scenario)
    _refuse_sharing(scenario, decides)
    _refuse_wide(jobs)
    tell(jobs, system)
    copies = scenario.full_platform.able
    rules = {
        it.job.index: evolve(it.rules(scenario), copies=copies, cloning=cloning)
        for it in jobs.submissions
    }
    started = any(job.preparation for job in jobs.jobs)
    free = scenario.master is None and not started and all(map(_moves_freely, rules.values()))
    decider = CopyRuns(decides, _rule(scenario), afresh=free, cloning=cloning)

    def coming(others: Counterparts) -> Iterator[tuple[float, Job]]:
        maker = JobMaker(scenario, system, jobs, decider, others)
        for it in sorted(jobs.submissions, key=lambda it: it.job.submitted):
            yield it.job.submitted, maker.of_runs(it, PreemptibleJob, rules[it.job.index])

    return decider, len(rules), coming, jobs


def _moves_freely(rules: Rules) -> bool:
    """Return whether it costs nothing to end a run at any time and continue it elsewhere: no
    checkpoints, no delay of clones, no verification."""
    return rules.kind is ProtectionKind.NONE and not rules.delay and not rules.verification


def _refuse_mean(scenario: Scenario) -> None:
    if scenario.full_platform.pool.gain is None:
        return
    raise unfit(
        next(_disturbances(scenario), "protection"),
        "under a mean gain no worker and no copy has a life of its own",
        ACCEPTED,
    )


def _refuse_sharing(scenario: Scenario, policy: RedundancyPolicy) -> None:
    if isinstance(policy, SHARING):
        raise unfit(
            "policy.name",
            f"{scenario.policy.name!r} lets workers run several copies at once, and one that can "
            "be lost, or has something to fetch or to save, holds one run",
            "SRPT+R, say; or workers to which nothing happens but their speed",
        )


def _refuse_wide(jobs: Workload) -> None:
    for job in jobs.jobs:
        if not isinstance(job.profile, Rigid) or job.profile.processors != 1:
            raise unfit(
                "job.jobs",
                f"{job.name} is {job.kind}, and not of one worker, as each copy has to be",
                "rigid jobs of one processor, or a queue's policy with protection.copies",
            )
