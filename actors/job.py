"""A job: from its release to its end; how it runs is its subclasses' business."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from attrs import define, field

from actors.events import JobCompleted, JobDescribed, JobKilled, JobSubmitted, Outcome
from actors.messages import Arrive, CopyOver, Submit
from actors.runtime import Actor, handles
from policies.interface.queue import BatchJob

if TYPE_CHECKING:
    from actors.scheduler import Scheduler


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
    scheduler: Scheduler
    killed_at: float | None = None
    """How long a run may take, verification included; None: as long as it does."""
    index: int = field(init=False, default=0)

    def started(self) -> None:
        self.index = self.described.index
        if self.described.submitted > self.system.loop.now:
            self.at(self.described.submitted, ARRIVE)
        else:
            self.arrive(ARRIVE)

    @handles(Arrive, during=(Life.PLANNED,))
    def arrive(self, message: Arrive) -> None:
        self.become(WAITING)
        job = self.described
        self.record(JobSubmitted, self.name, job.user, job.group, job.queue, job.priority)
        self.describe()
        self.send(self.scheduler, Submit(self))

    def describe(self) -> None:
        """Tell the log what its laws are measured against."""
        described = self.described
        self.system.journal.describe(
            JobDescribed,
            *(self.name, described.kind, self.work_told(), described.verification),
            *(self.failures_told(), described.estimate, self.killed_at),
        )

    def work_told(self) -> float:
        """Its work, where that does not hang on its workers."""
        return self.described.profile.work

    def failures_told(self) -> int | None:
        """f_j, where it is known beforehand."""
        return None

    def complete(self) -> None:
        """All its work is done."""
        self.become(DONE)
        self.record(JobCompleted, self.name)

    def die(self) -> None:
        """It has outlived the user's estimate."""
        self.become(KILLED)
        self.record(JobKilled, self.name)

    def give_back(
        self, copy: int, outcome: Outcome, waits: bool, gone: bool = False, since: int = -1
    ) -> None:
        """The workers of this copy are the scheduler's again."""
        self.send(self.scheduler, CopyOver(self.index, copy, outcome, waits, gone, since))

    def waits_for(self) -> str | None:
        return "its release" if self.state is Life.PLANNED else None
