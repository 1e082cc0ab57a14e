"""A closed-loop user, who submits the next job once the last one is over and thought about."""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

from actors.acts import Act
from actors.agents.agent import Agent
from actors.events import JobCompleted, JobKilled
from actors.runtime import handles


@define(eq=False)
class ClosedLoopUser(Agent):
    """Submits its jobs one after the other: the next one a time to think after the end of the last
    one, whether that completed or was killed (a closed queueing network's customer)."""

    does: ClassVar = (Act.SUBMIT,)

    think: float = 1
    """Time between the end of a job and the submission of the next one; its mean, if it is
    drawn."""
    exponential: bool = False
    """Whether the time to think is drawn from an exponential law."""
    at_once: int = 1
    """Number of jobs that the user has in the system at once."""
    _left: list[str] = field(init=False, factory=list)
    _own: set[str] = field(init=False, factory=set)

    def begin(self, cause: int) -> None:
        self._left = list(self.world.jobs)
        for _ in range(self.at_once):
            self._next(cause, 0)

    @handles(JobCompleted, JobKilled)
    def job_ended(self, event: JobCompleted | JobKilled, cause: int) -> None:
        if event.job in self._own:
            self._own.remove(event.job)
            drawn = self.rng.exponential(self.think) if self.exponential else self.think
            self._next(cause, self.world.whole(drawn))

    def _next(self, cause: int, after: float) -> None:
        if self._left:
            job = self._left.pop(0)
            self._own.add(job)
            self.submit(job, cause, after)
