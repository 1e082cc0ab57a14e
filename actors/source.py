"""A source that spawns each job's actor at its submission time, for workloads too long to spawn at
once."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.job import Job
from actors.messages import Arrive
from actors.runtime import Actor, handles


@define(eq=False)
class Source(Actor):
    """Brings each job into the world when it arrives."""

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
