"""Jobs whose runs depend on their members' changes of state and speed (rules.md, R)."""

from __future__ import annotations

from attrs import define, field

from actors.copies import AT_WORK, GONE, JobOfCopies
from actors.copy import Copy
from actors.events import (
    CheckpointLost,
    FaultDetected,
    HangDetected,
    MemberReplaced,
    Outcome,
    RestartedFromScratch,
    RunHung,
    StandbyJoined,
    StandbyLost,
)
from actors.job import Life
from actors.messages import (
    MemberFaultDetected,
    MemberHasNotice,
    MemberHung,
    MemberReady,
    MemberSpeedChanged,
    MemberStateChanged,
    ReplaceMember,
    ReplacementDue,
    ReplacementWanted,
    Resume,
    StandbyJoins,
    WorkerLeft,
)
from actors.protection.saving import CheckpointDue
from actors.repair_messages import MemberRetired, RunStruck
from actors.run import HANGS, NOTICE, READY, SAVED, PartDue, Run
from actors.runtime import NOTHING, Phase, WorkersRetired, handles, message
from actors.steps import Halt
from policies.availability import WorkerState


@message
class ActOnNotices:
    """A job tells itself to act on all notices given at this instant, by which owners announce that
    they will take members DOWN. A notice can make a checkpoint due."""


@message
class ActOnHangs:
    """A job tells itself to act on all hangs that begin or are detected at this instant."""


@message
class HangDue:
    """A job tells itself that the hang of `worker`, which stopped this run, is detected now.
    Nothing happens if the run is over by then."""

    copy: int
    run: int
    worker: int


@message
class PassMessages:
    """A job tells itself to let those runs go on whose last awaited messages have ended at this
    instant."""


FAILED, LOST = Outcome.FAILED, Outcome.LOST
UP, DOWN = WorkerState.UP, WorkerState.DOWN
RESUME, ACT_ON_NOTICES, ACT_ON_HANGS = Resume(), ActOnNotices(), ActOnHangs()
PASS_MESSAGES = PassMessages()


