"""An agent: an actor of a user's own in the world, which hears of events and acts on the world."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from math import ceil, isfinite
from typing import Any, ClassVar, Self

import numpy as np
from attrs import Attribute, define, field, frozen
from numpy.random import Generator

from actors.acts import DOOR, Act
from actors.decisions import BadDecision
from actors.events import JobDescribed, RunHung, UnitFailed
from actors.runtime import Actor, Event, Phase, Record, VirtualTimeLoop, handles, message
from actors.runtime.errors import quoted
from policies.availability import WorkerState

SECRET = (JobDescribed, RunHung, UnitFailed)
"""Events that no agent hears of, as nobody in the world knows of them when they happen: how many
runs of a job fail, that a run hangs, and which unit of a node is at fault."""


@frozen
class Surroundings:
    """The platform as an agent knows it from the start."""

    workers: int
    """Number of workers."""
    node: int
    """Number of workers in a node: workers 0 to `node` - 1 are node 0, and so on."""
    reserve: range
    """Numbers of the workers that their owner keeps RECLAIMED until they are called; often
    empty."""
    slotted: bool
    """Whether times are slots, so that all are whole numbers."""
    jobs: tuple[str, ...] = ()
    """Names of the jobs that the agent submits, in the order of the workload."""

    def whole(self, time: float) -> float:
        """Return a time to wait as the world counts it: in slots the next whole number, from 1."""
        return max(1, ceil(time)) if self.slotted else time


@message
class Reminder:
    """An agent reminds itself: it has waited for its time to come."""

    about: Any


# --- what an agent asks its door for --------------------------------------------------------------


@message
class SubmitJob:
    """Agent to door: submit the job of this name."""

    agent: str
    job: str


@message
class CancelJob:
    """Agent to door: cancel the job of this name, which I have submitted."""

    agent: str
    job: str


@message
class TakeWorker:
    """Agent to door: keep this worker in this state until I give it back."""

    agent: str
    worker: int
    state: WorkerState


@message
class GiveBack:
    """Agent to door: I need this worker no longer."""

    agent: str
    worker: int


@message
class InjectFault:
    """Agent to door: this worker fails now, and is DOWN for this time."""

    agent: str
    worker: int
    downtime: float


@message
class InjectHang:
    """Agent to door: the run that holds this worker hangs now, which is detected after this
    time."""

    agent: str
    worker: int
    detection: float


@message
class ChangeSpeed:
    """Agent to door: this worker has this speed from now on."""

    agent: str
    worker: int
    speed: float


@message
class CallReserve:
    """Agent to door: call the next worker of the reserve."""

    agent: str


@message
class Join:
    """Agent to door: I am here."""

    agent: Actor


@message
class WorldBegins:
    """Door to agent: this is the world in which you are."""

    world: Surroundings


ASKS = (
    *(SubmitJob, CancelJob, TakeWorker, GiveBack),
    *(InjectFault, InjectHang, ChangeSpeed, CallReserve),
)
NEEDED: dict[type, Act] = {
    SubmitJob: Act.SUBMIT,
    CancelJob: Act.CANCEL,
    TakeWorker: Act.TAKE,
    GiveBack: Act.TAKE,
    InjectFault: Act.FAIL,
    InjectHang: Act.HANG,
    ChangeSpeed: Act.SPEED,
    CallReserve: Act.CALL,
}


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number that a line of a log can hold."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and -(2**63) <= value < 2**63  # type: ignore[operator]


def is_amount(value: object) -> bool:
    """Return whether a value is a finite number that a line of a log can hold."""
    return is_whole(value) or (isinstance(value, float | np.floating) and isfinite(value))


def _keep_name(agent: Agent, _: Attribute[str], name: str) -> str:
    """Return the name that an agent gets. Raises BadDecision where it lives under another one."""
    if hasattr(agent, "system"):
        problem = f"agent {agent.name} changes its name to {quoted(name)}"
        raise BadDecision(f"{problem}; accepted: `name` in its parameters")
    return name


@define(eq=False)
class Agent(Actor):
    """An actor of a user's own in the world.

    It hears of the events of those classes that its handlers name (`@handles(JobCompleted)`), once
    the instant at which they happened is over. It acts by the methods below. What it does happens
    `after` so many time units, at least one slot where times are slots, so that nothing that it
    does changes what it has just seen. `cause` is everywhere the number of the event for which it
    acts: the one that its handler gets.
    """

    does: ClassVar[Collection[Act]] = tuple(Act)
    """Kinds of acts that the agent may carry out. The world is prepared for these and, without acts
    on workers, is as fast as without agents."""

    name: str = field(default="", kw_only=True, on_setattr=_keep_name)
    """Name of the agent in the log; by default that of its class."""
    jobs: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of the scenario's jobs that it submits, in that order; `*` stands for any characters.
    They have no other time of submission."""
    world: Surroundings = field(init=False, repr=False)
    _begun: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.name = self.name or type(self).__name__

    @classmethod
    def hears(cls) -> tuple[type[Event], ...]:
        """Return the classes of the events that the agent hears of: those that its handlers
        name."""
        table = cls._tables[cls.initial]
        return tuple(kind for kind in table if issubclass(kind, Event))

    @cached_property
    def rng(self) -> Generator:
        """Random generator of the agent's own, from the scenario's seed."""
        return self.system.stream(f"agents/{self.name}")

    # --- what an agent may define -------------------------------------------------------------

    def begin(self, cause: int) -> None:
        """Begin the agent's life, at the start of the run; what the agent does here may also happen
        at once (`after=0`). `cause` is the number of the log's first event."""

    # --- what an agent can do -----------------------------------------------------------------

    def submit(self, job: str, cause: int, after: float = 1) -> None:
        """Submit the job of this name, which is one of `jobs`."""
        self._ask(SubmitJob(self.name, job), cause, after, Phase.WORK_ENDS)

    def cancel_job(self, job: str, cause: int, after: float = 1) -> None:
        """Cancel a job that the agent has submitted, whether it waits or runs; its runs end. This
        has no effect where the job is over by then."""
        self._ask(CancelJob(self.name, job), cause, after, Phase.JOBS_CANCELLED)

    def take(
        self,
        worker: int,
        cause: int,
        after: float = 1,
        state: WorkerState = WorkerState.RECLAIMED,
    ) -> None:
        """Take this worker as an owner does, RECLAIMED or DOWN, until the agent gives it back."""
        self._ask(TakeWorker(self.name, worker, state), cause, after, Phase.FAULTS_OCCUR)

    def give_back(self, worker: int, cause: int, after: float = 1) -> None:
        """Give back a worker that the agent has taken."""
        self._ask(GiveBack(self.name, worker), cause, after, Phase.FAULTS_OCCUR)

    def inject_fault(self, worker: int, downtime: float, cause: int, after: float = 1) -> None:
        """Make a worker fail, which is DOWN for `downtime` time units then."""
        self._ask(InjectFault(self.name, worker, downtime), cause, after, Phase.FAULTS_OCCUR)

    def inject_hang(self, worker: int, detection: float, cause: int, after: float = 1) -> None:
        """Make the run that holds a worker hang, which is detected `detection` time units later."""
        self._ask(InjectHang(self.name, worker, detection), cause, after, Phase.FAULTS_OCCUR)

    def set_speed(self, worker: int, speed: float, cause: int, after: float = 1) -> None:
        """Set the speed of a worker, which is 1 at first."""
        self._ask(ChangeSpeed(self.name, worker, speed), cause, after, Phase.FAULTS_OCCUR)

    def call_reserve(self, cause: int, after: float = 1) -> None:
        """Call the next worker of the reserve: the one with the lowest number that has not been
        called and is not DOWN. This has no effect where none is left."""
        self._ask(CallReserve(self.name), cause, after, Phase.FAULTS_OCCUR)

    def wait(self, delay: float, cause: int, about: Any = None) -> None:
        """Get a `Reminder` of `about` in `delay` time units, with this cause."""
        self._check_cause(cause, "a reminder")
        self.at(self.now + self._checked(delay), Reminder(about), cause, Phase.AGENTS)

    # --- how that is done ---------------------------------------------------------------------

    def started(self) -> None:
        self.send(self.system.find(DOOR), Join(self), self.system.origin)

    @handles(WorldBegins)
    def world_begins(self, message: WorldBegins, cause: int) -> None:
        """Keep what is known of the world, and begin."""
        self.world = message.world
        self.begin(cause)
        self._begun = True

    def _ask(self, ask: Any, cause: int, after: float, phase: Phase) -> None:
        act = NEEDED[type(ask)]
        if act not in self.does:
            told = f"`does = (Act.{act.name}, ...)` in {type(self).__name__}"
            raise BadDecision(f"agent {self.name} asks for {act.value}; accepted: with {told}")
        self._check_cause(cause, act.value)
        self.at(self.now + self._checked(after), ask, cause, phase)

    def _check_cause(self, cause: int, asked: str) -> None:
        """Raise BadDecision if `cause` is not the number of an event that has happened; `asked`
        names what the agent asks for."""
        if not (is_whole(cause) and 0 <= cause < self.system.journal.length):
            problem = f"agent {self.name} asks for {asked} because of event {quoted(cause)}"
            raise BadDecision(f"{problem}; accepted: the `cause` that its handler gets")

    def _checked(self, delay: float) -> float:
        """Return the delay if an agent can wait so long: more than 0, in slots a whole number."""
        later = is_amount(delay) and self.now + delay > self.due_by
        early = is_amount(delay) and delay == 0 and not self._begun
        if not (later or early) or (self.world.slotted and delay != int(delay)):
            accepted = "whole slots, 1 or more" if self.world.slotted else "a finite time above 0"
            raise BadDecision(f"agent {self.name} waits for {quoted(delay)}; accepted: {accepted}")
        return delay

    @handles(*ASKS)
    def ask(self, ask: Any, cause: int) -> None:
        """Ask the door for what is due now."""
        self.send(self.system.find(DOOR), ask, cause)


@define(eq=False)
class Ears:
    """A sink of a journal that lets agents hear of the events that they ask for, each at the end of
    its instant."""

    loop: VirtualTimeLoop
    agents: dict[type[Event], list[Agent]]
    """Maps each class of events to the agents that handle it."""

    @classmethod
    def of(cls, loop: VirtualTimeLoop, agents: Iterable[Agent]) -> Self:
        """Return the sink for these agents, which live on `loop`."""
        found: dict[type[Event], list[Agent]] = {}
        for agent in agents:
            for kind in agent.hears():
                found.setdefault(kind, []).append(agent)
        return cls(loop, found)

    @property
    def wants(self) -> frozenset[type]:
        """Classes of the events that any agent hears of."""
        return frozenset(self.agents)

    def __call__(self, record: Record) -> None:
        for agent in self.agents[type(record.event)]:
            self.loop.schedule(self.loop.now, Phase.AGENTS, agent, record.event, record.seq)
