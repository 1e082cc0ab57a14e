"""What a queue believes of times: what users say, the truth, noise, or the recent past."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from typing import Protocol

from attrs import define, field, frozen

from policies.interface.queue import BatchJob

STEPS = tuple(60.0 * m for m in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
"""Seconds: by how much a prediction that was exceeded is lengthened (Tsafrir, Etsion and Feitelson
2007, section 3.2)."""


class Estimates(Protocol):
    """Answers once for each entry of a job into the queue."""

    def __call__(self, job: BatchJob, processors: int) -> float:
        """Expected time of one attempt, verification excluded."""

    def completed(self, job: BatchJob, time: float) -> None:
        """An attempt of `job` that took `time` has completed it."""

    def longer(self, job: BatchJob, believed: float) -> float | None:
        """What is believed once an attempt has lasted as long as was `believed`; None: nothing but
        that it will end at any moment."""


@frozen
class Once:
    """Believed once, whatever happens."""

    def completed(self, job: BatchJob, time: float) -> None:
        """See Estimates."""

    def longer(self, job: BatchJob, believed: float) -> float | None:
        """See Estimates."""
        return None


@frozen
class ExactEstimates(Once):
    """What the job takes."""

    def __call__(self, job: BatchJob, processors: int) -> float:
        """See Estimates."""
        return job.profile.time(processors)


@define(eq=False)
class Noisy(Once):
    """What the job takes, times a factor of its own."""

    factor: Callable[[], float]
    _drawn: dict[int, float] = field(factory=dict)

    def __call__(self, job: BatchJob, processors: int) -> float:
        """See Estimates."""
        if job.index not in self._drawn:
            self._drawn[job.index] = self.factor()
        return job.profile.time(processors) * self._drawn[job.index]


@define(eq=False)
class Recent:
    """The mean time of the user's last two jobs to complete, the user's estimate at most; that
    estimate where there are none, or nobody knows whose job it is."""

    _times: dict[str, deque[float]] = field(factory=dict)

    def __call__(self, job: BatchJob, processors: int) -> float:
        """See Estimates."""
        asked, times = job.believed(processors), self._times.get(job.user)
        if not times:
            return asked
        mean = sum(times) / len(times)
        return mean if job.estimate is None else min(mean, asked)

    def completed(self, job: BatchJob, time: float) -> None:
        """See Estimates."""
        if job.user:
            self._times.setdefault(job.user, deque(maxlen=2)).append(time)

    def longer(self, job: BatchJob, believed: float) -> float | None:
        """See Estimates."""
        step = STEPS[min(bisect_right(STEPS, believed), len(STEPS) - 1)]
        longer = believed + step
        if job.estimate is None:
            return longer
        return min(longer, job.estimate) if believed < job.estimate else None
