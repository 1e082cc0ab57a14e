"""Scenarios of malleable applications that share a faulty platform (003)."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np
from attrs import Factory, frozen

from actors.malleable.account import Account
from actors.malleable.application import Application
from actors.malleable.events import ApplicationDescribed, PackDescribed
from actors.malleable.hazard import BuddyHazard
from actors.malleable.holdings import Holdings
from actors.malleable.processor import Processor, befriend
from actors.malleable.scheduler import MalleableScheduler
from actors.runtime import System
from policies.malleable import named, named_allocation
from policies.maths.checkpoint import checkpoint_cost, young_period
from policies.maths.cosched import Costs, Protection, costs
from policies.maths.redistribution import Link
from sims.errors import InputError
from sims.scenario.faults import YEAR
from sims.scenario.header import Head, Header
from sims.scenario.malleable_profiles import Tables
from sims.scenario.malleable_sections import (
    CheckpointSection,
    Fatal,
    Faults,
    LinkSection,
    MalleablePolicy,
    MalleableSection,
    NoFaults,
)
from sims.scenario.policies import load_part, load_policy


@frozen(kw_only=True)
class MalleableScenario(Head):
    """A whole scenario file with `[job] kind = "malleable"`; times in s."""

    job: MalleableSection
    link: LinkSection = Factory(LinkSection)
    checkpoints: CheckpointSection = Factory(CheckpointSection)
    faults: Faults = Factory(NoFaults)
    """Whether and when processors fail."""
    policy: MalleablePolicy

    def header(self) -> Header:
        """What the log's first record says."""
        return Header(self.job.processors, (), "s")


SCENARIO = MalleableScenario

LONGEST = 100
"""Times between faults that a period may last: none of e^100 periods would end without a fault."""


def populate(scenario: MalleableScenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    pack = scenario.job.pack()
    _check(scenario, pack)
    fatal = scenario.faults.fatal is Fatal.POSSIBLE
    _describe(scenario, pack, system)
    processors = _processors(scenario.job, system)
    tables = application_costs(scenario)
    scheduler = system.spawn(
        MalleableScheduler(
            "scheduler",
            load_part("allocation", scenario.policy.allocation, named_allocation, folder),
            load_policy(scenario.policy, partial(named, look=scenario.policy.look), folder),
            Holdings(scenario.job.pair, processors),
            tables,
            early_release=not fatal,
        )
    )
    for index, table in enumerate(tables):
        system.spawn(
            Application(application_name(index), index, scheduler, Account(index, table), fatal)
        )
    faults = scenario.faults.faults(system.stream("faults"), len(processors))
    system.spawn(BuddyHazard("hazard", faults, processors))


def _describe(scenario: MalleableScenario, pack: tuple[float, ...], system: System) -> None:
    protection, link, describe = _protection(scenario), scenario.link, system.journal.describe
    downtime, mtbf = (protection.downtime, protection.mtbf) if protection else (0.0, None)
    model = (scenario.job.pair, downtime, scenario.faults.fatal is Fatal.POSSIBLE, mtbf)
    describe(PackDescribed, *model, link.unit, link.latency, link.startup)
    for index, footprint in enumerate(pack):
        describe(ApplicationDescribed, application_name(index), footprint)


def application_name(index: int) -> str:
    """Applications count from T1."""
    return f"T{index + 1}"


def application_costs(scenario: MalleableScenario) -> list[Costs]:
    """What each number of processors means for each application of the pack."""
    job, section = scenario.job, scenario.link
    link = Link(section.startup, section.latency, section.unit)
    protection = _protection(scenario)
    sizes = job.pair * np.arange(1, job.processors // job.pair + 1, dtype=np.float64)
    return [
        costs(job.profile.durations(index, footprint, sizes), footprint, job.pair, link, protection)
        for index, footprint in enumerate(job.pack())
    ]


def _protection(scenario: MalleableScenario) -> Protection | None:
    own = scenario.checkpoints.mtbf_years
    years = scenario.faults.mtbf_years if own is None else own
    if math.isinf(years):
        return None
    link, downtime = scenario.link, scenario.checkpoints.downtime
    return Protection(years * YEAR, link.unit, link.latency, downtime)


def _processors(job: MalleableSection, system: System) -> list[Processor]:
    spawn, width = system.spawn, job.pair
    processors = [spawn(Processor(f"processor-{k}", k)) for k in range(job.processors)]
    for first in range(0, len(processors) - width + 1, width):
        befriend(processors[first : first + width])
    return processors


def _check(scenario: MalleableScenario, pack: tuple[float, ...]) -> None:
    job = scenario.job
    if not pack:
        raise InputError("scenario", "job", "there is no application", "footprints or [job.draw]")
    if job.processors < job.pair * len(pack):
        problem = f"{job.processors} processors are too few for {len(pack)} applications"
        least = f"at least {job.pair * len(pack)}: {job.pair} for each"
        raise InputError("scenario", "job.processors", problem, least)
    if scenario.faults.fatal is Fatal.POSSIBLE and job.pair == 1:
        problem = "a fatal failure needs a buddy to fail, and with pair = 1 there is none"
        raise InputError("scenario", "faults.fatal", problem, 'pair = 2, or fatal = "ignored"')
    _check_protection(scenario, pack)
    _check_tables(scenario, pack)


def _check_protection(scenario: MalleableScenario, pack: tuple[float, ...]) -> None:
    protection = _protection(scenario)
    if protection is None:
        return
    link = scenario.link
    if link.latency == 0 and (link.unit == 0 or min(pack) <= 0):
        problem = "a checkpoint would cost nothing, and Young's period would be 0"
        raise InputError("scenario", "link.unit", problem, "a cost above 0, or mtbf_years = inf")
    _check_period(scenario, protection, max(pack))


def _check_period(scenario: MalleableScenario, protection: Protection, footprint: float) -> None:
    """Young's period is for checkpoints that take far less time than passes between two faults."""
    job = scenario.job
    sizes = np.array([job.pair, job.processors], dtype=np.float64)
    cost = checkpoint_cost(footprint, sizes, protection.unit_cost, protection.latency)
    mtbf = protection.mtbf / sizes
    if cost[0] >= mtbf[0] or (young_period(mtbf, cost) >= LONGEST * mtbf).any():
        section = "faults" if scenario.checkpoints.mtbf_years is None else "checkpoints"
        problem = (
            f"{protection.mtbf / YEAR!r} is not accepted: a checkpoint would take {cost[0]:.3g} s, "
            f"and {job.pair} processors fail every {mtbf[0]:.3g} s"
        )
        accepted = "more years, smaller footprints, a cheaper link, or mtbf_years = inf"
        raise InputError("scenario", f"{section}.mtbf_years", problem, accepted)


def _check_tables(scenario: MalleableScenario, pack: tuple[float, ...]) -> None:
    profile, pair = scenario.job.profile, scenario.job.pair
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
