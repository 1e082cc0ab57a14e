"""The scheduler: is notified of ends, arrivals and changes, decides once an instant, and carries
decisions out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from attrs import define, field

from actors.cause_tracker import CauseTracker
from actors.decider import Decider
from actors.events import End, Outcome, RunStarted, WorkloadEnded
from actors.intervals import Intervals, intervals_of, members, text
from actors.messages import (
    CancelCopy,
    CapReached,
    CopyOver,
    Decide,
    FaultComes,
    FormerMembersWait,
    HoldingsChanged,
    JobOver,
    MembersArrived,
    MemberSpeedChanged,
    MemberStateChanged,
    ProgramReceived,
    ProgressReport,
    PromiseCopy,
    ReleaseFormer,
    ResizeCopy,
    RunProgress,
    SpeedChanged,
    StartCopy,
    StateChanged,
    StateSaved,
    Submit,
)
from actors.pool import Pool
from actors.runtime import NOTHING, Actor, Phase, handles
from actors.worker_messages import Fail
from policies.availability import WorkerState
from policies.interface.queue import BatchJob

DECIDE, RELEASE_FORMER, STRIKE = Decide(), ReleaseFormer(), Fail()
NO_WORKERS: Intervals = ()
# Reading a member off its enum takes 80 ns, thrice an attempt.
DECISION, COMPLETED = Phase.DECISION, Outcome.COMPLETED
UP, DOWN = WorkerState.UP, WorkerState.DOWN


@define(eq=False)
class Scheduler(Actor):
    """Checks what its decider wants and carries it out as messages to jobs.

    The run ends when `jobs` jobs have completed or been killed. Its decider and its pool are parts
    of it: they are called, not sent messages.
    """

    pool: Pool
    decider: Decider
    jobs: int
    workers: Callable[[int], Actor] | None = None
    """Addresses of workers, which get their actors when they are first addressed."""
    linked: bool = False
    """Whether there is a master, so that jobs have to address their members."""
    actors: dict[int, Actor] = field(init=False, factory=dict)
    """By index: addresses of the jobs that have been submitted and are not gone."""
    described: dict[int, BatchJob] = field(init=False, factory=dict)
    """By index: what these jobs are."""
    held: dict[int, tuple[int, int, Intervals]] = field(init=False, factory=dict)
    """By copy: the job's index, how many workers, which ones."""
    programmed: dict[str, set[int]] = field(init=False, factory=dict)
    """Label of a program -> the workers that hold it."""
    promised: dict[int, int] = field(init=False, factory=dict)
    """Worker -> the copy that computes on it to its end, though it is free or already held by
    another copy."""
    completed: int = field(init=False, default=0)
    killed: int = field(init=False, default=0)
    runs: int = field(init=False, default=0)
    """Copies that are over."""
    deciding: bool = field(init=False, default=False)
    unsettled: list[Actor] = field(init=False, factory=list)
    """Jobs that wait to learn which of their former members were enrolled again."""
    tracker: CauseTracker | None = field(init=False, default=None)
    """None: no sink records runs, so that causes are not needed."""
    trigger: int = field(init=False, default=NOTHING)
    """Number of the event that calls for a decision at this instant."""
    _copies: count[int] = field(init=False, factory=count)

    def started(self) -> None:
        if self.system.journal.wants(RunStarted):
            self.tracker = CauseTracker()
        self.decider.attach(self)

    # --- what it hears ------------------------------------------------------------------------

    @handles(Submit)
    def submit(self, message: Submit, cause: int) -> None:
        described = message.described
        self.actors[described.index], self.described[described.index] = message.job, described
        if self.tracker is not None:
            self.tracker.want(self.now, described.index, cause)
        self.decider.submitted(described, cause)
        if not self.deciding:
            self.decide_soon(cause)

    @handles(CopyOver)
    def release(self, message: CopyOver, cause: int) -> None:
        _, processors, numbers = self.held.pop(message.copy)
        if numbers:
            self.pool.release(processors, numbers)
        else:
            self.pool.free += processors
        if self.tracker is not None:
            self.tracker.free(self.now, numbers, cause)
            if not message.gone:
                since = cause if message.since == NOTHING else message.since
                self.tracker.want(self.now, message.index, since)
        if self.promised:
            self._hand_on(message.copy, cause)
        self.runs += 1
        self.decider.over(message, cause)
        if message.gone:
            self._count_out(message.index, message.outcome, cause)
        if not self.deciding:
            self.decide_soon(cause)

    @handles(ProgressReport)
    def progress_reported(self, message: ProgressReport, cause: int) -> None:
        self.decider.progress_reported(message, cause)

    @handles(RunProgress)
    def hear_progress(self, message: RunProgress, _: int) -> None:
        self.decider.progressed(message)

    @handles(StateSaved)
    def hear_of_state(self, message: StateSaved, _: int) -> None:
        self.decider.saved(message)

    @handles(HoldingsChanged)
    def hear_of_holdings(self, message: HoldingsChanged, _: int) -> None:
        self.decider.holds(message)

    @handles(StateChanged)
    def worker_state_changed(self, message: StateChanged, cause: int) -> None:
        worker, state = message.index, message.state
        self.pool.move(worker, state, message.until)
        if state is DOWN:
            for workers in self.programmed.values():
                workers.discard(worker)
        elif state is UP and self.tracker is not None:
            self.tracker.free(self.now, ((worker, worker),), cause)
        copy = self.pool.holder(worker)
        if copy >= 0:
            job = self.actors.get(self.held[copy][0])
            if job is not None:
                self.send(job, MemberStateChanged(copy, worker, state), cause)
        if self.decider.changed(worker, state, cause) and not self.deciding:
            self.decide_soon(cause)

    @handles(SpeedChanged)
    def worker_speed_changed(self, message: SpeedChanged, cause: int) -> None:
        self.pool.change_speed(message.index, message.speed)
        copy = self.pool.holder(message.index)
        if copy >= 0:
            job = self.actors.get(self.held[copy][0])
            if job is not None:
                self.send(job, MemberSpeedChanged(copy, message.index, message.speed), cause)
        self.decider.speed_changed(message.index, message.speed, cause)

    @handles(FaultComes)
    def hear_of_fault(self, message: FaultComes, cause: int) -> None:
        if not self.decider.ignores(message.worker, cause):
            assert self.workers is not None
            self.send(self.workers(message.worker), STRIKE, cause)

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
        del self.actors[index], self.described[index]
        if outcome is COMPLETED:
            self.completed += 1
        else:
            self.killed += 1
        if self.completed + self.killed == self.jobs:
            self.finish(cause)

    def finish(self, cause: int) -> None:
        """All jobs are over."""
        counts = self.completed, self.killed, self.runs
        self.system.finish(self.record(cause, WorkloadEnded, *counts))

    def decide_soon(self, cause: int) -> None:
        """Decide when all else of this instant has been handled."""
        self.deciding, self.trigger = True, cause
        self.later(DECIDE, cause, DECISION)

    @handles(Decide)
    def decide(self, message: Decide, cause: int) -> None:
        if self.deciding:
            # Not this message's cause: a decider's wake of this instant may have come before.
            self.deciding = False
            self.decider.decide(self.trigger)
        else:
            woken = self.decider.woken(cause)
            if woken is not None:
                self.decider.decide(woken)
        if self.unsettled:
            for job in self.unsettled:
                self.send(job, RELEASE_FORMER, NOTHING)
            self.unsettled.clear()

    # --- what it carries out ------------------------------------------------------------------

    def start_some(
        self,
        index: int,
        processors: int,
        cause: int,
        former: Intervals = (),
        otherwise: Callable[[], int] | None = None,
    ) -> tuple[int, Intervals]:
        """Start one more copy of job `index` on so many free workers; returns the copy and its
        workers. `otherwise` tells its cause where it has not just come to want them, and all were
        free; else it is the decision's `cause`."""
        copy, pool, numbers, named = next(self._copies), self.pool, NO_WORKERS, ""
        if pool.numbers is None:
            pool.free -= processors  # a call for each attempt took 3 % of the run
        else:
            numbers = pool.allocate(copy, processors, former, index)
            named = self._present(numbers)
        self.held[copy] = index, processors, numbers
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, otherwise)
        if self.linked or pool.speeds:
            about = self._about(members(numbers))
            message = StartCopy(copy, processors, numbers, named, *about)
        else:
            message = StartCopy(copy, processors, numbers, named)
        self.send(self.actors[index], message, cause)
        return copy, numbers

    def start_on(
        self,
        index: int,
        workers: Sequence[int],
        cause: int,
        tasks: tuple[int, ...] = (),
        reason: str | None = None,
    ) -> int:
        """Start one more copy of job `index` on these workers. Raises ValueError where one is not
        free."""
        copy = next(self._copies)
        numbers = self.pool.assign(copy, workers)
        self.held[copy] = index, len(workers), numbers
        named = text(numbers) if self.system.journal.wants(RunStarted) else ""
        about = self._about(workers)
        message = StartCopy(copy, len(workers), numbers, named, *about, tasks, reason)
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, None)
        self.send(self.actors[index], message, cause)
        return copy

    def _about(self, workers: Sequence[int]) -> tuple[Sequence[float], Sequence[Actor]]:
        """Speeds and addresses of these workers, as far as a job has to know them."""
        speeds, address = self.pool.speeds, self.workers
        known = tuple(map(speeds.__getitem__, workers)) if speeds else ()
        return known, tuple(map(address, workers)) if address and self.linked else ()

    def _why(
        self,
        tracker: CauseTracker,
        index: int,
        numbers: Intervals,
        cause: int,
        otherwise: Callable[[], int] | None,
    ) -> int:
        found = tracker.why(self.now, index, numbers)
        if found != NOTHING:
            return found
        return cause if otherwise is None else otherwise()

    def resize(self, copy: int, processors: int, cause: int) -> None:
        """Resize this copy to so many workers."""
        index, _, held = self.held[copy]
        numbers = self.pool.exchange(copy, held, processors, index)
        self.held[copy] = index, processors, numbers
        about = self._about(members(numbers))
        message = ResizeCopy(copy, numbers, self._present(numbers), *about)
        self.send(self.actors[index], message, cause)

    def promise(self, copy: int, cause: int) -> None:
        """Release this copy's workers early: it computes on them to its end, and only then can
        another copy that was given one of them use it (003, section 5)."""
        index, processors, numbers = self.held[copy]
        self.pool.release(processors, numbers)
        self.held[copy] = index, 0, ()
        for worker in members(numbers):
            self.promised.setdefault(worker, copy)
        self.send(self.actors[index], PromiseCopy(copy), cause)

    def _present(self, numbers: Intervals) -> str:
        """Those on which no former copy still computes to its end, as logs write them."""
        if not self.promised:
            return text(numbers)
        return text(intervals_of(n for n in members(numbers) if n not in self.promised))

    def _hand_on(self, over: int, cause: int) -> None:
        """This copy is over: the workers that it had promised join the copies that were given
        them."""
        joined: dict[int, list[int]] = {}
        for worker in sorted(worker for worker, copy in self.promised.items() if copy == over):
            del self.promised[worker]
            joined.setdefault(self.pool.holder(worker), []).append(worker)
        for copy, workers in joined.items():
            if copy >= 0:
                index, _, numbers = self.held[copy]
                came = MembersArrived(copy, text(intervals_of(workers)), self._present(numbers))
                self.send(self.actors[index], came, cause)

    def cancel_copy(self, copy: int, cause: int) -> None:
        """End this copy's run."""
        self.send(self.actors[self.held[copy][0]], CancelCopy(copy), cause)

    def waits_for(self) -> str | None:
        gone = self.completed + self.killed
        return f"{self.jobs - gone} of {self.jobs} jobs" if gone < self.jobs else None
