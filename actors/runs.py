"""Jobs whose runs have members that matter: fed, protected, copied (WORLD.md, R and P)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    CheckpointLost,
    IterationCompleted,
    IterationStarted,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    ProtectionDescribed,
    RestartedFromScratch,
    TasksDealt,
)
from actors.hazards import SilentErrors
from actors.intervals import members
from actors.job import RUNNING, WAITING, Job, Life
from actors.messages import (
    LeaveRun,
    LimitReached,
    MemberFed,
    MemberMoved,
    MemberSaved,
    MemberSped,
    MembersWait,
    Needs,
    PartDue,
    Resume,
    Settle,
    StartCopy,
    WithdrawCopy,
)
from actors.protection import Protection
from actors.protection.by_size import alike
from actors.run import Plan, Run, State
from actors.runtime import Phase, handles
from actors.workforce import Workforce
from policies.availability import WorkerState

COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED
LOST, WITHDRAWN = Outcome.LOST, Outcome.WITHDRAWN
DOWN = WorkerState.DOWN
AT_WORK = (Life.RUNNING,)
GONE = (Life.COMPLETED, Life.KILLED)
RESUME = Resume()


@define(eq=False)
class JobOfRuns(Job):
    """A job that runs as up to r copies at once, each one run after the other."""

    protection: Protection = field(kw_only=True)
    errors: SilentErrors = field(kw_only=True)
    needs: Needs | None = field(kw_only=True, default=None)
    """What members fetch; None: there is no master."""
    workforce: Workforce | None = field(kw_only=True, default=None)
    speeds: Sequence[float] | None = field(kw_only=True, default=None)
    """Live: the speed of every worker; None: all 1, for ever."""
    reuse: bool = field(kw_only=True, default=False)
    """Whether a member of a run that ended early, enrolled again at that very decision, keeps its
    data and the part of a message that has passed (002)."""
    copies: dict[int, Copy] = field(init=False, factory=dict)
    """By number, in the order in which they were placed."""
    next_run: int = field(init=False, default=0)
    former: dict[int, int] = field(init=False, factory=dict)
    """Under `reuse`: members of runs that ended at this instant -> their copy."""
    _resuming: bool = field(init=False, default=False)

    def describe(self) -> None:
        """See Job."""
        super().describe()
        rules, describe = self.protection.rules, self.system.journal.describe
        describe(
            ProtectionDescribed,
            self.name,
            rules.kind.value,
            alike(rules.period),
            alike(rules.cost),
            alike(rules.recovery),
            rules.verified,
            rules.copies,
            rules.cloning,
            rules.delay,
        )
        if self.needs is not None:
            needs = self.needs
            sizes = (needs.program, needs.data, needs.image, needs.label)
            describe(MessagesDescribed, self.name, *sizes)

    # --- what its kind says -------------------------------------------------------------------

    def units(self, message: StartCopy) -> tuple[int, ...]:
        """Units of data, by member."""
        return (1,) * message.processors

    def work(self, copy: Copy) -> float:
        """The whole work of a run on these members, in time at speed 1."""
        return self.described.profile.time(len(copy.members))

    def resumed(self, copy: Copy) -> Plan:
        """The next run on members that were kept."""
        return self.protection.resumed(copy)

    def settled(self, copy: Copy) -> None:
        """Tell whoever counts on it that a copy goes on otherwise than before."""

    def saved(self, run: Run) -> None:
        """A checkpoint is complete."""
        self.protection.save(run)

    def last_work(self) -> bool:
        """Whether the run that completes now completes the job."""
        return True

    def complete_work(self) -> None:
        """Tell the log what its kind says of a completed run."""

    # --- copies -------------------------------------------------------------------------------

    @handles(StartCopy, during=(Life.WAITING, Life.RUNNING))
    def begin_copy(self, message: StartCopy) -> None:
        if self.state is WAITING:
            self.become(RUNNING)
        held = members(message.numbers)
        known = self.speeds
        speeds = None if known is None else {n: known[n] for n in held} if known else {}
        copy = Copy(
            *(message.copy, held, message.text, self.units(message)),
            *(speeds or None, self.workforce),
        )
        for worker in held if self.former else ():
            self.former.pop(worker, None)
        self.copies[copy.number] = copy
        self._start_run(copy, self.plan(copy), message)

    def plan(self, copy: Copy) -> Plan:
        """What the first run of a copy is to do."""
        return self.protection.placed(copy, self.furthest())

    def furthest(self) -> State | None:
        """The state of the run under way that has most work done."""
        if not self.copies:
            return None
        now = self.now
        states = [copy.run.state(now) for copy in self.copies.values() if copy.run is not None]
        return max(states, key=lambda state: state.fraction, default=None)

    def _start_run(
        self,
        copy: Copy,
        plan: Plan,
        message: StartCopy | None = None,
        keeps: int | None = None,
    ) -> None:
        number, self.next_run = self.next_run, self.next_run + 1
        run = Run(
            *(self, number, copy, self.work(copy), plan),
            strike=self._strike(copy),
            saved=self.saved,
            recovered=self._recovered,
            over=self._over,
        )
        copy.run, copy.last = run, number
        run.begin(keeps)
        self.tell_tasks(copy, message)
        if self.killed_at is not None:
            self.after(self.killed_at, LimitReached(number))
        if self.needs is None:
            run.advance()
        else:
            run.feed()
            copy.feed(self, self.needs, plan.image)
        self.settled(copy)

    def _strike(self, copy: Copy) -> Callable[[float], bool]:
        if not self.errors.per_work:
            return self.errors.strike
        area = len(copy.members) * self.work(copy)
        return partial(self.errors.strike, density=self.described.profile.work / area)

    def tell_tasks(self, copy: Copy, message: StartCopy | None) -> None:
        """Tell the log what its kind says of a run that starts."""

    def _recovered(self, run: Run) -> None:
        self.protection.recovered(run.copy)

    @handles(WithdrawCopy, during=AT_WORK)
    def withdraw(self, message: WithdrawCopy) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None:
            self._drop(copy, WITHDRAWN, early=True)

    @handles(WithdrawCopy, during=(Life.WAITING, *GONE))
    def withdrawn_too_late(self, message: WithdrawCopy) -> None:
        """It ended at this very instant."""

    @handles(Settle)
    def settle(self, _: Settle) -> None:
        """Whoever is not enrolled again leaves."""
        if self.workforce is not None:
            for worker, copy in self.former.items():
                self.send(self.workforce(worker), LeaveRun(copy, keep=False))
        self.former.clear()

    def _drop(self, copy: Copy, outcome: Outcome, gone: bool = False, early: bool = False) -> None:
        """End the copy, and give its members back."""
        if copy.run is not None:
            copy.run.end(outcome)
        else:
            self.record(MembersReleased, self.name, copy.last)
        copy.run = None
        if early and self.reuse:
            self.former.update(dict.fromkeys(copy.members, copy.number))
            self.send(self.scheduler, MembersWait(self))
        else:
            copy.leave(self, keep=False)
        del self.copies[copy.number]
        waits = not self.copies and not gone
        if waits:
            self.become(WAITING)
        self.give_back(copy.number, outcome, waits, gone and not self.copies)

    # --- its members --------------------------------------------------------------------------

    @handles(MemberMoved, during=AT_WORK)
    def member_moved(self, message: MemberMoved) -> None:
        copy = self.copies.get(message.copy)
        if copy is None:
            return
        copy.move(message.worker, message.state)
        if message.state is DOWN:
            self._lose(copy, message.worker)
        elif copy.run is not None:
            copy.run.review()
        else:
            self._resume_soon()
        self.settled(copy)

    @handles(MemberSped, during=AT_WORK)
    def member_sped(self, message: MemberSped) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None and copy.speeds is not None:
            copy.speeds[message.worker] = message.speed
            if copy.run is not None:
                copy.run.review()
            self.settled(copy)

    @handles(MemberFed, during=AT_WORK)
    def member_fed(self, message: MemberFed) -> None:
        self._fed(message.copy, message.run, message.worker)

    @handles(MemberSaved, during=AT_WORK)
    def member_saved(self, message: MemberSaved) -> None:
        self._fed(message.copy, message.run, message.worker)

    def _fed(self, number: int, run: int, worker: int) -> None:
        copy = self.copies.get(number)
        if copy is not None and copy.run is not None and copy.run.number == run:
            copy.run.fed(worker)
            self.settled(copy)

    @handles(MemberMoved, during=(Life.WAITING, *GONE))
    @handles(MemberSped, during=(Life.WAITING, *GONE))
    @handles(MemberFed, during=(Life.WAITING, *GONE))
    @handles(MemberSaved, during=(Life.WAITING, *GONE))
    def hear_too_late(self, message: object) -> None:
        """The copy ended at this very instant."""

    def _lose(self, copy: Copy, worker: int) -> None:
        lost = self.protection.struck(copy, worker)
        if copy.run is not None:
            self._end_run(copy, LOST)
        if lost is not None:
            struck = tuple(sorted(copy.struck))
            self.record(CheckpointLost, self.name, copy.last, struck)
            self._give_up(copy, lost)

    def _give_up(self, copy: Copy, lost: float | None) -> None:
        if lost:
            self.record(RestartedFromScratch, self.name, copy.last, lost)

    def _end_run(self, copy: Copy, outcome: Outcome) -> None:
        """The run is lost or has failed: its copy waits for the next one, or is over."""
        if not self.protection.keeps:
            self._drop(copy, outcome, early=True)
            return
        assert copy.run is not None
        copy.run.end(outcome, kept=True)
        copy.run = None
        copy.leave(self, keep=True)
        self._resume_soon()

    def _resume_soon(self) -> None:
        if not self._resuming:
            self._resuming = True
            self.later(RESUME, Phase.RUNS_RESUME)

    @handles(Resume)
    def resume(self, _: Resume) -> None:
        self._resuming = False
        for copy in list(self.copies.values()):
            if copy.run is None and not copy.absent:
                self._start_run(copy, self.resumed(copy), keeps=copy.last)

    # --- parts and ends of runs ---------------------------------------------------------------

    @handles(PartDue)
    def pass_parts(self, message: PartDue) -> None:
        """All its runs' parts that end at this instant, by run number."""
        if len(self.copies) == 1:
            message.run.pass_part()
            return
        now, phase = self.now, message.run.phase
        runs = [copy.run for copy in self.copies.values() if copy.run is not None]
        due = [run for run in runs if run.due == now and run.phase is phase]
        for run in sorted(due, key=lambda run: run.number):
            if not run.ended:
                run.pass_part()

    def _over(self, run: Run, outcome: Outcome) -> None:
        """A run's verification has ended it."""
        copy = run.copy
        if outcome is FAILED:
            lost = self.protection.failed(copy)
            self._end_run(copy, FAILED)
            self._give_up(copy, lost)
            return
        self._complete_by(copy)

    def _complete_by(self, first: Copy) -> None:
        """This copy was first: the others end at this instant."""
        gone = self.last_work()
        others = [copy for copy in self.copies.values() if copy is not first]
        assert first.run is not None
        first.run.end(COMPLETED)
        first.run = None
        for copy in others:
            self._drop(copy, WITHDRAWN, gone)
        self.protection.forget()
        self._leave(first, gone)

    def _leave(self, first: Copy, gone: bool) -> None:
        first.leave(self, keep=False)
        self.copies.clear()
        self.complete_work()
        if gone:
            self.give_back(first.number, COMPLETED, False, True)
            self.complete()
        else:
            self.become(WAITING)
            self.give_back(first.number, COMPLETED, True)

    @handles(LimitReached)
    def reach_limit(self, message: LimitReached) -> None:
        runs = {copy.run.number for copy in self.copies.values() if copy.run is not None}
        if message.run in runs:
            for copy in list(self.copies.values()):
                self._drop(copy, WITHDRAWN, gone=True)
            self.die()

    def waits_for(self) -> str | None:
        copies = self.copies.values()
        absent = sorted(worker for copy in copies for worker in copy.absent)
        if absent:
            return f"{self._names(absent)} to be UP again"
        lack = sorted(worker for copy in copies if copy.run for worker in copy.run.missing)
        return f"messages of {self._names(lack)}" if lack else super().waits_for()

    def _names(self, workers: Sequence[int]) -> str:
        known = self.workforce.known if self.workforce is not None else {}
        return ", ".join(known[n].name if n in known else f"worker {n}" for n in workers)


