"""Builders of the deciders that choose the members of each run themselves: enrolment for iterative
jobs (volatile13), and deadlines, which choose a kind of worker."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import cast

from attrs import frozen

from actors.deciders.deadline import DeadlineDecider, MovedJob
from actors.deciders.enrolment import EnrolmentDecider
from actors.decisions import answer, refusal
from policies.deadline import NAMED, ON_DEMAND
from policies.enrolment import ACCEPTED, FixedConfiguration, named
from policies.interface import DueJob, Enrolment, EnrolmentPolicy, KindPolicy, Offer, Wake
from policies.interface.kinds import JobKind
from policies.maths.markov import Belief
from policies.maths.speedup import Asking
from sims.errors import unfit
from sims.scenario import Scenario, Unit
from sims.scenario.deciders import FIXED
from sims.scenario.own_code import OWN
from sims.scenario.platform import MasterSection, Platform
from sims.scenario.policy import PolicySection
from sims.scenario.submissions import Submission, Workload, iterative
from sims.scenario.workers import WorkerSection
from sims.telling import counted

FREE = MasterSection(channels=1)
"""The master's settings where the scenario has none: nothing has to be sent."""


def enrolment(scenario: Scenario, jobs: Workload) -> EnrolmentDecider:
    """Return the decider that enrols workers for iterative jobs: an enrolment policy chooses the
    workers of each iteration and their tasks.

    Raises InputError for an unknown policy, and for jobs or platforms that no enrolment can serve.
    """
    accepted = "iterative jobs, or a queue's policy with policy.placement = IE, say"
    jobs.refuse_others(JobKind.ITERATIVE, ": it has no tasks to deal", accepted)
    policy = _policy(scenario, iterative(jobs.submissions[0]).tasks)
    belief = scenario.full_platform.belief(scenario.policy.expectation)
    enrolments = {it.job.index: _enrolment(scenario, it, belief) for it in jobs.submissions}
    fetched = {it.job.index: it.needs for it in jobs.submissions if it.needs is not None}
    return EnrolmentDecider(policy, enrolments, fetched)


def _enrolment(scenario: Scenario, submission: Submission, belief: Belief) -> Enrolment:
    platform, own, master = scenario.full_platform, iterative(submission), scenario.master or FREE
    bounds = tuple(own.tasks if w.memory is None else w.memory for w in platform)
    if sum(bounds) < own.tasks:
        raise unfit(
            "workers.memory",
            f"the workers hold {sum(bounds)} tasks at once, an iteration has {own.tasks}",
            "memory summing to job.tasks",
        )
    program, data = (it.program, it.data) if (it := submission.needs) else (0, 0)
    times = own.times(submission.job.index, platform)
    if scenario.times is Unit.SLOT:
        _refuse_fractions({"task_time": times, "program": (program,), "data": (data,)})
    master.service(platform, scenario.cap)  # for its errors, which come before the timetable's
    _refuse_short(master, program + own.tasks * data)
    return Enrolment(
        *(times, bounds, own.tasks),
        *(master.channels, program, data),
        belief,
    )


def _refuse_short(master: MasterSection, needed: float) -> None:
    """Raise InputError where the master's timetable has fewer than `needed` slots in all: those in
    which one worker could receive the program and all data of an iteration. Without a timetable do
    nothing."""
    served = sum(map(len, master.timetable))
    if master.timetable and served < needed:
        raise unfit(
            "master.timetable",
            f"serves {counted(served, 'slot')} in all: no iteration could begin to compute",
            f"at least {needed:g}, for a program and an iteration's data",
        )


def _refuse_fractions(times: Mapping[str, Sequence[float]]) -> None:
    for key, values in times.items():
        for value in values:
            if value != int(value):
                raise unfit(
                    "unit",
                    f"{key} = {value!r} is no whole number of slots",
                    'whole numbers, or unit = "s"',
                )


def _policy(scenario: Scenario, tasks: int) -> EnrolmentPolicy:
    """Return the enrolment policy; `tasks` is the number of tasks in an iteration of the first job.

    Raises InputError where the policy is unknown or is of another type.
    """
    section = scenario.policy
    if section.name == FIXED:
        return _fixed(section, scenario.full_platform, tasks)
    policy: EnrolmentPolicy = section.load(
        "name", _enrolment_named, scenario.folder, EnrolmentPolicy
    )
    wake = getattr(policy, "wake", Wake.NEVER)
    if not isinstance(wake, Wake):
        raise unfit(
            "policy.name", f"{section.name!r} wants to wake {wake!r}", ", ".join(map(str, Wake))
        )
    return policy


def _enrolment_named(name: str) -> EnrolmentPolicy:
    try:
        return named(name)
    except ValueError:
        known = f"{ACCEPTED}, {FIXED} with its members, {OWN}"
        raise ValueError(f"there is no enrolment policy {name!r}; accepted: {known}") from None


