"""Jobs that run as one or several copies: how copies are placed, started and ended (rules.md,
P5)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    CheckpointingDescribed,
    CheckpointTaken,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    ProtectionDescribed,
    Stage,
    StageStarted,
    StandbysHeld,
    StoredSizeDescribed,
    VerificationEnded,
)
from actors.hazards import SilentErrors
from actors.intervals import Members, members, text
from actors.job import RUNNING, WAITING, Job, Life
from actors.messages import (
    CancelCopy,
    ComputingChanged,
    FormerMembersWait,
    LimitReached,
    ReleaseFormer,
    RunProgress,
    StartCopy,
)
from actors.protection import Protection, Rules
from actors.protection.plan import Plan, State, furthest
from actors.repair_messages import RunOver
from actors.replicas import replicas
from actors.run import IDLE, Run, Watcher
from actors.runtime import NOTHING, Actor, Phase, handles
from actors.steps import Halt
from actors.storage import BandwidthSet, StorageClient
from actors.worker_messages import Needs
from policies.availability import WorkerState

COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED
LOST, CANCELLED = Outcome.LOST, Outcome.CANCELLED
DOWN = WorkerState.DOWN
AT_WORK = (Life.RUNNING,)
GONE = (Life.COMPLETED, Life.KILLED)
DEFAULTS = Rules().refinements()
"""Default values of CheckpointingDescribed, with which that event is not logged."""


@define(eq=False)
class JobOfCopies(Job):
    """A job that runs as up to r copies at once, on workers that they do not share (P5). It starts
    the runs of its copies, and ends them: the first copy to complete completes the job."""

    protection: Protection = field(kw_only=True)
    errors: SilentErrors = field(kw_only=True)
    needs: Needs | None = field(kw_only=True, default=None)
    """Messages that each member fetches; None: there is no master."""
    reports: bool = field(kw_only=True, default=False)
    """Whether the job reports its runs' progress to the scheduler."""
    reuse: bool = field(kw_only=True, default=False)
    """Whether a member of a run that ended early, enrolled again at that very decision, keeps its
    data and the part of a message that has passed (volatile13)."""
    storage: Actor | None = field(kw_only=True, default=None)
    """Address of the shared storage, if the job keeps checkpoints there (S1); None: it keeps none
    there."""
    clocks: tuple[Actor, ...] = field(kw_only=True, default=())
    """Hazards whose clocks pass while the job's members compute."""
    repairs: Actor | None = field(kw_only=True, default=None)
    """Actor that repairs what faults strike; the job reports to it the runs that faults end
    (rules.md, R6 and R7). None: faults have a downtime instead."""
    recorded: bool = field(kw_only=True, default=False)
    """Whether repairs keep a record of how long runs have computed on each worker (R8)."""
    watchers: Sequence[Watcher] = field(init=False, default=())
    copies: dict[int, Copy[Run]] = field(init=False, factory=dict)
    """Maps numbers to copies, in the order in which the copies were placed."""
    next_run: int = field(init=False, default=0)
    former: dict[int, tuple[Copy[Run], int]] = field(init=False, factory=dict)
    """Under `reuse`, maps each former member of a run that ended early at this instant to its copy
    and to the number of the event that ended the run."""

    def started(self) -> None:
        if self.clocks:
            self.watchers = (Computing(self.clocks, self.repairs if self.recorded else None),)
        super().started()

    def describe(self, cause: int) -> int:
        super().describe(cause)
        rules = self.protection.rules
        self.record(cause, ProtectionDescribed, self.name, *rules.described())
        refinements = rules.refinements()
        if refinements != DEFAULTS:
            self.record(cause, CheckpointingDescribed, self.name, *refinements)
        if rules.bytes is not None:
            self.record(cause, StoredSizeDescribed, self.name, rules.bytes)
        if self.needs is not None:
            needs = self.needs
            sizes = (needs.program, needs.data, needs.image, needs.label)
            self.record(cause, MessagesDescribed, self.name, *sizes)
        return cause

    # --- what its kind says -------------------------------------------------------------------

    def units(self, message: StartCopy) -> tuple[int, ...]:
        """Return how many units of data each member of the new copy fetches, in the order of its
        workers; 1 each, unless a kind of job says otherwise."""
        return (1,) * message.processors

    def work(self, copy: Copy[Run]) -> float:
        """Return the whole work of a run on the copy's members, in time at speed 1: t(p) for p
        members, unless a kind of job says otherwise."""
        return self.described.profile.time(len(copy.members))

    def resumed(self, copy: Copy[Run]) -> Plan:
        """Return the plan of the copy's next run, on the members that the copy has kept since its
        last run: the state that it begins from, the parts before it computes, and how it takes
        checkpoints."""
        return self.protection.resumed(copy)

    def report_progress(self, copy: Copy[Run], cause: int) -> None:
        """Send the scheduler the progress of a copy whose stage or rate has changed, if the job is
        to send such reports and the copy has not ended. `cause` is the number of the event that
        changed it."""
        if self.reports and copy.number in self.copies:
            self.send(self.scheduler, self._progress(copy), cause)

    def _progress(self, copy: Copy[Run]) -> RunProgress:
        run, whose = copy.run, (self.index, copy.number)
        if run is None:
            return RunProgress(*whose, None, 0, 0, 0, 0, 0, NOTHING)
        part = run.part if run.stage is Stage.COMPUTING else IDLE
        account = part.done, part.rate, part.since
        kept = self.protection.saved
        saved = kept.of(run.work) if kept else 0
        return RunProgress(*whose, run.stage, run.work, run.base, *account, run.started, saved)

    def saved(self, run: Run, state: State, cause: int) -> None:
        self.protection.save(run.copy, state)

    @abstractmethod
    def over(self, run: Run, outcome: Outcome, cause: int) -> int:
        """End a run whose verification has decided its outcome; see `actors.run.Owner`."""

    def last_work(self) -> bool:
        """Return whether the job is completed once the run that is ending now has completed. True
        unless a kind of job has more to run, such as an iterative job with further iterations."""
        return True

    def complete_work(self, cause: int) -> int:
        """Log the events that a completed run leads to beside its own end, such as the end of an
        iteration; by default there are none. `cause` is the number of the event that ended the run.
        Return the number (seq) of the last event, or `cause` if there is none."""
        return cause

    # --- copies -------------------------------------------------------------------------------

    @handles(StartCopy, during=(Life.WAITING, Life.RUNNING))
    def begin_copy(self, message: StartCopy, cause: int) -> None:
        if self.state is WAITING:
            self.become(RUNNING)
        job, speeds, addresses = self.described, message.speeds, message.addresses
        # Where each member has a speed, an address or tasks, the members are listed anyway.
        each = speeds or addresses or message.tasks
        held = members(message.numbers) if each else Members(message.numbers)
        copy: Copy[Run] = Copy(
            *(self, message.copy, held, message.text, self.units(message)),
            speeds=dict(zip(held, speeds, strict=True)) if speeds else None,
            addresses=dict(zip(held, addresses, strict=True)) if addresses else None,
        )
        self.copies[copy.number] = copy
        if job.replicas is not None:
            copy.replicas = replicas(job.replicas, message.numbers)
            copy.keepers = list(copy.replicas.groups)
        if message.standbys:
            ready = members(message.standbys)
            copy.standbys = dict(
                zip(ready, message.standby_speeds or (1,) * len(ready), strict=True)
            )
            if copy.addresses is not None:
                more = zip(ready, message.standby_addresses, strict=True)
                copy.addresses = {**copy.addresses, **dict(more)}
        startup = job.select + job.startup
        # While a run starts up its members receive nothing, and do not keep what they have
        # received.
        for worker in held if self.former and not startup else ():
            self.former.pop(worker, None)
        self._start_run(copy, self.plan(copy), cause, message, startup=startup)

    def plan(self, copy: Copy[Run]) -> Plan:
        """Return the plan of the first run of a copy that has just been placed: the state that the
        run begins from, if any, the parts before it computes, and how it takes checkpoints."""
        return self.protection.placed(copy, self.furthest())

    def furthest(self) -> State | None:
        """Return the state of the run under way with the most work done, relative to its whole
        work; None if no run is under way. Of several equally far it is that of the run with the
        lowest worker. Runs that hang, or wait for a fault to be detected, do not count (rules.md,
        P5 and F1)."""
        if not self.copies:
            return None
        now = self.now
        runs = ((it, it.run) for it in self.copies.values() if not it.waits_for_detection)
        known = [copy for copy, run in runs if run is not None and not run.halt & Halt.HUNG]
        known.sort(key=lambda copy: min(copy.members, default=-1))
        return furthest(copy.run.state(now) for copy in known if copy.run is not None)

    def _start_run(
        self,
        copy: Copy[Run],
        plan: Plan,
        cause: int,
        message: StartCopy | None = None,
        keeps: int | None = None,
        startup: float = 0,
    ) -> None:
        """Start the next run of a copy by this plan; the run spends `startup` time units before its
        members fetch anything. `cause` is the number of the event that leads to it.

        `message` is the scheduler's request if this is the copy's first run; `keeps` is the number
        of the run that held the same members before, if there was one.
        """
        number, self.next_run = self.next_run, self.next_run + 1
        run = Run(
            *(self, number, copy, self.work(copy), plan),
            saving=self.protection.saving(plan, self._counts_saves(plan)),
            needs=self.needs,
            client=self._storage_client(),
        )
        copy.run, copy.last = run, number
        cause = run.begin(cause, keeps)
        if message is not None and message.standbys:
            named = text(message.standbys)
            held = self.record(cause, StandbysHeld, self.name, number, named)
            copy.stage_in_standbys(self.needs, copy.standbys, held)
        if self.killed_at is not None:
            self.after(self.killed_at, LimitReached(number), cause, Phase.FAULTS_OCCUR)
        cause = self.log_tasks(copy, message, cause)
        cause = run.start_up(startup, cause)
        self.report_progress(copy, cause)

    def _counts_saves(self, plan: Plan) -> bool:
        """Return whether the checkpoints of a run with this plan can be counted by arithmetic,
        without an event for each. They can where they take no time, no message and no storage, and
        neither the log nor another copy needs to know of one."""
        rules, journal = plan.rules, self.system.journal
        if plan.cost != 0 or self.reports or rules.copies > 1 or not rules.blocking:
            return False
        if rules.verified or rules.on_notice or rules.bytes is not None or rules.images_every:
            return False
        return not (journal.wants(CheckpointTaken) or journal.wants(StageStarted))

    def finds_error(self, run: Run, cause: int) -> bool:
        errors, density = self.errors, 0.0
        if errors.per_work:
            density = self.described.profile.work / (len(run.copy.members) * run.work)
        found = errors.finds_error(run.exposed, density)
        if errors.drawn:
            run.record(cause, VerificationEnded, run.exposed, found)
        return found

    def _storage_client(self) -> StorageClient | None:
        rules = self.protection.rules
        if self.storage is None or rules.bytes is None:
            return None
        return StorageClient(self.storage, self.index, rules.bytes, rules.worker_bandwidth)

    @handles(BandwidthSet, during=AT_WORK)
    def set_bandwidth(self, message: BandwidthSet, cause: int) -> None:
        """Continue a run's save or load, or that of one group of its members, at the bandwidth that
        the storage now gives it."""
        copy = self.copies[message.copy]
        assert copy.run is not None and copy.run.client is not None
        if message.group >= 0:
            self.set_bandwidth_of_group(copy, message, cause)
        else:
            copy.run.client.share(copy.run, message.bandwidth, cause)

    def set_bandwidth_of_group(self, copy: Copy[Run], message: BandwidthSet, cause: int) -> None:
        """Continue the load of one group of the copy's members at the bandwidth in the message.
        Only jobs with replicas (groups that hold the whole state each) have such groups; for others
        this is an error of the program."""
        raise AssertionError(f"no group of {self.name} loads for itself")

    def log_tasks(self, copy: Copy[Run], message: StartCopy | None, cause: int) -> int:
        """Log the events that the start of a run of this kind of job leads to beside its own, such
        as how tasks are dealt or data moved; by default there are none. `message` is the
        scheduler's request if this is the copy's first run. Return the number (seq) of the last
        event, or `cause` if there is none."""
        return cause

    def recovered(self, run: Run) -> None:
        self.protection.recovered(run.copy)

    @handles(CancelCopy, during=AT_WORK)
    def cancel_copy(self, message: CancelCopy, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None:
            self._drop(copy, CANCELLED, cause, early=True)

    @handles(CancelCopy, during=(Life.WAITING, *GONE))
    def cancelled_too_late(self, message: CancelCopy, cause: int) -> None:
        """Ignore the request to cancel a copy that has ended at the same instant."""

    @handles(ReleaseFormer)
    def release_former(self, _: ReleaseFormer, __: int) -> None:
        """Have the members of runs that ended early at this instant leave these runs. They discard
        what they fetched for them, except programs. Members that the scheduler's decision has
        enrolled again stay as they are."""
        for worker, (copy, end) in self.former.items():
            copy.dismiss((worker,), end, keep=False)
        self.former.clear()

    def _drop(
        self, copy: Copy[Run], outcome: Outcome, cause: int, gone: bool = False, early: bool = False
    ) -> int:
        """End the copy with this outcome: end its run, if it has one, and release its members.
        `cause` is the number of the event that leads to it. Return the number (seq) of the event
        that ends the run or, if there is none, that releases the members.

        `gone`: the job itself ends, so it does not wait for workers again. `early`: the scheduler
        may enrol the members again at this very instant, so that, with the option `reuse`, they
        keep what they hold until its decision.
        """
        if copy.run is not None:
            end = copy.run.end(outcome, cause)
        else:
            end = self.record(cause, MembersReleased, self.name, copy.last)
        copy.run = None
        if early and self.reuse:
            self.former.update(dict.fromkeys(copy.members, (copy, end)))
            self.send(self.scheduler, FormerMembersWait(self), end)
        else:
            copy.leave(end, keep=False)
        del self.copies[copy.number]
        waits = not self.copies and not gone
        if waits:
            self.become(WAITING)
        self.release_copy(copy.number, outcome, end, waits, gone and not self.copies)
        return end

    # --- how they end -------------------------------------------------------------------------

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
            self._drop(copy, CANCELLED, end, gone)
        self.protection.forget()
        first.leave(end, keep=False)
        self.copies.clear()
        since = self.complete_work(end)
        if gone:
            self.release_copy(first.number, COMPLETED, end, False, True)
            self.complete(since)
        else:
            self.become(WAITING)
            self.release_copy(first.number, COMPLETED, end, True, since=since)
        return end

    @handles(LimitReached)
    def reach_limit(self, message: LimitReached, cause: int) -> None:
        runs = {copy.run.number: copy for copy in self.copies.values() if copy.run is not None}
        reached = runs.get(message.run)
        if reached is None:
            return
        # The copy that has reached the limit ends last: its end is the cause of the job's.
        for copy in [*(it for it in self.copies.values() if it is not reached), reached]:
            end = self._drop(copy, CANCELLED, cause, gone=True)
        self.die(end)

    def waits_for(self) -> str | None:
        copies = self.copies.values()
        absent = sorted((worker, copy.name(worker)) for copy in copies for worker in copy.absent)
        if absent:
            return f"{', '.join(name for _, name in absent)} to be UP again"
        member_ready = [(copy, copy.run) for copy in copies if copy.run is not None]
        lack = sorted(
            (worker, copy.name(worker)) for copy, run in member_ready for worker in run.missing
        )
        return f"messages of {', '.join(it for _, it in lack)}" if lack else super().waits_for()


@define(eq=False)
class Computing:
    """Tells hazards whose clocks pass while a job's members compute when its runs do (rules.md,
    R5), and the actor that repairs, if it keeps records, when they are over (R8)."""

    clocks: tuple[Actor, ...]
    repairs: Actor | None

    def computes(self, run: Run, computes: bool) -> None:
        for clock in self.clocks:
            changed = ComputingChanged(run.copy.number, run.copy.working, computes)
            run.actor.send(clock, changed, NOTHING)

    def run_over(self, run: Run) -> None:
        if self.repairs is not None:
            over = RunOver(run.copy.number, run.copy.members)
            run.actor.send(self.repairs, over, NOTHING)
