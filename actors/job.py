"""A job from its release to its end, the source that brings jobs into the world, and the simplest
kind of job, each of whose attempts is one timer (rigid21, section 3.2; moldable21)."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import ClassVar

from attrs import define, evolve, field

from actors.dependencies import JobEnded, SubmissionHeld
from actors.events import (
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    Outcome,
    RunEnded,
    RunStarted,
)
from actors.messages import (
    Arrive,
    Cancel,
    CancelCopy,
    CancelledWaiting,
    CopyOver,
    LimitReached,
    MemberStateChanged,
    StartCopy,
    Submit,
)
from actors.progress import remaining
from actors.runtime import Actor, Timer, handles, message
from policies.availability import WorkerState
from policies.interface.queue import BatchJob


class Life(enum.IntEnum):
    """States of a job, from its planned submission to its end. They are integers, because other
    enums hash in Python code, thrice an attempt."""

    PLANNED = 0
    WAITING = 1
    """The job is in the queue and holds no workers."""
    RUNNING = 2
    """The job holds workers."""
    COMPLETED = 3
    KILLED = 4


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11), and every
# attempt would do so six times.
WAITING, RUNNING, DONE, KILLED = Life.WAITING, Life.RUNNING, Life.COMPLETED, Life.KILLED
AT_WORK, GONE = (RUNNING,), (DONE, KILLED)
ARRIVE = Arrive()


@define(eq=False)
class Job(Actor):
    """Base class of jobs: an actor that is submitted at its release time, waits in the queue, runs
    and ends."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.PLANNED: frozenset({Life.WAITING}),
        Life.WAITING: frozenset({Life.RUNNING, Life.KILLED}),
        Life.RUNNING: frozenset({Life.WAITING, Life.COMPLETED, Life.KILLED}),
        Life.COMPLETED: frozenset(),
        Life.KILLED: frozenset(),
    }
    initial: ClassVar[Life] = Life.PLANNED

    described: BatchJob
    scheduler: Actor
    killed_at: float | None = None
    """Longest time that a run may take, verification and start-up included, before its job is
    killed; None: no limit."""
    submitter: Actor | None = field(default=None, kw_only=True)
    """Actor that submits the job once those that it follows have ended; None: it follows none."""
    awaited_by: Actor | None = field(default=None, kw_only=True)
    """Actor that waits for the job's end; None: no job follows it."""
    index: int = field(init=False)

    def started(self) -> None:
        self.index = self.described.index
        origin = self.system.origin
        if self.submitter is not None:
            self.send(self.submitter, SubmissionHeld(self.index, self), origin)
        elif self.described.submitted > self.now:
            self.at(self.described.submitted, ARRIVE, origin)
        else:
            self.arrive(ARRIVE, origin)

    @handles(Arrive, during=(Life.PLANNED,))
    def arrive(self, message: Arrive, cause: int) -> None:
        self.become(WAITING)
        if self.submitter is not None:
            self.described = evolve(self.described, submitted=self.now)
        job = self.described
        whose = job.user, job.group, job.queue, job.priority
        submitted = self.record(cause, JobSubmitted, self.name, *whose, job.recorded_wait)
        cause = self.describe(submitted)
        self.send(self.scheduler, Submit(self, job), cause)

    def describe(self, cause: int) -> int:
        """Log the job's parameters, which an audit of the log needs. `cause` is the number of the
        event that logs its submission. Return the number (seq) of the event that causes the job's
        next events."""
        described = self.described
        self.record(
            cause,
            JobDescribed,
            *(self.name, described.kind, self.logged_work(), described.verification),
            *(self.logged_failures(), described.estimate, self.killed_at),
        )
        return cause

    def logged_work(self) -> float:
        """Return the job's work as logged at its submission: the time on one worker of a moldable
        job, the area (workers x time) of a rigid one; 0 where it depends on the workers."""
        return self.described.profile.work

    def logged_failures(self) -> int | None:
        """Return how many of the job's runs fail before one succeeds, f_j, as logged at its
        submission; None where that is not known beforehand."""
        return None

    def complete(self, cause: int) -> int:
        """Log that the job is completed, as all its work is done. `cause` is the number of the
        event that completes it; return that of the new event."""
        self.become(DONE)
        end = self.record(cause, JobCompleted, self.name)
        if self.awaited_by is not None:
            self.send(self.awaited_by, JobEnded(self.index), end)
        return end

    def die(self, cause: int) -> int:
        """Log that the job is killed, because a run of it has taken longer than the job's limit, or
        an agent cancels the job. `cause` is the number of the event that ended its last run or, of
        a job that waits, of the event that cancels it; return that of the new event."""
        self.become(KILLED)
        end = self.record(cause, JobKilled, self.name)
        if self.awaited_by is not None:
            self.send(self.awaited_by, JobEnded(self.index), end)
        return end

    @handles(Cancel, during=(WAITING,))
    def cancel_waiting(self, message: Cancel, cause: int) -> None:
        self.send(self.scheduler, CancelledWaiting(self.index), self.die(cause))

    @handles(Cancel, during=GONE)
    def cancelled_late(self, message: Cancel, cause: int) -> None:
        """Ignore an agent that cancels the job when the job is over."""

    def waits_for(self) -> str | None:
        planned = self.submitter is None and self.state is Life.PLANNED
        return "its release" if planned else None


