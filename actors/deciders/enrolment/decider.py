"""The enrolment decider: asks an enrolment policy when something is needed or might be better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from attrs import define, field
from numpy.random import Generator

from actors.deciders.enrolment.checks import answer, check
from actors.deciders.enrolment.window import RunningConfiguration, Window
from actors.events import BoundsDescribed, ChainsBelieved, End, Outcome
from actors.intervals import grouped
from actors.iterative_job import IterativeJob
from actors.messages import CopyOver, Decide, Stood
from actors.runtime import Phase
from policies.availability import WorkerState
from policies.interface import Configuration, Enrolment, EnrolmentPolicy, Reason, Wake

if TYPE_CHECKING:
    from actors.job import Job
    from actors.scheduler import Scheduler
    from actors.worker import Worker

UP, DOWN = WorkerState.UP, WorkerState.DOWN
DECIDE = Decide()
REASONS = {
    Outcome.COMPLETED: Reason.START,
    Outcome.LOST: Reason.FAILURE,
    Outcome.FAILED: Reason.ERROR,
}
"""How the last run ended -> why another configuration is needed."""
PATIENCE = 1000
"""Proactive switches in a row that bring an iteration no nearer to its end than it was: the policy
diverges (002, VI.B shows that its twelve cannot)."""


@define(eq=False)
class KnownJob:
    """What the decider knows of one iterative job."""

    view: Window
    needed: Reason | None = Reason.START
    """Why nothing is configured; None while something is."""
    since: int = -1
    """seq of what it needs workers since."""
    began: float = 0
    """When its iteration did."""
    running: RunningConfiguration | None = None
    """What is configured."""
    next: Configuration | None = None
    """What comes in its place as soon as it is withdrawn."""
    switches: int = 0
    nearest: float = 1
    """The least part of W that a configuration had left when it was given up."""

    @property
    def told(self) -> int:
        """seq of what made it as it is: of its run's start, or of what it needs one since."""
        held = self.running.held if self.running else None
        return self.since if held is None or held.run is None else held.run.told

    @property
    def taken(self) -> int:
        """Bit mask of its workers, those of `next` included."""
        given = [self.running.configuration] if self.running else []
        members = [q for it in (*given, self.next) if it is not None for q, _ in it.members]
        return sum(1 << q for q in set(members))

    def diverges(self) -> bool:
        """Count one more switch; whether there were too many."""
        assert self.running is not None
        left = self.running.part_left
        self.switches = self.switches + 1 if left >= self.nearest else 1
        self.nearest = min(left, self.nearest)
        return self.switches > PATIENCE


