"""Scenarios of volatile workers and a tightly-coupled iterative application (002, III)."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Literal

from attrs import evolve, field, frozen
from attrs.validators import optional
from numpy.random import Generator

from actors.runtime import System, stream
from actors.volatile.events import PlatformDescribed
from actors.volatile.holding import Holding
from actors.volatile.job import IterativeJob
from actors.volatile.master import Master
from actors.volatile.scheduler import EnrolmentScheduler
from actors.volatile.worker import Worker
from policies.interface import Enrolment, ServiceOrder
from policies.maths.markov import Belief, Expectation, MarkovChain
from policies.service import LongestFirst, StartedFirst, Timetable
from sims.errors import InputError
from sims.scenario.availability import Availability, Markov
from sims.scenario.enrolment import enrolment_policy
from sims.scenario.fields import (
    not_negative,
    positive,
    positive_or_inf,
    range_of_probabilities,
)
from sims.scenario.hazards import SilentErrorSection
from sims.scenario.header import Head, Header
from sims.scenario.policies import PolicySection


class Service(enum.Enum):
    """Whom the master serves first."""

    STARTED_FIRST = "started-first"
    """Messages in progress, then the lowest worker index."""
    LONGEST_FIRST = "longest-first"
    """Whoever lacks most communication, in every slot."""


@frozen(kw_only=True)
class MasterSection:
    """`[master]`: the bounded multi-port link (002, III.B)."""

    channels: int = field(validator=positive)
    """n_com: transfers served at once."""
    program: int = field(validator=not_negative)
    """T_prog: slots to send the program to a worker."""
    data: int = field(validator=not_negative)
    """T_data: slots to send the data of one task."""
    order: Service = Service.STARTED_FIRST
    """Who is served first."""
    timetable: tuple[tuple[str, ...], ...] = ()
    """Names of the workers to serve in each slot from 0 on; overrides `order` where given."""


@frozen(kw_only=True)
class WorkerSection:
    """`[[workers]]`: one worker, or `count` alike."""

    name: str = ""
    """Default: P1, P2, ...; with `count` above 1 a number is appended."""
    speed: int = field(validator=positive)
    """w_q: slots per task."""
    memory: int | None = field(default=None, validator=optional(not_negative))
    """mu_q: the most tasks held at once; default: m, which never binds."""
    availability: Availability
    """`always`, a string of states per slot such as `uurrdu`, or a table."""
    belief: Markov | None = None
    """The chain that policies believe in; default: the true chain, or the one fitted to the
    availability."""
    count: int = field(default=1, validator=positive)
    """How many workers are alike (each with randomness of its own)."""


@frozen(kw_only=True)
class IterativeSection:
    """`[job]`: the application (002, III.A)."""

    kind: Literal["iterative"]
    name: str = "application"
    """What the log calls it."""
    tasks: int = field(validator=positive)
    """m: tasks per iteration, in lockstep."""
    iterations: int = field(validator=positive)
    """Iterations to complete."""
    cap: float = field(default=1_000_000, validator=positive_or_inf)
    """Makespan, in slots, at which the run counts as failed; `inf`: never."""


@frozen(kw_only=True)
class RandomWorkers:
    """`[random_workers]`: a platform drawn as in 002, VII.A, beside those of `[[workers]]`."""

    count: int = field(validator=positive)
    """How many workers."""
    fastest: int = field(default=1, validator=positive)
    """w_min: speeds are uniform over w_min..10 w_min slots per task."""
    stay: tuple[float, float] = field(default=(0.90, 0.99), validator=range_of_probabilities)
    """Probabilities to stay in a state are uniform between these; the rest is split evenly."""
    memory: int | None = field(default=None, validator=optional(not_negative))
    """mu_q, as in `[[workers]]`."""
    seed: int = field(default=0, validator=not_negative)
    """Which platform is drawn; the scenario's own seed draws what happens on it."""

    def draw(self, first: int) -> tuple[WorkerSection, ...]:
        """The workers; their names count from P`first`."""
        rng = stream(self.seed, "platform")
        return tuple(self._worker(f"P{first + k}", rng) for k in range(self.count))

    def _worker(self, name: str, rng: Generator) -> WorkerSection:
        u, r, d = rng.uniform(*self.stay, size=3).tolist()
        off_u, off_r, off_d = 0.5 * (1 - u), 0.5 * (1 - r), 0.5 * (1 - d)
        rows = ((u, off_u, off_u), (off_r, r, off_r), (off_d, off_d, d))
        speed = int(rng.integers(self.fastest, 10 * self.fastest, endpoint=True))
        return WorkerSection(
            name=name,
            speed=speed,
            memory=self.memory,
            availability=Markov(kind="markov", rows=rows),
        )


@frozen(kw_only=True)
class VolatilePolicy(PolicySection):
    """`[policy]`: who chooses the enrolled configuration."""

    expectation: Expectation = Expectation.EXACT
    """Which E(S)(W) of 002, Theorem 5.1, policies compute with: `exact` or `printed`."""


