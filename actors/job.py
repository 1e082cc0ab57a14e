"""A job: from its release to its end; how it runs is its subclasses' business."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, field

from actors.events import JobCompleted, JobDescribed, JobKilled, JobSubmitted, Outcome
from actors.messages import Arrive, CopyOver, Submit
from actors.runtime import NOTHING, Actor, handles
from policies.interface.queue import BatchJob


class Life(enum.IntEnum):
    """States of a job. Integers, because other enums hash in Python code, thrice an attempt."""

    PLANNED = 0
    WAITING = 1
    """In the queue: it holds no workers."""
    RUNNING = 2
    """It holds workers."""
    COMPLETED = 3
    KILLED = 4


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11), and every
# attempt would do so six times.
WAITING, RUNNING, DONE, KILLED = Life.WAITING, Life.RUNNING, Life.COMPLETED, Life.KILLED
ARRIVE = Arrive()


@define(eq=False)
class Job(Actor):
    """What every job has: a release time, a place in the queue, an end."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.PLANNED: frozenset({Life.WAITING}),
        Life.WAITING: frozenset({Life.RUNNING}),
        Life.RUNNING: frozenset({Life.WAITING, Life.COMPLETED, Life.KILLED}),
        Life.COMPLETED: frozenset(),
        Life.KILLED: frozenset(),
    }
    initial: ClassVar[Life] = Life.PLANNED

    described: BatchJob
    scheduler: Actor
    killed_at: float | None = None
    """The longest that a run may take, verification included; None: no limit."""
    index: int = field(init=False, default=0)

    def started(self) -> None:
        self.index = self.described.index
        origin = self.system.origin
        if self.described.submitted > self.now:
            self.at(self.described.submitted, ARRIVE, origin)
        else:
            self.arrive(ARRIVE, origin)

    @handles(Arrive, during=(Life.PLANNED,))
    def arrive(self, message: Arrive, cause: int) -> None:
        self.become(WAITING)
        job = self.described
        whose = job.user, job.group, job.queue, job.priority
        submitted = self.record(cause, JobSubmitted, self.name, *whose, job.recorded_wait)
        cause = self.describe(submitted)
        self.send(self.scheduler, Submit(self, job), cause)

    def describe(self, cause: int) -> int:
        """Tell the log what its laws are measured against; the cause of what follows."""
        described = self.described
        self.record(
            cause,
            JobDescribed,
            *(self.name, described.kind, self.logged_work(), described.verification),
            *(self.logged_failures(), described.estimate, self.killed_at),
        )
        return cause

    def logged_work(self) -> float:
        """Its work, where that does not depend on its workers."""
        return self.described.profile.work

    def logged_failures(self) -> int | None:
        """f_j, where it is known beforehand."""
        return None

    def complete(self, cause: int) -> int:
        """All its work is done."""
        self.become(DONE)
        return self.record(cause, JobCompleted, self.name)

    def die(self, cause: int) -> None:
        """It has outlived the user's estimate."""
        self.become(KILLED)
        self.record(cause, JobKilled, self.name)

    def release_copy(
        self,
        copy: int,
        outcome: Outcome,
        cause: int,
        waits: bool,
        gone: bool = False,
        since: int = NOTHING,
    ) -> None:
        """Tell the scheduler that this copy has ended and its workers are free."""
        over = CopyOver(self.index, copy, outcome, waits, gone, since)
        self.send(self.scheduler, over, cause)

    def waits_for(self) -> str | None:
        return "its release" if self.state is Life.PLANNED else None
