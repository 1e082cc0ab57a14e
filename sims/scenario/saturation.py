"""Tells from which value of a key on a larger one changes nothing, for a reason that the scenario
itself shows: channels beyond the members, one job that no order can change."""

from __future__ import annotations

from collections.abc import Callable

from actors.events import DeciderKind
from policies.interface.kinds import JobKind
from sims.scenario import Scenario
from sims.scenario.jobs import IterativeEntry, RigidJob
from sims.scenario.parts import PARTS
from sims.scenario.parts.part import Limit
from sims.telling import about, counted


def saturation(scenario: Scenario, key: str) -> Limit | None:
    """Return from which value of a dotted key on a larger one changes nothing in the scenario, and
    why; None where the scenario does not show it."""
    if rule := RULES.get(key):
        return rule(scenario)
    held = _held(scenario)
    found = (part.saturation(scenario, key, held) for part in PARTS)
    return next((it for it in found if it is not None), None)


def most_messages(scenario: Scenario) -> int:
    """Return the largest number of messages that can be under way at once: one for each worker that
    jobs can hold."""
    platform, jobs = scenario.full_platform, scenario.job.listed
    held = _held(scenario)
    if scenario.decider is DeciderKind.ENROLMENT and len(jobs) == 1:
        held = min(max(_tasks(it), 1) for it in jobs)
    return platform.size if held is None else min(held, platform.size)


def _tasks(job: object) -> int:
    return int(job.tasks) if isinstance(job, IterativeEntry) else 0


def _held(scenario: Scenario) -> int | None:
    """Return the number of workers that all jobs hold at once at most, those besides their members
    included; None where they are not all rigid and listed."""
    jobs = [it for it in scenario.job.listed if isinstance(it, RigidJob)]
    if not jobs or len(jobs) < len(scenario.job.listed) or scenario.kinds != (JobKind.RIGID,):
        return None
    copies = max((it.copies for it in scenario.protections.values()), default=1)
    ready = sum(part.held_ready(it) for part in PARTS for it in jobs)
    return (sum(it.processors for it in jobs) + ready) * copies


# --- a rule for each key --------------------------------------------------------------------------


def _of_channels(scenario: Scenario) -> Limit | None:
    if scenario.master is None:
        return None
    most = most_messages(scenario)
    return most, f"no more than {counted(most, 'message')} can be under way at once"


def _of_period(scenario: Scenario) -> Limit | None:
    jobs = scenario.job.listed
    times = [it.time for it in jobs if isinstance(it, RigidJob) and it.protection is None]
    if not times or len(times) < len(jobs) or scenario.full_platform.owned:
        return None
    longest = max(times)
    why = f"no job works for longer than {about(longest, scenario.times.value)}"
    return longest, f"{why}, so that no checkpoint is taken"


def _of_recovery(scenario: Scenario) -> Limit | None:
    fails = scenario.faults.laws or scenario.full_platform.owned or scenario.errors.given
    if fails or scenario.policy.preemption or any(it.failures for it in scenario.job.listed):
        return None
    return 0, "no run ends before its work is done"


def _of_order(scenario: Scenario) -> Limit | None:
    alone = len(scenario.job.listed) == 1 and scenario.decider is DeciderKind.QUEUE
    return (0, "there is one job only") if alone else None


RULES: dict[str, Callable[[Scenario], Limit | None]] = {
    "master.channels": _of_channels,
    "protection.period": _of_period,
    "protection.recovery": _of_recovery,
    "policy.order": _of_order,
}
"""Maps keys to the rule by which a scenario shows that their value cannot matter."""