@frozen(kw_only=True)
class VolatileScenario(Head):
    """A whole scenario file with `[job] kind = "iterative"`; times in slots."""

    master: MasterSection
    workers: tuple[WorkerSection, ...] = ()
    random_workers: RandomWorkers | None = None
    job: IterativeSection
    failures: SilentErrorSection = field(factory=SilentErrorSection)
    policy: VolatilePolicy

    def header(self) -> Header:
        """What the log's first record says."""
        names = tuple(worker.name for worker in self.platform())
        return Header(len(names), names, "slot")

    def platform(self) -> tuple[WorkerSection, ...]:
        """All workers, `count` unfolded and every one named."""
        listed: list[WorkerSection] = []
        for section in self.workers:
            for k in range(section.count):
                base = section.name or f"P{len(listed) + 1}"
                name = f"{base}.{k + 1}" if section.name and section.count > 1 else base
                listed.append(evolve(section, name=name, count=1))
        drawn = self.random_workers.draw(len(listed) + 1) if self.random_workers else ()
        return (*listed, *drawn)


SCENARIO = VolatileScenario

RESERVED = ("master", "scheduler")
"""Names of actors that a scenario does not name."""


@frozen
class Prepared:
    """What is worked out before the first actor lives; runs of one platform may share it.

    Sharing saves the policies' analysis: it is remembered in the belief.
    """

    platform: tuple[WorkerSection, ...]
    enrolment: Enrolment
    service: ServiceOrder
    folder: Path


def prepare(scenario: VolatileScenario, folder: Path = Path()) -> Prepared:
    """Read the scenario's files and work out what its platform is; raises InputError."""
    platform = scenario.platform()
    _refuse_twins([*RESERVED, *(worker.name for worker in platform), scenario.job.name])
    enrolment = _enrolment(scenario, platform, folder)
    return Prepared(platform, enrolment, _service(scenario, platform), folder)


def populate(scenario: VolatileScenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    spawn(scenario, prepare(scenario, folder), system)


def spawn(scenario: VolatileScenario, prepared: Prepared, system: System) -> None:
    """Spawn the scenario's actors on a prepared platform; raises InputError for its policy."""
    enrolment = prepared.enrolment
    names = [worker.name for worker in prepared.platform]
    policy = enrolment_policy(scenario.policy, prepared.folder, names, scenario.job.tasks)
    _record_platform(scenario.job, enrolment, system)
    scheduler = system.spawn(EnrolmentScheduler("scheduler", policy, enrolment))
    master = system.spawn(Master("master", enrolment.channels, prepared.service))
    workers = [
        system.spawn(_worker(section, index, (master, scheduler), prepared, system))
        for index, section in enumerate(prepared.platform)
    ]
    job, errors = scenario.job, scenario.failures.errors(system)
    system.spawn(
        IterativeJob(
            job.name, job.iterations, enrolment.speeds, workers, scheduler, job.cap, errors
        )
    )


def _worker(
    section: WorkerSection,
    index: int,
    bosses: tuple[Master, EnrolmentScheduler],
    prepared: Prepared,
    system: System,
) -> Worker:
    rng = system.stream(f"availability/{section.name}")
    life = section.availability.changes(rng, prepared.folder)
    holding = Holding(prepared.enrolment.program, prepared.enrolment.data)
    return Worker(section.name, index, *bosses, life, holding)


def _enrolment(
    scenario: VolatileScenario, platform: Sequence[WorkerSection], folder: Path
) -> Enrolment:
    tasks = scenario.job.tasks
    bounds = tuple(tasks if w.memory is None else w.memory for w in platform)
    if sum(bounds) < tasks:
        problem = f"the workers hold {sum(bounds)} tasks at once, an iteration has {tasks}"
        raise InputError("scenario", "workers.memory", problem, "memory summing to job.tasks")
    chains = tuple(_believed(worker, folder) for worker in platform)
    return Enrolment(
        speeds=tuple(w.speed for w in platform),
        bounds=bounds,
        tasks=tasks,
        channels=scenario.master.channels,
        program=scenario.master.program,
        data=scenario.master.data,
        belief=Belief(chains, scenario.policy.expectation),
    )


def _believed(worker: WorkerSection, folder: Path) -> MarkovChain:
    try:
        return (worker.belief or worker.availability).chain(folder)
    except ValueError as error:
        problem = f"{worker.name}: {error}"
        accepted = "a worker that is UP at times, or one with a belief"
        raise InputError("scenario", "workers.availability", problem, accepted) from None


def _refuse_twins(names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            problem = f"two of workers, job, {' and '.join(RESERVED)} are called {name!r}"
            raise InputError("scenario", "workers.name", problem, "another name")


def _record_platform(job: IterativeSection, enrolment: Enrolment, system: System) -> None:
    system.journal.describe(
        PlatformDescribed,
        *(job.name, enrolment.tasks, job.iterations),
        *(enrolment.channels, enrolment.program, enrolment.data),
        *(enrolment.speeds, enrolment.bounds),
    )


def _service(scenario: VolatileScenario, platform: Sequence[WorkerSection]) -> ServiceOrder:
    master = scenario.master
    if not master.timetable:
        return LongestFirst() if master.order is Service.LONGEST_FIRST else StartedFirst()
    if scenario.job.cap == inf:
        problem = "inf, with a timetable: nobody is served after its end"
        raise InputError("scenario", "job.cap", problem, "a number of slots")
    index = {worker.name: k for k, worker in enumerate(platform)}
    unknown = [name for slot in master.timetable for name in slot if name not in index]
    if unknown:
        problem = f"there is no worker {unknown[0]!r}"
        raise InputError("scenario", "master.timetable", problem, ", ".join(index))
    return Timetable(tuple(tuple(index[name] for name in slot) for slot in master.timetable))
