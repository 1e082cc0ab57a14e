"""Calls an enrolment policy when a new configuration is needed or might be better, and carries out
its decisions."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field
from numpy.random import Generator

from actors.decider import Decider, DecidersHost
from actors.deciders.enrolment.checks import FREE, RunningConfiguration, Window, answer, check
from actors.events import ChainsBelieved, End, Outcome
from actors.intervals import Intervals, grouped, members
from actors.messages import CopyOver, Decide, RunProgress
from actors.runtime import NOTHING, Phase
from actors.worker_messages import Needs
from policies.availability import WorkerState
from policies.interface import Configuration, Enrolment, EnrolmentPolicy, Reason, Wake
from policies.interface.queue import BatchJob

UP, DOWN = WorkerState.UP, WorkerState.DOWN
DECIDE = Decide()
REASONS = {
    Outcome.COMPLETED: Reason.START,
    Outcome.LOST: Reason.FAILURE,
    Outcome.FAILED: Reason.ERROR,
}
"""Maps the outcome of the last run to the reason why another configuration is needed."""
PATIENCE = 1000
"""Number of proactive switches in a row that bring an iteration no nearer to its end than it was,
after which the policy counts as diverging (volatile13, section VI.B, shows that its twelve cannot
diverge)."""


@define(eq=False)
class KnownJob:
    """State of the enrolment decider for one iterative job: the configuration (workers and tasks)
    that runs, the one that is to replace it, and why a new one is needed."""

    view: Window
    needed: Reason | None = Reason.START
    """Reason why a new configuration is needed; None while one is running."""
    since: int = -1
    """Number (seq) of the event since which the job has needed workers."""
    began: float = 0
    """Time at which the job's iteration began."""
    running: RunningConfiguration | None = None
    """The running configuration; None if there is none."""
    next: Configuration | None = None
    """The configuration that starts once the present one is cancelled; None: no change is under
    way."""
    switches: int = 0
    nearest: float = 1
    """The smallest part of the iteration's work W that a configuration had left when it was
    cancelled."""

    @property
    def state_seq(self) -> int:
        """Number (seq) of the event that began the job's present state: that which started its run
        or, without a run, that since which the job has needed workers."""
        progress = self.running.progress if self.running else None
        if progress is None or progress.started == NOTHING:
            return self.since
        return progress.started

    @property
    def taken(self) -> int:
        """Bit mask of the workers that the job runs on, and of those of `next`, on which it will
        run: bit q stands for worker q."""
        given = [self.running.configuration] if self.running else []
        members = [q for it in (*given, self.next) if it is not None for q, _ in it.members]
        return sum(1 << q for q in set(members))

    def diverges(self) -> bool:
        """Count one more change of the configuration. Return whether more than PATIENCE changes in
        a row have brought the iteration no nearer to its end than it has been: the policy then
        counts as diverging."""
        assert self.running is not None
        left = self.running.part_left
        # Only progress beyond the best configuration so far resets the count.
        self.switches = self.switches + 1 if left >= self.nearest else 1
        self.nearest = min(left, self.nearest)
        return self.switches > PATIENCE


