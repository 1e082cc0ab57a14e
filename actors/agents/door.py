"""The door through which agents act on the world: it checks what they ask for, logs it, and has
workers and jobs do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from attrs import define, evolve, field

from actors.acts import Act
from actors.agents.agent import (
    NEEDED,
    CallReserve,
    CancelJob,
    ChangeSpeed,
    GiveBack,
    InjectFault,
    InjectHang,
    Join,
    SubmitJob,
    Surroundings,
    TakeWorker,
    WorldBegins,
    is_amount,
    is_whole,
)
from actors.decisions import BadDecision
from actors.dependencies import SubmissionHeld
from actors.events import (
    AgentCancelledJob,
    AgentFailedWorker,
    AgentHungWorker,
    AgentReturnedWorker,
    AgentSetSpeed,
    AgentSubmittedJob,
    AgentTookWorker,
)
from actors.messages import Arrive, Cancel
from actors.runtime import Actor, handles
from actors.runtime.errors import quoted
from actors.worker_messages import Fail, FaultComes, Hang, KeepFor, ReserveAsked, SetSpeed
from policies.availability import WorkerState

ARRIVE, CANCEL, UP = Arrive(), Cancel(), WorkerState.UP
FIRST_LAW = -1
"""Number that faults and hangs by agents have in place of a law's: at one instant they come before
those of all laws."""


@define(eq=False)
class Door(Actor):
    """Carries out the acts that agents ask for. An act that cannot be carried out is an error that
    names the agent."""

    world: Surroundings
    workers: Callable[[int], Actor]
    """Returns the address of a worker, which gets its actor when it is first addressed."""
    detection: float
    """Time after which faults are detected."""
    logs_detection: bool
    """Whether the log gives this detection time with each fault, because kinds of faults differ in
    it."""
    submits: Mapping[str, str]
    """Maps the name of each job that an agent submits to the agent's name."""
    changing: frozenset[int]
    """Workers whose speed changes by itself."""
    scheduler: Actor
    ignores: bool
    """Whether the scheduler may ignore faults, so that it is asked of each."""
    refused: Mapping[Act, str]
    """Maps the acts that have no meaning in this world to the reason."""
    held: dict[str, Actor] = field(init=False, factory=dict)
    """Jobs by name that agents have not submitted yet."""
    submitted: dict[str, Actor] = field(init=False, factory=dict)
    """Jobs by name that agents have submitted; they may be over."""
    takers: dict[int, str] = field(init=False, factory=dict)
    """Maps the workers that agents have taken to the agents' names."""
    acted: dict[int, float] = field(init=False, factory=dict)
    """Maps workers to the time at which an agent acted on them last."""

    @handles(Join)
    def welcome(self, message: Join, cause: int) -> None:
        own = tuple(job for job, name in self.submits.items() if name == message.agent.name)
        self.send(message.agent, WorldBegins(evolve(self.world, jobs=own)), cause)

    @handles(SubmissionHeld)
    def hold(self, message: SubmissionHeld, _: int) -> None:
        self.held[message.job.name] = message.job

    # --- jobs ---------------------------------------------------------------------------------

    @handles(SubmitJob)
    def submit(self, ask: SubmitJob, cause: int) -> None:
        self._check_job(ask, "submits")
        job = self.held.pop(ask.job, None)
        if job is None:
            self._refuse(ask, f"submits {ask.job} a second time")
        self.submitted[ask.job] = job
        cause = self.record(cause, AgentSubmittedJob, ask.agent, ask.job)
        self.send(job, ARRIVE, cause)

    @handles(CancelJob)
    def cancel_job(self, ask: CancelJob, cause: int) -> None:
        self._check_job(ask, "cancels")
        if ask.job not in self.submitted:
            self._refuse(ask, f"cancels {ask.job}, which it has not submitted")
        cause = self.record(cause, AgentCancelledJob, ask.agent, ask.job)
        self.send(self.submitted[ask.job], CANCEL, cause)

    def _check_job(self, ask: SubmitJob | CancelJob, does: str) -> None:
        """Raise BadDecision if the job is none of those that the agent submits."""
        if not isinstance(ask.job, str) or self.submits.get(ask.job) != ask.agent:
            self._refuse(ask, f"{does} {quoted(ask.job)}, which is none of its jobs")

    @handles(CallReserve)
    def call_reserve(self, ask: CallReserve, cause: int) -> None:
        self._allow(ask)
        self.send(self.scheduler, ReserveAsked(ask.agent), cause)

    # --- workers ------------------------------------------------------------------------------

    @handles(TakeWorker)
    def take(self, ask: TakeWorker, cause: int) -> None:
        worker = self._worker(ask)
        if ask.worker in self.takers:
            self._refuse(ask, f"takes worker {ask.worker}, which {self.takers[ask.worker]} has")
        if ask.state not in (WorkerState.RECLAIMED, WorkerState.DOWN):
            state = ask.state.name if ask.state is UP else quoted(ask.state)
            accepted = "WorkerState.RECLAIMED or WorkerState.DOWN"
            self._refuse(ask, f"takes worker {ask.worker} {state}", accepted)
        self.takers[ask.worker] = ask.agent
        cause = self.record(cause, AgentTookWorker, ask.agent, ask.worker, ask.state)
        self.send(worker, KeepFor(ask.state), cause)

    @handles(GiveBack)
    def give_back(self, ask: GiveBack, cause: int) -> None:
        worker = self._worker(ask)
        if self.takers.get(ask.worker) != ask.agent:
            self._refuse(ask, f"gives back worker {ask.worker}, which it has not taken")
        del self.takers[ask.worker]
        cause = self.record(cause, AgentReturnedWorker, ask.agent, ask.worker)
        self.send(worker, KeepFor(UP), cause)

    @handles(InjectFault)
    def fail(self, ask: InjectFault, cause: int) -> None:
        worker = self._worker(ask)
        if not (is_amount(ask.downtime) and self.now + ask.downtime > self.due_by):
            self._refuse(ask, f"keeps worker {ask.worker} DOWN for {quoted(ask.downtime)}")
        cause = self.record(cause, AgentFailedWorker, ask.agent, ask.worker, ask.downtime)
        fault = Fail(ask.downtime, self.detection, self.logs_detection, FIRST_LAW)
        if self.ignores:
            self.send(self.scheduler, FaultComes(ask.worker, fault), cause)
        else:
            self.send(worker, fault, cause)

    @handles(InjectHang)
    def hang(self, ask: InjectHang, cause: int) -> None:
        worker = self._worker(ask)
        if not (is_amount(ask.detection) and ask.detection >= 0):
            self._refuse(ask, f"hangs worker {ask.worker} for {quoted(ask.detection)}")
        cause = self.record(cause, AgentHungWorker, ask.agent, ask.worker, ask.detection)
        self.send(worker, Hang(ask.detection, FIRST_LAW), cause)

    @handles(ChangeSpeed)
    def change_speed(self, ask: ChangeSpeed, cause: int) -> None:
        worker = self._worker(ask)
        if not (is_amount(ask.speed) and ask.speed >= 0):
            self._refuse(ask, f"sets the speed of worker {ask.worker} to {quoted(ask.speed)}")
        if ask.worker in self.changing:
            self._refuse(ask, f"sets the speed of worker {ask.worker}, which changes by itself")
        cause = self.record(cause, AgentSetSpeed, ask.agent, ask.worker, ask.speed)
        self.send(worker, SetSpeed(ask.speed), cause)

    def _worker(self, ask: Any) -> Actor:
        """Return the address of the worker that an agent asks to act on. Raises BadDecision if
        there is none, or an agent has acted on it at this instant."""
        self._allow(ask)
        if not (is_whole(ask.worker) and 0 <= ask.worker < self.world.workers):
            self._refuse(
                ask, f"acts on worker {quoted(ask.worker)}", f"0 to {self.world.workers - 1}"
            )
        if self.acted.get(ask.worker) == self.now:
            self._refuse(ask, f"acts on worker {ask.worker} a second time at this instant")
        self.acted[ask.worker] = self.now
        return self.workers(ask.worker)

    def _allow(self, ask: Any) -> None:
        """Raise BadDecision if what an agent asks for has no meaning in this world."""
        if reason := self.refused.get(NEEDED[type(ask)]):
            self._refuse(ask, f"asks for {NEEDED[type(ask)].value}: {reason}")

    def _refuse(self, ask: Any, what: str, accepted: str = "") -> NoReturn:
        told = f"; accepted: {accepted}" if accepted else ""
        raise BadDecision(f"agent {ask.agent} {what}, at {self.now!r}{told}")

    def waits_for(self) -> str | None:
        left = ", ".join(list(self.held)[:3])
        return f"agents to submit {left}" if self.held else None
