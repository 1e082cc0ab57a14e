"""Jobs whose attempts have a fixed length: each attempt is one timer (rigid21, section 3.2;
moldable21)."""

from __future__ import annotations

from attrs import define, field

from actors.events import Outcome, RunEnded, RunStarted
from actors.job import RUNNING, WAITING, Job, Life
from actors.messages import AttemptOver, CopyOver, LimitReached, MemberStateChanged, StartCopy
from actors.progress import remaining
from actors.runtime import Timer, handles
from policies.availability import WorkerState

COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED
LOST, CANCELLED = Outcome.LOST, Outcome.CANCELLED
OVER = AttemptOver()


@define(eq=False)
class JobOfAttempts(Job):
    """A job under re-execution whose workers have speed 1, no owner and no link: an attempt takes
    its time and its verification, or a fault ends it at once. A progress account for each made a
    whole simulation 12.6 % longer (a prototype's figure)."""

    failures: int = 0
    """f_j: attempts that fail before one succeeds."""
    attempt: int = field(init=False, default=-1)
    sound: int = field(init=False)
    """The attempt that will succeed if it is not lost: f_j, and one more for each that was."""
    over: Timer = field(init=False, repr=False)
    """Of the attempt that is going on."""
    copy: int = field(init=False, default=-1)
    time: float = field(init=False, default=0)
    """t(p) of the attempt that is going on."""
    begun: float = field(init=False, default=0)

    def started(self) -> None:
        self.sound = self.failures
        super().started()

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
        # Summed once, as the scheduler does for `held`: equal instants must stay equal.
        held = time + described.verification
        cause = self.record(cause, RunStarted, self.name, attempt, message.text, time)
        if self.killed_at is not None and remaining(held, self.killed_at):
            self.over = self.after(self.killed_at, LimitReached(attempt), cause)
        else:
            self.over = self.after(held, OVER, cause)

    @handles(AttemptOver, during=(Life.RUNNING,))
    def detect(self, message: AttemptOver, cause: int) -> None:
        if self.attempt < self.sound:
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
            self.cancel(self.over)
            self.sound += 1
            self.become(WAITING)
            self.release_copy(self.copy, LOST, self._end_early(LOST, cause), True)

    @handles(MemberStateChanged, during=(Life.WAITING, Life.COMPLETED, Life.KILLED))
    def too_late(self, message: MemberStateChanged, cause: int) -> None:
        """Another member of the same attempt went DOWN at the same instant."""

    @handles(LimitReached, during=(Life.RUNNING,))
    def reach_limit(self, message: LimitReached, cause: int) -> None:
        cause = self._end_early(CANCELLED, cause)
        self.release_copy(self.copy, CANCELLED, cause, False, True)
        self.die(cause)

    def _end_early(self, outcome: Outcome, cause: int) -> int:
        done = min(self.now - self.begun, self.time)
        return self.record(cause, RunEnded, self.name, self.attempt, outcome, done)
