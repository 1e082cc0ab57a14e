"""Stops simulations without progress, and simulations whose times double precision cannot tell
apart; hopeless ones are refused before they start."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isinf
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actors.limit import ProgressLimit
from actors.protection import ProtectionKind, Rules
from actors.runtime import System
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid, Speedup, Table, usable
from policies.maths.tolerance import ROUNDING
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.availability import After
from sims.scenario.job_set import asked_of
from sims.scenario.jobs import SCHEDULER, AnyJob
from sims.scenario.parts import PARTS
from sims.scenario.parts.part import Timed
from sims.scenario.protection import ProtectionSection
from sims.scenario.submissions import Workload
from sims.scenario.trace_files import TraceFile
from sims.scenario.workers import OwnLaw, WorkerFields, process_of

MOST_CHECKPOINTS = 10**9
"""Largest number of checkpoints of one job; at 10 microseconds each, so many take three hours to
simulate."""
EVENTS, EVENTS_A_WORKER = 1_000_000, 1_000
"""Events without progress after which a run ends, in all and for each worker, unless the scenario
sets `stalled_after`."""


def limit_events(scenario: Scenario, system: System) -> None:
    """Have the simulation end with an error once too many events have passed without any work saved
    or completed: `stalled_after`, or by default 1,000,000 or 1,000 for each worker, whichever is
    more.

    No limit is set where the simulation ends otherwise: by a cap, or by a trace whose end is an
    error.
    """
    if isinf(scenario.cap) and not any(map(_ends, scenario.full_platform.sections)):
        scheduler = system.actors[SCHEDULER]
        assert isinstance(scheduler, Scheduler)
        usual = max(EVENTS, EVENTS_A_WORKER * scenario.full_platform.size)
        advice = (
            f"{scenario.policy_name} decides",
            "stalled_after raises the limit, job.cap or --until ends the run",
        )
        most = scenario.stalled_after or usual
        scheduler.limit_events(ProgressLimit(system, most, advice))


def _ends(section: WorkerFields) -> bool:
    owner = section.availability
    return isinstance(owner, TraceFile) and owner.after is After.ERROR


def limit_resolution(scenario: Scenario, system: System, jobs: Workload | None) -> None:
    """Have the simulation end with an error once its time is so late that the scenario's shortest
    duration no longer changes it, in double precision. `jobs` is None where they come as a stream.

    Raises InputError, naming both keys, where that happens by the latest time that the scenario
    names.
    """
    lengths = [it for it in _durations(scenario, jobs) if 0 < it[0] < inf]
    if not lengths:
        return
    shortest, key = min(lengths, key=itemgetter(0))
    latest, where = max((*lengths, *_instants(scenario, jobs)), key=itemgetter(0))
    if shortest < ROUNDING * latest:
        raise unfit(
            key,
            f"{shortest!r} is below 1e-12 of {where} = {latest!r}: double precision cannot tell "
            "apart when such parts begin and end",
            f"times of at least {ROUNDING * latest:.6g}, or an earlier start",
        )
    # A later instant t needs shortest >= ROUNDING t, so the loop stops at shortest / ROUNDING.
    system.loop.end_at(shortest / ROUNDING, f"{key} = {shortest!r}")


def _durations(scenario: Scenario, jobs: Workload | None) -> Iterator[Timed]:
    """Yield (duration, key that sets it) for each duration of parts of runs and of workers'
    absences that the scenario sets; parts that computing takes are as short as on its fastest
    worker."""
    section = scenario.job
    # Work and verifications end sooner on a fast worker.
    fastest = max([1.0, *map(_peak, scenario.full_platform.sections)])
    for length, key in _work_lengths(scenario, jobs):
        yield length / fastest, f"{key} / speed" if fastest > 1 else key
    for part in PARTS:
        yield from part.lengths(scenario)
    yield from _protection_lengths(scenario.protection, "protection")
    if scenario.master is not None:
        for name in ("program", "data", "image"):
            yield getattr(scenario.master, name), f"master.{name}"
    for number, own in enumerate(section.listed):
        yield from _job_lengths(own, f"job.jobs.{number}")


def _peak(section: WorkerFields) -> float:
    """Return the highest speed that a worker of this section can have; 1 for a law of the user's
    own, which checks do not load."""
    speed = section.speed
    return 1.0 if isinstance(speed, OwnLaw) else process_of(speed, Path()).peak


def _work_lengths(scenario: Scenario, jobs: Workload | None) -> Iterator[Timed]:
    """Yield (duration at speed 1, key that sets it) for each duration that ends sooner on a faster
    worker: jobs, verifications and work between checkpoints. Of jobs only the shortest and the
    longest count."""
    section = scenario.job
    yield section.verification, "job.verification"
    yield from _periods(scenario.protection, "protection")
    for number, own in enumerate(section.listed):
        yield own.verification or 0, f"job.jobs.{number}.verification"
        if own.protection is not None:
            yield from _periods(own.protection, f"job.jobs.{number}.protection")
    if jobs is None:
        return
    able = scenario.full_platform.able
    rigid, moldable = jobs.submissions.having(Rigid), jobs.submissions.having(Speedup, Table)
    shortest = [_least(it.profile, able) for it in moldable]  # type: ignore[arg-type]
    # Only two of perhaps a million jobs can matter: a key for each would take a second.
    for found, setting, lengths in (
        (rigid, "time", rigid.lengths),
        (moldable, "speedup", np.array(shortest, float)),
    ):
        for place in _shortest_and_longest(lengths):
            yield float(lengths[place]), _key_of(scenario, found[place], setting)


def _shortest_and_longest(lengths: NDArray[np.float64]) -> list[int]:
    """Return the places of the first of the shortest and of the first of the longest, of those that
    are above 0 and finite; empty if there are none."""
    some = np.flatnonzero((lengths > 0) & np.isfinite(lengths))
    if not len(some):
        return []
    found = lengths[some]
    return [int(some[found.argmin()]), int(some[found.argmax()])]


def _job_lengths(own: AnyJob, key: str) -> Iterator[Timed]:
    for name in ("program", "data", "image"):
        yield getattr(own, name) or 0, f"{key}.{name}"
    if own.protection is not None:
        yield from _protection_lengths(own.protection, f"{key}.protection")


def _protection_lengths(section: ProtectionSection, key: str) -> Iterator[Timed]:
    if section.kind is not ProtectionKind.NONE:
        for name in ("cost", "recovery", "image_cost"):
            yield getattr(section, name) or 0, f"{key}.{name}"
    yield section.delay, f"{key}.delay"


def _periods(section: ProtectionSection, key: str) -> Iterator[Timed]:
    """Yield (work between two checkpoints, its key) where the protection at the dotted key `key`
    gives it as a number."""
    if section.kind is not ProtectionKind.NONE and not isinstance(section.period, str):
        yield section.period, f"{key}.period"


def _instants(scenario: Scenario, jobs: Workload | None) -> Iterator[Timed]:
    """Yield (time, key that sets it) for each time at which the scenario lets something happen for
    certain: a listed fault, or the last submission."""
    for law in scenario.faults.laws:
        yield from ((time, "faults.strikes") for time, _ in law.listed)
    if jobs is not None:
        last = jobs.jobs[int(jobs.jobs.submitted.argmax())]
        yield last.submitted, _key_of(scenario, last, "release")


def _least(profile: Speedup | Table, able: int) -> float:
    """Return the shorter of the execution times on one processor and on as many of `able` as the
    profile can use."""
    return min(profile.time(1), profile.time(usable(profile, able)))


def _key_of(scenario: Scenario, job: BatchJob, key: str) -> str:
    """Return the dotted key of the scenario that sets the value `key` of this job, or, for a job
    that is not listed, the key of its source with the job's name."""
    sources = scenario.job.sources
    if sources.get("jobs"):
        return f"job.jobs.{job.index}.{key}"
    return f"{next((f'job.{name}' for name, it in sources.items() if it), 'job')} ({job.name})"


def refuse_tiny_period(rules: Rules, job: BatchJob) -> None:
    """Refuse a job of which a run would take more than 10^9 checkpoints under these rules.

    Raises InputError that names the least accepted period.
    """
    members = asked_of(job)
    period, length = rules.period(members), job.profile.time(members)
    if 0 < period * MOST_CHECKPOINTS < length:
        raise unfit(
            "protection.period",
            f"{job.name} would take {length / period:.0e} checkpoints, one for each {period!r} of "
            f"{length!r}",
            f"{length / MOST_CHECKPOINTS!r} or above: at most {MOST_CHECKPOINTS:,} checkpoints",
        )
