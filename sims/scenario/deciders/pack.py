"""The pack's decider: what each number of workers means for each of its applications (003)."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np

from actors.protection import Kind
from actors.runtime import System
from policies.interface import AllocationPolicy, RedistributionPolicy
from policies.malleable import named, named_allocation
from policies.maths.checkpoint import checkpoint_cost, young_period
from policies.maths.cosched import Costs, Protection, costs
from policies.maths.redistribution import Link
from sims.errors import InputError
from sims.scenario.jobs.malleable_profiles import Tables
from sims.scenario.jobs.section import MalleableSection
from sims.scenario.policies import load_part, load_policy
from sims.scenario.policy import PolicySection
from sims.scenario.protection import Fatal
from sims.scenario.scenario import Scenario

LONGEST = 100
"""Times between faults that a period may last: none of e^100 periods would end without a fault."""


def populate(scenario: Scenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    check(scenario)
    raise NotImplementedError("the pack's actors are still to come")


def policies(
    section: PolicySection, name: str, folder: Path
) -> tuple[AllocationPolicy, RedistributionPolicy]:
    """Who shares workers out before the start, and who redistributes them. Raises InputError."""
    first = section.allocation or "Opt-NoRedistrib"
    own = PolicySection(name=name, parameters=section.parameters)
    return (
        load_part("allocation", first, named_allocation, folder),
        load_policy(own, partial(named, look=section.look), folder),
    )


def pack_of(scenario: Scenario) -> MalleableSection:
    """`[job]`. Raises InputError where jobs are of another kind, or listed with one."""
    job = scenario.job
    if isinstance(job, MalleableSection) and not job.jobs:
        return job
    problem = f"{job.kind} jobs cannot change their workers while they run"
    raise InputError("scenario", "job.kind", problem, "malleable, or a queue's policy")


def application_name(index: int) -> str:
    """Applications count from T1."""
    return f"T{index + 1}"


def application_costs(scenario: Scenario) -> list[Costs]:
    """What each number of workers means for each application of the pack."""
    job, section, workers = pack_of(scenario), scenario.link, scenario.crew.size
    link = Link(section.startup, section.latency, section.unit)
    protection = protection_of(scenario)
    sizes = job.pair * np.arange(1, workers // job.pair + 1, dtype=np.float64)
    return [
        costs(job.profile.durations(index, footprint, sizes), footprint, job.pair, link, protection)
        for index, footprint in enumerate(job.pack())
    ]


def mtbf_of(scenario: Scenario) -> float:
    """mu of one worker that periods and expectations count with; inf: no checkpoints."""
    own = scenario.protection.mtbf
    return scenario.faults.mtbf if own is None else own


def protection_of(scenario: Scenario) -> Protection | None:
    """Buddies' checkpoints with Young's period; None: a fault restarts the application."""
    mtbf, link = mtbf_of(scenario), scenario.link
    if scenario.protection.kind is Kind.NONE or math.isinf(mtbf):
        return None
    return Protection(mtbf, link.unit, link.latency, scenario.faults.downtime)


def check(scenario: Scenario) -> None:
    """Raises InputError for a pack that cannot be run."""
    job, workers, pack = pack_of(scenario), scenario.crew.size, pack_of(scenario).pack()
    if not pack:
        raise InputError("scenario", "job", "there is no application", "footprints or [job.draw]")
    if workers < job.pair * len(pack):
        problem = f"{workers} workers are too few for {len(pack)} applications"
        least = f"at least {job.pair * len(pack)}: {job.pair} for each"
        raise InputError("scenario", "platform.workers", problem, least)
    if scenario.protection.fatal is Fatal.POSSIBLE and job.pair == 1:
        problem = "a fatal failure needs a buddy to fail, and with pair = 1 there is none"
        raise InputError("scenario", "protection.fatal", problem, 'pair = 2, or fatal = "ignored"')
    if scenario.protection.kind is Kind.IMAGES:
        problem = "images: a pack's link leads from worker to worker, to no master"
        raise InputError("scenario", "protection.kind", problem, "none, buddies")
    _check_protection(scenario, pack)
    _check_tables(scenario, pack)


def _check_protection(scenario: Scenario, pack: tuple[float, ...]) -> None:
    protection, link = protection_of(scenario), scenario.link
    if protection is None:
        return
    if link.latency == 0 and (link.unit == 0 or min(pack) <= 0):
        problem = "a checkpoint would cost nothing, and Young's period would be 0"
        raise InputError("scenario", "link.unit", problem, 'a cost above 0, or kind = "none"')
    _check_period(scenario, protection, max(pack))


def _check_period(scenario: Scenario, protection: Protection, footprint: float) -> None:
    """Young's period is for checkpoints that take far less time than passes between two faults."""
    pair, workers = pack_of(scenario).pair, scenario.crew.size
    sizes = np.array([pair, workers], dtype=np.float64)
    cost = checkpoint_cost(footprint, sizes, protection.unit_cost, protection.latency)
    mtbf = protection.mtbf / sizes
    if cost[0] >= mtbf[0] or (young_period(mtbf, cost) >= LONGEST * mtbf).any():
        section = "faults" if scenario.protection.mtbf is None else "protection"
        problem = (
            f"{protection.mtbf!r} is not accepted: a checkpoint would take {cost[0]:.3g} s, "
            f"and {pair} workers fail every {mtbf[0]:.3g} s"
        )
        accepted = 'a longer one, smaller footprints, a cheaper link, or kind = "none"'
        raise InputError("scenario", f"{section}.mtbf", problem, accepted)


def _check_tables(scenario: Scenario, pack: tuple[float, ...]) -> None:
    profile, pair = pack_of(scenario).profile, pack_of(scenario).pair
    if not isinstance(profile, Tables):
        if min(pack) <= 1:
            problem = f"a footprint of {min(pack)!r} has no work"
            raise InputError("scenario", "job.footprints", problem, "more than 1 data unit")
        return
    lengths = [len(times) for times in profile.times]
    if len(lengths) != len(pack) or min(lengths) < pair:
        problem = f"{len(lengths)} tables for {len(pack)} applications"
        accepted = f"one for each, of at least {pair} times"
        raise InputError("scenario", "job.profile.times", problem, accepted)
