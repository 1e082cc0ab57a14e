"""What a run will cost, before it is run: orders of magnitude from rates and measured unit costs.

Every formula here is a first moment: how long the work takes on workers that are UP at times, how
often runs are lost meanwhile, how many lines of the log that makes. Queues, policies and luck are
not simulated; `RANGE` says how far off that was on all shipped scenarios and cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, inf, isfinite
from pathlib import Path
from types import MappingProxyType

import numpy as np
from attrs import frozen

from actors.events import DeciderKind
from actors.runtime import System
from policies.maths.markov import MarkovChain
from policies.maths.speeds import OnOff, TwoPoint, TwoPointSlots, UniformSlots
from policies.maths.speedup import Asking, Lockstep, Rigid, usable
from sims.scenario.availability import AlwaysUp
from sims.scenario.jobs.section import RigidSection
from sims.scenario.jobs.stream import ListedSizes, PoissonArrivals, StreamSection
from sims.scenario.platform import WorkerFields
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import Speed
from sims.scenario.workload import Submission, iterative, workload

RANGE = 7.0
"""Runs, events and time of all shipped scenarios and cells lie between the estimate over and times
this; most within half of it."""
SLOWER = 10.0
"""The same of seconds: machines differ, and so do policies."""
WAITING = 3.0
"""What iterations take on volatile workers, over what they would on average ones: all of the
enrolled have to be UP together, and who goes DOWN takes the iteration along (measured)."""
DRAWN = 100_000
"""Jobs of a stream that are drawn at most."""
MOST_LOST = 30.0
"""Exponent up to which a run's chances are told: beyond, nobody waits for its end."""

MICROSECONDS: Mapping[DeciderKind, float] = MappingProxyType(
    {
        DeciderKind.QUEUE: 15,
        DeciderKind.ENROLMENT: 45,
        DeciderKind.PACK: 15,
        DeciderKind.COPIES: 45,
    }
)
"""CPU time an event, measured on one core of 2026 with the shipped scenarios."""
START = 0.005
"""Seconds that any run takes."""


@frozen
class Cost:
    """An estimate."""

    jobs: int
    """Known exactly."""
    runs: float
    events: float
    seconds: float
    """Of CPU time, without a log."""
    time: float
    """Virtual, in the scenario's unit."""

    def lines(self, unit: str) -> list[str]:
        """For people, with how sure it is."""
        return [
            f"  jobs        {self.jobs:,}",
            f"  runs        about {_round(self.runs)}",
            f"  events      about {_round(self.events)}",
            f"  time        about {_round(self.time)} {unit} of virtual time",
            f"  CPU time    about {self.seconds:,.2g} s, without a log and a policy of yours",
            f"All but the jobs are estimates: {RANGE:g} times less or more is possible, of CPU "
            f"time {SLOWER:g} times.",
        ]


def _round(number: float) -> str:
    """To two digits, written out."""
    return f"{float(f'{number:.2g}'):,.0f}" if 10 <= number < 1e15 else f"{number:,.2g}"


@frozen
class Rates:
    """What befalls the average worker."""

    up: float
    """Part of the time that it works."""
    turns: float
    """Changes of state, per unit of time."""
    losses: float
    """How often it goes DOWN, per unit of time."""


def estimate(scenario: Scenario, folder: Path) -> Cost:
    """The cost of one run. Raises InputError where its jobs cannot be read.

    Of a long stream of drawn jobs some are drawn, and stand for all."""
    section = scenario.job
    if not isinstance(section, RigidSection) or section.stream is None:
        return _estimate(scenario, folder)
    many = _drawn(section.stream)
    if many <= DRAWN:
        return _estimate(scenario, folder)
    stream = section.stream.model_copy(update={"count": DRAWN})
    job = section.model_copy(update={"stream": stream})
    cost = _estimate(scenario.model_copy(update={"job": job}), folder)
    times = many / DRAWN
    spent = cost.runs * times, cost.events * times, cost.seconds * times
    return Cost(many, *spent, min(cost.time * times, scenario.cap))


def _drawn(stream: StreamSection) -> int:
    """Jobs that a law draws, as many as are asked for."""
    listed = isinstance(stream.sizes, ListedSizes) or not isinstance(
        stream.arrivals, PoissonArrivals
    )
    return 0 if listed else stream.count or 0


def _estimate(scenario: Scenario, folder: Path) -> Cost:
    jobs = workload(scenario, System(scenario.seed), folder).submissions
    rates = rates_of(scenario, folder)
    failing = scenario.errors.probabilities([it.job.profile.work for it in jobs])
    times = [_time(scenario, it) for it in jobs]
    widths = [_width(scenario, it) for it in jobs]
    saved, enrolled = scenario.protection.period, scenario.decider is DeciderKind.ENROLMENT
    runs, area = 0.0, 0.0
    for submission, time, width, failure in zip(jobs, times, widths, failing, strict=True):
        pieces = _pieces(submission)
        lost = min(width * rates.losses * time / pieces, MOST_LOST)
        again = 1 / max(1 - failure, 1e-9) * (1 + lost if saved is not None else exp(lost))
        again *= WAITING if enrolled else 1
        runs += pieces * again * scenario.protection.copies
        area += time * width * again
    size = scenario.full_platform.size
    last = max(it.job.submitted for it in jobs)
    longest = max(times) * (WAITING if enrolled else 1)
    end = last + max(area / size, longest) / max(rates.up, 1e-3)
    end = min(end, scenario.cap)
    events = _events(scenario, len(jobs), runs, end, rates, float(np.mean(widths)))
    if scenario.decider is DeciderKind.COPIES:  # all are placed afresh whenever one comes or goes
        runs *= 2 * size
    seconds = START + events * MICROSECONDS[scenario.decider] / 1e6
    return Cost(len(jobs), runs, events, seconds, end)