def _fixed(section: PolicySection, platform: Platform, tasks: int) -> FixedConfiguration:
    """Return the policy that always enrols the same members: `members` in the policy's parameters
    maps worker names of `platform` to numbers of tasks.

    Raises InputError unless `members` is the only parameter, each name is a worker's, each number
    of tasks a whole one above 0, and their sum `tasks`, the number of tasks of an iteration.
    """
    members, index = section.parameters.get("members"), platform.index
    if set(section.parameters) != {"members"} or not isinstance(members, dict):
        raise unfit(
            "policy.parameters",
            f"FIXED is given {', '.join(section.parameters) or 'nothing'}",
            "a table of worker names and their tasks, such as {P2 = 2, P3 = 1}",
        )
    for name, own in members.items():
        if name not in index or type(own) is not int or own < 1:
            problem, accepted = f"{own!r} tasks for {name!r} cannot be", "whole tasks for "
            raise unfit(f"policy.parameters.members.{name}", problem, accepted + ", ".join(index))
    if sum(members.values()) != tasks:
        raise unfit(
            "policy.parameters.members",
            f"{sum(members.values())} tasks in all, an iteration has {tasks}",
            "tasks summing to job.tasks",
        )
    return FixedConfiguration(tuple((index[name], tasks) for name, tasks in members.items()))


# --- deadlines ------------------------------------------------------------------------------------

POOL = "pool"
"""Name, as a kind of worker, of the workers that `[platform]` describes."""


def deadlines(scenario: Scenario, jobs: Workload) -> DeadlineDecider:
    """Return the decider that moves jobs with deadlines from kind to kind of worker (spot, on
    demand).

    Raises InputError for an unknown policy, and for jobs that it cannot decide for: not rigid,
    without a deadline, or with several copies.
    """
    section = scenario.policy
    policy = section.load("name", _kind_policy_named, scenario.folder)
    jobs.refuse_others(JobKind.RIGID, "", "rigid jobs, where they have deadlines")
    due = {it: _deadline(it) for it in jobs.submissions}
    every = section.every or section.changeover or min(due.values()) / 1000
    moved = {it.job.index: _moved(scenario, it, at, every) for it, at in due.items()}
    last = max(it.job.submitted + deadline for it, deadline in due.items())
    kinds = _kinds(scenario.full_platform)
    return DeadlineDecider(KindAmong(policy, kinds), kinds, moved, every, last)


@frozen
class KindAmong:
    """A policy that chooses kinds of workers, with a check that each answer is one of `kinds`, the
    platform's."""

    policy: KindPolicy
    kinds: Collection[str]

    def __call__(self, job: DueJob) -> str:
        """Return the kind of workers that the policy chooses for the job; an empty text means none.

        Raises BadDecision, naming the policy, where the answer is no kind of the platform's.
        """
        kind = answer(self.policy, job)
        if kind == "" or kind in self.kinds:
            return kind
        known = f"accepted: {', '.join(self.kinds)}, or an empty text"
        raise refusal(self.policy, repr(kind), known, repr(job))


def _moved(scenario: Scenario, submission: Submission, deadline: float, every: float) -> MovedJob:
    job, asked, image = submission.job, submission.protection, submission.image
    width = cast(Asking, job.profile).processors
    cost, recovery = (asked.cost or 0, asked.recovery or 0) if image is None else (image, image)
    if scenario.storage is not None and asked.bytes is not None:
        alone = scenario.storage.time(asked.bytes, width)
        cost, recovery = alone, alone
    if asked.verified:
        cost += job.verification
    # Checkpoints slow work down by their cost in every period; verification adds to each
    # checkpoint.
    period = submission.rules(scenario).period(width)
    pace = 1 + (cost / period if cost else 0)
    work = job.profile.time(width) * pace + job.verification
    changeover = scenario.policy.changeover + recovery
    due = DueJob(0, deadline, work, 0, changeover, every, "", ())
    return MovedJob(due, job.submitted, width, pace)


def _kind_policy_named(name: str) -> KindPolicy:
    if name not in NAMED:
        raise ValueError(f"{name!r} is no policy of deadlines; accepted: {', '.join(NAMED)}")
    return NAMED[name]


def _deadline(submission: Submission) -> float:
    """Return the job's deadline, as time after its release.

    Raises InputError where the decider cannot move the job: it has several copies or no deadline.
    """
    job, own = submission.job, submission.own
    if submission.protection.copies > 1:
        raise unfit(
            "protection.copies", f"{job.name} has several copies, and moves from kind to kind", "1"
        )
    if own is None or own.deadline is None:
        raise unfit("job.jobs.deadline", f"missing: {job.name} has none", "a time from its release")
    return own.deadline


def _kinds(platform: Platform) -> dict[str, tuple[Offer, tuple[int, ...]]]:
    """Map each kind of worker (the name of its table, or `pool` for those of `[platform]`) to its
    price offer and the numbers of its workers, the cheapest kind first; spares do not count.

    Raises InputError where no kind is called `on-demand`.
    """
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