@define(eq=False)
class IterativeJob(JobOfRuns):
    """m tasks in lockstep, iteration after iteration (002, III.A); each iteration is work of its
    own (R1)."""

    tasks: int = field(kw_only=True)
    """m, tasks per iteration."""
    iterations: int = field(kw_only=True)
    task_times: Sequence[float] = field(kw_only=True)
    """w_q: time units per task, by worker."""
    iteration: int = field(init=False, default=0)

    def describe(self) -> None:
        """See Job; its first iteration begins."""
        super().describe()
        self.record(IterationStarted, self.name, self.iteration)

    def work_told(self) -> float:
        """See Job: it hangs on the workers."""
        return 0

    def units(self, message: StartCopy) -> tuple[int, ...]:
        """Its tasks: as the decider dealt them, or one by one round the members."""
        if message.tasks:
            return message.tasks
        whole, rest = divmod(self.tasks, message.processors)
        return tuple(whole + (k < rest) for k in range(message.processors))

    def work(self, copy: Copy) -> float:
        """W = max x_q w_q."""
        pairs = zip(copy.members, copy.units, strict=True)
        return max(units * self.task_times[worker] for worker, units in pairs)

    def tell_tasks(self, copy: Copy, message: StartCopy | None) -> None:
        """See JobOfRuns."""
        wanted = self.system.journal.wants(TasksDealt)
        tasks = tuple(zip(copy.members, copy.units, strict=True)) if wanted else ()
        reason = message.reason if message is not None else None
        self.record(TasksDealt, self.name, self.iteration, copy.last, tasks, reason)

    def last_work(self) -> bool:
        """See JobOfRuns."""
        return self.iteration + 1 == self.iterations

    def complete_work(self) -> None:
        """See JobOfRuns."""
        self.record(IterationCompleted, self.name, self.iteration)
        self.iteration += 1
        if self.iteration < self.iterations:
            self.record(IterationStarted, self.name, self.iteration)

    def waits_for(self) -> str | None:
        if self.state is WAITING:
            return f"workers for iteration {self.iteration}"
        return super().waits_for()