@define(eq=False)
class EnrolmentDecider(Decider):
    """Decider that enrols workers in iterative jobs: a policy of volatile13 chooses for each job
    the workers and the number of tasks of each, and its answer is checked.

    The policy is called for each job separately, the lowest index first, and sees the workers that
    no other job holds.
    """

    wants_holdings = True

    policy: EnrolmentPolicy
    enrolments: Mapping[int, Enrolment]
    """Maps a job's index to its enrolment."""
    needs: Mapping[int, Needs]
    """Maps a job's index to the messages of its members, where there is a master."""
    wake: Wake = field(init=False)
    proactive: bool = field(init=False)
    rng: Generator = field(init=False)
    scheduler: DecidersHost = field(init=False, repr=False)
    applications: dict[int, KnownJob] = field(init=False, factory=dict)
    """Maps a job's index to its state."""
    up: int = field(init=False, default=0)
    """Bit mask of the workers that are UP."""
    holders: dict[str, int] = field(init=False, factory=dict)
    """Maps the label of a program to the bit mask of the workers that hold it."""
    alert: bool = field(init=False)
    """Whether any change of a worker calls for a decision."""
    due: bool = field(init=False, default=False)
    """Whether the policy is to be called at this instant."""
    tick: float | None = field(init=False, default=None)
    """Time at which the policy is to be called whatever happens; None for no such time."""
    cause: int | None = field(init=False, default=None)
    """Number (seq) of the last event of this instant that called for a decision; None if only the
    clock did, so that the cause goes back to the decision before."""

    def attach(self, scheduler: DecidersHost) -> None:
        self.scheduler = scheduler
        self.wake = getattr(self.policy, "wake", Wake.NEVER)
        self.proactive = self.alert = self.wake is not Wake.NEVER
        self.rng = scheduler.system.stream("policy")
        self.up = (1 << scheduler.pool.size) - 1
        self._describe_beliefs()

    def _describe_beliefs(self) -> None:
        system, first = self.scheduler.system, next(iter(self.enrolments.values()), None)
        if first is not None:  # all jobs have the same belief
            chains = first.belief.chains if system.journal.wants(ChainsBelieved) else ()
            rows = grouped([chain.rows for chain in chains])
            self.scheduler.record(system.origin, ChainsBelieved, rows)

    # --- messages from the scheduler ----------------------------------------------------------

    @property
    def wants_progress(self) -> bool:
        return self.proactive

    def submitted(self, job: BatchJob, cause: int) -> None:
        enrolment, scheduler = self.enrolments[job.index], self.scheduler
        view = Window(job.name, enrolment, self.needs.get(job.index, FREE), scheduler.holdings)
        self.applications[job.index] = KnownJob(view, since=cause, began=scheduler.now)
        # Decisions go by index, so that the same jobs are decided in the same order however they
        # arrive.
        self.applications = dict(sorted(self.applications.items()))
        self.alert = self._call(cause)

    def over(self, message: CopyOver, cause: int) -> None:
        application = self.applications[message.index]
        if message.gone:
            del self.applications[message.index]
        elif message.outcome is Outcome.CANCELLED:
            self._switch(message.index, application, cause)
        else:
            self._need(application, REASONS[message.outcome])
            application.since = cause if message.since == NOTHING else message.since
        if self._needy():
            self.alert = self._call(cause)

    def cancelled(self, index: int) -> None:
        del self.applications[index]

    def _need(self, application: KnownJob, reason: Reason) -> None:
        application.running, application.needed = None, reason
        application.switches, application.nearest = 0, 1
        if reason is Reason.START:
            application.began = self.scheduler.now

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        bit = 1 << worker
        if state is UP:
            self.up |= bit
        else:
            self.up &= ~bit
            # A RECLAIMED worker keeps its program; a crash loses it.
            if state is DOWN:
                for label in self.holders:
                    self.holders[label] &= ~bit
        return self._call(cause) if self.alert else False

    def replaced(self, copy: int, processors: int, numbers: Intervals) -> None:
        held = set(members(numbers))
        for application in self.applications.values():
            running = application.running
            if running is not None and running.copy == copy:
                tasks = dict(running.configuration.members)
                (gone,), (came,) = tasks.keys() - held, held - tasks.keys()
                tasks[came] = tasks.pop(gone)
                running.configuration = Configuration(tuple(sorted(tasks.items())))

    def programmed(self, worker: int, label: str, cause: int) -> bool:
        self.holders[label] = self.holders.get(label, 0) | 1 << worker
        return self._call(cause) if self.proactive else False

    def progressed(self, message: RunProgress) -> None:
        running = self.applications[message.index].running
        if running is not None and running.copy == message.copy:
            running.progress = message

    def woken(self, cause: int) -> int | None:
        if self.tick is None or self.scheduler.due_by < self.tick:
            return None
        self.due = True
        return cause

    def _needy(self) -> bool:
        return any(it.needed is not None for it in self.applications.values())

    def _call(self, cause: int) -> bool:
        """Have the policy called at this instant, because of the event numbered `cause`. Always
        return True, which tells the scheduler that a decision is due."""
        self.due, self.cause = True, cause
        return True

    # --- decisions ----------------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        if self.tick is not None and self.tick <= self.scheduler.due_by:
            self.tick, self.due = None, True
        if not self.due:
            return
        self.due, trigger, self.cause = False, self.cause, None
        for index, application in self.applications.items():
            if self.proactive or application.needed is not None:
                # Without an event the clock alone called: the cause is the start of the job's
                # present state.
                self._consider(
                    index, application, application.state_seq if trigger is None else trigger
                )
        self.alert = self.proactive or self._needy()

    def _consider(self, index: int, application: KnownJob, cause: int) -> None:
        # Nothing can be chosen for a job that already waits for its own members.
        if application.running is not None and application.running.waits:
            return  # its members are kept for the next run
        chosen = self._ask(application)
        if chosen is not None:
            self._configure(index, application, chosen, cause)
        elif application.needed is not None:
            # The job holds nothing any more: its next configuration starts from scratch.
            application.needed = Reason.START
        if application.needed is None:
            self._wake_up(chosen, cause)

    def _wake_up(self, chosen: Configuration | None, cause: int) -> None:
        """Have the policy called one slot from now, whatever happens, if it is proactive (can
        replace a running configuration) and either wants to be called in every slot or has just
        chosen a configuration (`chosen`).

        Each choice is followed by such a call because after a failure it used what workers held; a
        candidate from scratch may differ.
        """
        if self.tick is not None or not self.proactive:
            return
        if self.wake is Wake.EVERY_SLOT or chosen is not None:
            self.tick = self.scheduler.now + 1
            self.scheduler.at(self.tick, DECIDE, cause, Phase.DECISION)

    def _ask(self, application: KnownJob) -> Configuration | None:
        view, now = application.view, self.scheduler.now
        view.now, view.elapsed = now, int(now - application.began)
        view.due_by = self.scheduler.due_by
        view.reason = application.needed or Reason.PROACTIVE
        view.up, view.running = self.up, application.running
        if len(self.applications) > 1:
            view.up &= ~self._taken(application)
        view.programmed = self.holders.get(view.needs.label, 0)
        chosen = answer(self.policy, view, self.rng)
        if view.running is not None and chosen == view.running.configuration:
            return None
        return chosen

    def _taken(self, application: KnownJob) -> int:
        """Return the bit mask of the workers that jobs other than `application` hold or are about
        to hold: bit q stands for worker q."""
        taken = 0
        for other in self.applications.values():
            if other is not application:
                taken |= other.taken
        return taken

    def _configure(
        self, index: int, application: KnownJob, chosen: Configuration, cause: int
    ) -> None:
        check(self.policy, chosen, application.view)
        if application.needed is not None:
            self._start(index, application, chosen, application.needed, cause)
        elif application.diverges():
            self.scheduler.system.finish(cause, End.DIVERGED)
        else:
            assert application.running is not None
            application.next = chosen
            self.scheduler.dispatcher.cancel_copy(application.running.copy, cause)

    def _switch(self, index: int, application: KnownJob, cause: int) -> None:
        """Start the configuration `next` of this job, for which its former run has just been
        cancelled. If one of its workers turns out to be DOWN, by a fault that the cancelled run had
        not detected, have the policy called again instead. `cause` is the number of the event that
        ended the run."""
        chosen, application.next = application.next, None
        assert chosen is not None
        self.scheduler.reveal()
        if all(self.up >> worker & 1 for worker, _ in chosen.members):
            self._start(index, application, chosen, Reason.PROACTIVE, cause)
        else:
            self._need(application, Reason.PROACTIVE)
            application.since = cause

    def _start(
        self,
        index: int,
        application: KnownJob,
        chosen: Configuration,
        reason: Reason,
        cause: int,
    ) -> None:
        workers, tasks = zip(*chosen.members, strict=True)
        copy = self.scheduler.dispatcher.start_on(index, workers, cause, tasks, reason.value)
        application.running = RunningConfiguration(application.view, chosen, copy)
        application.needed = None
