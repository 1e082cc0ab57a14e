"""Builder of the decider of packs: its policies, and what each size costs each application
(malleable17)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from math import inf
from typing import cast

import numpy as np

from actors.deciders.pack import PackDecider
from actors.events import ApplicationDescribed, PackDescribed, PeriodRule
from actors.protection import ProtectionKind
from actors.runtime import System
from policies.interface.kinds import JobKind
from policies.interface.pack import AllocationPolicy, RedistributionPolicy
from policies.maths.checkpoint import Times
from policies.maths.cosched import Checkpointing, Costs
from policies.pack import named, named_allocation
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import MalleableSection
from sims.scenario.jobs.speedups import (
    Application,
    Pack,
    Synthetic,
    checkpointing,
    costs_of,
)
from sims.scenario.jobs.speedups import Times as Listed
from sims.scenario.platform import StorageSection
from sims.scenario.protection import FREE, Fatal, ProtectionSection
from sims.scenario.submissions import Submission, Workload

MOST_FAULTS = 100
"""Largest mean number of faults in a period; only one of e^100 periods that long would end without
a fault."""
PAIR = 2
"""Workers in a group of buddies, where the section of the jobs does not set `pair`."""


def decider(scenario: Scenario, jobs: Workload, system: System) -> PackDecider:
    """Return the decider of a pack: malleable applications that share the platform and are resized
    while they run.

    Raises InputError for an unknown policy, and for jobs that cannot be in a pack.
    """
    pack, section, folder = pack_of(scenario), scenario.named_policy, scenario.folder
    _check(scenario, jobs, pack)
    believed = pack.fatal, pack.downtime, pack.mtbf, pack.releases
    system.describe(PackDescribed, *believed)
    papers = partial(named, look=section.look)
    policy: RedistributionPolicy = section.load("name", papers, folder, RedistributionPolicy)
    first: AllocationPolicy = section.load(
        "allocation", named_allocation, folder, AllocationPolicy, default="Opt-NoRedistrib"
    )
    return PackDecider(
        *(first, policy),
        dict(enumerate(application_costs(scenario, jobs, pack))),
        pack.pair,
        pack.fatal,
        pack.releases,
        jobs.copies,
    )


# --- descriptions in the log --------------------------------------------------------------------


def pack_of(scenario: Scenario) -> Pack:
    """Return the settings that the scenario's applications share: group size, link, downtime and
    MTBF, and whether faults can be fatal."""
    job, guard = scenario.job, scenario.protection
    as_in_paper = _as_in_paper(scenario)
    # malleable17's own rule is its own combination's default.
    fatal = not as_in_paper if guard.fatal is None else guard.fatal is Fatal.POSSIBLE
    may_err = any(scenario.errors.given.values()) or any(it.count for it in job.jobs)
    return Pack(
        job.pair if isinstance(job, MalleableSection) else PAIR,
        *(scenario.link.costs, fatal, scenario.mean_downtime, _mtbf(scenario)),
        # A run that an error spoils ends later than announced, so the workers that it promised to
        # release come later too.
        as_in_paper and not fatal and not may_err,
    )


def _as_in_paper(scenario: Scenario) -> bool:
    """Return whether the scenario has only what malleable17 considers: buddy checkpoints, and
    faults as the only disturbance, so no master, no owners, no speeds and no copies."""
    guards = scenario.protections.values()
    buddies = all(it.kind is ProtectionKind.BUDDIES and it.copies == 1 for it in guards)
    return buddies and scenario.full_platform.plain and scenario.master is None


def application(scenario: Scenario, submission: Submission) -> ApplicationDescribed:
    """Return the event that describes an application in the log: its footprint, and by which rule
    and faults its checkpoints follow."""
    job, section = submission.job, submission.protection
    asked = cast(Application, job.profile)
    mtbf = scenario.mtbf if section.mtbf is None else section.mtbf
    rule = _rule(section, mtbf)
    own = rule is not PeriodRule.NONE and mtbf != (_mtbf(scenario) or inf)
    return ApplicationDescribed(
        *(job.name, asked.footprint, job.index, rule),
        *(mtbf if own and mtbf < inf else None, own and mtbf == inf),
    )


def _mtbf(scenario: Scenario) -> float | None:
    """Return mu, the mean time between the faults of one worker, in the scenario's unit; None if no
    fault is expected, or nothing protects against faults."""
    section, mtbf = scenario.protection, scenario.protection.mtbf or scenario.mtbf
    return mtbf if section.kind is not ProtectionKind.NONE and mtbf < inf else None


def _rule(section: ProtectionSection, mtbf: float) -> PeriodRule:
    period = section.period
    if not section.periodic:
        return PeriodRule.NONE
    if not isinstance(period, str):
        return PeriodRule.FIXED
    return PeriodRule(period) if mtbf < inf else PeriodRule.NONE


# --- what each size means -----------------------------------------------------------------------


def application_costs(scenario: Scenario, jobs: Workload, pack: Pack) -> list[Costs]:
    """Return, for each job of the workload, its times and costs on each number of workers that the
    pack can give it.

    Raises InputError for checkpoints whose period no formula can give.
    """
    found, size = [], scenario.full_platform.size
    for it in jobs.submissions:
        description, section = application(scenario, it), it.protection
        spent: float | Callable[[Times], Times] | None = section.cost
        image = it.image
        if scenario.storage is not None and section.kind is ProtectionKind.IMAGES:
            spent, image = partial(_alone, scenario.storage, section.bytes or 0), None
        protection = checkpointing(*(pack, description, section.period, section.kind, spent, image))
        if protection is not None:
            _check_period(section, protection, description.footprint, pack.pair, size)
        asked = cast(Application, it.job.profile)
        found.append(costs_of(pack, asked, protection, size))
    return found


def _alone(storage: StorageSection, size: float, members: Times) -> Times:
    """Return, for each number of `members`, the time in which these together save `size` bytes
    while no other application uses the storage: it is not known beforehand how many will."""
    return size / np.minimum(storage.bandwidth, storage.each * members)


# --- what cannot be -----------------------------------------------------------------------------


def _check(scenario: Scenario, jobs: Workload, pack: Pack) -> None:
    accepted = "malleable jobs, or a queue's policy (R-LIST-0, say), which takes all kinds"
    jobs.refuse_others(JobKind.MALLEABLE, ": it cannot be resized", accepted)
    for submission in jobs.submissions:
        _check_application(submission, pack.pair)
    size, least = scenario.full_platform.size, f"at least {pack.pair}"
    if size < pack.pair:
        raise unfit("platform.workers", f"{size} are too few for a group of {pack.pair}", least)
    buddies = scenario.protection.kind is ProtectionKind.BUDDIES
    if buddies and pack.fatal and pack.pair == 1:
        text = "with pair = 1 a worker has no buddy: whenever one goes DOWN, all is lost"
        warnings.warn(text, stacklevel=2)


def _check_application(submission: Submission, pair: int) -> None:
    asked, own = cast(Application, submission.job.profile), submission.own is not None
    listed = f"job.jobs.{submission.job.index}." if own else "job."
    speedup, footprint = asked.speedup, asked.footprint
    if isinstance(speedup, Listed):
        if len(speedup.times) < pair:
            raise unfit(
                f"{listed}speedup.times",
                f"{len(speedup.times)} times: too few for a group",
                f"at least {pair} times",
            )
    elif footprint <= 1 and (isinstance(speedup, Synthetic) or speedup.work is None):
        raise unfit(
            f"{listed}footprint{'' if own else 's'}",
            f"a footprint of {footprint!r} has no work",
            "more than 1 data unit",
        )


def _check_period(
    section: ProtectionSection, protection: Checkpointing, footprint: float, pair: int, size: int
) -> None:
    """Raise InputError where a formula cannot give the period: it needs checkpoints that take some
    time, and far less than passes between faults.

    Both are checked on the smallest and on the largest number of workers, `pair` and the largest
    multiple of it up to `size`.
    """
    if section.continuous:
        problem = (
            f"{section.period!r} in a pack, whose redistributions count on a checkpoint's time"
        )
        raise unfit("protection.period", problem, "a number, young or daly")
    if section.formula is None:
        return
    sizes = np.array([pair, max(size - size % pair, pair)], dtype=np.float64)
    cost, mtbf = protection.checkpoint(footprint, sizes), protection.mtbf / sizes
    if not cost.all():
        linked = section.kind is ProtectionKind.BUDDIES and section.cost is None
        raise unfit(
            "link.unit" if linked else "protection.period",
            f"{section.period!r}: {FREE}",
            "a cost above 0, or a number as protection.period",
        )
    if cost[0] >= mtbf[0] or (protection.period(mtbf, cost) >= MOST_FAULTS * mtbf).any():
        raise unfit(
            "faults.mtbf" if section.mtbf is None else "protection.mtbf",
            f"{protection.mtbf!r} is not accepted: a checkpoint would take {cost[0]:.3g}, "
            f"and {pair} workers fail every {mtbf[0]:.3g}",
            "more time, smaller footprints, a cheaper link, or a number as the period",
        )
