"""The enrolment policy that a scenario asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from policies.enrolment import ACCEPTED, FixedConfiguration, named
from policies.interface import EnrolmentPolicy, Wake
from sims.errors import InputError
from sims.scenario.policies import OWN, PolicySection, load_policy

FIXED = "FIXED"


def enrolment_policy(
    section: PolicySection, folder: Path, workers: Sequence[str], tasks: int
) -> EnrolmentPolicy:
    """Load it. Raises InputError where there is none of that name, or it is none.

    `FIXED` takes `members`, a table of worker names and their tasks, `tasks` in all.
    """
    if section.name == FIXED:
        return _fixed(section, workers, tasks)
    policy = load_policy(section, _named, folder)
    if not callable(policy):
        accepted = "a function, or a class whose instances can be called"
        raise _refused(section, "cannot be called", accepted)
    wake = getattr(policy, "wake", Wake.NEVER)
    if not isinstance(wake, Wake):
        accepted = ", ".join(str(member) for member in Wake)
        raise _refused(section, f"wants to wake {wake!r}", accepted)
    decides: EnrolmentPolicy = policy
    return decides


def _named(name: str) -> EnrolmentPolicy:
    try:
        return named(name)
    except ValueError:
        known = f"{ACCEPTED}, {FIXED} with its members, {OWN}"
        raise ValueError(f"there is no enrolment policy {name!r}; accepted: {known}") from None


def _fixed(section: PolicySection, workers: Sequence[str], tasks: int) -> FixedConfiguration:
    members = section.parameters.get("members")
    accepted = "a table of worker names and their tasks, such as {P2 = 2, P3 = 1}"
    if set(section.parameters) != {"members"} or not isinstance(members, dict):
        given = ", ".join(section.parameters) or "nothing"
        raise InputError("scenario", "policy.parameters", f"FIXED is given {given}", accepted)
    for name, own in members.items():
        if name not in workers or type(own) is not int or own < 1:
            key = f"policy.parameters.members.{name}"
            problem = f"{own!r} tasks for {name!r} cannot be"
            raise InputError("scenario", key, problem, f"whole tasks for {', '.join(workers)}")
    if sum(members.values()) != tasks:
        problem = f"{sum(members.values())} tasks in all, an iteration has {tasks}"
        accepted = "tasks summing to job.tasks"
        raise InputError("scenario", "policy.parameters.members", problem, accepted)
    index = {name: k for k, name in enumerate(workers)}
    return FixedConfiguration(tuple((index[name], tasks) for name, tasks in members.items()))


def _refused(section: PolicySection, problem: str, accepted: str) -> InputError:
    return InputError("scenario", "policy.name", f"{section.name!r} {problem}", accepted)