@define(eq=False)
class JobOfRuns(JobOfCopies):
    """Base class of jobs that keep account of their runs' progress: the job is notified of its
    members' changes of state and speed, and its runs stop, go on, slow down or are lost
    accordingly."""

    _resuming: bool = field(init=False, default=False)
    _passed: dict[int, int] = field(init=False, factory=dict)
    """Maps the number of each run whose last awaited message has ended at this instant to that
    event's number, until the run goes on."""
    _notices: list[tuple[int, int, int]] = field(init=False, factory=list)
    """Each notice that an owner has given at this instant: copy, worker, and the event's number."""

    _hangs: list[tuple[MemberHung, int]] = field(init=False, factory=list)
    """Each hang of a member at this instant, and the number of the event that caused it."""
    _hung: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """Maps the number of each run that hangs to its member that hangs, and the number of the event
    with which that hang began."""
    _detected: list[tuple[HangDue, int]] = field(init=False, factory=list)
    """Each hang that is detected at this instant, and the number of the event with which it
    began."""

    # --- its members --------------------------------------------------------------------------

    @handles(MemberStateChanged, during=AT_WORK)
    def member_state_changed(self, message: MemberStateChanged, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is None:
            return
        if message.worker in copy.standbys:
            self._standby_changed(copy, message, cause)
            return
        if message.worker in copy.lost_standbys:
            return  # a standby that went DOWN and came back, all at this instant
        copy.move(message.worker, message.state, self.now)
        if message.state is DOWN:
            self._await_replacement(copy, message.worker, cause)
            cause = self._lose(copy, message.worker, cause, message.hidden)
        else:
            cause = self._member_changed(copy, message.worker, cause)
        self.report_progress(copy, cause)

    def _member_changed(self, copy: Copy[Run], worker: int, cause: int) -> int:
        """Adapt the copy's run to its member `worker`, which is now UP or RECLAIMED. Without a run,
        start the next one later in this instant if all members are UP then. Return the number (seq)
        of the last event that follows, or `cause` if there is none."""
        if copy.run is not None:
            return copy.run.review(cause)
        copy.cause = cause
        self.resume_soon()
        return cause

    @handles(MemberFaultDetected, during=AT_WORK)
    def member_fault_detected(self, message: MemberFaultDetected, cause: int) -> None:
        copy, worker = self.copies.get(message.copy), message.worker
        if copy is None or worker not in copy.undetected:
            return
        del copy.undetected[worker]
        since, _ = copy.went_down[worker]
        self.ask_replacement(ReplacementDue(copy.number, worker, since), cause)
        self.report_struck(copy)
        cause = self.record(cause, FaultDetected, self.name, copy.last, worker)
        if copy.run is not None:
            cause = self.fail(copy, copy.run, worker, cause)
        elif self.described.standbys:
            self.resume_soon()
        self.report_progress(copy, cause)

    @handles(MemberHung, during=AT_WORK)
    def member_hung(self, message: MemberHung, cause: int) -> None:
        self._act_on_hangs()
        self._hangs.append((message, cause))

    @handles(HangDue)
    def detect_hang(self, message: HangDue, cause: int) -> None:
        self._act_on_hangs()
        self._detected.append((message, cause))

    def _act_on_hangs(self) -> None:
        if not (self._hangs or self._detected):
            # By then all workers have changed state: owners' changes and faults come before hangs.
            self.later(ACT_ON_HANGS, NOTHING, Phase.STATES_CHANGE)

    @handles(ActOnHangs)
    def act_on_hangs(self, _: ActOnHangs, __: int) -> None:
        """Act on the hangs that are detected at this instant: their runs are lost or, with
        replicas, go on without the member's replica. Then stop the runs that begin to hang, in the
        order of the laws of faults, then of the workers. A further hang of a run that hangs changes
        nothing (rules.md, F6)."""
        detected, self._detected = self._detected, []
        for due, cause in detected:
            self._lose_hung(due, cause)
        hangs, self._hangs = self._hangs, []
        for hung, cause in sorted(hangs, key=lambda it: (it[0].hang.law, it[0].worker)):
            copy = self.copies.get(hung.copy)
            run = copy.run if copy is not None else None
            if (
                copy is None
                or run is None
                or run.halt & Halt.HUNG
                or not copy.depends_on(hung.worker)
            ):
                continue  # only a member of a run under way can hang
            self._hang(copy, run, hung, cause)

    def _hang(self, copy: Copy[Run], run: Run, message: MemberHung, cause: int) -> None:
        detection, worker = message.hang.detection, message.worker
        due = HangDue(copy.number, run.number, worker)
        hung = self.record(cause, RunHung, self.name, run.number, worker, detection)
        self._hung[run.number] = worker, hung
        cause = run.stop(HANGS, hung)
        if detection:
            self.report_progress(copy, cause)
            self.at(self.now + detection, due, hung, Phase.STATES_CHANGE)
        else:
            self._lose_hung(due, hung)

    def _lose_hung(self, due: HangDue, cause: int) -> None:
        copy = self.copies.get(due.copy)
        run = copy.run if copy is not None else None
        if copy is None or run is None or self._hung.get(run.number) != (due.worker, cause):
            return  # the run that hung is over
        cause = self.record(cause, HangDetected, self.name, due.run, due.worker)
        self.report_progress(copy, self.fail(copy, run, due.worker, cause))

    @handles(MemberHasNotice, during=AT_WORK)
    def member_has_notice(self, message: MemberHasNotice, cause: int) -> None:
        if not self._notices:
            self.later(ACT_ON_NOTICES, NOTHING, Phase.NOTICES)
        self._notices.append((message.copy, message.worker, cause))

    @handles(ActOnNotices)
    def act_on_notices(self, _: ActOnNotices, __: int) -> None:
        """Have the runs react, by run number, to all notices that owners have given at this instant
        for members that these runs compute on: such a notice can make a checkpoint due."""
        notices, self._notices = self._notices, []
        known = ((self.copies.get(copy), worker, cause) for copy, worker, cause in notices)
        # A notice changes nothing if the run does not depend on the worker.
        found = ((it.run, cause) for it, worker, cause in known if it and it.depends_on(worker))
        noticed = [(run, cause) for run, cause in found if run is not None]
        for run, cause in sorted(noticed, key=lambda it: it[0].number):
            if not run.ended:
                self.report_progress(run.copy, run.react(NOTICE, cause))

    @handles(MemberSpeedChanged, during=AT_WORK)
    def member_speed_changed(self, message: MemberSpeedChanged, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None and message.worker in copy.standbys:
            copy.standbys[message.worker] = message.speed
        elif (
            copy is not None
            and copy.speeds is not None
            and message.worker not in copy.lost_standbys
        ):
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
        last = run.member_ready(message.worker)
        if last and message.passed and len(self.copies) > 1 and self.system.loop.together:
            self._passed[run.number] = cause
            self.later(PASS_MESSAGES, NOTHING, Phase.PARTS_END)
            return
        self.report_progress(copy, run.react(READY, cause) if last else cause)

    # --- standbys (rules.md, P12) --------------------------------------------------------------

    def _standby_changed(self, copy: Copy[Run], message: MemberStateChanged, cause: int) -> None:
        """Act on a standby's change of state. One that goes DOWN is released, which is logged
        (StandbyLost). One that is RECLAIMED replaces nobody until it is UP again. One that is UP
        can replace a member that is DOWN later in this instant. `cause` is the number of the event
        that changed its state."""
        worker, state = message.worker, message.state
        (copy.standbys_away.discard if state is UP else copy.standbys_away.add)(worker)
        if state is DOWN:
            del copy.standbys[worker]
            copy.standbys_away.discard(worker)
            copy.lost_standbys.add(worker)
            cause = self.record(cause, StandbyLost, self.name, copy.last, worker)
            self.send(self.scheduler, WorkerLeft(copy.number, worker), cause)
        else:
            self.resume_soon()

    @handles(StandbyJoins, during=AT_WORK)
    def standby_joins(self, message: StandbyJoins, cause: int) -> None:
        copy, worker = self.copies[message.copy], message.worker
        copy.standbys[worker] = message.speeds[0] if message.speeds else 1
        copy.standbys = dict(sorted(copy.standbys.items()))
        copy.lost_standbys.discard(worker)
        if copy.addresses is not None and message.addresses:
            copy.addresses = {**copy.addresses, worker: message.addresses[0]}
        joined = self.record(cause, StandbyJoined, self.name, copy.last, worker)
        copy.stage_in_standbys(self.needs, (worker,), joined)

    def _use_standbys(self, copy: Copy[Run]) -> None:
        """Replace each member that is DOWN by a standby that is UP, the lowest first. If there are
        too few standbys, end the copy and release its workers; under buddies use those that there
        are, and let the copy wait for its other members."""
        down, ready = sorted(copy.down.difference(copy.undetected)), list(copy.ready())
        if len(down) > len(ready) and not self.protection.keeps:
            _, fall = copy.went_down[down[len(ready)]]
            self._drop(copy, copy.outcome or LOST, fall, early=True)
            return
        for worker, other in zip(down, ready, strict=False):
            copy.cause = self.promote(copy, worker, other)

    def promote(self, copy: Copy[Run], worker: int, other: int) -> int:
        """Give the place of `worker`, a member of the copy that is DOWN, to the standby `other`,
        and let the scheduler know that the copy no longer holds `worker`. Return the number (seq)
        of the event that logs it."""
        _, fall = copy.went_down[worker]
        copy.promote(worker, other)
        cause = self.record(fall, MemberReplaced, self.name, copy.last, worker, other)
        copy.newcomers[other] = cause
        self.send(self.scheduler, WorkerLeft(copy.number, worker), cause)
        return cause

    # --- members that are replaced ------------------------------------------------------------

    def _await_replacement(self, copy: Copy[Run], worker: int, cause: int) -> None:
        after = self.protection.rules.replace_after
        since, _ = copy.went_down.setdefault(worker, (self.now, cause))
        if after is not None and since == self.now:
            due = ReplacementDue(copy.number, worker, since)
            self.at(since + after, due, cause, Phase.RUNS_RESUME)

    @handles(ReplacementDue)
    def ask_replacement(self, message: ReplacementDue, _: int) -> None:
        """Ask the scheduler for a worker to replace the member that the message names. Nothing
        happens unless the member has been away since the time in the message, its fault is known,
        and `replace_after` of the protection has passed (P10)."""
        copy, worker = self.copies.get(message.copy), message.worker
        after = self.protection.rules.replace_after
        if copy is None or after is None:
            return
        since, fall = copy.went_down.get(worker, (-1, NOTHING))
        known = copy.undetected.get(worker) != since  # an undetected later fault does not matter
        if known and since == message.since and since + after <= self.due_by:
            self.send(self.scheduler, ReplacementWanted(copy.number, worker), fall)

    @handles(MemberRetired, during=AT_WORK)
    def replace_retired(self, message: MemberRetired, cause: int) -> None:
        """Ask the scheduler at once, without waiting for `replace_after`, to replace a member that
        is DOWN for ever; if the job has standbys, do nothing, as one of them replaces it.

        Raises WorkersRetired where the job does not replace members, as it would wait for ever.
        """
        copy, worker = self.copies.get(message.copy), message.worker
        if copy is None or worker in copy.standbys:
            return
        if self.protection.rules.replace_after is not None:
            _, fall = copy.went_down[worker]
            self.send(self.scheduler, ReplacementWanted(copy.number, worker), fall)
        elif not self.described.standbys:
            problem = "keeps it as a member, and replaces none (protection.replace_after)"
            raise WorkersRetired(self.now, self.name, worker, problem)

    @handles(ReplaceMember, during=AT_WORK)
    def replace_member(self, message: ReplaceMember, cause: int) -> None:
        copy = self.copies[message.copy]
        copy.replace(message)
        who = message.worker, message.replacement
        copy.cause = self.record(cause, MemberReplaced, self.name, copy.last, *who)
        self.report_progress(copy, copy.cause)

    @handles(CheckpointDue)
    def pass_checkpoints(self, message: CheckpointDue, cause: int) -> None:
        """Complete, by run number, all checkpoints that runs of this job take while they compute
        on, and whose time has passed at this instant. With real processes that keep to no nominal
        times, only the one of the message's run is complete."""
        due_by, together = self.due_by, self.system.loop.together
        runs = [copy.run for copy in self.copies.values() if copy.run is not None]
        for run in sorted(runs, key=lambda run: run.number):
            beside = run.saving.under_way
            if beside is None or beside.end is None:
                continue
            if beside.end <= due_by if together else run.number == message.run:
                self.report_progress(run.copy, run.react(SAVED, beside.cause))

    @handles(
        *(MemberStateChanged, MemberSpeedChanged, MemberReady, MemberFaultDetected),
        *(MemberHasNotice, MemberHung, MemberRetired),
        during=(Life.WAITING, *GONE),
    )
    def too_late(self, message: object, cause: int) -> None:
        """Ignore a message to a copy that ended at the same instant."""

    def _lose(self, copy: Copy[Run], worker: int, cause: int, hidden: bool) -> int:
        lost, end = self.protection.member_failed(copy, worker), cause
        if hidden:
            copy.undetected.setdefault(worker, self.now)
            if copy.run is not None and copy.depends_on(worker):
                copy.run.missing.add(worker)  # the run waits for it, whatever others report
                end = copy.run.review(cause)
        elif copy.run is not None:
            self.report_struck(copy)
            end = self.fail(copy, copy.run, worker, cause)
        elif self.described.standbys:
            self.resume_soon()
        if lost is None:
            return end
        failed_members = tuple(sorted(copy.failed_members))
        cause = self.record(cause, CheckpointLost, self.name, copy.last, failed_members)
        copy.cause = self.discard(copy, lost, cause)
        return copy.cause

    def fail(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int:
        """Act on a fault or hang of the member `worker` that is known now: the run is lost (R2).
        `cause` is the number of that event. Return the number (seq) of the event that ends the
        run."""
        return self.end_run(copy, LOST, cause)

    def report_struck(self, copy: Copy[Run]) -> None:
        """If faults are repaired, report the members of the copy's run, which a fault ends, to the
        actor that repairs: it may blame one of them for the fault."""
        if self.repairs is not None and copy.run is not None:
            struck = RunStruck(copy.number, copy.members, copy.fell_before(self.now))
            self.send(self.repairs, struck, NOTHING)

    def discard(self, copy: Copy[Run], lost: float | None, cause: int) -> int:
        """Log that the saved work `lost` is given up, so that the copy starts from scratch, unless
        it is None or 0. Return the number (seq) of that event, or `cause` if there is none."""
        if not lost:
            return cause
        return self.record(cause, RestartedFromScratch, self.name, copy.last, lost)

    def end_run(self, copy: Copy[Run], outcome: Outcome, cause: int) -> int:
        """End the copy's run, which is lost or has failed, with this outcome. Under buddies or with
        standbys the copy keeps its members for its next run; otherwise the copy ends too. `cause`
        is the number of the event that leads to it. Return the number (seq) of the event that ends
        the run."""
        if not self.protection.keeps and not self.described.standbys:
            return self._drop(copy, outcome, cause, early=True)
        assert copy.run is not None
        copy.outcome = outcome
        copy.cause = end = copy.run.end(outcome, cause, kept=True)
        copy.run = None
        copy.leave(end, keep=True)
        self.resume_soon()
        return end

    def resume_soon(self) -> None:
        """Have the next run of each copy that has none started later in this instant, once all
        changes of workers are known."""
        if not self._resuming:
            self._resuming = True
            self.later(RESUME, NOTHING, Phase.RUNS_RESUME)

    @handles(Resume)
    def resume(self, _: Resume, __: int) -> None:
        self._resuming = False
        for copy in list(self.copies.values()):
            self.resume_copy(copy)
            if copy.newcomers:
                copy.keep_newcomers()

    def resume_copy(self, copy: Copy[Run]) -> None:
        """Start the next run of a copy that has kept its members and has no run, if all members are
        UP. Members that are DOWN are replaced by standbys first, where the job has standbys."""
        if copy.run is None and self.described.standbys:
            self._use_standbys(copy)
        if copy.run is None and not copy.absent and copy.number in self.copies:
            # Time to choose workers is not spent, as the copy has kept its own.
            startup, plan = self.described.startup, self.resumed(copy)
            self._start_run(copy, plan, copy.cause, keeps=copy.last, startup=startup)

    # --- parts and ends of runs ---------------------------------------------------------------

    @handles(PartDue)
    def pass_parts(self, message: PartDue, cause: int) -> None:
        """End the parts of all this job's runs that are due at this instant, and end their pauses,
        by run number. With real processes that keep to no nominal times, only the part of the
        message's run ends."""
        first = self.copies[message.copy].run
        assert first is not None
        if not self._passed and (len(self.copies) == 1 or not self.system.loop.together):
            self.pass_part(first)
        else:
            self._pass_all(first.phase)

    @handles(PassMessages)
    def pass_messages(self, _: PassMessages, __: int) -> None:
        """Let runs whose last messages have ended at this instant go on, by run number: which of
        two equal images is kept does not depend on the members that have sent them."""
        self._pass_all(Phase.PARTS_END)

    def _pass_all(self, phase: Phase) -> None:
        due_by = self.due_by
        runs = [copy.run for copy in self.copies.values() if copy.run is not None]
        for run in sorted(runs, key=lambda run: run.number):
            if run.number in self._passed and not run.ended:
                self.report_progress(run.copy, run.react(READY, self._passed[run.number]))
            if not run.ended and self.ends(run) <= due_by and run.phase is phase:
                self.pass_part(run)
        self._passed.clear()

    def ends(self, run: Run) -> float:
        """Return the time at which the run's present part ends; inf where that is not known."""
        return run.due

    def pass_part(self, run: Run) -> None:
        """End the run's present part, whose time has passed, and go on with the next one; report
        the progress to the scheduler if it wants such reports."""
        cause = run.pass_part(run.cause)
        if self.reports:
            self.report_progress(run.copy, cause)

    def over(self, run: Run, outcome: Outcome, cause: int) -> int:
        copy = run.copy
        if outcome is not FAILED:
            return self._complete_by(copy, cause)
        lost = self.protection.failed(copy)
        cause = self.end_run(copy, FAILED, cause)
        if lost:
            copy.cause = cause = self.discard(copy, lost, cause)
        return cause
