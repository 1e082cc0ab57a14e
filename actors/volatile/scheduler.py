"""The scheduler of a volatile platform: it asks an enrolment policy, checks, and configures."""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field
from numpy.random import Generator

from actors.events import End
from actors.runtime import Actor, Phase, handles
from actors.volatile.holding import Holding
from actors.volatile.messages import (
    ConfigurationNeeded,
    Configure,
    Decide,
    ProgramReceived,
    SlotBegan,
    WorkerJoined,
    WorkerMoved,
)
from policies.availability import WorkerState
from policies.interface import (
    Configuration,
    Enrolment,
    EnrolmentPolicy,
    Reason,
    RunningView,
    Wake,
)


class BadDecision(ValueError):
    """A policy's decision cannot be carried out."""


@define
class Window:
    """What the policy sees (a live `EnrolmentView`)."""

    enrolment: Enrolment
    reason: Reason = Reason.START
    elapsed: int = 0
    up: int = 0
    programmed: int = 0
    running: RunningView | None = None
    now: float = 0
    holdings: dict[int, Holding] = field(factory=dict, repr=False)

    def missing(self, worker: int, tasks: int) -> int:
        return self.holdings[worker].missing(tasks, self.now)


@define(eq=False)
class EnrolmentScheduler(Actor):
    """Decides once per instant, after everything else of the instant has been handled."""

    PATIENCE: ClassVar[int] = 1000
    """Proactive switches in a row without one slot of computation: the policy diverges (002, VI.B
    shows that its twelve cannot)."""

    policy: EnrolmentPolicy
    enrolment: Enrolment
    wake: Wake = field(init=False)
    view: Window = field(init=False)
    rng: Generator = field(init=False)
    job: Actor | None = field(init=False, default=None)
    needed: Reason | None = field(init=False, default=None)
    """Why nothing is configured; None while something is."""
    _running: RunningView | None = field(init=False, default=None)
    _began: float = field(init=False, default=0)
    _told: bool = field(init=False, default=False)
    """The job knows that there is no configuration for now."""
    _due: bool = field(init=False, default=False)
    _ticking: bool = field(init=False, default=False)
    _switches: int = field(init=False, default=0)

    def started(self) -> None:
        self.wake = getattr(self.policy, "wake", Wake.NEVER)
        self.view = Window(self.enrolment)
        self.rng = self.system.stream("policy")

    # --- what it hears ------------------------------------------------------------------------

    @handles(WorkerJoined)
    def joined(self, message: WorkerJoined) -> None:
        self.view.holdings[message.index] = message.holding
        self._moved(message.index, message.state)

    @handles(WorkerMoved)
    def moved(self, message: WorkerMoved) -> None:
        self._moved(message.index, message.state)

    def _moved(self, index: int, state: WorkerState) -> None:
        view, bit = self.view, 1 << index
        if state is WorkerState.UP:
            view.up |= bit
        else:
            view.up &= ~bit
            if state is WorkerState.DOWN:
                view.programmed &= ~bit
        if self.needed is not None or self.wake is not Wake.NEVER:
            self._decide_soon()

    @handles(ProgramReceived)
    def program_received(self, message: ProgramReceived) -> None:
        self.view.programmed |= 1 << message.index
        if self.wake is not Wake.NEVER:
            self._decide_soon()

    @handles(ConfigurationNeeded)
    def configuration_needed(self, message: ConfigurationNeeded) -> None:
        self.job, self._running = message.job, message.running
        self.needed, self._told = message.reason, False
        if message.reason is Reason.START:
            self._began, self._switches = self.now, 0
        self._decide_soon()

    @handles(SlotBegan)
    def slot_began(self, _: SlotBegan) -> None:
        self._ticking = False
        self._decide_soon()

    # --- what it decides ----------------------------------------------------------------------

    def _decide_soon(self) -> None:
        if not self._due:
            self._due = True
            self.at(self.now, Decide(), Phase.DECISION)

    @handles(Decide)
    def decide(self, _: Decide) -> None:
        self._due = False
        if self.job is None:
            return
        chosen = self._ask()
        if chosen is not None:
            self._configure(self.job, chosen)
        elif self.needed is not None and not self._told:
            self._told = True
            self.send(self.job, Configure(None, self.needed))
            # Nothing is held any more: what comes next starts from scratch.
            self.needed = Reason.START
        if self.needed is None and self._wakes(chosen):
            self._ticking = True
            self.after(1, SlotBegan())

    def _wakes(self, chosen: Configuration | None) -> bool:
        """Whether the next slot is to be a decision's whatever happens.

        Also once after each decision, for all proactive policies: after a failure the choice
        used what workers held, and a candidate from scratch may differ.
        """
        if self._ticking or self.wake is Wake.NEVER:
            return False
        return self.wake is Wake.EVERY_SLOT or chosen is not None

    def _ask(self) -> Configuration | None:
        view = self.view
        view.now = self.now
        view.elapsed = int(self.now - self._began)
        view.reason = self.needed or Reason.PROACTIVE
        view.running = self._running if self.needed is None else None
        chosen = self.policy(view, self.rng)
        if view.running is not None and chosen == view.running.configuration:
            return None
        return chosen

    def _configure(self, job: Actor, chosen: Configuration) -> None:
        self._check(chosen)
        if self.needed is None and self._diverges():
            self.system.finish(End.DIVERGED)
            return
        self.send(job, Configure(chosen, self.needed or Reason.PROACTIVE))
        self.needed = None

    def _diverges(self) -> bool:
        running = self._running
        assert running is not None
        work = max(x * self.enrolment.speeds[q] for q, x in running.configuration.members)
        self._switches = self._switches + 1 if running.work_left == work else 1
        return self._switches > self.PATIENCE

    def _check(self, chosen: Configuration) -> None:
        problem = self._problem(chosen)
        if problem:
            raise BadDecision(
                f"policy {self.policy} answered {chosen}: {problem}; it saw {self.view}"
            )

    def _problem(self, chosen: Configuration) -> str | None:
        members = chosen.members
        if sum(tasks for _, tasks in members) != self.enrolment.tasks:
            return f"it must place {self.enrolment.tasks} tasks in all"
        if [q for q, _ in members] != sorted({q for q, _ in members}):
            return "workers must be sorted by index, each once"
        for q, tasks in members:
            if not self.view.up >> q & 1:
                return f"worker {q} is not UP"
            if not 1 <= tasks <= self.enrolment.bounds[q]:
                return f"worker {q} takes 1 to {self.enrolment.bounds[q]} tasks"
        return None
