"""The scheduler is notified of ends and changes, decides once an instant, and carries decisions
out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from typing import ClassVar, TypeVar, cast

from attrs import define, field

from actors.decider import Decider
from actors.dispatcher import CauseTracker, Dispatcher
from actors.events import End, Outcome, RunStarted, WorkloadEnded
from actors.limit import ProgressLimit
from actors.messages import (
    CancelledWaiting,
    CapReached,
    CopyOver,
    Decide,
    FormerMembersWait,
    JobOver,
    LookAgain,
    MemberHasNotice,
    MemberHung,
    MemberSpeedChanged,
    MemberStateChanged,
    ProgressReport,
    ReleaseFormer,
    RunProgress,
    StateSaved,
    Submit,
    WorkerLeft,
)
from actors.parts import OF_SCHEDULER, SchedulerHost, SchedulerPart
from actors.parts.answering import Answering
from actors.pool import Pool
from actors.runtime import NOTHING, Actor, Phase, handles
from actors.worker_messages import (
    FaultComes,
    HoldingsChanged,
    OwnerGaveNotice,
    ProgramReceived,
    ReserveAsked,
    SpeedChanged,
    StateChanged,
    WorkerHung,
)
from policies.availability import WorkerState
from policies.interface.queue import BatchJob

DECIDE, RELEASE_FORMER = Decide(), ReleaseFormer()
# Reading a member off its enum takes 80 ns, thrice an attempt.
DECISION, COMPLETED = Phase.DECISION, Outcome.COMPLETED
UP, DOWN = WorkerState.UP, WorkerState.DOWN
# Questions under names of their own, as in `actors/parts/asked.py`.
CAME_UP, WENT_DOWN = SchedulerPart.came_up, SchedulerPart.went_down
CALLS, UNSETTLED = SchedulerPart.calls, SchedulerPart.unsettled
P = TypeVar("P")
NO_PARTS = Answering[SchedulerPart](())
"""Shared by all schedulers without parts."""


def part_of(kind: type[P], scheduler: Scheduler) -> P:
    """Return the scheduler's part of this class."""
    return scheduler.part(kind)


