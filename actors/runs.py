"""Jobs that keep account of their runs: how copies are placed, run and end, and what becomes of
their runs when members change (rules.md, R and P5).

What not every job has is in its parts, `actors/parts/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.ends import Ends, phase_of
from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    MembersReleased,
    Outcome,
    ProtectionDescribed,
    RestartedFromScratch,
    StageStarted,
    VerificationEnded,
)
from actors.hazards import SilentErrors
from actors.intervals import Members, members
from actors.job import AT_WORK, GONE, RUNNING, WAITING, Job, Life
from actors.messages import (
    Cancel,
    CancelCopy,
    CopyOver,
    MemberReady,
    MemberSpeedChanged,
    MemberStateChanged,
    ReplaceMember,
    Resume,
    StartCopy,
)
from actors.parts import ORDER, WANTING, Host, Part
from actors.parts.asked import Parts
from actors.progress_reports import awaited, run_progress
from actors.protection import Protection
from actors.protection.cloning import furthest_run
from actors.protection.plan import Plan, State
from actors.run import PartDue, Run
from actors.runtime import NOTHING, Phase, handles
from actors.steps import READY
from actors.worker_messages import Needs
from policies.availability import WorkerState

COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED
LOST, CANCELLED = Outcome.LOST, Outcome.CANCELLED
DOWN, RUNS_RESUME = WorkerState.DOWN, Phase.RUNS_RESUME
RESUME = Resume()
# Questions under names of their own, as in `actors/parts/asked.py`.
PLACED, EQUIP, STARTED, LEFT = Part.placed, Part.equip, Part.started, Part.left
RESUMES, SETTLED = Part.resumes, Part.settled
LATE = tuple(kind for part in ORDER for kind in part.late)


def _found(kind: type[Part]) -> Callable[[JobOfRuns], Part]:
    return lambda job: job.parts.of[kind]


@define(eq=False)
class JobOfRuns(Job):
    """A job that runs as up to r copies at once, on workers that they do not share (P5). It starts
    the runs of its copies, and ends them: the first copy to complete completes the job. It is told
    of its members' changes of state and speed, and its runs stop, go on, slow down or are lost
    accordingly."""

    part_kinds: ClassVar = {kind: _found(kind) for kind in ORDER} | {Ends: attrgetter("ends")}

    protection: Protection = field(kw_only=True)
    errors: SilentErrors = field(kw_only=True)
    needs: Needs | None = field(kw_only=True, default=None)
    """Messages that each member fetches; None: there is no master."""
    reports: bool = field(kw_only=True, default=False)
    """Whether the job reports its runs' progress to the scheduler."""
    given: Sequence[Callable[[Host], Part]] = field(kw_only=True, default=())
    """Makers of those of the job's parts that follow from the platform, not from the job."""
    parts: Parts = field(init=False)
    ends: Ends = field(init=False)
    copies: dict[int, Copy[Run]] = field(init=False, factory=dict)
    """Maps numbers to copies, in the order in which the copies were placed."""
    next_run: int = field(init=False, default=0)
    _resuming: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.parts, self.ends = Parts(self, ORDER, WANTING), Ends(self)

    def started(self) -> None:
        self.parts.begin(self.given)
        super().started()

    def describe(self, cause: int) -> int:
        super().describe(cause)
        self.record(cause, ProtectionDescribed, self.name, *self.protection.rules.described)
        return cause

    # --- what its kind says -------------------------------------------------------------------

    def units(self, message: StartCopy) -> tuple[int, ...]:
        """Return how many units of data each member of the new copy fetches, in the order of its
        workers; 1 each, unless a kind of job says otherwise. The result is empty without a master
        to fetch from: it is not needed then, and a wide job has thousands of members."""
        return (1,) * message.processors if message.addresses else ()

    def work(self, copy: Copy[Run]) -> float:
        """Return the whole work of a run on the copy's members, in time at speed 1: t(p) for p
        members, unless a kind of job says otherwise."""
        return self.described.profile.time(len(copy.members))

    def resumed(self, copy: Copy[Run]) -> Plan:
        """Return the plan of the copy's next run, on the members that the copy has kept since its
        last run: the state that it begins from, the parts before it computes, and how it takes
        checkpoints."""
        return self.protection.resumed(copy)

    def last_work(self) -> bool:
        """Return whether the job is completed once the run that is ending now has completed. True
        unless a kind of job has more to run, such as an iterative job with further iterations."""
        return True

    def complete_work(self, cause: int) -> int:
        """Log the events that a completed run leads to beside its own end, such as the end of an
        iteration; by default there are none. `cause` is the number of the event that ended the run.
        Return the number (seq) of the last event, or `cause` if there is none."""
        return cause

    def log_tasks(self, copy: Copy[Run], message: StartCopy | None, cause: int) -> int:
        """Log the events that the start of a run of this kind of job leads to beside its own, such
        as how tasks are dealt or data moved; by default there are none. `message` is the
        scheduler's request if this is the copy's first run. Return the number (seq) of the last
        event, or `cause` if there is none."""
        return cause

    # --- its copies begin ---------------------------------------------------------------------

    @handles(StartCopy, during=(Life.WAITING, Life.RUNNING))
    def begin_copy(self, message: StartCopy, cause: int) -> None:
        if self.state is WAITING:
            self.become(RUNNING)
        speeds, addresses = message.speeds, message.addresses
        # Where each member has a speed, an address or tasks, the members are listed anyway.
        each = speeds or addresses or message.tasks
        numbers, count = message.numbers, message.processors
        held = members(numbers) if each else Members(numbers, size=count if numbers else 0)
        copy: Copy[Run] = Copy(
            self,
            message.copy,
            held,
            message.text,
            self.units(message),
            dict(zip(held, speeds, strict=True)) if speeds else None,
            dict(zip(held, addresses, strict=True)) if addresses else None,
        )
        self.copies[message.copy] = copy
        for part in self.parts.to[PLACED]:
            part.placed(copy, message)
        before = self.parts.before(first=True) if self.parts.each else 0
        self.start_run(copy, self.plan(copy), cause, message, before=before)

    def plan(self, copy: Copy[Run]) -> Plan:
        """Return the plan of the first run of a copy that has just been placed: the state that the
        run begins from, if any, the parts before it computes, and how it takes checkpoints."""
        return self.protection.placed(copy, self.furthest)

    def furthest(self) -> State | None:
        """Return the state of the run under way with the most work done, relative to its whole
        work; None if no run is under way. Of several equally far it is that of the run with the
        lowest worker. Runs that stand still for a reason that the job does not know yet, such as a
        hang, do not count (rules.md, P5 and F1)."""
        return furthest_run(self.copies.values(), self.parts.doubts, self.now)

    def start_run(
        self,
        copy: Copy[Run],
        plan: Plan,
        cause: int,
        message: StartCopy | None = None,
        keeps: int | None = None,
        before: float = 0,
    ) -> None:
        """Start the next run of a copy by this plan; `before` time units pass before its members
        fetch anything. `cause` is the number of the event that leads to it.

        `message` is the scheduler's request if this is the copy's first run; `keeps` is the number
        of the run that held the same members before, if there was one.
        """
        number, self.next_run = self.next_run, self.next_run + 1
        saving = self.protection.saving(plan, self.is_unseen)
        run = Run(self, number, copy, self.work(copy), plan, saving, self.needs)
        copy.run, copy.last = run, number
        cause = run.begin(cause, keeps)
        to = self.parts.to
        for part in to[EQUIP]:
            part.equip(run, cause)
        if message is not None:
            for part in to[STARTED]:
                part.started(copy, message, cause)
        cause = self.log_tasks(copy, message, cause)
        cause = run.start_up(before, cause)
        self.report_progress(copy, cause)

    def is_unseen(self) -> bool:
        """Return whether neither the scheduler nor the log needs to know of each checkpoint."""
        wants = self.system.journal.wants
        return not (self.reports or wants(CheckpointTaken) or wants(StageStarted))

    # --- what its runs tell -------------------------------------------------------------------

    def stage_in(
        self, copy: Copy[Run], image: bool, cause: int, workers: Sequence[int] | None = None
    ) -> None:
        """Have the copy's members, or these of them, fetch from the master what they lack for its
        run; with `image` also the state that it continues from. `cause` is the number of the event
        that leads to it."""
        for part in self.parts.to[Part.staged_in]:
            part.staged_in(copy, copy.members if workers is None else workers)
        assert self.needs is not None
        copy.stage_in(self.needs, image, cause, workers)

    def finds_error(self, run: Run, cause: int) -> bool:
        errors, density = self.errors, 0.0
        if errors.per_work:
            density = self.described.profile.work / (len(run.copy.members) * run.work)
        found = errors.finds_error(run.exposed, density)
        if errors.drawn:
            run.record(cause, VerificationEnded, run.exposed, found)
        return found

    def saved(self, run: Run, state: State, cause: int) -> None:
        self.protection.save(run.copy, state)

    def stored(self, run: Run, state: State) -> None:
        self.protection.store(run.copy, state)

    def doubts(self, copy: Copy[Run]) -> bool:
        return self.parts.doubts(copy)

    def recovered(self, run: Run) -> None:
        self.protection.recovered(run.copy)

    def over(self, run: Run, outcome: Outcome, cause: int) -> int:
        copy = run.copy
        if outcome is not FAILED:
            return self._complete_by(copy, cause)
        lost = self.protection.failed(copy)
        cause = self.end_run(copy, FAILED, cause)
        if lost:
            copy.cause = cause = self.discard(copy, lost, cause)
        return cause

    # --- its members change -------------------------------------------------------------------

    @handles(MemberStateChanged, during=AT_WORK)
    def member_state_changed(self, message: MemberStateChanged, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is None:
            return
        if self.parts.each and self.parts.take(copy, message, cause):
            return
        copy.move(message.worker, message.state, self.system.loop.now, cause)
        if message.state is DOWN:
            cause = self._lose(copy, message.worker, message.hidden, cause)
        elif copy.run is not None:
            cause = copy.run.review(cause)
        else:
            copy.cause = cause
            self.resume_soon()
        self.report_progress(copy, cause)

    def _lose(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> int:
        """Act on a member's going DOWN: its run is lost, or goes on, or a fault is not known yet.
        Return the number (seq) of the last event."""
        lost, parts = self.protection.member_failed(copy, worker), self.parts
        end = parts.down(copy, worker, hidden, cause) if parts.each else None
        if end is None:
            if parts.each:
                parts.known(copy, worker)
            end = cause if copy.run is None else self.fail(copy, copy.run, worker, cause)
        if lost is None:
            return end
        failed = tuple(sorted(self.protection.failed_members(copy)))
        cause = self.record(cause, CheckpointLost, self.name, copy.last, failed)
        copy.cause = self.discard(copy, lost, cause)
        return copy.cause

    def fail(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int:
        """Act on a fault or hang of the member `worker` that is known now: the run is lost (R2),
        unless a part has it go on. `cause` is the number of that event. Return the number (seq) of
        the last event."""
        end = self.parts.goes_on(copy, run, worker, cause) if self.parts.each else None
        return self.end_run(copy, LOST, cause) if end is None else end

    @handles(MemberSpeedChanged, during=AT_WORK)
    def member_speed_changed(self, message: MemberSpeedChanged, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is None or self.parts.take(copy, message, cause):
            return
        if copy.speeds is not None:
            copy.speeds[message.worker] = message.speed
            if copy.run is not None:
                cause = copy.run.review(cause)
            self.report_progress(copy, cause)

    @handles(MemberReady, during=AT_WORK)
    def member_ready(self, message: MemberReady, cause: int) -> None:
        copy = self.copies.get(message.copy)
        run = copy.run if copy is not None else None
        if copy is None or run is None or run.number != message.run:
            return
        if self.parts.each and self.parts.take(copy, message, cause):
            return
        last = run.member_ready(message.worker)
        if last and message.passed and len(self.copies) > 1 and self.system.loop.together:
            self.ends.messages_end(run, cause)
        else:
            self.report_progress(copy, run.react(READY, cause) if last else cause)

    def replace(self, copy: Copy[Run], message: ReplaceMember) -> None:
        """Give the place of one of the copy's members to another worker."""
        worker, other = message.worker, message.replacement
        copy.replace(message)
        self.protection.replaced(copy, worker, other)
        for part in self.parts.to[Part.replaced]:
            part.replaced(copy, worker, other)

    @handles(
        *(MemberStateChanged, MemberSpeedChanged, MemberReady, *LATE),
        during=(Life.WAITING, *GONE),
    )
    def too_late(self, message: object, cause: int) -> None:
        """Ignore a message to a copy that ended at the same instant."""

    # --- next runs ----------------------------------------------------------------------------

    def resume_soon(self) -> None:
        """Ask the parts, and start the next run of each copy that has none, later in this instant,
        once all changes of workers are known."""
        if not self._resuming:
            self._resuming = True
            self.later(RESUME, NOTHING, RUNS_RESUME)

    @handles(Resume)
    def resume(self, _: Resume, __: int) -> None:
        self._resuming, to = False, self.parts.to
        resuming, settling = to[RESUMES], to[SETTLED]
        for copy in list(self.copies.values()):
            for part in resuming:
                part.resumes(copy)
            if copy.run is None and not copy.absent and copy.number in self.copies:
                # Time to choose workers is not spent, as the copy has kept its own.
                before, plan = self.parts.before(first=False), self.resumed(copy)
                self.start_run(copy, plan, copy.cause, keeps=copy.last, before=before)
            for part in settling:
                part.settled(copy)

    # --- parts of runs end --------------------------------------------------------------------

    @handles(PartDue)
    def pass_parts(self, message: PartDue, cause: int) -> None:
        """End the parts, and the pauses, of all the job's runs that are due at this instant. With
        real processes that keep to no nominal times, only the part of the message's run ends."""
        first = self.copies[message.copy].run
        assert first is not None
        if self.ends.passed or (len(self.copies) > 1 and self.system.loop.together):
            self.ends.pass_all(phase_of(first))
        elif first.still is None or first.pause is None:
            self.pass_part(first)
        else:
            self.ends.end_pause(first)

    def pass_part(self, run: Run) -> None:
        """End the run's present part, whose time has passed, and go on with the next one; report
        the progress to the scheduler if it wants such reports."""
        cause = run.pass_part(run.cause)
        if self.reports:
            self.report_progress(run.copy, cause)

    # --- runs and copies end ------------------------------------------------------------------

    def discard(self, copy: Copy[Run], lost: float | None, cause: int) -> int:
        """Log that the saved work `lost` is given up, so that the copy starts from scratch, unless
        it is None or 0. Return the number (seq) of that event, or `cause` if there is none."""
        if not lost:
            return cause
        return self.record(cause, RestartedFromScratch, self.name, copy.last, lost)

    def end_run(self, copy: Copy[Run], outcome: Outcome, cause: int) -> int:
        """End the copy's run, which is lost or has failed, with this outcome. Under buddies, or
        where a part says so, the copy keeps its members for its next run; otherwise it ends too.
        `cause` is the number of the event that leads to it. Return the number (seq) of the event
        that ends the run, or of the one by which it costs saved work."""
        if not (self.protection.keeps or self.parts.keep):
            return self.drop(copy, outcome, cause, early=True)
        assert copy.run is not None
        copy.outcome = outcome
        copy.cause = end = copy.run.end(outcome, cause, kept=True)
        copy.run = None
        copy.leave(end, keep=True)
        self.resume_soon()
        if lost := self.protection.lost(copy):
            copy.cause = end = self.discard(copy, lost, end)
        return end

    @handles(CancelCopy, during=AT_WORK)
    def cancel_copy(self, message: CancelCopy, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None:
            self.drop(copy, CANCELLED, cause, early=True)

    @handles(CancelCopy, during=(Life.WAITING, *GONE))
    def cancelled_too_late(self, message: CancelCopy, cause: int) -> None:
        """Ignore the request to cancel a copy that has ended at the same instant."""

    def drop(
        self, copy: Copy[Run], outcome: Outcome, cause: int, early: bool = False, gone: bool = False
    ) -> int:
        """End the copy with this outcome: end its run, if it has one, and release its members.
        `cause` is the number of the event that leads to it. Return the number (seq) of the event
        that ends the run or, if there is none, that releases the members.

        `gone`: the job itself ends, so it does not wait for workers again. `early`: the scheduler
        may enrol the members again at this very instant, so that a part may dismiss them later.
        """
        if copy.run is not None:
            end = copy.run.end(outcome, cause)
        else:
            end = self.record(cause, MembersReleased, self.name, copy.last)
        copy.run = None
        addressed = copy.addresses is not None
        if addressed and not (early and self.parts.released(copy, end)):
            copy.leave(end, keep=False)
        self._forget(copy, end)
        del self.copies[copy.number]
        waits = not self.copies and not gone
        if waits:
            self.become(WAITING)
        over = CopyOver(self.index, copy.number, outcome, waits, gone and not self.copies)
        self.send(self.scheduler, over, end)
        return end

    def _forget(self, copy: Copy[Run], cause: int) -> None:
        self.protection.left(copy)
        for part in self.parts.to[LEFT]:
            part.left(copy, cause)

    def _complete_by(self, first: Copy[Run], cause: int) -> int:
        """Complete the job, or an iterative job's present iteration, by the run of the copy
        `first`, which has finished first. All other copies are cancelled at this instant. `cause`
        is the number of the event that leads to it. Return the number (seq) of the event that ends
        the completing run."""
        gone = self.last_work()
        others = [copy for copy in self.copies.values() if copy is not first]
        assert first.run is not None
        end = first.run.end(COMPLETED, cause)
        first.run = None
        for copy in others:
            self.drop(copy, CANCELLED, end, gone=gone)
        self.protection.forget()
        first.leave(end, keep=False)
        self._forget(first, end)
        self.copies.clear()
        since = self.complete_work(end)
        over = CopyOver(self.index, first.number, COMPLETED, not gone, gone, since)
        self.send(self.scheduler, over, end)
        if gone:
            self.complete(since)
        else:
            self.become(WAITING)
        return end

    @handles(Cancel, during=AT_WORK)
    def cancel_running(self, message: Cancel, cause: int) -> None:
        self.end_all(list(self.copies.values()), cause)

    def end_all(self, copies: Sequence[Copy[Run]], cause: int) -> None:
        """End the job uncompleted with its copies, which end in this order, because of the event
        numbered `cause`."""
        for copy in copies:
            end = self.drop(copy, CANCELLED, cause, gone=True)
        self.die(end)

    # --- what it reports ----------------------------------------------------------------------

    def report_progress(self, copy: Copy[Run], cause: int) -> None:
        """Send the scheduler the progress of a copy whose stage or rate has changed, if the job is
        to send such reports and the copy has not ended. `cause` is the number of the event that
        changed it."""
        if self.reports and copy.number in self.copies:
            progress = run_progress(self.index, copy, self.protection.saved)
            self.send(self.scheduler, progress, cause)

    def waits_for(self) -> str | None:
        return awaited(self.copies.values()) or super().waits_for()
