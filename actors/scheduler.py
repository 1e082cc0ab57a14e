"""The scheduler: hears of ends, arrivals and changes, decides once an instant, carries it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from attrs import define, field

from actors.decider import Decider
from actors.events import End, Outcome, RunStarted, WorkloadEnded
from actors.intervals import Intervals, intervals_of, members, text
from actors.job import Job
from actors.messages import (
    CopyOver,
    Decide,
    GiveUp,
    JobOver,
    MemberMoved,
    MembersCame,
    MemberSped,
    MembersWait,
    ProgramReceived,
    PromiseCopy,
    ResizeCopy,
    Settle,
    StartCopy,
    Stood,
    Submit,
    WithdrawCopy,
    WorkerMoved,
    WorkerSped,
)
from actors.news import NOTHING, News
from actors.pool import Pool
from actors.runtime import Actor, Phase, handles
from policies.availability import WorkerState

DECIDE, SETTLE = Decide(), Settle()
NOBODY: Intervals = ()
# Reading a member off its enum takes 80 ns, thrice an attempt.
DECISION, COMPLETED = Phase.DECISION, Outcome.COMPLETED
UP, DOWN = WorkerState.UP, WorkerState.DOWN


@define(eq=False)
class Scheduler(Actor):
    """Checks what its decider wants and carries it out as messages to jobs.

    The run ends when `jobs` jobs have completed or been killed.
    """

    pool: Pool
    decider: Decider
    jobs: int
    actors: dict[int, Job] = field(init=False, factory=dict)
    """By index: the jobs that have been submitted and are not gone."""
    held: dict[int, tuple[int, int, Intervals]] = field(init=False, factory=dict)
    """By copy: the job's index, how many workers, which ones."""
    programmed: dict[str, set[int]] = field(init=False, factory=dict)
    """Label of a program -> the workers that hold it."""
    promised: dict[int, int] = field(init=False, factory=dict)
    """Worker -> the copy that computes on it to its end, though it is somebody else's, or free."""
    completed: int = field(init=False, default=0)
    killed: int = field(init=False, default=0)
    runs: int = field(init=False, default=0)
    """Copies that are over."""
    deciding: bool = field(init=False, default=False)
    unsettled: list[Job] = field(init=False, factory=list)
    """Jobs that wait to hear whom they have got again."""
    news: News | None = field(init=False, default=None)
    """None: nobody reads why runs start."""
    trigger: int = field(init=False, default=NOTHING)
    """seq of what called for the present decision."""
    _copies: count[int] = field(init=False, factory=count)

    def started(self) -> None:
        if self.system.journal.wants(RunStarted):
            self.news = News(self.system.loop)
        self.decider.attach(self)

    # --- what it hears ------------------------------------------------------------------------

    @handles(Submit)
    def hear_of(self, message: Submit) -> None:
        job = message.job
        self.actors[job.index] = job
        if self.news is not None:
            self.news.want(job.index, self.system.loop.cause)
        self.decider.submitted(job)
        if not self.deciding:
            self.decide_soon()

    @handles(CopyOver)
    def take_back(self, message: CopyOver) -> None:
        _, processors, numbers = self.held.pop(message.copy)
        if numbers:
            self.pool.take_back(processors, numbers)
        else:
            self.pool.free += processors
        if self.news is not None:
            cause = self.system.loop.cause
            self.news.free(numbers, cause)
            if not message.gone:
                self.news.want(message.index, cause if message.since < 0 else message.since)
        if self.promised:
            self._hand_on(message.copy)
        self.runs += 1
        self.decider.over(message)
        if message.gone:
            self._count_out(message.index, message.outcome)
        if not self.deciding:
            self.decide_soon()

    @handles(Stood)
    def hear_standing(self, message: Stood) -> None:
        self.decider.stood(message)

    @handles(WorkerMoved)
    def worker_moved(self, message: WorkerMoved) -> None:
        worker, state = message.index, message.state
        self.pool.move(worker, state, message.until)
        if state is DOWN:
            for workers in self.programmed.values():
                workers.discard(worker)
        elif state is UP and self.news is not None:
            self.news.free(((worker, worker),), self.system.loop.cause)
        copy = self.pool.holder(worker)
        if copy >= 0:
            job = self.actors.get(self.held[copy][0])
            if job is not None:
                self.send(job, MemberMoved(copy, worker, state))
        if self.decider.changed(worker, state, message.until) and not self.deciding:
            self.decide_soon()

    @handles(WorkerSped)
    def worker_sped(self, message: WorkerSped) -> None:
        self.pool.change_speed(message.index, message.speed)
        copy = self.pool.holder(message.index)
        if copy >= 0:
            job = self.actors.get(self.held[copy][0])
            if job is not None:
                self.send(job, MemberSped(copy, message.index, message.speed))
        self.decider.sped(message.index, message.speed)

    @handles(JobOver)
    def count_job_out(self, message: JobOver) -> None:
        self._count_out(message.index, COMPLETED)

    @handles(ProgramReceived)
    def program_received(self, message: ProgramReceived) -> None:
        self.programmed.setdefault(message.label, set()).add(message.index)
        if self.decider.programmed(message.index, message.label) and not self.deciding:
            self.decide_soon()

    @handles(MembersWait)
    def members_wait(self, message: MembersWait) -> None:
        self.unsettled.append(message.job)

    @handles(GiveUp)
    def give_up(self, _: GiveUp) -> None:
        for copy in self.held:
            self.withdraw(copy)
        self.system.finish(End.CAPPED)
        self.stop()

    def _count_out(self, index: int, outcome: Outcome) -> None:
        del self.actors[index]
        if outcome is COMPLETED:
            self.completed += 1
        else:
            self.killed += 1
        if self.completed + self.killed == self.jobs:
            self.finish()

    def finish(self) -> None:
        """All jobs are over."""
        self.record(WorkloadEnded, self.completed, self.killed, self.runs)
        self.system.finish()

    def decide_soon(self) -> None:
        """Decide when all else of this instant has been handled."""
        self.deciding, self.trigger = True, self.system.loop.cause
        self.later(DECIDE, DECISION)

    @handles(Decide)
    def decide(self, message: Decide) -> None:
        if self.deciding:
            # Not this message's cause: a decider's wake of this instant may have come before.
            self.deciding, self.system.loop.cause = False, self.trigger
            self.decider.decide()
        elif self.decider.woken():
            self.trigger = self.system.loop.cause
            self.decider.decide()
        if self.unsettled:
            for job in self.unsettled:
                self.send(job, SETTLE)
            self.unsettled.clear()

    # --- what it carries out ------------------------------------------------------------------

    def start_some(
        self,
        index: int,
        processors: int,
        former: Intervals = (),
        otherwise: Callable[[], int] | None = None,
    ) -> tuple[int, Intervals]:
        """Give job `index` one more copy on so many free workers; the copy and who they are.
        `otherwise` tells its cause where it has not just come to want them, and all were free."""
        copy, pool, numbers, named = next(self._copies), self.pool, NOBODY, ""
        if pool.numbers is None:
            pool.free -= processors  # a call for each attempt took 3 % of the run
        else:
            numbers = pool.give_out(copy, processors, former, index)
            named = self._present(numbers)
        self.held[copy] = index, processors, numbers
        if self.news is not None:
            self._give_cause(self.news, index, numbers, otherwise)
        self.send(self.actors[index], StartCopy(copy, processors, numbers, named))
        return copy, numbers

    def start_on(
        self, index: int, workers: Sequence[int], tasks: tuple[int, ...], reason: str | None
    ) -> int:
        """Give job `index` one more copy on these free workers. Raises ValueError for others."""
        copy = next(self._copies)
        numbers = self.pool.give(copy, workers)
        self.held[copy] = index, len(workers), numbers
        named = text(numbers) if self.system.journal.wants(RunStarted) else ""
        message = StartCopy(copy, len(workers), numbers, named, tasks, reason)
        if self.news is not None:
            self._give_cause(self.news, index, numbers, None)
        self.send(self.actors[index], message)
        return copy

    def _give_cause(
        self, news: News, index: int, numbers: Intervals, otherwise: Callable[[], int] | None
    ) -> None:
        cause = news.why(index, numbers)
        if cause == NOTHING:
            cause = self.trigger if otherwise is None else otherwise()
        self.system.loop.cause = cause

    def resize(self, copy: int, processors: int) -> None:
        """Give this copy's job that many workers in place of those that it has."""
        index, _, held = self.held[copy]
        numbers = self.pool.exchange(copy, held, processors, index)
        self.held[copy] = index, processors, numbers
        self.send(self.actors[index], ResizeCopy(copy, numbers, self._present(numbers)))

    def promise(self, copy: int) -> None:
        """Free this copy's workers, on which it computes to its end: whoever gets one of them can
        use it from then on only (003, section 5)."""
        index, processors, numbers = self.held[copy]
        self.pool.take_back(processors, numbers)
        self.held[copy] = index, 0, ()
        for worker in members(numbers):
            self.promised.setdefault(worker, copy)
        self.send(self.actors[index], PromiseCopy(copy))

    def _present(self, numbers: Intervals) -> str:
        """Those that nobody computes on any more to his end, as logs write them."""
        if not self.promised:
            return text(numbers)
        return text(intervals_of(n for n in members(numbers) if n not in self.promised))

    def _hand_on(self, over: int) -> None:
        """This copy is over: what it had promised joins its new holders."""
        joined: dict[int, list[int]] = {}
        for worker in sorted(worker for worker, copy in self.promised.items() if copy == over):
            del self.promised[worker]
            joined.setdefault(self.pool.holder(worker), []).append(worker)
        for copy, workers in joined.items():
            if copy >= 0:
                index, _, numbers = self.held[copy]
                came = MembersCame(copy, text(intervals_of(workers)), self._present(numbers))
                self.send(self.actors[index], came)

    def withdraw(self, copy: int) -> None:
        """End this copy's run."""
        self.send(self.actors[self.held[copy][0]], WithdrawCopy(copy))

    def waits_for(self) -> str | None:
        gone = self.completed + self.killed
        return f"{self.jobs - gone} of {self.jobs} jobs" if gone < self.jobs else None
