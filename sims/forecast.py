"""What a run says before it is set up, where it means minutes or gigabytes."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from actors.events import DeciderKind
from sims.errors import InputError
from sims.estimates import SLOWER, estimate
from sims.scenario.availability import AlwaysUp, Markov
from sims.scenario.jobs.drawn import DrawnApplications, SyntheticJobs, UniformJobs
from sims.scenario.jobs.lublin import Lublin
from sims.scenario.jobs.stream import StreamSection
from sims.scenario.scenario import Scenario
from sims.telling import counted

JOB = 100e-6, 1_000
"""Seconds of CPU time and bytes of a job that is drawn, set up and run once: measured on one core
of 2026, with 20,000."""
WORKER = 150e-6, 6_000
"""The same of a worker with a life of its own, set up."""
SIZE = 300e-9, 56
"""The same of a size that a pack's application may have: a line of its tables."""
SIZES = 20_000_000
"""From which on their tables take seconds and a gigabyte."""
CROWD = 50_000
"""Jobs or workers from which on even an estimate would take seconds."""
LONG = 30.0
"""Seconds of CPU time from which on they are told of beforehand."""


def forecast(scenario: Scenario, folder: Path) -> str | None:
    """One line where the run will be long or large; None where it is not, or where its files would
    have to be read first. Sets up nothing: it takes milliseconds."""
    jobs, workers = jobs_said(scenario), _living(scenario)
    if max(jobs or 0, workers) > CROWD:
        seconds, size = (
            (jobs or 0) * job + workers * worker for job, worker in zip(JOB, WORKER, strict=True)
        )
        who = [f"about {counted(jobs, 'job')}"] if jobs else []
        who += [f"{counted(workers, 'worker')} with a life of their own"] if workers else []
        return f"{', '.join(who)}: {_at_least(seconds, size)}"
    sizes = _sizes(scenario, jobs or 0)
    if sizes > SIZES:
        seconds, size = (sizes * each for each in SIZE)
        return f"a pack's tables of {sizes:,} sizes: {_at_least(seconds, size)}"
    if jobs is None or _of_files(scenario):
        return None
    try:
        # The run itself warns, or refuses what has no number.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            cost = estimate(scenario, folder)
    except InputError:  # of which the run tells
        return None
    if cost.seconds < LONG:
        return None
    events = f"about {counted(jobs, 'job')} and {cost.events:,.2g} events"
    return f"{events}: {_lasting(cost.seconds)}, or {SLOWER:g} times less or more"


def jobs_said(scenario: Scenario) -> int | None:
    """How many jobs the file says there are; None: another file says."""
    known = [_many(source) for source in scenario.job.sources.values() if source]
    return None if None in known else sum(it for it in known if it)


def _many(source: object) -> int | None:
    match source:
        case tuple():
            return len(source)
        case UniformJobs() | SyntheticJobs() | DrawnApplications() | StreamSection():
            return source.count
        case Lublin():
            return source.jobs
        case int():  # an application's tasks
            return 1
    return None


def _living(scenario: Scenario) -> int:
    """Workers that are an actor each: those alike to which nothing happens cost nothing."""
    drawn, pool = scenario.random_workers, scenario.platform
    own = sum(it.count for it in scenario.workers) + (drawn.count if drawn else 0)
    copies = scenario.decider is DeciderKind.COPIES
    return own + (pool.workers if pool and (copies or not pool.plain) else 0)


def _sizes(scenario: Scenario, jobs: int) -> int:
    """How many sizes the applications of a pack may have, all together."""
    if scenario.decider is not DeciderKind.PACK:
        return 0
    from sims.scenario.deciders.pack import pair

    return jobs * (scenario.full_platform.size // pair(scenario))


def _of_files(scenario: Scenario) -> bool:
    """Whether a worker's states come from a trace, which takes its time to read."""
    return not all(
        isinstance(it.availability, AlwaysUp | Markov) for it in scenario.full_platform.sections
    )


def _at_least(seconds: float, size: float) -> str:
    return f"{_lasting(seconds)} and {size / 1e9:,.1f} GB at the least"


def _lasting(seconds: float) -> str:
    """An order of magnitude."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.2g} {unit}"
    return f"{seconds:,.0f} s"
