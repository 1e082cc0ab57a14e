"""Small worlds of volatile workers, written down letter by letter, built of actors alone, and what
a test reads of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, TypeVar

from attrs import define, evolve, field, frozen
from numpy.random import Generator

from actors.deciders.enrolment import EnrolmentDecider
from actors.events import (
    SCHEMA,
    DeciderKind,
    End,
    RunEnded,
    ScenarioEnded,
    ScenarioStarted,
    TasksDealt,
)
from actors.hazards import SilentErrors
from actors.iterative_job import IterativeJob
from actors.limit import Cap
from actors.master import Master
from actors.parts.reuse import Reuse
from actors.pool import Pool
from actors.protection import Rules, protection
from actors.runtime import NOTHING, Event, Record, Sink, System
from actors.scheduler import Scheduler
from actors.worker import Worker, WorkerRegistry
from actors.worker_messages import Needs
from policies.enrolment import named
from policies.enrolment.passive import FixedConfiguration
from policies.interface import (
    Configuration,
    Enrolment,
    EnrolmentPolicy,
    EnrolmentView,
    Reason,
    ServiceOrder,
    Wake,
)
from policies.interface.kinds import JobKind
from policies.interface.queue import BatchJob
from policies.maths.markov import Belief, Expectation, MarkovChain
from policies.maths.speedup import Rigid
from policies.service import LongestFirst, StartedFirst
from sims.readers.timeline import read_letters
from tests.sims.activity import Activity

BELIEF = MarkovChain(((0.9, 0.05, 0.05), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
"""What the policies of these worlds believe; the letters are the truth."""

Members = tuple[tuple[int, int], ...]
"""(worker, tasks)."""

E = TypeVar("E", bound=Event)

ORDERS = {StartedFirst: "started-first", LongestFirst: "longest-first"}
"""What logs call an order of service."""


@frozen(kw_only=True)
class Costs:
    """The master's side of a world."""

    channels: int = 1
    program: float = 0
    data: float = 0
    image: float = 0
    order: ServiceOrder = field(factory=StartedFirst)


FREE = Costs()
"""No communication at all."""


@frozen
class Machine:
    """One worker of a world."""

    states: str
    """Its life: a letter per slot, the last one for ever."""
    task_time: int = 1
    """w_q."""
    memory: int | None = None
    """mu_q; None: m."""
    belief: MarkovChain = BELIEF

    @property
    def entry(self) -> str:
        """What a scenario file would say of it."""
        memory = "" if self.memory is None else f"\nmemory = {self.memory}"
        return f"availability = '{self.states}'{memory}"


def workers(
    states: Sequence[str], speeds: Sequence[int] = (), memory: Sequence[int | None] = ()
) -> tuple[Machine, ...]:
    """0, 1, ... with these letters; 1 slot per task and memory for all tasks unless given."""
    rows = zip(states, speeds or [1] * len(states), memory or [None] * len(states), strict=True)
    return tuple(Machine(*row) for row in rows)


@frozen(kw_only=True)
class Application:
    """One iterative job of a world."""

    tasks: int
    iterations: int = 1
    rate: float = 0
    """Of silent errors, per worker and slot of computation."""
    rules: Rules = field(factory=Rules)
    costs: Costs = FREE
    """Sizes of its messages."""
    submitted: float = 0


