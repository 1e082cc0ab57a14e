"""What scenarios of rigid and of moldable jobs share: platform, failures, policy, population."""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import cast

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from actors.batch.events import JobsLeftOut
from actors.batch.failstop import FailStop
from actors.batch.job import Job
from actors.batch.scheduler import BatchScheduler
from actors.runtime import System
from policies.batch.lists import Reading, RList
from policies.batch.orders import PAPER_ORDERS, first_come, large_first
from policies.batch.shelves import Shelves
from policies.interface.batch import BatchJob, BatchPolicy, Order, Strategy
from policies.maths.makespan_bounds import (
    draw_failures,
    failure_probabilities,
    rate_probabilities,
)
from sims.errors import InputError
from sims.scenario.faults import YEAR, Exponential, Listed, NoFaults, Weibull
from sims.scenario.fields import Unacceptable, not_negative, part
from sims.scenario.header import Head, Header
from sims.scenario.policies import load_part

SCHEDULER, HAZARD = "scheduler", "hazard"
"""Actors that no job can be called like."""
LONGEST = 100
"""Times between faults that an attempt may take: none of e^100 would end."""
MOST = 2**53
"""Processors: allotments are worked out in doubles, which count no further."""
ORDERS = {**PAPER_ORDERS, "LJF": large_first, "FCFS": first_come}
LIST = re.compile(r"R-LIST-(Q|\d+)")
SHELVES = {
    "R-SHELF-B": Shelves(backfilling=True, filling=False),
    "R-SHELF-NB": Shelves(backfilling=False, filling=False),
    "R-SHELFFILL-B": Shelves(backfilling=True, filling=True),
    "R-SHELFFILL-NB": Shelves(backfilling=False, filling=True),
}


class Overrun(enum.Enum):
    """What becomes of an attempt that reaches the user's estimate."""

    FINISH = "finish"
    """It goes on; only reservations believe the estimate."""
    KILL = "kill"
    """It is withdrawn and its job is gone."""


def _countable(_: object, attribute: object, value: int) -> None:
    """attrs validator: a number above 0, up to 2^53."""
    if not 1 <= value <= MOST:
        raise Unacceptable("processors", value, f"a number above 0, up to {MOST}")


@frozen(kw_only=True)
class PlatformSection:
    """`[platform]`: identical processors, numbered from 0."""

    processors: int = field(validator=_countable)
    """P."""
    downtime: float = field(default=60.0, validator=not_negative)
    """D: seconds that a processor is DOWN after a fault."""


@frozen(kw_only=True)
class FailureSection:
    """`[failures]`: silent errors; at most one of the two. A job's own `failures` comes first."""

    average: float | None = field(default=None, validator=optional(part))
    """q-bar: how often a job of mean area (rigid) or mean work (moldable) fails; below 1."""
    rate: float | None = field(default=None, validator=optional(not_negative))
    """lambda: errors per processor-second of area (rigid) or per unit of work (moldable)."""

    def probabilities(self, works: Sequence[float]) -> list[float]:
        """q_j of each job. Raises InputError."""
        if self.average is not None and self.rate is not None:
            raise InputError("scenario", "failures", "both average and rate", "one of them")
        if self.average is not None:
            return failure_probabilities(works, self.average)
        with np.errstate(over="ignore"):  # infinitely many errors: they fail for certain
            return rate_probabilities(works, self.rate or 0.0)


Faults = NoFaults | Exponential | Weibull | Listed


@frozen(kw_only=True)
class BatchScenario(Head):
    """What files of both kinds hold; times in seconds."""

    platform: PlatformSection
    failures: FailureSection = field(factory=FailureSection)
    faults: Faults = field(factory=NoFaults)
    """Whether and when processors fail: what runs on them is lost at once (not in the papers)."""

    def header(self) -> Header:
        """What the log's first record says."""
        return Header(self.platform.processors, (), "s")


@frozen
class Submission:
    """One job of a workload, and the failures that the scenario fixes for it."""

    job: BatchJob
    failures: int | None = None
    """None: drawn."""


