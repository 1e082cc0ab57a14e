"""The pack's decider: its policies, and what each size means for each application (malleable17)."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from attrs import astuple

from actors.deciders.pack import PackDecider
from actors.events import PackDescribed
from actors.protection import ProtectionKind
from actors.runtime import System
from policies.interface.pack import AllocationPolicy, RedistributionPolicy
from policies.maths.cosched import Checkpointing, Costs
from policies.pack import named, named_allocation
from sims.errors import InputError
from sims.scenario.deciders.applications import (
    application,
    checkpointing,
    costs_of,
    pack_mtbf,
)
from sims.scenario.jobs.section import MalleableSection
from sims.scenario.jobs.speedups import Application, Synthetic, Times
from sims.scenario.policies import load_part, load_policy
from sims.scenario.protection import Fatal, ProtectionSection
from sims.scenario.scenario import Scenario
from sims.scenario.workload import Submission, Workload

LONGEST = 100
"""Times between faults that a period may last: none of e^100 periods would end without a fault."""
PAIR = 2
"""Workers in a group, where the section of the jobs does not say."""


def decider(scenario: Scenario, jobs: Workload, system: System, folder: Path) -> PackDecider:
    """Raises InputError for a policy that there is not, and for what cannot be a pack's."""
    _check(scenario, jobs)
    pack = described(scenario)
    system.journal.record(system.origin, PackDescribed, *astuple(pack))
    section = scenario.named_policy
    papers = partial(named, look=section.look)
    policy: RedistributionPolicy = load_policy(section, papers, folder, RedistributionPolicy)
    default = "allocation", "Opt-NoRedistrib"
    first: AllocationPolicy = load_part(
        section, *default, named_allocation, folder, AllocationPolicy
    )
    most = {it.job.index: it.protection.copies for it in jobs.submissions}
    return PackDecider(
        *(first, policy),
        dict(enumerate(application_costs(scenario, jobs, pack))),
        pack.pair,
        pack.fatal,
        bool(pack.releases),
        {index: copies for index, copies in most.items() if copies > 1},
    )


def pair(scenario: Scenario) -> int:
    """Workers in a group of buddies."""
    return scenario.job.pair if isinstance(scenario.job, MalleableSection) else PAIR


def fatal(scenario: Scenario) -> bool:
    """Whether every fault counts; False: malleable17's own rule, which is its own combination's
    default."""
    said = scenario.protection.fatal
    return not alone(scenario) if said is None else said is Fatal.POSSIBLE


def alone(scenario: Scenario) -> bool:
    """Whether there is only what malleable17 has: buddies, and nothing but faults."""
    own = [job.protection for job in scenario.job.jobs if job.protection is not None]
    return (
        all(
            it.kind is ProtectionKind.BUDDIES and it.copies == 1
            for it in (scenario.protection, *own)
        )
        and scenario.full_platform.plain
        and scenario.master is None
    )


def described(scenario: Scenario) -> PackDescribed:
    """What its log tells of the pack."""
    link, every, errors = scenario.link, fatal(scenario), scenario.errors
    errs = errors.of(errors.key) or any(job.count for job in scenario.job.jobs)
    # A run that an error spoils does not end when it said, and whom it has promised goes without.
    releases = alone(scenario) and not every and not errs
    return PackDescribed(
        *(pair(scenario), every, scenario.faults.downtime, pack_mtbf(scenario)),
        *(link.unit, link.latency, link.startup, releases),
    )


# --- what each size means -----------------------------------------------------------------------


def application_costs(scenario: Scenario, jobs: Workload, pack: PackDescribed) -> list[Costs]:
    """By application. Raises InputError for checkpoints that make no sense."""
    found = []
    for it in jobs.submissions:
        told, section = application(scenario, it), it.protection
        protection = checkpointing(pack, told, section.kind, section.cost, it.image)
        if protection is not None:
            _check_period(scenario, section, protection, told.footprint)
        found.append(costs_of(pack, told, protection, scenario.full_platform.size))
    return found


# --- what cannot be -----------------------------------------------------------------------------


def _check(scenario: Scenario, jobs: Workload) -> None:
    for submission in jobs.submissions:
        if submission.job.kind != "malleable":
            problem = f"{submission.job.name} is {submission.job.kind}: it cannot be resized"
            accepted = "malleable jobs, or a queue's policy (R-LIST-0, say), which takes all kinds"
            raise InputError("scenario", "job.kind", problem, accepted)
        _check_application(scenario, submission)
    if scenario.full_platform.size < pair(scenario):
        problem = f"{scenario.full_platform.size} are too few for a group of {pair(scenario)}"
        raise InputError("scenario", "platform.workers", problem, f"at least {pair(scenario)}")
    buddies = scenario.protection.kind is ProtectionKind.BUDDIES
    if buddies and fatal(scenario) and pair(scenario) == 1:
        text = "with pair = 1 a worker has no buddy: whenever one goes DOWN, all is lost"
        warnings.warn(text, stacklevel=2)


def _check_application(scenario: Scenario, submission: Submission) -> None:
    asked = cast(Application, submission.job.profile)
    own, width = submission.own is not None, pair(scenario)
    listed = f"job.jobs.{submission.job.index}." if own else "job."
    speedup, footprint = asked.speedup, asked.footprint
    if isinstance(speedup, Times):
        if len(speedup.times) < width:
            problem = f"{len(speedup.times)} times: too few for a group"
            key = f"{listed}speedup.times"
            raise InputError("scenario", key, problem, f"at least {width} times")
    elif footprint <= 1 and (isinstance(speedup, Synthetic) or speedup.work is None):
        problem = f"a footprint of {footprint!r} has no work"
        key = f"{listed}footprint{'' if own else 's'}"
        raise InputError("scenario", key, problem, "more than 1 data unit")


def _check_period(
    scenario: Scenario, section: ProtectionSection, protection: Checkpointing, footprint: float
) -> None:
    """Formulas are for checkpoints that take something, and far less than passes between faults."""
    if not isinstance(section.period, str):
        return
    width, size = pair(scenario), scenario.full_platform.size
    sizes = np.array([width, max(size - size % width, width)], dtype=np.float64)
    cost, mtbf = protection.checkpoint(footprint, sizes), protection.mtbf / sizes
    if not cost.all():
        problem = f"{section.period!r}: a checkpoint that costs nothing would be taken all the time"
        linked = section.kind is ProtectionKind.BUDDIES and section.cost is None
        key = "link.unit" if linked else "protection.period"
        accepted = "a cost above 0, or a number as protection.period"
        raise InputError("scenario", key, problem, accepted)
    if cost[0] >= mtbf[0] or (protection.period(mtbf, cost) >= LONGEST * mtbf).any():
        key = "faults.mtbf" if section.mtbf is None else "protection.mtbf"
        problem = (
            f"{protection.mtbf!r} is not accepted: a checkpoint would take {cost[0]:.3g}, "
            f"and {width} workers fail every {mtbf[0]:.3g}"
        )
        accepted = "more time, smaller footprints, a cheaper link, or a number as the period"
        raise InputError("scenario", key, problem, accepted)
