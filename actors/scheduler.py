"""The scheduler is notified of ends and changes, decides once an instant, and carries decisions
out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf

from attrs import define, field

from actors.dispatcher import CauseTracker, Dispatcher
from actors.events import End, Outcome, RunStarted, WorkloadEnded
from actors.intervals import Intervals, among, without
from actors.limit import ProgressLimit
from actors.messages import (
    CapReached,
    CopyOver,
    Decide,
    FormerMembersWait,
    JobOver,
    LookAgain,
    MemberFaultDetected,
    MemberHasNotice,
    MemberHung,
    MemberSpeedChanged,
    MemberStateChanged,
    ProgressReport,
    ReleaseFormer,
    ReplacementWanted,
    RunProgress,
    StateSaved,
    Submit,
    WorkerLeft,
)
from actors.repair_messages import (
    FaultKnown,
    LargestJobChanged,
    MemberRetired,
    MemberStruckAgain,
    RecordsChanged,
    StruckWhileDown,
    UnitRetires,
)
from actors.runtime import NOTHING, Actor, Phase, WorkersRetired, handles
from actors.worker_messages import (
    FaultComes,
    HiddenFaultDetected,
    HoldingsChanged,
    OwnerGaveNotice,
    ProgramReceived,
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


class Decider:
    """Base class of the parts that differ between schedulers: a decider keeps its state, asks its
    policies, and answers by calling the scheduler's `start_some`, `start_on`, `resize` and
    `cancel_copy`.

    `cause` is everywhere the number (seq) of the event that leads to the call.
    """

    __slots__ = ()

    wants_holdings = False
    """Whether workers are to report what they hold."""

    @property
    def wants_progress(self) -> bool:
        """Whether jobs are to report how far their runs are (by `RunProgress`); known once the
        decider is attached."""
        return False

    def attach(self, scheduler: Scheduler) -> None:
        """Set the scheduler whose decider this is, and prepare for the run. It is called once,
        before all other methods."""

    def submitted(self, job: BatchJob, cause: int) -> None:
        """Record that a job has been submitted and waits for workers. `cause` is the number of the
        event that logs its submission."""

    def over(self, message: CopyOver, cause: int) -> None:
        """Record that a copy has ended; its workers are free in the pool already. `cause` is the
        number of the event that ended it."""

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        """Record that a worker has changed its state to `state`; the pool knows it already. Return
        whether that calls for a decision. `cause` is the number of the event that logs the
        change."""
        return False

    def programmed(self, worker: int, label: str, cause: int) -> bool:
        """Record that a worker holds the program called `label` from now on. Return whether that
        calls for a decision. `cause` is the number of the event that logs it."""
        return False

    def replaced(self, copy: int, numbers: Intervals) -> None:
        """Record that the copy numbered `copy` holds exactly the workers `numbers` from now on: a
        member was replaced, or a standby (a worker ready to replace members) joined or went
        DOWN."""

    def progress_reported(self, message: ProgressReport, cause: int) -> None:
        """Record a malleable job's report on when one of its copies computes again and how much
        work is left then. `cause` is the number of the event that led to the report."""

    def progressed(self, message: RunProgress) -> None:
        """Record a report on how far the run of a copy is. Jobs send such reports if
        `wants_progress` is true."""

    def saved(self, message: StateSaved) -> None:
        """Record the work done in the most advanced state that a job keeps apart from its runs
        under way; only some kinds of jobs send such reports."""

    def speed_changed(self, worker: int, speed: float, cause: int) -> None:
        """Record that a worker has changed its speed to `speed`; the pool knows it already. `cause`
        is the number of the event that logs the change."""

    def ignores(self, worker: int, cause: int) -> bool:
        """Return whether a fault that comes to this worker now changes nothing in the decider's
        model of faults; if so, log that it is ignored. Only malleable17's own model ignores
        faults."""
        return False

    def woken(self, cause: int) -> int | None:
        """Answer a timer that the decider has set, as it ends: return the number (seq) of the event
        that causes the decision that is due now. Return None if no decision is needed, because the
        timer has been replaced by another or this instant has been decided on."""
        return None

    def decide(self, cause: int) -> None:
        """Decide which copies start, are resized or end, now that all other changes of this instant
        are known. `cause` is the number of the event that calls for the decision."""

    def carried_out(self, cause: int) -> None:
        """React to what the last decision of this instant leaves, once jobs have logged what it
        does. It is called only after a message LookAgain."""

    def stalled(self) -> str:
        """Return, for the report on a deadlock, which policy leaves its jobs waiting; an empty text
        if none does."""
        return ""


@define(eq=False)
class Scheduler(Dispatcher):
    """Actor that collects submissions, ends and changes of workers, has its decider decide once an
    instant, and carries the decisions out by messages to jobs.

    The simulation ends when `jobs` jobs have completed or been killed. Its decider and its pool are
    parts of it: they are called, not sent messages.
    """

    decider: Decider
    jobs: int
    repairs: Actor | None = field(kw_only=True, default=None)
    """Actor that repairs what faults strike (rules.md, R6), to which the scheduler reports faults
    that become known; None: faults have a downtime instead."""
    badness: list[float] = field(kw_only=True, factory=list)
    """How bad the record of each worker is, as repairs report it; empty where no placement chooses
    by records (rules.md, R9)."""
    programmed: dict[str, set[int]] = field(kw_only=True, factory=dict)
    """Maps the label of a program to the workers that hold it."""
    retired: set[int] = field(init=False, factory=set)
    """Workers that are DOWN for ever (rules.md, R8)."""
    described: dict[int, BatchJob] = field(init=False, factory=dict)
    """Descriptions of the unfinished jobs, by index."""
    widths: Counter[int] = field(init=False, factory=Counter)
    """Number of unfinished jobs by the number of workers that each needs; empty without repairs."""
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
        if self.system.journal.wants(RunStarted):
            self.tracker = CauseTracker()
        self.decider.attach(self)

    # --- messages from others --------------------------------------------------------------------

    @handles(Submit)
    def submit(self, message: Submit, cause: int) -> None:
        described = message.described
        self.actors[described.index], self.described[described.index] = message.job, described
        if self.repairs is not None:
            self._count_width(described, 1)
        if self.retired:
            self._refuse_too_few(described, max(self.retired))
        if self.tracker is not None:
            self.tracker.want(self.now, described.index, cause)
        self.decider.submitted(described, cause)
        if not self.deciding:
            self.decide_soon(cause)

    @handles(CopyOver)
    def release(self, message: CopyOver, cause: int) -> None:
        _, processors, numbers = self.held.pop(message.copy)
        self.pool.release(processors, numbers)
        if self.tracker is not None:
            self.tracker.free(self.now, numbers, cause)
            if not message.gone:
                since = cause if message.since == NOTHING else message.since
                self.tracker.want(self.now, message.index, since)
        if self.promised:
            self._hand_on(message.copy, cause)
        self.ended_copies += 1
        if self.repairs is not None:
            self._reveal_faults_of_released(message.copy, numbers)
        self.decider.over(message, cause)
        if message.gone:
            self._count_out(message.index, message.outcome, cause)
        if not self.deciding:
            self.decide_soon(cause)

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
        worker, state = message.index, message.state
        self.pool.move(worker, state, message.until)
        if state is UP:
            self.replaceable.pop(worker, None)
            if message.repaired and self.ready:
                self.repaired[worker] = cause
            if self.tracker is not None:
                self.tracker.free(self.now, ((worker, worker),), cause)
            if worker in self.promised:
                self.tell_promiser(worker, cause)
        held = self.tell_job(cause, MemberStateChanged, worker, state, message.hidden)
        if held and message.hidden:
            self.undetected[worker] = cause
        else:
            self._state_known(
                worker, state, cause, self.pool.holder(worker) if state is DOWN else -1
            )

    def _state_known(self, worker: int, state: WorkerState, cause: int, copy: int) -> None:
        """Act on a worker's change of state, once the job that holds it knows of it: report it to
        the decider and to the actor that repairs. `copy` is the number of the copy that holds the
        worker or has just released it, or -1; `cause` is the number of the event that logs the
        change."""
        if state is DOWN:
            if self.repairs is not None:
                self.send(self.repairs, FaultKnown(worker, copy), cause)
            self.holdings.pop(worker, None)
            for workers in self.programmed.values():
                workers.discard(worker)
        # Deciders know of no spares, but for one that is a member.
        known = worker < self.pool.size or (state is DOWN and self.pool.holder(worker) >= 0)
        calls = known and self.decider.changed(worker, state, cause)
        if (calls or self.replaceable or self.repaired) and not self.deciding:
            self.decide_soon(cause)

    @handles(HiddenFaultDetected)
    def hidden_fault_detected(self, message: HiddenFaultDetected, cause: int) -> None:
        if self.undetected.pop(message.index, None) is not None:
            self.tell_job(cause, MemberFaultDetected, message.index)
            self._state_known(message.index, DOWN, cause, self.pool.holder(message.index))

    @handles(StruckWhileDown)
    def struck_while_down(self, message: StruckWhileDown, cause: int) -> None:
        # If an earlier fault of the worker is undetected, this one becomes known together with it.
        if self.repairs is None or message.index in self.undetected:
            return
        copy = self.pool.holder(message.index)
        # Only a run with replicas goes on while it holds a worker that is DOWN.
        replicated = copy >= 0 and self.described[self.held[copy][0]].replicas is not None
        if replicated:
            self.tell_job(cause, MemberStruckAgain, message.index)
        known = FaultKnown(message.index, copy if replicated else -1)
        self.send(self.repairs, known, cause)

    @handles(UnitRetires)
    def unit_retires(self, message: UnitRetires, cause: int) -> None:
        """Record that workers are DOWN for ever, and tell the jobs that hold them. Raises
        WorkersRetired where too few workers are left for an unfinished job."""
        self.retired.update(message.workers)
        for job in self.described.values():
            self._refuse_too_few(job, message.workers[0])
        for worker in message.workers:
            self.tell_job(cause, MemberRetired, worker)
        # A job that waits for all workers that are left may have them now.
        self.later(LookAgain(), cause, DECISION)

    def _refuse_too_few(self, job: BatchJob, worker: int) -> None:
        left = self.pool.size - sum(it < self.pool.size for it in self.retired)
        asked = _width(job)
        if left < asked:
            problem = f"needs {asked:,} workers: {left:,} are left that are neither retired nor "
            raise WorkersRetired(self.now, job.name, worker, f"{problem}spares")

    def _count_width(self, job: BatchJob, more: int) -> None:
        """Count a job that has come (`more` is 1) or is finished (-1) among those of its width. If
        the number of workers that the largest unfinished job needs has changed, report it to the
        actor that repairs, whose policies ask for it."""
        widths = self.widths
        before = max(widths, default=0)
        widths[_width(job)] += more
        if not widths[_width(job)]:
            del widths[_width(job)]
        largest = max(widths, default=0)
        if largest != before:
            assert self.repairs is not None
            self.send(self.repairs, LargestJobChanged(largest), NOTHING)

    @handles(RecordsChanged)
    def records_changed(self, message: RecordsChanged, _: int) -> None:
        for worker, badness in zip(message.workers, message.badness, strict=True):
            self.badness[worker] = badness

    def _reveal_faults_of_released(self, copy: int, numbers: Intervals) -> None:
        """Act on the undetected faults of the workers `numbers`, which the copy numbered `copy` has
        released: the fault of a free worker is known at once."""
        for worker in among(numbers, self.undetected):
            self._state_known(worker, DOWN, self.undetected.pop(worker), copy)

    @handles(WorkerHung)
    def worker_hung(self, message: WorkerHung, cause: int) -> None:
        self.tell_job(cause, MemberHung, message.index, message.hang)

    @handles(OwnerGaveNotice)
    def owner_gave_notice(self, message: OwnerGaveNotice, cause: int) -> None:
        self.tell_job(cause, MemberHasNotice, message.index)

    @handles(ReplacementWanted)
    def replace_soon(self, message: ReplacementWanted, cause: int) -> None:
        if message.worker in self.pool.away:
            self.replaceable[message.worker] = message.copy, cause
            if not self.deciding:
                self.decide_soon(cause)

    @handles(WorkerLeft)
    def take_back(self, message: WorkerLeft, cause: int) -> None:
        worker = message.worker
        index, processors, numbers = self.held[message.copy]
        numbers = without(numbers, (worker,))
        self.held[message.copy] = index, processors - 1, numbers
        self.pool.release(1, ((worker, worker),))
        if self.repairs is not None:
            self._reveal_faults_of_released(message.copy, ((worker, worker),))
        self.decider.replaced(message.copy, numbers)
        if not self.deciding:
            self.decide_soon(cause)

    @handles(SpeedChanged)
    def worker_speed_changed(self, message: SpeedChanged, cause: int) -> None:
        if self.system.journal.length >= self.look_at:
            self._look_for_progress()
        self.pool.change_speed(message.index, message.speed)
        self.tell_job(cause, MemberSpeedChanged, message.index, message.speed)
        self.decider.speed_changed(message.index, message.speed, cause)

    @handles(FaultComes)
    def fault_comes(self, message: FaultComes, cause: int) -> None:
        if not self.decider.ignores(message.worker, cause):
            assert self.workers is not None
            self.send(self.workers(message.worker), message.fault, cause)

    @handles(JobOver)
    def count_job_out(self, message: JobOver, cause: int) -> None:
        self._count_out(message.index, COMPLETED, cause)

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
        for copy in self.held:
            self.cancel_copy(copy, cause)
        self.system.finish(cause, End.CAPPED)
        self.stop()

    def _count_out(self, index: int, outcome: Outcome, cause: int) -> None:
        if self.repairs is not None:
            self._count_width(self.described[index], -1)
        del self.actors[index], self.described[index]
        if outcome is COMPLETED:
            self.completed += 1
        else:
            self.killed += 1
        if self.completed + self.killed == self.jobs:
            over = self.record(cause, WorkloadEnded, self.completed, self.killed, self.ended_copies)
            self.system.finish(over)

    def count_copies(self, ended: int) -> None:
        """Count so many more copies that have ended; a decider that keeps copies in arrays calls
        it."""
        self.ended_copies += ended

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
        running = {index for index, _, _ in self.held.values()}
        for index, described in list(self.described.items())[:3]:
            doing = "has started again and again" if index in running else "waits for workers"
            yield f"{described.name} {doing}"

    @handles(Decide)
    def decide(self, message: Decide, cause: int) -> None:
        if self.system.journal.length >= self.look_at:
            self._look_for_progress()
        if (self.replaceable or self.undetected or self.repaired) and self._look_after_members():
            self.decide_soon(self.trigger)  # once jobs have logged which standbys have joined
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

    def _look_after_members(self) -> bool:
        """Before a decision, replace members that have been away for long enough, make repaired
        free workers standbys (ready to replace members), and act on undetected faults of free
        workers. Return whether a standby has joined a copy."""
        for copy, numbers in self.replace_members():
            self.decider.replaced(copy, numbers)
        joined = list(self.join_standbys(lambda index: self.described[index].standbys))
        for copy, numbers in joined:
            self.decider.replaced(copy, numbers)
        self.repaired.clear()
        self.reveal_faults_of_free_workers()
        return bool(joined)

    def reveal_faults_of_free_workers(self) -> None:
        """Act on the undetected faults of workers that no copy holds any more: those are known at
        once (rules.md, F1)."""
        for worker in [n for n in self.undetected if self.pool.holder(n) < 0]:
            self._state_known(worker, DOWN, self.undetected.pop(worker), -1)

    def waits_for(self) -> str | None:
        left = self.jobs - self.completed - self.killed
        return f"{left} of {self.jobs} jobs{self.decider.stalled()}" if left else None


def _width(job: BatchJob) -> int:
    """Return the number of workers that a job needs at least."""
    return getattr(job.profile, "processors", 1)
