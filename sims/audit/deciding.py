"""Checks decisions: what may be decided, and which events may have caused it."""

from __future__ import annotations

from collections.abc import Collection

from attrs import Factory, define

from actors.events import Outcome, RunStarted, TasksDealt
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit.facts import ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import Causes, allowed, comes, follows, possible
from sims.audit.workers import DOWN, UP, ExpectedWorker, Spans, meet, numbers
from sims.audit.world import Handler, World


@define(eq=False)
class DecisionChecks:
    """Checks the lines in which a log says what was decided; base class, with what holds for every
    kind of decider.

    The cause of a start is the shelf or batch that the run starts in; else the event since which
    its job wants workers, if that is of this instant; else the event that freed some of its
    workers; else an event that called for the decision. Arguments `seq`, `since` and `cause` of the
    methods are sequence numbers of events.
    """

    w: World
    settings: dict[str, str]
    """Maps the keys of the policy that the log's head gives to their values."""
    opened: int = -1
    """Sequence number of the shelf or batch that opened last."""
    freed_by: list[tuple[int, Spans]] = Factory(list)
    """Events that freed workers at this instant, each with the workers that it freed."""
    triggers: list[int] = Factory(list)
    """Sequence numbers of the events that called for a decision at this instant."""
    decides_now: bool = False
    """Whether one of `triggers` has called for a decision for certain."""
    decided: list[int] = Factory(list)
    """Sequence numbers of the decisions of this instant, where the log has a line for them."""
    started: list[int] = Factory(list)
    """Sequence numbers of the starts of this instant; -1 for jobs that had not waited."""

    def line_handlers(self) -> dict[type[Event], Handler]:
        """Return, for the classes of events that only this kind of decider logs, the functions that
        make their scripts: generators of that line and those that must follow it. By default there
        are none."""
        return {}

    def report(self, copy: ExpectedCopy, cause: int) -> None:
        """React to a change of a copy's progress that more than computing has made, such as a new
        start, a new rate or a lost member. `cause` is the event that made it. By default do
        nothing."""

    def checkpointed(self, run: ExpectedRun, cause: int) -> None:
        """React to a checkpoint that a run has completed with event `cause`. By default do
        nothing."""

    def clear(self) -> None:
        """Forget what is kept about the present instant, which is over."""
        for it in (self.freed_by, self.triggers, self.started, self.decided):
            it.clear()
        self.decides_now = False

    def spares_described(self) -> None:
        """React to the log's saying that the platform has spares, on which no job starts (rules.md,
        P10). By default do nothing."""

    def windows_described(self) -> None:
        """React to the log's saying that there are windows in which workers are DOWN, before which
        jobs may have to wait (rules.md, M2). By default do nothing."""

    def calls_described(self) -> None:
        """React to the log's saying that workers are called for waiting jobs (rules.md, P11).
        Raises Broken where no queue decides, as nobody calls them then."""
        possible(False, "no queue calls workers")

    # --- notifications ---------------------------------------------------------------------------

    def submitted(self, job: ExpectedJob, since: int) -> None:
        """Note that a job has been submitted, which calls for a decision; it wants workers since
        the event `since`, its submission or a line that follows that."""
        self.wants(job, since)
        self.triggers.append(since)
        self.decides_now = True

    def wants(self, job: ExpectedJob, seq: int) -> None:
        """Note that a job wants workers from event `seq` on."""
        job.wanted = seq

    def freed(self, copy: ExpectedCopy, seq: int) -> None:
        """Note that a copy has released all its workers with event `seq`, which calls for a
        decision."""
        self.freed_by.append((seq, copy.held))
        self.triggers.append(seq)
        self.decides_now = True

    def ready_left(self, copy: ExpectedCopy, seq: int) -> None:
        """Note that a copy holds a worker less ready: that went DOWN or became a member (event
        `seq`)."""
        self.triggers.append(seq)

    def cancelled(self, job: ExpectedJob, seq: int) -> None:
        """Note that a job was cancelled while it waited, and is over with event `seq`, which calls
        for a decision."""
        self.triggers.append(seq)
        self.decides_now = True

    def ended(self, copy: ExpectedCopy, outcome: Outcome, seq: int, gone: bool) -> None:
        """React to the end of a copy, with event `seq` and this outcome of its last run; `gone`
        says that its job is over too. By default do nothing."""

    def state_changed(
        self, worker: int, state: WorkerState, copy: ExpectedCopy | None, seq: int
    ) -> None:
        """Note that worker number `worker` is known now to have changed to `state`, which calls for
        a decision.

        `copy` holds the worker (None: no copy does), and `seq` is the event of the change. A worker
        that is UP now counts as freed by it.
        """
        if state is UP:
            self.freed_by.append((seq, (worker, worker + 1)))
        self.triggers.append(seq)
        # A spare's change calls for a decision only where it can replace a member.
        self.decides_now = self.decides_now or worker < self.w.able

    def program_received(self, seq: int) -> None:
        """React to the arrival of a job's program at a worker, with event `seq`. By default do
        nothing."""

    def speed_changed(self, worker: ExpectedWorker, seq: int) -> None:
        """React to a worker's change of speed, with event `seq`. By default do nothing."""

    def check_fault(self, worker: ExpectedWorker) -> None:
        """Check that a fault may take this worker DOWN now; raise Broken if not. By default it
        always may."""

    def close(self) -> None:
        """Check at the end of an instant that no decision is missing; raise Broken if one is. By
        default nothing is checked."""

    # --- what it may decide -------------------------------------------------------------------

    def placing(self, copy: ExpectedCopy, event: RunStarted) -> None:
        """Check the workers that the start `event` gives to the new copy `copy`. Raises Broken
        where the policy's placement chooses others."""

    def free_for(self, job: ExpectedJob) -> int:
        """Return the number of free workers that a copy of the job may hold."""
        return self.w.free.count

    def choose_ready(self, copy: ExpectedCopy, wanted: int) -> Spans | None:
        """Return the `wanted` workers that the placement has a copy hold ready as it starts; None
        where the placement is unknown, so that any free workers will do."""
        return None

    def why(self, job: ExpectedJob, copy: ExpectedCopy) -> Causes:
        """Return the events, as one sequence number or several, of which one must be the cause of
        the start of `copy`, a copy of `job`; note the start."""
        if self.opened >= self.w.first:
            return self.opened
        # If the job has asked for workers at this instant, that causes its start, whatever has
        # freed workers.
        if job.wanted >= self.w.first:
            self.started.append(-1)
            return job.wanted
        freed = (cause for cause, spans in self.freed_by if meet(spans, copy.spans))
        found = next(freed, None)
        causes = self.other_causes(job, copy) if found is None else found
        self.started.append(self.w.seq)
        return causes

    def other_causes(self, job: ExpectedJob, copy: ExpectedCopy) -> Causes:
        """Return the events of which one must be the cause of a start that no shelf or batch, no
        wish of the job's at this instant and no freed worker explains: those that called for the
        decision, or, without any, the passing of time (0) or the event since which the job wants
        workers."""
        return self.triggers or {0, job.wanted}

    def cancels(self, copy: ExpectedCopy) -> Causes:
        """Return the events of which one must be the cause of the decision to cancel the copy.

        Raises Broken where the policy may not cancel it. A policy that cancels nothing leaves only
        a cap on the makespan, which is noted as reached; the cause is 0 then.
        """
        if not self.w.head.cancels:
            # If the scenario's policy cancels nothing, only a cap on the makespan can.
            self.w.capped = self.w.capped or self.w.seq
            return 0
        return {0, *self.triggers}

    def deal(self, job: ExpectedJob, copy: ExpectedCopy, event: TasksDealt) -> None:
        """Check the line that deals the tasks of an iterative job to the members of its run, and
        give each member of `copy` its number of tasks: equal, and one more for the first where they
        do not divide evenly."""
        whole, rest = divmod(job.tasks.tasks, copy.full)
        # The first members get one task more where the number does not divide evenly.
        copy.units = {n: whole + (k < rest) for k, n in enumerate(copy.members)}
        follows(event.reason is None, "nobody is asked why")