@define(eq=False)
class EnrolmentDecider:
    """Enrols workers in iterative jobs as a policy of 002 says, after checking its answer.

    Each job is asked for by itself, the lowest index first, and sees the workers that no other
    holds.
    """

    policy: EnrolmentPolicy
    enrolments: Mapping[int, Enrolment]
    """By job index."""
    workers: Mapping[int, Worker]
    """Those that have an actor (live)."""
    wake: Wake = field(init=False)
    proactive: bool = field(init=False)
    rng: Generator = field(init=False)
    scheduler: Scheduler = field(init=False, repr=False)
    applications: dict[int, KnownJob] = field(init=False, factory=dict)
    """By job index."""
    up: int = field(init=False, default=0)
    """Bit mask of the workers that are UP."""
    holders: dict[str, int] = field(init=False, factory=dict)
    """Label of a program -> bit mask of the workers that hold it."""
    alert: bool = field(init=False)
    """Whether any change of a worker calls for a decision."""
    due: bool = field(init=False, default=False)
    """Whether the policy is to be asked at this instant."""
    tick: float | None = field(init=False, default=None)
    """When it is to be asked whatever happens."""
    cause: int | None = field(init=False, default=None)
    """What was heard last at this instant is the decision's cause: a crash, say, and not a tick,
    which goes back to the decision before."""

    def attach(self, scheduler: Scheduler) -> None:
        """See Decider."""
        self.scheduler = scheduler
        self.wake = getattr(self.policy, "wake", Wake.NEVER)
        self.proactive = self.alert = self.wake is not Wake.NEVER
        self.rng = scheduler.system.stream("policy")
        self.up = (1 << scheduler.pool.size) - 1
        self._describe_beliefs()

    def _describe_beliefs(self) -> None:
        journal, first = self.scheduler.system.journal, next(iter(self.enrolments.values()), None)
        if first is not None:  # all have the same belief
            chains = first.belief.chains if journal.wants(ChainsBelieved) else ()
            journal.describe(ChainsBelieved, grouped([chain.rows for chain in chains]))

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: Job) -> None:
        """See Decider."""
        enrolment, journal = self.enrolments[job.index], self.scheduler.system.journal
        bounds = grouped(enrolment.bounds) if journal.wants(BoundsDescribed) else ()
        journal.describe(BoundsDescribed, job.name, bounds)
        view = Window(cast(IterativeJob, job), enrolment, self.workers)
        cause, now = self.scheduler.system.loop.cause, self.scheduler.now
        self.applications[job.index] = KnownJob(view, since=cause, began=now)
        self.applications = dict(sorted(self.applications.items()))
        self.alert = self._call()

    def over(self, message: CopyOver) -> None:
        """See Decider."""
        application = self.applications[message.index]
        if message.gone:
            del self.applications[message.index]
        elif message.outcome is Outcome.WITHDRAWN:
            self._switch(message.index, application)
        else:
            self._need(application, REASONS[message.outcome])
            cause = self.scheduler.system.loop.cause
            application.since = cause if message.since < 0 else message.since
        if self._needy():
            self.alert = self._call()

    def _need(self, application: KnownJob, reason: Reason) -> None:
        application.running, application.needed = None, reason
        application.switches, application.nearest = 0, 1
        if reason is Reason.START:
            application.began = self.scheduler.now

    def changed(self, worker: int, state: WorkerState, until: float | None) -> bool:
        """See Decider."""
        bit = 1 << worker
        if state is UP:
            self.up |= bit
        else:
            self.up &= ~bit
            if state is DOWN:
                for label in self.holders:
                    self.holders[label] &= ~bit
        return self._call() if self.alert else False

    def programmed(self, worker: int, label: str) -> bool:
        """See Decider."""
        self.holders[label] = self.holders.get(label, 0) | 1 << worker
        return self._call() if self.proactive else False

    def stood(self, message: Stood) -> None:
        """See Decider: nobody is resized."""

    def sped(self, worker: int, speed: float) -> None:
        """See Decider."""

    def woken(self) -> bool:
        """See Decider."""
        if self.tick is None or self.scheduler.due_by < self.tick:
            return False
        self.due = True
        return True

    def _needy(self) -> bool:
        return any(it.needed is not None for it in self.applications.values())

    def _call(self) -> bool:
        """The policy is to be asked, because of what is being heard."""
        self.due, self.cause = True, self.scheduler.system.loop.cause
        return True

    # --- what it decides ----------------------------------------------------------------------

    def decide(self) -> None:
        """See Decider."""
        if self.tick is not None and self.tick <= self.scheduler.due_by:
            self.tick, self.due = None, True
        if not self.due:
            return
        self.due, heard, self.cause = False, self.cause, None
        for index, application in self.applications.items():
            if self.proactive or application.needed is not None:
                # Where nothing was heard, it is only time for another look.
                self.scheduler.trigger = application.told if heard is None else heard
                self._consider(index, application)
        self.alert = self.proactive or self._needy()

    def _consider(self, index: int, application: KnownJob) -> None:
        held = application.running.held if application.running else None
        if held is not None and held.run is None:
            return  # its members are kept for the next run
        chosen = self._ask(application)
        if chosen is not None:
            self._configure(index, application, chosen)
        elif application.needed is not None:
            # Nothing is held any more: what comes next starts from scratch.
            application.needed = Reason.START
        if application.needed is None:
            self._wake_up(chosen)

    def _wake_up(self, chosen: Configuration | None) -> None:
        """Decide in the next slot whatever happens, where the policy wants that.

        Also once after each decision, for all proactive policies: after a failure the choice
        used what workers held, and a candidate from scratch may differ.
        """
        if self.tick is not None or not self.proactive:
            return
        if self.wake is Wake.EVERY_SLOT or chosen is not None:
            self.tick = self.scheduler.now + 1
            self.scheduler.at(self.tick, DECIDE, Phase.DECISION)

    def _ask(self, application: KnownJob) -> Configuration | None:
        view, now = application.view, self.scheduler.now
        view.now, view.elapsed = now, int(now - application.began)
        view.reason = application.needed or Reason.PROACTIVE
        view.up, view.running = self.up, application.running
        view.alone = len(self.applications) == 1
        if not view.alone:
            view.up &= ~self._taken(application)
        view.programmed = self.holders.get(view.needs.label, 0)
        chosen = answer(self.policy, view, self.rng)
        if view.running is not None and chosen == view.running.configuration:
            return None
        return chosen

    def _taken(self, application: KnownJob) -> int:
        """Bit mask of the workers that other jobs hold."""
        taken = 0
        for other in self.applications.values():
            if other is not application:
                taken |= other.taken
        return taken

    def _configure(self, index: int, application: KnownJob, chosen: Configuration) -> None:
        check(self.policy, chosen, application.view)
        if application.needed is not None:
            self._start(index, application, chosen, application.needed)
        elif application.diverges():
            self.scheduler.system.loop.cause = self.scheduler.trigger
            self.scheduler.system.finish(End.DIVERGED)
        else:
            assert application.running is not None
            application.next = chosen
            self.scheduler.system.loop.cause = self.scheduler.trigger
            self.scheduler.withdraw(application.running.copy)

    def _switch(self, index: int, application: KnownJob) -> None:
        """What was configured is withdrawn: here is what comes in its place."""
        chosen, application.next = application.next, None
        assert chosen is not None
        self._start(index, application, chosen, Reason.PROACTIVE)

    def _start(
        self, index: int, application: KnownJob, chosen: Configuration, reason: Reason
    ) -> None:
        workers, tasks = zip(*chosen.members, strict=True)
        running = RunningConfiguration(application.view.job, self.workers, chosen)
        running.copy = self.scheduler.start_on(index, workers, tasks, reason.value)
        application.running, application.needed = running, None