@message
class AttemptOver:
    """A job tells itself that the time of its present attempt, verification included, has
    passed."""


OVER = AttemptOver()
COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED
LOST, CANCELLED = Outcome.LOST, Outcome.CANCELLED


@define(eq=False)
class JobOfAttempts(Job):
    """A job under re-execution whose workers have speed 1, no owner and no link, so that an attempt
    needs one timer only: it takes its time and its verification, or a fault ends it at once.

    A progress account for each attempt made a whole simulation 12.6 % longer (a prototype's
    figure).
    """

    failures: int = 0
    """Number of attempts that fail before one succeeds, f_j."""
    attempt: int = field(init=False, default=-1)
    lost: int = field(init=False, default=0)
    """Number of attempts that faults of members have ended; each puts the one that succeeds off by
    one."""
    end_timer: Timer = field(init=False, repr=False)
    """Timer of the end of the attempt that is under way."""
    copy: int = field(init=False, default=-1)
    time: float = field(init=False)
    """Time t(p) of the attempt that is under way."""
    begun: float = field(init=False)

    def logged_failures(self) -> int | None:
        return self.failures

    @handles(StartCopy, during=(Life.WAITING,))
    def begin(self, message: StartCopy, cause: int) -> None:
        self.become(RUNNING)
        self.attempt = attempt = self.attempt + 1
        self.copy = message.copy
        described = self.described
        self.time = time = described.profile.time(message.processors)
        self.begun = self.system.loop.now
        # Summed in the same way as the scheduler's `held`, so that both give the same instant.
        held = time + described.verification
        cause = self.record(cause, RunStarted, self.name, attempt, message.text, time)
        if self.killed_at is not None and remaining(held, self.killed_at):
            self.end_timer = self.after(self.killed_at, LimitReached(attempt), cause)
        else:
            self.end_timer = self.after(held, OVER, cause)

    @handles(AttemptOver, during=(Life.RUNNING,))
    def detect(self, message: AttemptOver, cause: int) -> None:
        if self.attempt < self.failures + self.lost:
            self.become(WAITING)
            cause = self.record(cause, RunEnded, self.name, self.attempt, FAILED, self.time)
            self.send(self.scheduler, CopyOver(self.index, self.copy, FAILED, True), cause)
        else:
            cause = self.record(cause, RunEnded, self.name, self.attempt, COMPLETED, self.time)
            over = CopyOver(self.index, self.copy, COMPLETED, False, True)
            self.send(self.scheduler, over, cause)
            self.complete(cause)

    @handles(MemberStateChanged, during=(Life.RUNNING,))
    def lose(self, message: MemberStateChanged, cause: int) -> None:
        if message.state is WorkerState.DOWN and message.copy == self.copy:
            self.lost += 1
            self._end_early(LOST, cause)

    @handles(MemberStateChanged, during=(Life.WAITING, Life.COMPLETED, Life.KILLED))
    def too_late(self, message: MemberStateChanged, cause: int) -> None:
        """Ignore a member's change of state after the attempt has ended: another member of it went
        DOWN at the same instant."""

    @handles(CancelCopy, during=(Life.RUNNING,))
    def cancel_attempt(self, message: CancelCopy, cause: int) -> None:
        """Cancel the attempt that is under way, because the strategy cancels it or the simulation
        ends at its cap; the job waits for workers again."""
        self._end_early(CANCELLED, cause)

    @handles(Cancel, during=(Life.RUNNING,))
    def cancel_running(self, message: Cancel, cause: int) -> None:
        self._end_early(CANCELLED, cause, dies=True)

    @handles(LimitReached, during=(Life.RUNNING,))
    def reach_limit(self, message: LimitReached, cause: int) -> None:
        self._end_early(CANCELLED, cause, dies=True)

    def _end_early(self, outcome: Outcome, cause: int, dies: bool = False) -> None:
        """End the attempt with this outcome before its time, because of the event numbered `cause`.
        The job then waits for its next attempt; with `dies` it is killed instead."""
        self.cancel(self.end_timer)
        done = min(self.now - self.begun, self.time)
        cause = self.record(cause, RunEnded, self.name, self.attempt, outcome, done)
        over = CopyOver(self.index, self.copy, outcome, not dies, dies)
        self.send(self.scheduler, over, cause)
        if dies:
            self.die(cause)
        else:
            self.become(WAITING)


@define(eq=False)
class Source(Actor):
    """Creates the actor of each job of a workload at the job's time of submission, not before: so
    the number of actors does not grow with the whole workload."""

    jobs: Iterator[tuple[float, Job]]
    """(time of submission, job), by time; of equal times the lower index first."""
    following: Job | None = field(init=False, default=None)

    def started(self) -> None:
        self._await_next()

    @handles(Arrive)
    def arrive(self, message: Arrive, cause: int) -> None:
        job = self.following
        if job is not None:
            self.system.spawn(job)
            self._await_next()

    def _await_next(self) -> None:
        time, self.following = next(self.jobs, (0, None))
        if self.following is not None:
            self.at(time, Arrive(), self.system.origin)
