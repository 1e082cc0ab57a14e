"""Builder of the decider of queues: its allocation, order and strategy, and the choice of the
workers that a run gets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, get_args

from actors.deciders.queue import QueueDecider
from actors.deciders.queue.placement import (
    AtRandom,
    ByCriterion,
    ByNode,
    ByPolicy,
    ByRecord,
    ByRecordAtRandom,
    Programmed,
)
from actors.pool import Take
from actors.protection import ProtectionKind
from actors.records import Records
from actors.runtime import System, stream
from policies.interface import Enrolment, PlacementPolicy
from policies.interface.kinds import JobKind
from policies.interface.queue import (
    Allocation,
    BatchAllocation,
    BatchPolicy,
    Order,
    Strategy,
    TimedOrder,
)
from policies.maths.markov import Belief
from policies.maths.speedup import Asking
from policies.queue.allocation import BatchWhereAsked, WhereAsked, requested
from policies.queue.estimates import Estimates, ExactEstimates, Noisy, Recent
from policies.queue.names import allocation_named, default_order, order_named, strategy_named
from policies.queue.orders import MULTIFACTOR
from sims.errors import unfit
from sims.scenario import Scenario, Unit
from sims.scenario.multifactor import multifactor
from sims.scenario.own_code import OWN, own
from sims.scenario.parts import PARTS
from sims.scenario.parts.part import Choice, Division
from sims.scenario.policy import BY_RECORD, Believed, Noise, Ties
from sims.scenario.submissions import Submission, Workload, iterative

Rule = Allocation | BatchAllocation
CRITERIA = ("IP", "IE", "IY", "IAY")
"""Criteria of volatile13 that a placement can use."""


def decider(scenario: Scenario, jobs: Workload) -> QueueDecider:
    """Return the decider of a queue, with the scenario's allocation, order and strategy.

    Raises InputError for an unknown policy, or for an iterative job that requests no number of
    workers.
    """
    _refuse_without_processors(jobs)
    images = frozenset(
        it.job.index
        for it in jobs.submissions.protected(lambda it: it.kind is ProtectionKind.IMAGES)
    )
    policy, division = _policy(scenario, jobs), _division(scenario)
    for part in PARTS:
        part.check_queue(scenario, jobs, policy)
    return QueueDecider(
        *(policy, jobs.copies),
        some_ready=any(job.held_ready for job in jobs.listed),
        estimates=_estimates(scenario),
        resumable=images,
        sizes=division.sizes,
        tiers=division.tiers,
        cells=division.cells,
        parts=tuple(it for part in PARTS for it in part.of_queue(scenario, policy)),
    )


def _division(scenario: Scenario) -> Division:
    found = (part.divides(scenario) for part in PARTS)
    return next((it for it in found if it is not None), Division())


def _estimates(scenario: Scenario) -> Estimates | None:
    section = scenario.policy
    if section.estimates is Believed.USER:
        return None
    if section.estimates is Believed.EXACT:
        return ExactEstimates()
    if section.estimates is Believed.RECENT:
        return Recent()
    rng, spread = stream(scenario.seed, "estimates"), section.spread
    if section.noise is Noise.LOGNORMAL:
        return Noisy(lambda: float(rng.lognormal(0, spread)))
    return Noisy(lambda: float(rng.uniform(1, 1 + spread)))


def _policy(scenario: Scenario, jobs: Workload) -> BatchPolicy:
    section, named, folder = scenario.policy, scenario.named_policy, scenario.folder
    of_papers = partial(strategy_named, reading=section.reading)
    strategy: Strategy = named.load("name", of_papers, folder, Strategy)
    orders, usual = partial(_order_named, scenario, jobs), default_order(named.name)
    order: Order = section.load("order", orders, folder, Order, TimedOrder, default=usual)
    if section.preemption:
        from policies.queue.preemption import Preemptive

        strategy = Preemptive(strategy)
    rule = _allocation(scenario, jobs)
    return BatchPolicy(order, strategy, rule, named.name)


def _order_named(scenario: Scenario, jobs: Workload, name: str) -> Order | TimedOrder:
    """Return the papers' or the field's order called `name`. Raises ValueError for another name."""
    if name == MULTIFACTOR:
        tiers = _division(scenario).tiers
        return multifactor(scenario.policy.parameters, scenario.times is Unit.S, tiers)
    return order_named(name, float(jobs.jobs.submitted.min()))


def _allocation(scenario: Scenario, jobs: Workload) -> Rule:
    section = scenario.policy
    asking = len(jobs.submissions.having(*get_args(Asking)))
    all_ask = asking == len(jobs.jobs)
    if section.allocation is None and all_ask:
        return requested
    of_papers = partial(allocation_named, allotment=section.allotment, eps=section.eps)
    serves = Allocation, BatchAllocation
    rule: Any = section.load("allocation", of_papers, scenario.folder, *serves, default="LPA")
    if asking:
        rule = BatchWhereAsked(rule) if hasattr(rule, "allot") else WhereAsked(rule)
    for part in PARTS:
        rule = part.allotting(scenario, rule, all_ask)
    return rule  # type: ignore[no-any-return]


def _refuse_without_processors(jobs: Workload) -> None:
    for submission in jobs.submissions if jobs.submissions.own else ():
        job = submission.job
        if job.kind is JobKind.ITERATIVE and iterative(submission).processors is None:
            raise unfit(
                "job.processors",
                f"missing: {job.name} does not say how many workers it wants",
                "a number, or an enrolment policy (IE, say), which chooses itself",
            )


# --- which workers a run gets -------------------------------------------------------------------


def take(
    scenario: Scenario,
    jobs: Workload,
    system: System,
    programmed: Mapping[str, Collection[int]],
    choice: Choice,
) -> Take:
    """Return a placement that does not treat all workers alike: the function that chooses which
    free workers a run gets. It reads which workers hold a program from `programmed`, and how bad
    their records are from `choice`; the scheduler keeps both up to date.

    Raises InputError for an unknown placement.
    """
    name = scenario.policy.placement
    platform = scenario.full_platform
    if name == "nodes":
        return ByNode(platform.node, platform.able)
    if name == "random":
        return AtRandom(partial(system.stream, "placement"))
    if name in BY_RECORD or _own(name):
        return _by_records(scenario, jobs, system, choice.badness)
    if name == "programmed":
        return Programmed(programmed, {it.job.index: it.label for it in jobs.submissions})
    if name not in CRITERIA:
        raise unfit(
            "policy.placement",
            f"{name!r} is none",
            ", ".join(("lowest, compact, nodes, random, programmed", *BY_RECORD, *CRITERIA, OWN)),
        )
    from policies.enrolment import named as enrolment_named

    belief = platform.belief(scenario.policy.expectation)
    submissions = {it.job.index: it for it in jobs.submissions}

    def size(index: int, members: int) -> Enrolment:
        return _as_enrolment(scenario, submissions[index], members, belief)

    known = {it.job.index: (it.label, it.job.submitted) for it in jobs.submissions}
    return ByCriterion(system, programmed, enrolment_named(name), known, size)


def _own(name: str | None) -> bool:
    """Return whether a placement is one of the user's own."""
    return name is not None and ":" in name


