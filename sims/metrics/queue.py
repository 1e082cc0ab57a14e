"""How many jobs wait: submitted, not over, and without a run."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    JobCompleted,
    JobKilled,
    JobSubmitted,
    MembersReleased,
    RunEnded,
    RunStarted,
)
from actors.runtime import Record


@define
class Queue:
    """Fold: the queue's length over time; who starts as soon as it is submitted never waits."""

    wants: frozenset[type] = frozenset(
        (JobSubmitted, RunStarted, RunEnded, MembersReleased, JobCompleted, JobKilled)
    )
    longest: int = 0
    area: float = 0.0
    """Jobs x time waited."""
    now: float = 0.0
    _runs: dict[str, int] = field(factory=dict)
    """Job in the system -> runs that are going on, and workers kept between two."""
    _waiting: int = 0

    def __call__(self, record: Record) -> None:
        if record.t > self.now:
            self._pass(record.t)
        match record.event:
            case JobSubmitted(job=job):
                self._runs[job] = 0
                self._waiting += 1
            case RunStarted(job=job, keeps=None):
                self._waiting -= self._runs[job] == 0
                self._runs[job] += 1
            case RunEnded(job=job, kept=False) | MembersReleased(job=job):
                self._runs[job] -= 1
                self._waiting += self._runs[job] == 0
            case JobCompleted(job=job) | JobKilled(job=job):
                self._waiting -= self._runs.pop(job) == 0

    def close(self, now: float) -> None:
        """The log ends here."""
        if now > self.now:
            self._pass(now)

    @property
    def mean(self) -> float:
        """Time average of its length."""
        return self.area / self.now if self.now else 0.0

    def _pass(self, now: float) -> None:
        self.longest = max(self.longest, self._waiting)
        self.area += self._waiting * (now - self.now)
        self.now = now
