"""What a scenario file says and nobody reads: its author may think that it does something."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from actors.events import DeciderKind
from actors.protection import ProtectionKind
from sims.scenario.platform import LinkSection
from sims.scenario.policy import Believed, PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario

QUEUE, ENROLMENT, PACK, COPIES, DEADLINE = DeciderKind
READERS: dict[str, tuple[DeciderKind, ...]] = {
    "order": (QUEUE,),
    "preemption": (QUEUE,),
    "estimates": (QUEUE,),
    "noise": (QUEUE,),
    "spread": (QUEUE,),
    "reading": (QUEUE,),
    "allocation": (QUEUE, PACK),
    "allotment": (QUEUE,),
    "eps": (QUEUE,),
    "placement": (QUEUE, COPIES),
    "expectation": (QUEUE, ENROLMENT),
    "reuse": (ENROLMENT,),
    "look": (PACK,),
    "changeover": (DEADLINE,),
    "every": (DEADLINE,),
}
"""Who reads each key of [policy]; what is not listed everyone does."""


OF_BUDDIES = ("images_every", "image_cost", "replace_after")
OF_CHECKPOINTS = (
    *("period", "cost", "recovery", "verified", "mtbf"),
    *("on_notice", "blocking", "slowdown"),
)


def warn_of_idle(scenario: Scenario) -> None:
    """One line for each key whose value differs from its default and has no effect."""
    for key, reason in idle(scenario):
        warnings.warn(f"{key} has no effect: {reason}", stacklevel=2)


def idle(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """(key, why nothing reads it)."""
    yield from _of_policy(scenario)
    yield from _of_protection(scenario.protection)
    if scenario.link != LinkSection() and scenario.decider is not PACK:
        yield "link", f"only a pack moves data between workers, and {scenario.policy_name} is none"


def _given(section: PolicySection | ProtectionSection, key: str) -> bool:
    return bool(getattr(section, key) != type(section).model_fields[key].default)


def _of_policy(scenario: Scenario) -> Iterator[tuple[str, str]]:
    section, name = scenario.policy, scenario.policy_name
    own = ":" in name
    for key, readers in READERS.items():
        if not _given(section, key):
            continue
        if scenario.decider not in readers:
            whose = " or ".join(reader.value for reader in readers)
            yield f"policy.{key}", f"{name} decides as {scenario.decider.value}, not as {whose}"
        elif not own and not _read_by(section, name, key):
            yield f"policy.{key}", f"{name} does not read it"


def _read_by(section: PolicySection, name: str, key: str) -> bool:
    """Whether that one of the papers' policies, whose decider reads the key, does so itself."""
    if key == "reading":
        return name.startswith("R-LIST") and name != "R-LIST-0"
    if key in ("allotment", "eps"):
        return section.allocation == "BATCH"
    if key in ("noise", "spread"):
        return section.estimates is Believed.NOISE
    if key == "look":
        return "EndLocal" in name or "ShortestApplicationsFirst" in name
    return True


def _of_protection(section: ProtectionSection) -> Iterator[tuple[str, str]]:
    kind, reasons = section.kind, dict[str, str]()
    if kind is not ProtectionKind.BUDDIES:
        reasons |= dict.fromkeys(OF_BUDDIES, "members are kept only under buddies")
    if kind is ProtectionKind.NONE:
        reasons |= dict.fromkeys(OF_CHECKPOINTS, "protection.kind is none: no checkpoint is taken")
    if section.copies == 1:
        alone = "protection.copies is 1: there is nothing to clone from"
        reasons |= dict.fromkeys(("cloning", "delay"), alone)
    yield from ((f"protection.{key}", it) for key, it in reasons.items() if _given(section, key))