def _by_records(scenario: Scenario, jobs: Workload, system: System, badness: Sequence[Any]) -> Take:
    """Return the placement by records, or that of the user's own, which sees them.

    Raises InputError where the user's cannot be loaded.
    """
    name = scenario.policy.placement
    if name is not None and _own(name):
        policy = own(name, {}, scenario.folder, "policy.placement", PlacementPolicy)
        known = {it.job.index: it.job for it in jobs.submissions}
        return ByPolicy(policy, badness, known, lambda: system.loop.now)
    if scenario.policy.ties is Ties.RANDOM:
        return ByRecordAtRandom(badness, partial(system.stream, "placement"))
    return ByRecord(badness)


def badness_of(scenario: Scenario, records: Records | None) -> Callable[[int], Any] | None:
    """Return the measure of how bad a worker's record is, by which the placement `fewest-faults`,
    `highest-score` or `longest-back` chooses, or a function that returns the record itself for a
    placement of the user's own; None for other placements.

    Raises InputError where the scenario keeps no such records.
    """
    name = scenario.policy.placement
    if _own(name):
        return None if records is None else records.record
    if name not in BY_RECORD:
        return None
    if records is None:
        problem = f"{name!r}: records of workers are kept where what fails is repaired"
        raise unfit("policy.placement", problem, "[repair], or another placement")
    if name == "fewest-faults":
        return records.faults
    if name == "longest-back":
        return records.back
    scoring = records.scoring
    if scoring is None or not hasattr(scoring, "score"):
        problem = f"{name!r}: no worker has a score"
        raise unfit("policy.placement", problem, "repair.retirement.kind = 'score', or another")
    return lambda worker: -scoring.score(worker)


def _as_enrolment(
    scenario: Scenario, submission: Submission, members: int, belief: Belief
) -> Enrolment:
    """Return the view of a run by which an enrolment policy can choose its workers: one task for
    each of its `members`, whose time on a worker is the run's. Times are rounded up to whole units,
    and `belief` is what the policy assumes about workers."""
    job, platform, master = submission.job, scenario.full_platform, scenario.master
    if job.kind is JobKind.ITERATIVE:
        share = -(-iterative(submission).tasks // members)
        own = iterative(submission).times(job.index, platform)
        times = [share * time for time in own]
    else:
        # Where workers differ these members may be a part of the run's, those of one cell.
        asked = job.profile.processors if isinstance(job.profile, Asking) else members
        share, times = 1, [job.profile.time(asked)] * platform.size
    needs = submission.needs
    program, data = (needs.program, share * needs.data) if needs else (0.0, 0.0)
    return Enrolment(
        speeds=tuple(max(1, ceil(time)) for time in times),
        bounds=(1,) * platform.size,
        tasks=members,
        channels=master.channels if master else 1,
        program=ceil(program),
        data=ceil(data),
        belief=belief,
    )