@frozen
class Workload:
    """The jobs of a run, by index, and an account of those left out."""

    submissions: tuple[Submission, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """(reason, jobs)."""


def _free(_: object, attribute: object, value: str) -> None:
    """attrs validator: not `scheduler`, not `hazard`."""
    if value in (SCHEDULER, HAZARD):
        raise Unacceptable("name", value, f"another name: it is the {value}'s in the log")


@frozen(kw_only=True)
class ReleaseFields:
    """What every listed job may say beside its size."""

    name: str = field(default="", validator=_free)
    """Default: J1, J2, ..."""
    failures: int | None = field(default=None, validator=optional(not_negative))
    """Attempts that fail before one succeeds; default: drawn as `[failures]` says."""
    release: float = field(default=0, validator=not_negative)
    """When it is submitted, in seconds."""


def strategy_named(name: str, reading: Reading) -> Strategy:
    """The papers' strategies. Raises ValueError, naming them, for another."""
    found = LIST.fullmatch(name)
    if found:
        return RList(None if found[1] == "Q" else int(found[1]), reading)
    if name in SHELVES:
        return SHELVES[name]
    raise ValueError(
        f"{name!r} is no strategy; accepted: R-LIST-Q, R-LIST-0, R-LIST-1, "
        f"R-LIST-m, {', '.join(SHELVES)}, package.module:Name"
    )


def order_named(name: str) -> Order:
    """The papers' orders, LJF and FCFS. Raises ValueError, naming them, for another."""
    if name in ORDERS:
        return ORDERS[name]
    accepted = ", ".join(ORDERS)
    raise ValueError(f"{name!r} is no order; accepted: {accepted}, package.module:Name")


def load_order(name: str, folder: Path) -> Order:
    """An order by name, the user's own included. Raises InputError at policy.order."""
    return cast(Order, load_part("order", name, order_named, folder))


def refuse_twins(names: Sequence[str]) -> None:
    """Raises InputError where two jobs have one name: logs could not tell them apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError("scenario", "job.jobs", f"two jobs are called {twice[0]!r}", "other names")


def checked(workload: Workload, processors: int, needs: Sequence[int]) -> Workload:
    """Leave out, and count, the jobs that need more processors than there are."""
    fitting = [s for s, p in zip(workload.submissions, needs, strict=True) if p <= processors]
    wide = len(needs) - len(fitting)
    if not wide:
        return workload
    if not fitting:
        problem = f"{processors} are too few for every job"
        accepted = f"at least {min(needs)}, which the narrowest job needs"
        raise InputError("scenario", "platform.processors", problem, accepted)
    reason = f"needs more than the platform's {processors} processors"
    return Workload(tuple(fitting), (*workload.left_out, (reason, wide)))


def people(
    scenario: BatchScenario,
    system: System,
    workload: Workload,
    policy: BatchPolicy,
    overrun: Overrun = Overrun.FINISH,
) -> None:
    """Spawn the scheduler, its jobs, and what befalls the platform.

    Raises InputError where no job is left, or one that never ends.
    """
    for reason, jobs in workload.left_out:
        system.journal.describe(JobsLeftOut, reason, jobs)
    _refuse_nothing(workload)
    jobs, processors = len(workload.submissions), scenario.platform.processors
    failing = not isinstance(scenario.faults, NoFaults)
    scheduler = BatchScheduler(SCHEDULER, processors, policy, jobs, failing)
    system.spawn(scheduler)
    counts = _failures(system, workload, scenario.failures)
    _refuse_endless(workload, counts)
    _refuse_hopeless(workload, scenario.faults.mtbf_years)
    for submission, count in zip(workload.submissions, counts, strict=True):
        job = submission.job
        killed_at = None
        if overrun is Overrun.KILL and job.estimate is not None:
            killed_at = job.estimate + job.verification
        system.spawn(Job(job.name, job, scheduler, count, killed_at))
    if failing:
        faults = scenario.faults.faults(system.stream("faults"), processors)
        system.spawn(FailStop(HAZARD, faults, scenario.platform.downtime, scheduler))


def _failures(system: System, workload: Workload, section: FailureSection) -> list[int]:
    """Drawn for every job, so that a job's own count does not shift the others'."""
    _refuse_endless(workload, [0] * len(workload.submissions))
    probabilities = section.probabilities([s.job.profile.work for s in workload.submissions])
    _refuse_certain(workload, probabilities, section)
    drawn = draw_failures(probabilities, system.stream("failures"))
    pairs = zip(workload.submissions, drawn, strict=True)
    return [count if s.failures is None else s.failures for s, count in pairs]


def _refuse_nothing(workload: Workload) -> None:
    if not workload.submissions:
        reasons = "; ".join(f"{jobs} left out: {reason}" for reason, jobs in workload.left_out)
        problem = f"no job is left to schedule ({reasons or 'none is listed'})"
        raise InputError("scenario", "job", problem, "at least one job")


def _refuse_certain(
    workload: Workload, probabilities: Sequence[float], section: FailureSection
) -> None:
    key, value = ("rate", section.rate) if section.average is None else ("average", section.average)
    for submission, probability in zip(workload.submissions, probabilities, strict=True):
        if probability >= 1:
            problem = (
                f"at {value!r} every attempt of {submission.job.name}, whose work is "
                f"{submission.job.profile.work!r}, fails: the probability rounds to 1"
            )
            raise InputError("scenario", f"failures.{key}", problem, "a lower value, or less work")


def _refuse_hopeless(workload: Workload, mtbf_years: float) -> None:
    for job in (submission.job for submission in workload.submissions):
        if job.profile.work >= LONGEST * mtbf_years * YEAR:
            problem = (
                f"at {mtbf_years!r} no attempt of {job.name}, whose work is {job.profile.work!r} "
                f"processor-seconds, would end without a fault"
            )
            raise InputError("scenario", "faults.mtbf_years", problem, "more years, or less work")


def _refuse_endless(workload: Workload, failures: Sequence[int]) -> None:
    total = 0.0
    for submission, count in zip(workload.submissions, failures, strict=True):
        job = submission.job
        total += (job.profile.work + job.verification) * (count + 1) + job.submitted
        if not isfinite(total):
            problem = f"with {job.name}, whose work is {job.profile.work!r}, the work sums to inf"
            raise InputError("scenario", "job", problem, "jobs whose work sums to a finite number")
