"""The enrolment policy that a scenario asks for."""

from __future__ import annotations

from pathlib import Path

from policies.enrolment import named
from policies.interface import EnrolmentPolicy, Wake
from sims.errors import InputError
from sims.scenario.policies import PolicySection, load_policy


def enrolment_policy(section: PolicySection, folder: Path) -> EnrolmentPolicy:
    """Load it. Raises InputError where there is none of that name, or it is none."""
    policy = load_policy(section, named, folder)
    if not callable(policy):
        accepted = "a function, or a class whose instances can be called"
        raise _refused(section, "cannot be called", accepted)
    wake = getattr(policy, "wake", Wake.NEVER)
    if not isinstance(wake, Wake):
        accepted = ", ".join(str(member) for member in Wake)
        raise _refused(section, f"wants to wake {wake!r}", accepted)
    decides: EnrolmentPolicy = policy
    return decides


def _refused(section: PolicySection, problem: str, accepted: str) -> InputError:
    return InputError("scenario", "policy.name", f"{section.name!r} {problem}", accepted)