@define(eq=False)
class Scheduler(Actor):
    """Actor that collects submissions, ends and changes of workers, has its decider decide once an
    instant, and carries the decisions out by messages to jobs.

    The simulation ends when `jobs` jobs have completed or been killed. Its decider, its dispatcher,
    its pool and its parts, each of which is one mechanism of the platform, are called, not sent
    messages.
    """

    part_kinds: ClassVar = {kind: partial(part_of, kind) for kind in OF_SCHEDULER}

    pool: Pool
    decider: Decider
    jobs: int
    workers: Callable[[int], Actor] | None = field(kw_only=True, default=None)
    """Returns the address of a worker, which gets its actor when it is first addressed; None: no
    worker is addressed."""
    linked: bool = field(kw_only=True, default=False)
    """Whether there is a master, so that jobs have to address their members."""
    given: Sequence[Callable[[SchedulerHost], SchedulerPart]] = field(kw_only=True, default=())
    """Makers of those of its parts that follow from the scenario; others come into being when they
    are asked for."""
    programmed: dict[str, set[int]] = field(kw_only=True, factory=dict)
    """Maps the label of a program to the workers that hold it."""
    dispatcher: Dispatcher = field(init=False)
    parts: tuple[SchedulerPart, ...] = field(init=False, default=())
    to: Answering[SchedulerPart] = field(init=False, default=NO_PARTS)
    """Maps each question, a function or property of `SchedulerPart`, to the parts that answer
    it."""
    described: dict[int, BatchJob] = field(init=False, factory=dict)
    """Descriptions of the unfinished jobs, by index."""
    holdings: dict[int, HoldingsChanged] = field(init=False, factory=dict)
    """The last report of each worker on what it holds."""
    completed: int = field(init=False, default=0)
    killed: int = field(init=False, default=0)
    ended_copies: int = field(init=False, default=0)
    """Number of copies that have ended."""
    deciding: bool = field(init=False, default=False)
    unsettled: list[Actor] = field(init=False, factory=list)
    """Jobs whose runs ended early at this instant, and which wait to learn whether former members
    are enrolled again."""
    trigger: int = field(init=False, default=NOTHING)
    """Number of the event that calls for a decision at this instant."""
    limit: ProgressLimit | None = field(init=False, default=None)
    """Ends a run without progress; None: no such limit is needed."""
    look_at: float = field(init=False, default=inf)
    """Number of events in the journal at which the limit looks next."""

    def started(self) -> None:
        system = self.system
        tracker = CauseTracker(system.loop) if system.journal.wants(RunStarted) else None
        self.dispatcher = Dispatcher(self, self.pool, self.workers, self.linked, tracker)
        for make in self.given:
            self._add(make(self))
        self.decider.attach(self)

    def part(self, kind: type[P]) -> P:
        """Return the part of this class, which comes into being when it is first asked for."""
        for part in self.parts:
            if type(part) is kind:
                return part
        made = cast(type[SchedulerPart], kind)(self)
        self._add(made)
        return cast(P, made)

    def _add(self, part: SchedulerPart) -> None:
        order = OF_SCHEDULER.index
        self.parts = tuple(sorted((*self.parts, part), key=lambda it: order(type(it))))
        self.to = Answering(self.parts)

    # --- messages from others --------------------------------------------------------------------

    @handles(Submit)
    def submit(self, message: Submit, cause: int) -> None:
        described = message.described
        dispatcher, index = self.dispatcher, described.index
        dispatcher.jobs[index], self.described[index] = message.job, described
        for part in self.parts:
            part.submitted(described)
        if dispatcher.tracker is not None:
            dispatcher.tracker.want(index, cause)
        self.decider.submitted(described, cause)
        self._decide_next(cause)

    @handles(CopyOver)
    def release(self, message: CopyOver, cause: int) -> None:
        dispatcher = self.dispatcher
        numbers = self.pool.release(message.copy)
        if dispatcher.tracker is not None:
            dispatcher.tracker.free(numbers, cause)
            if not message.gone:
                since = cause if message.since == NOTHING else message.since
                dispatcher.tracker.want(message.index, since)
        self.ended_copies += 1
        for part in self.parts:  # each hears of both before the next one
            part.ended(message.copy, cause)
            part.released(message.copy, numbers)
        self.decider.over(message, cause)
        if message.gone:
            self._count_out(message.index, message.outcome, cause)
        self._decide_next(cause)

    @handles(ProgressReport)
    def progress_reported(self, message: ProgressReport, cause: int) -> None:
        self.decider.progress_reported(message, cause)

    @handles(RunProgress)
    def run_progressed(self, message: RunProgress, _: int) -> None:
        self.decider.progressed(message)

    @handles(StateSaved)
    def state_saved(self, message: StateSaved, _: int) -> None:
        self.decider.saved(message)

    @handles(HoldingsChanged)
    def holdings_changed(self, message: HoldingsChanged, _: int) -> None:
        self.holdings[message.index] = message

    @handles(StateChanged)
    def worker_state_changed(self, message: StateChanged, cause: int) -> None:
        if self.system.journal.length >= self.look_at:
            self._look_for_progress()
        worker, state, pool, dispatcher = message.index, message.state, self.pool, self.dispatcher
        copy = pool.move(worker, state, message.until)
        if state is UP:
            if dispatcher.tracker is not None:
                dispatcher.tracker.free(((worker, worker),), cause)
            for part in self.to[CAME_UP]:
                part.came_up(worker, message.repaired, cause)
        if worker in pool.rest:
            copy = -1
        job = None if copy < 0 else dispatcher.job_of(copy)
        if job is not None:
            self.send(job, MemberStateChanged(copy, worker, state, message.hidden), cause)
            if message.hidden:
                self.hide(worker, cause)
                return
        self.known(worker, state, cause, copy if state is DOWN else -1)

    def known(self, worker: int, state: WorkerState, cause: int, copy: int) -> None:
        """Act on a worker's change of state, once the job that holds it knows of it: let the parts
        and the decider know. `copy` is the number of the copy that holds the worker or has just
        released it, or -1; `cause` is the number of the event that logs the change."""
        if state is DOWN:
            for part in self.to[WENT_DOWN]:
                part.went_down(worker, copy, cause)
            if self.holdings:
                self.holdings.pop(worker, None)
            for workers in self.programmed.values():
                workers.discard(worker)
        # Deciders know of no spares, but for one that is a member.
        known = worker < self.pool.size or (state is DOWN and self.pool.holder(worker) >= 0)
        calls = known and self.decider.changed(worker, state, cause)
        if not self.deciding and (calls or (self.parts and self._calls())):
            self.decide_soon(cause)

    @handles(WorkerHung)
    def worker_hung(self, message: WorkerHung, cause: int) -> None:
        self.dispatcher.tell_job(cause, MemberHung, message.index, message.hang)

    @handles(OwnerGaveNotice)
    def owner_gave_notice(self, message: OwnerGaveNotice, cause: int) -> None:
        self.dispatcher.tell_job(cause, MemberHasNotice, message.index)

    @handles(WorkerLeft)
    def take_back(self, message: WorkerLeft, cause: int) -> None:
        worker = message.worker
        self.pool.release_one(message.copy, worker)
        for part in self.to[SchedulerPart.released]:
            part.released(message.copy, ((worker, worker),))
        self.holds(message.copy)
        if not self.deciding and (not self.decider.idle or self._unsettled()):
            self.decide_soon(cause)

    @handles(SpeedChanged)
    def worker_speed_changed(self, message: SpeedChanged, cause: int) -> None:
        if self.system.journal.length >= self.look_at:
            self._look_for_progress()
        self.pool.change_speed(message.index, message.speed)
        self.dispatcher.tell_job(cause, MemberSpeedChanged, message.index, message.speed)
        self.decider.speed_changed(message.index, message.speed, cause)

    @handles(FaultComes)
    def fault_comes(self, message: FaultComes, cause: int) -> None:
        if not self.decider.ignores(message.worker, cause):
            assert self.workers is not None
            self.send(self.workers(message.worker), message.fault, cause)

    @handles(JobOver)
    def count_job_out(self, message: JobOver, cause: int) -> None:
        self._count_out(message.index, COMPLETED, cause)

    @handles(CancelledWaiting)
    def forget_waiting(self, message: CancelledWaiting, cause: int) -> None:
        self.decider.cancelled(message.index)
        self._count_out(message.index, Outcome.CANCELLED, cause)
        self.call(cause)

    @handles(ReserveAsked)
    def call_reserve(self, message: ReserveAsked, cause: int) -> None:
        self.decider.call_reserve(message.agent, cause)

    @handles(ProgramReceived)
    def program_received(self, message: ProgramReceived, cause: int) -> None:
        self.programmed.setdefault(message.label, set()).add(message.index)
        if self.decider.programmed(message.index, message.label, cause) and not self.deciding:
            self.decide_soon(cause)

    @handles(FormerMembersWait)
    def former_members_wait(self, message: FormerMembersWait, _: int) -> None:
        self.unsettled.append(message.job)

    @handles(CapReached)
    def cap_reached(self, _: CapReached, cause: int) -> None:
        for copy in self.pool.held:
            self.dispatcher.cancel_copy(copy, cause)
        self.system.finish(cause, End.CAPPED)
        self.stop()

    def _count_out(self, index: int, outcome: Outcome, cause: int) -> None:
        for part in self.parts:
            part.finished(self.described[index])
        del self.dispatcher.jobs[index], self.described[index]
        if outcome is COMPLETED:
            self.completed += 1
        else:
            self.killed += 1
        if self.completed + self.killed == self.jobs:
            over = self.record(cause, WorkloadEnded, self.completed, self.killed, self.ended_copies)
            self.system.finish(over)

    def count_copies(self, ended: int) -> None:
        """Add `ended` to the number of copies that have ended; a decider that keeps copies in
        arrays calls it."""
        self.ended_copies += ended

    def call(self, cause: int) -> None:
        """Have the decider decide at this instant, unless that has been asked for. `cause` is the
        number of the event that calls for the decision."""
        if not self.deciding:
            self.decide_soon(cause)

    def _decide_next(self, cause: int) -> None:
        """Have the decider decide, unless it is about to: at once if nothing else happens at this
        instant, otherwise once all else of it has been handled. A handler may call this only as the
        last thing that it does. `cause` is as in `decide_soon`."""
        if not self.deciding:
            self.deciding, self.trigger = True, cause
            self.then(DECIDE, cause, DECISION)

    def decide_soon(self, cause: int) -> None:
        """Have the decider decide at this instant, once all else of it has been handled. `cause` is
        the number of the event that calls for the decision."""
        self.deciding, self.trigger = True, cause
        self.later(DECIDE, cause, DECISION)

    @handles(LookAgain)
    def look_again(self, _: LookAgain, cause: int) -> None:
        if not self.deciding:
            self.decider.carried_out(cause)

    def limit_events(self, limit: ProgressLimit) -> None:
        """Set the limit that ends the simulation with an error once too many events pass while no
        work is saved or completed."""
        self.limit, self.look_at = limit, limit.look_at

    def _look_for_progress(self) -> None:
        # Whatever goes on for ever changes workers or calls for decisions: looking there, and not
        # at each event, costs a run less than one instruction in a hundred.
        assert self.limit is not None
        self.limit.look(self._unfinished())
        self.look_at = self.limit.look_at

    def _unfinished(self) -> Iterator[str]:
        running = {index for index, _, _ in self.pool.held.values()}
        for index, described in list(self.described.items())[:3]:
            doing = "has started again and again" if index in running else "waits for workers"
            yield f"{described.name} {doing}"

    @handles(Decide)
    def decide(self, message: Decide, cause: int) -> None:
        if self.system.journal.length >= self.look_at:
            self._look_for_progress()
        if self.parts and self._settle():
            if self.decider.idle and not self.unsettled:
                self.deciding = False
            else:
                self.decide_soon(self.trigger)  # once jobs have logged what follows
            return
        if self.deciding:
            self.deciding = False  # by `trigger`: this message may be an earlier wake-up
            self.decider.decide(self.trigger)
        elif (woken := self.decider.woken(cause)) is not None:
            self.decider.decide(woken)
        if self.unsettled:
            for job in self.unsettled:
                self.send(job, RELEASE_FORMER, NOTHING)
            self.unsettled.clear()

    def _calls(self) -> bool:
        """Return whether a part has something to do before the next decision, which is to come at
        this instant."""
        for part in self.to[CALLS]:  # noqa: SIM110 (`any` takes twice as long)
            if part.calls:
                return True
        return False

    def _unsettled(self) -> bool:
        """Return whether a part has something to do before the next decision, whenever that
        comes."""
        for part in self.to[UNSETTLED]:
            if part.unsettled:
                return True
        return self._calls()

    def _settle(self) -> bool:
        """Have the parts act on the changes of this instant, before a decision. Return whether the
        decision has to wait until jobs have logged what follows."""
        if not self._unsettled():
            return False
        waits = [part.settle() for part in self.to[SchedulerPart.settle]]
        return any(waits)

    # --- questions of its dispatcher, decider and parts -------------------------------------------

    def holds_ready(self, copy: int, count: int) -> None:
        for part in self.to[SchedulerPart.holds_ready]:
            part.holds_ready(copy, count)

    def holds(self, copy: int) -> None:
        _, processors, numbers = self.pool.held[copy]
        self.decider.replaced(copy, processors, numbers)

    def may_have(self, copy: int, worker: int) -> bool:
        index, _, _ = self.pool.held[copy]
        return self.decider.may_have(self.described[index], worker)

    def left_for(self, job: BatchJob) -> int:
        return self.decider.left_for(job, self.pool)

    def hide(self, worker: int, cause: int) -> None:
        """Let the parts know of a fault of this worker that is not to be known yet. `cause` is the
        number of the event that logs it."""
        for part in self.to[SchedulerPart.hide]:
            part.hide(worker, cause)

    def hides(self, worker: int) -> bool:
        return any(part.hides(worker) for part in self.to[SchedulerPart.hides])

    def reveal(self) -> None:
        """Act on the faults of free workers, which are known at once: no job need detect them
        (rules.md, F1)."""
        for part in self.to[SchedulerPart.reveal]:
            part.reveal()

    def waits_for(self) -> str | None:
        left = self.jobs - self.completed - self.killed
        return f"{left} of {self.jobs} jobs{self.decider.stalled()}" if left else None
