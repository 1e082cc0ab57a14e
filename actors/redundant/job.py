"""A job, from its arrival to the end of its first copy; and the source that jobs come from."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import ClassVar

from attrs import define, field, frozen

from actors.events import JobCompleted, JobSubmitted
from actors.redundant.events import JobSized
from actors.redundant.messages import Arrive, Done, Submit
from actors.runtime import Actor, Phase, handles


@frozen
class Arrival:
    """One job of the workload."""

    name: str
    time: float
    """a_j, time units from the start."""
    size: float
    """p_j, time on a machine of unit speed."""


class JobState(enum.Enum):
    """A job's life."""

    ACTIVE = "active"
    COMPLETED = "completed"


@define(eq=False)
class Job(Actor):
    """Submits itself on arrival; which of its copies run where is not its business."""

    transitions: ClassVar[Mapping[JobState, frozenset[JobState]]] = {
        JobState.ACTIVE: frozenset({JobState.COMPLETED}),
        JobState.COMPLETED: frozenset(),
    }
    initial: ClassVar[JobState] = JobState.ACTIVE

    scheduler: Actor
    size: float
    arrival: float = field(init=False)

    def started(self) -> None:
        self.arrival = self.now
        self.record(JobSubmitted, self.name)
        self.system.journal.describe(JobSized, self.name, self.size)
        self.send(self.scheduler, Submit(self))

    @handles(Done, during=(JobState.ACTIVE,))
    def complete(self, message: Done) -> None:
        self.become(JobState.COMPLETED)
        self.record(JobCompleted, self.name)
        self.stop()

    def waits_for(self) -> str | None:
        return "the end of its first copy"


@define(eq=False)
class Source(Actor):
    """Brings each job into the world when it arrives."""

    scheduler: Actor
    arrivals: Iterator[Arrival]
    """In time order; of equal times the lower id first."""
    following: Arrival | None = field(init=False, default=None)

    def started(self) -> None:
        self._await_next()

    @handles(Arrive)
    def arrive(self, message: Arrive) -> None:
        job = self.following
        if job is not None:
            self.system.spawn(Job(job.name, self.scheduler, job.size))
            self._await_next()

    def _await_next(self) -> None:
        self.following = next(self.arrivals, None)
        if self.following is not None:
            self.at(self.following.time, Arrive(), Phase.WORK_ENDS)