@frozen(kw_only=True)
class World:
    """All that a run needs."""

    platform: tuple[Machine, ...]
    jobs: tuple[Application, ...]
    policy: EnrolmentPolicy
    costs: Costs = FREE
    cap: float = 1000
    reuse: bool = True
    expectation: Expectation = Expectation.EXACT

    def build(self, sinks: Sequence[Sink]) -> System:
        """Its actors, in a system of their own."""
        system, size = System(0, sinks, start=0), len(self.platform)
        names = tuple(f"P{q + 1}" for q in range(size))
        start = (SCHEMA, "small", 0, (JobKind.ITERATIVE,), "worlds:policy", size, names, "slot")
        kind = DeciderKind.ENROLMENT
        settings = () if self.reuse else ("reuse=False",)
        system.begin(ScenarioStarted, *start, settings, kind, text=self._text())
        pool = Pool(size, numbered=True, changing=True, named=True)
        enrolments = {k: self._enrolment(job) for k, job in enumerate(self.jobs)}
        needs = {k: self._needs(k, job) for k, job in enumerate(self.jobs)}
        registry = WorkerRegistry(system, lambda q: self._worker(q, scheduler, master))
        decider = EnrolmentDecider(self.policy, enrolments, needs)
        scheduler = Scheduler(
            "scheduler", pool, decider, len(self.jobs), workers=registry, linked=True
        )
        system.spawn(scheduler)
        master = system.spawn(Master("master", self.costs.channels, self.costs.order))
        for q in range(size):
            registry(q)
        for k, job in enumerate(self.jobs):
            system.spawn(self._job(k, job, scheduler))
        if self.cap < inf:
            system.spawn(Cap("cap", self.cap, scheduler))
        return system

    def _text(self) -> str:
        """What a scenario file would say of it, for readers of its log."""
        order = ORDERS.get(type(self.costs.order))
        served = f"order = '{order}'" if order else "timetable = [[]]"
        workers = "".join(f"[[workers]]\n{it.entry}\n" for it in self.platform)
        jobs = "".join(f"[[job.jobs]]\n{self._entry(k, it)}\n" for k, it in enumerate(self.jobs))
        master = f"[master]\nchannels = {self.costs.channels}\n{served}"
        return f"name = 'small'\n{master}\n{workers}[job]\nkind = 'iterative'\n{jobs}"

    def _entry(self, k: int, job: Application) -> str:
        costs, kind = job.costs, job.rules.kind.value
        sizes = f"program = {costs.program}\ndata = {costs.data}\nimage = {costs.image}"
        work = f"tasks = {job.tasks}\niterations = {job.iterations}"
        return f"name = '{self._name(k)}'\n{work}\n{sizes}\nprotection.kind = '{kind}'"

    def _enrolment(self, job: Application) -> Enrolment:
        platform = self.platform
        return Enrolment(
            tuple(it.task_time for it in platform),
            tuple(job.tasks if it.memory is None else it.memory for it in platform),
            *(job.tasks, self.costs.channels, job.costs.program, job.costs.data),
            Belief(tuple(it.belief for it in platform), self.expectation),
        )

    def _worker(self, q: int, scheduler: Scheduler, master: Master) -> Worker:
        life = read_letters(self.platform[q].states, "test", "states").transitions()
        return Worker(f"P{q + 1}", q, scheduler, master, reports=True, owner=life)

    def _name(self, k: int) -> str:
        return "application" if len(self.jobs) == 1 else f"J{k}"

    def _needs(self, k: int, job: Application) -> Needs:
        return Needs(self._name(k), job.costs.program, job.costs.data, job.costs.image)

    def _job(self, k: int, job: Application, scheduler: Scheduler) -> IterativeJob:
        name, costs = self._name(k), job.costs
        profile = Rigid(1, 0)
        return IterativeJob(
            name,
            BatchJob(
                k, name, profile, job.rules.verification, None, job.submitted, JobKind.ITERATIVE
            ),
            scheduler,
            protection=protection(evolve(job.rules, image=costs.image)),
            errors=SilentErrors(
                rate=job.rate, stream=lambda: scheduler.system.stream(f"errors/{name}")
            ),
            needs=self._needs(k, job),
            reports=scheduler.decider.wants_progress,
            given=(Reuse,) if self.reuse else (),
            tasks=job.tasks,
            iterations=job.iterations,
            task_times=[it.task_time for it in self.platform],
        )


def world(
    platform: tuple[Machine, ...],
    tasks: int,
    costs: Costs = FREE,
    iterations: int = 1,
    policy: EnrolmentPolicy | None = None,
    rules: Rules | None = None,
    **more: Any,
) -> World:
    """A world of one job of `tasks` tasks per iteration; its policy is IE unless given."""
    rules = rules or Rules()
    job = Application(tasks=tasks, iterations=iterations, costs=costs, rules=rules)
    return World(platform=platform, jobs=(job,), policy=policy or named("IE"), costs=costs, **more)


def fixed(*members: tuple[int, int]) -> EnrolmentPolicy:
    """Always this configuration, as soon as its workers are all UP."""
    return FixedConfiguration(members)


@frozen
class Played:
    """A run and all its records."""

    records: list[Record]
    end: End
    time: float

    def told(self, kind: type[E]) -> list[tuple[float, E]]:
        """(when, event) of each event of this kind."""
        return [(record.t, record.event) for record in self.records if type(record.event) is kind]

    def times(self, kind: type[Event]) -> list[float]:
        """When events of this kind happened."""
        return [t for t, _ in self.told(kind)]

    def rows(self) -> list[str]:
        """Activity letters of each worker."""
        return list(Activity.of(self.records).rows.values())

    def outcomes(self) -> list[tuple[float, str]]:
        """(when, how) each run ended."""
        return [(t, event.outcome.value) for t, event in self.told(RunEnded)]

    def choices(self) -> list[tuple[float, Members, str | None]]:
        """(when, members, why) of each configuration."""
        return [(t, event.tasks, event.reason) for t, event in self.told(TasksDealt)]


def play(what: World) -> Played:
    """Run it to its end."""
    records: list[Record] = []
    system = what.build([records.append])
    system.run()
    end = system.result if isinstance(system.result, End) else End.COMPLETED
    system.journal.record(NOTHING, ScenarioEnded, end)
    return Played(records, end, system.loop.now)


def play_with(policy: EnrolmentPolicy, what: World) -> Played:
    """Run it under another policy than its own."""
    return play(evolve(what, policy=policy))


def choice(*members: tuple[int, int]) -> Configuration:
    """A decision: (worker index, tasks) of each member."""
    return Configuration(members)


@define
class Script:
    """Answers each question with the next of its lines, whatever it sees; counts them."""

    lines: Sequence[Configuration | None]
    wake: Wake = Wake.NEVER
    asked: list[tuple[int, Reason]] = field(factory=list)
    """(slots since the iteration began, why) of each question."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        self.asked.append((view.elapsed, view.reason))
        return self.lines[len(self.asked) - 1]
