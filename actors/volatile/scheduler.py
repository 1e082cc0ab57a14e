"""The scheduler of a volatile platform: it asks an enrolment policy, checks, and configures."""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field
from numpy.random import Generator

from actors.events import End
from actors.runtime import Actor, Phase, Timer, handles
from actors.volatile.decisions import answer, check
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


@define
class Window:
    """What the policy sees (a live `EnrolmentView`)."""

    enrolment: Enrolment = field(repr=False)
    reason: Reason = Reason.START
    elapsed: int = 0
    up: int = field(default=0, repr=bin)
    programmed: int = field(default=0, repr=bin)
    running: RunningView | None = None
    now: float = 0
    holdings: dict[int, Holding] = field(factory=dict, repr=False)

    def missing(self, worker: int, tasks: int) -> int:
        return self.holdings[worker].missing(tasks, self.now)


@define(eq=False)
class EnrolmentScheduler(Actor):
    """Decides once per instant, after everything else of the instant has been handled."""

    PATIENCE: ClassVar[int] = 1000
    """Proactive switches in a row that bring the iteration no nearer to its end than it was: the
    policy diverges (002, VI.B shows that its twelve cannot)."""

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
    _due: Timer | None = field(init=False, default=None)
    """The decision of this instant."""
    _ticking: bool = field(init=False, default=False)
    _switches: int = field(init=False, default=0)
    _nearest: float = field(init=False, default=1)
    """The least part of W that a configuration had left when it was given up."""

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
        self._switches, self._nearest = 0, 1
        if message.reason is Reason.START:
            self._began = self.now
        self._decide_soon()

    @handles(SlotBegan)
    def slot_began(self, _: SlotBegan) -> None:
        self._ticking = False
        if self._due is None:
            self._decide_soon()

    # --- what it decides ----------------------------------------------------------------------

    def _decide_soon(self) -> None:
        # What was heard last is the decision's cause: a crash, say, and not a tick, which goes back
        # to the decision before.
        if self._due is not None:
            self.cancel(self._due)
        self._due = self.at(self.now, Decide(), Phase.DECISION)

    @handles(Decide)
    def decide(self, _: Decide) -> None:
        self._due = None
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
        chosen = answer(self.policy, view, self.rng)
        if view.running is not None and chosen == view.running.configuration:
            return None
        return chosen

    def _configure(self, job: Actor, chosen: Configuration) -> None:
        check(self.policy, chosen, self.view)
        if self.needed is None and self._diverges():
            self.system.finish(End.DIVERGED)
            return
        self.send(job, Configure(chosen, self.needed or Reason.PROACTIVE))
        self.needed = None

    def _diverges(self) -> bool:
        running = self._running
        assert running is not None
        work = max(x * self.enrolment.speeds[q] for q, x in running.configuration.members)
        left = running.work_left / work
        self._switches = self._switches + 1 if left >= self._nearest else 1
        self._nearest = min(left, self._nearest)
        return self._switches > self.PATIENCE
