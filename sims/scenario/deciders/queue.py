"""The queue's decider: allocation, order and strategy; and which workers a run gets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import cast

from actors.deciders.queue import QueueDecider
from actors.pool import Take
from actors.scheduler import Scheduler
from actors.worker import Worker
from policies.batch.allocation import BatchWhereAsked, WhereAsked, requested
from policies.batch.names import allocation_named, order_named, strategy_named
from policies.interface.batch import Allocation, BatchAllocation, BatchPolicy, Order, Strategy
from policies.maths.speedup import Asking
from sims.errors import InputError
from sims.scenario.build_jobs import protection_of
from sims.scenario.platform import Platform
from sims.scenario.policies import load_part, load_policy
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.scenario.workload import Workload, iterative

Rule = Allocation | BatchAllocation


def decider(
    scenario: Scenario,
    platform: Platform,
    jobs: Workload,
    folder: Path,
    workers: Mapping[int, Worker],
) -> QueueDecider:
    """Raises InputError for a policy that there is not, or a job that asks for no workers."""
    _refuse_without_processors(jobs)
    most = {
        it.job.index: copies
        for it in jobs.submissions
        if (copies := protection_of(scenario, it).copies) > 1
    }
    return QueueDecider(_policy(scenario, jobs, folder), most)


def _policy(scenario: Scenario, jobs: Workload, folder: Path) -> BatchPolicy:
    section = scenario.policy
    named = PolicySection(name=scenario.policy_name, parameters=section.parameters)
    strategy = load_policy(named, lambda name: strategy_named(name, section.reading), folder)
    order = cast(Order, load_part("order", section.order, order_named, folder))
    rule = _allocation(section, jobs, folder)
    return BatchPolicy(order, cast(Strategy, strategy), rule, named.name)


def _allocation(section: PolicySection, jobs: Workload, folder: Path) -> Rule:
    asking = [isinstance(it.job.profile, Asking) for it in jobs.submissions]
    if section.allocation is None and all(asking):
        return requested
    papers = partial(allocation_named, allotment=section.allotment, eps=section.eps)
    rule = load_part("allocation", section.allocation or "LPA", papers, folder)
    if not any(asking):
        return cast(Rule, rule)
    return BatchWhereAsked(rule) if hasattr(rule, "allot") else WhereAsked(rule)


def _refuse_without_processors(jobs: Workload) -> None:
    for submission in jobs.submissions:
        if submission.job.kind == "iterative" and iterative(submission).processors is None:
            problem = f"missing: {submission.job.name} does not say how many workers it wants"
            accepted = "a number, or an enrolment policy (IE, say), which chooses itself"
            raise InputError("scenario", "job.processors", problem, accepted)


def take(scenario: Scenario, jobs: Workload, scheduler: Scheduler, folder: Path) -> Take | None:
    """Which free workers a run gets, where that is more than their numbers."""
    return None
