"""The enrolment decider: what its policy is, and what it is to believe of workers (volatile13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from actors.deciders.enrolment import EnrolmentDecider
from policies.enrolment import ACCEPTED, FixedConfiguration, named
from policies.interface import Enrolment, EnrolmentPolicy, Wake
from policies.maths.markov import Belief
from sims.errors import unfit
from sims.scenario import Scenario, Unit
from sims.scenario.own_code import OWN
from sims.scenario.platform import MasterSection, Platform
from sims.scenario.policy import FIXED, PolicySection, load_policy
from sims.scenario.workload import Submission, Workload, iterative
from sims.telling import counted

FREE = MasterSection(channels=1)
"""Where there is no master, nothing has to be sent."""


def decider(scenario: Scenario, jobs: Workload, folder: Path) -> EnrolmentDecider:
    """Raises InputError for a policy that there is not, and for what no enrolment can serve."""
    _refuse_others(jobs)
    policy = _policy(scenario, iterative(jobs.submissions[0]).tasks, folder)
    believed = scenario.full_platform.belief(scenario.policy.expectation, folder)
    enrolments = {it.job.index: _enrolment(scenario, it, believed) for it in jobs.submissions}
    fetched = {it.job.index: it.needs for it in jobs.submissions if it.needs is not None}
    return EnrolmentDecider(policy, enrolments, fetched)


def _refuse_others(jobs: Workload) -> None:
    for submission in jobs.submissions:
        if submission.job.kind != "iterative":
            raise unfit(
                "job.kind",
                f"{submission.job.name} is {submission.job.kind}: it has no tasks to deal",
                "iterative jobs, or a queue's policy with policy.placement = IE, say",
            )


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
    master.service(platform, scenario.cap)  # whatever is wrong with it comes first
    _refuse_short(master, program + own.tasks * data)
    return Enrolment(
        *(times, bounds, own.tasks),  # type: ignore[arg-type]  # policies count in slots
        *(master.channels, program, data),  # type: ignore[arg-type]
        belief,
    )


def _refuse_short(master: MasterSection, needed: float) -> None:
    """A timetable in which not even one worker gets what an iteration takes."""
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


def _policy(scenario: Scenario, tasks: int, folder: Path) -> EnrolmentPolicy:
    """Raises InputError where there is none of that name, or it is none; `tasks`: of an iteration
    of the first job."""
    section = scenario.policy
    if section.name == FIXED:
        return _fixed(section, scenario.full_platform, tasks)
    policy: EnrolmentPolicy = load_policy(section, _named, folder, EnrolmentPolicy)
    wake = getattr(policy, "wake", Wake.NEVER)
    if not isinstance(wake, Wake):
        raise unfit(
            "policy.name",
            f"{section.name!r} wants to wake {wake!r}",
            ", ".join(map(str, Wake)),
        )
    return policy


def _named(name: str) -> EnrolmentPolicy:
    try:
        return named(name)
    except ValueError:
        known = f"{ACCEPTED}, {FIXED} with its members, {OWN}"
        raise ValueError(f"there is no enrolment policy {name!r}; accepted: {known}") from None


def _fixed(section: PolicySection, platform: Platform, tasks: int) -> FixedConfiguration:
    """What `members`, a table of worker names and their tasks, says."""
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
            raise unfit(
                f"policy.parameters.members.{name}",
                problem,
                accepted + ", ".join(index),
            )
    if sum(members.values()) != tasks:
        raise unfit(
            "policy.parameters.members",
            f"{sum(members.values())} tasks in all, an iteration has {tasks}",
            "tasks summing to job.tasks",
        )
    return FixedConfiguration(tuple((index[name], tasks) for name, tasks in members.items()))