def _events(
    scenario: Scenario, jobs: int, runs: float, end: float, rates: Rates, width: float
) -> float:
    """Lines of the log: each job's 3, each run's 2, and what else there is."""
    size, period = scenario.full_platform.size, scenario.protection.period
    turns = end * size * rates.turns if isfinite(end) else 0.0
    events = 4 + 3 * jobs + 2 * runs + turns + _changes_of_speed(scenario, end)
    if isinstance(period, int | float) and period:
        events += 3 * min(end, 1e9) * min(size, width * jobs) / period / max(width, 1)
    if scenario.master is not None:
        events += 6 * runs * width
    if scenario.decider is DeciderKind.COPIES:
        events += 8 * jobs
    if scenario.decider is DeciderKind.PACK:
        events += 3 * jobs * (jobs + end * size * rates.losses)
    return events


def _changes_of_speed(scenario: Scenario, end: float) -> float:
    """By the time the last job ends: all workers' together."""
    if not isfinite(end):
        return 0.0
    return sum(many * end / _pause(section.speed) for section, many in _kinds(scenario))


def _pause(law: Speed) -> float:
    """Mean time between two changes, or two draws, of a worker's speed."""
    match law:
        case TwoPoint():
            return law.interval
        case TwoPointSlots() | UniformSlots():
            return law.slot
        case OnOff():
            return law.on * law.peak / 2
    return inf


def _pieces(submission: Submission) -> int:
    """Runs of the job where nothing goes wrong."""
    return iterative(submission).iterations if isinstance(submission.job.profile, Lockstep) else 1


def _time(scenario: Scenario, submission: Submission) -> float:
    """How long all of the job's work takes, undisturbed, on as many workers as it gets."""
    job, profile = submission.job, submission.job.profile
    width = _width(scenario, submission)
    if isinstance(profile, Lockstep):
        return iterative(submission).iterations * (profile.time(width) + job.verification)
    time = profile.length if isinstance(profile, Rigid) else profile.time(width)
    return time + job.verification


def _width(scenario: Scenario, submission: Submission) -> int:
    """Workers of a run: those asked for, or else an even share."""
    profile, size = submission.job.profile, scenario.full_platform.size
    if isinstance(profile, Lockstep) and scenario.decider is DeciderKind.ENROLMENT:
        return max(1, min(iterative(submission).tasks, size))
    if isinstance(profile, Asking):
        return profile.processors
    return usable(profile, max(1, min(size // 2, 4)))


def rates_of(scenario: Scenario, folder: Path) -> Rates:
    """What owners and faults do, on average over the workers."""
    platform, sizes = scenario.full_platform, list[int]()
    chains = list[MarkovChain | None]()
    for section, many in _kinds(scenario):
        chains.append(_chain(section, folder))
        sizes.append(many)
    ups, turns, downs = np.array([_stationary(chain) for chain in chains]).T
    weights = np.array(sizes) / platform.size
    mtbf, downtime = scenario.faults.mtbf, scenario.faults.downtime
    faults = 0.0 if mtbf == inf else 1 / mtbf
    up = float(ups @ weights) / (1 + faults * downtime)
    return Rates(up, float(turns @ weights) + 2 * faults, float(downs @ weights) + faults)


def _chain(section: WorkerFields, folder: Path) -> MarkovChain | None:
    """None: UP, as far as can be told."""
    if isinstance(section.availability, AlwaysUp):
        return None
    try:
        return section.availability.chain(folder)
    except ValueError:  # a trace that is UP in its last slot alone, and so ever after
        return None


def _kinds(scenario: Scenario) -> Iterator[tuple[WorkerFields, int]]:
    platform = scenario.full_platform
    if platform.pool is not None:
        yield platform.pool, platform.alike
    yield from ((section, 1) for section in platform.own)


def _stationary(chain: MarkovChain | None) -> tuple[float, float, float]:
    """(part of the time UP, changes, turns to DOWN, per unit of time)."""
    if chain is None:
        return 1.0, 0.0, 0.0
    rows = np.array(chain.rows)
    # A long walk from UP: chains of traces need not forget where they began.
    share = np.linalg.matrix_power((rows + np.eye(3)) / 2, 4096)[0]
    changes = float(share @ (1 - np.diag(rows)))
    return float(share[0]), changes, float(share[:2] @ rows[:2, 2])
