"""A job: runs its attempts one at a time and finds out at each one's end whether it failed."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from attrs import define, field

from actors.batch.events import AttemptSized, JobDescribed, JobKilled
from actors.batch.messages import (
    Arrive,
    AttemptEnded,
    AttemptOver,
    LimitReached,
    LoseAttempt,
    StartAttempt,
    Submit,
)
from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.runtime import Actor, Timer, handles
from policies.interface.batch import BatchJob

if TYPE_CHECKING:
    from actors.batch.scheduler import BatchScheduler


class Life(enum.IntEnum):
    """States of a job. Integers, because other enums hash in Python code, thrice an attempt."""

    PLANNED = 0
    WAITING = 1
    RUNNING = 2
    COMPLETED = 3
    KILLED = 4


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11), and every
# attempt would do so six times.
WAITING, RUNNING, DONE, KILLED = Life.WAITING, Life.RUNNING, Life.COMPLETED, Life.KILLED
COMPLETED, FAILED, WITHDRAWN = Outcome.COMPLETED, Outcome.FAILED, Outcome.WITHDRAWN
LOST = Outcome.LOST
ARRIVE, OVER, LIMIT = Arrive(), AttemptOver(), LimitReached()


@define(eq=False)
class Job(Actor):
    """Runs whole attempts: a silent error costs all of one and shows at its end only, when the
    detector has looked (001, section 3.2). A processor that fails costs it at once."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.PLANNED: frozenset({Life.WAITING}),
        Life.WAITING: frozenset({Life.RUNNING}),
        Life.RUNNING: frozenset({Life.WAITING, Life.COMPLETED, Life.KILLED}),
        Life.COMPLETED: frozenset(),
        Life.KILLED: frozenset(),
    }
    initial: ClassVar[Life] = Life.PLANNED

    described: BatchJob
    scheduler: BatchScheduler
    failures: int
    """f_j: attempts that fail before one succeeds."""
    killed_at: float | None = None
    """How long an attempt may take, verification included; None: as long as it does."""
    attempt: int = field(init=False, default=-1)
    sound: int = field(init=False)
    """The attempt that will succeed if it is not lost: f_j, and one more for each that was."""
    over: Timer = field(init=False, repr=False)
    """Of the attempt that is going on."""
    index: int = field(init=False, default=0)

    def started(self) -> None:
        self.index, self.sound = self.described.index, self.failures
        if self.described.submitted > self.system.loop.now:
            self.at(self.described.submitted, ARRIVE)
        else:
            self.arrive(ARRIVE)

    @handles(Arrive, during=(Life.PLANNED,))
    def arrive(self, message: Arrive) -> None:
        self.become(WAITING)
        self.record(JobSubmitted, self.name)
        described = self.described
        self.system.journal.describe(
            JobDescribed, self.name, self.failures, described.estimate, self.killed_at
        )
        self.send(self.scheduler, Submit(self))

    @handles(StartAttempt, during=(Life.WAITING,))
    def start_attempt(self, message: StartAttempt) -> None:
        self.become(RUNNING)
        self.attempt = attempt = self.attempt + 1
        name, processors, verification = self.name, message.processors, self.described.verification
        time = self.described.profile.time(processors)
        # Summed once, as the scheduler does for `held`: equal instants must stay equal.
        held = time + verification
        self.record(RunStarted, name, attempt, message.numbers)
        self.record(AttemptSized, name, attempt, processors, time, verification)
        if self.killed_at is not None and self.killed_at < held:
            self.over = self.after(self.killed_at, LIMIT)
        else:
            self.over = self.after(held, OVER)

    @handles(AttemptOver, during=(Life.RUNNING,))
    def detect(self, message: AttemptOver) -> None:
        if self.attempt < self.sound:
            self._end(WAITING, FAILED)
        else:
            self._end(DONE, COMPLETED)
            self.record(JobCompleted, self.name)

    @handles(LoseAttempt, during=(Life.RUNNING,))
    def lose(self, message: LoseAttempt) -> None:
        self.cancel(self.over)
        self.sound += 1
        self._end(WAITING, LOST)

    @handles(LimitReached, during=(Life.RUNNING,))
    def die(self, message: LimitReached) -> None:
        self._end(KILLED, WITHDRAWN)
        self.record(JobKilled, self.name)

    def _end(self, state: Life, outcome: Outcome) -> None:
        self.become(state)
        self.record(RunEnded, self.name, self.attempt, outcome)
        self.send(self.scheduler, AttemptEnded(self.index, outcome))

    def waits_for(self) -> str | None:
        return "its release" if self.state is Life.PLANNED else None