def _wakes(policy: str) -> bool:
    """Return whether the enrolment policy called `policy` may be called at instants without an
    event (volatile13, section VI), which a `-` in a published name tells; true for a user's own, of
    which nothing is known."""
    return "-" in policy or ":" in policy


REASONS = {"lost": "failure", "failed": "error", "cancelled": "proactive", "completed": "start"}
"""Maps the outcome of the last run to the reason for which a policy is asked for the next one
(volatile13, section VI)."""


@define(eq=False)
class EnrolmentChecks(DecisionChecks):
    """Checks decisions that enrol workers: they choose the workers of each iteration of an
    iterative job, and the number of tasks of each (volatile13)."""

    replaced: dict[str, None] = Factory(dict)
    """Jobs of which a run was cancelled at this instant to make way for another run of the same
    job."""

    def state_changed(
        self, worker: int, state: WorkerState, copy: ExpectedCopy | None, seq: int
    ) -> None:
        super().state_changed(worker, state, copy, seq)
        if worker >= self.w.able and (copy is None or state is not DOWN):
            self.triggers.pop()  # a spare calls for a policy only when it fails as a member

    def submitted(self, job: ExpectedJob, since: int) -> None:
        DecisionChecks.submitted(self, job, since)
        possible(job.tasks is not None)
        job.bounds = self.w.given.bounds(job.tasks.tasks)

    def program_received(self, seq: int) -> None:
        self.triggers.append(seq)

    def cancelled(self, job: ExpectedJob, seq: int) -> None:
        """Note nothing: the policy is called for jobs that are left alone."""

    def other_causes(self, job: ExpectedJob, copy: ExpectedCopy) -> Causes:
        """Return the events of which one must be the cause of a start that no freed worker
        explains: those that called for the decision; without any, the event since which the job
        waits.

        Raises Broken where nothing called for it and the policy is only called by events.
        """
        policy = self.w.head.policy
        allowed(self.triggers or _wakes(policy), "nothing calls for a decision now")
        return self.triggers or job.wanted

    def cancels(self, copy: ExpectedCopy) -> Collection[int]:
        # If a member has an undetected fault, which its release makes known, too few workers may be
        # left for another run.
        if not copy.undetected:
            self.replaced[copy.job.name] = None
        run = copy.run
        since = run.started if run is not None else copy.job.wanted
        return {*(self.triggers or {since}), 0}

    def deal(self, job: ExpectedJob, copy: ExpectedCopy, event: TasksDealt) -> None:
        members, tasks = tuple(worker for worker, _ in event.tasks), job.tasks.tasks
        allowed(members == copy.members, f"its run is on {copy.text}")
        copy.units = dict(event.tasks)
        allowed(sum(copy.units.values()) == tasks, f"{tasks} are to be dealt")
        for n, units in copy.units.items():
            most = job.bounds.get(n, 0)
            allowed(1 <= units <= most, f"{n} holds at most {most}")
        outcome, ended = job.over
        reason = REASONS[outcome] if ended == self.w.now else "start"
        follows(event.reason == reason, f"reason must be {reason!r}")
        self.replaced.pop(job.name, None)

    def close(self) -> None:
        for name in self.replaced:
            comes(self.w.capped, f"a run of {name} is cancelled, and none comes in its place")
        if self.triggers and ":" not in self.w.head.policy:
            for job in self.w.jobs.values():
                room = sum(job.bounds.get(n, 0) for n in numbers(self.w.free.spans))
                waits = not job.copies and job.tasks is not None and room >= job.tasks.tasks
                comes(not waits or self.w.capped, f"workers must be enrolled for {job.name}")
