"""Implements estimates of run times: the user's, exact, noisy, or predicted from the user's recent
jobs."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from typing import Protocol

from attrs import define, field, frozen

from policies.interface.queue import BatchJob

STEPS = tuple(60.0 * m for m in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
"""Seconds by which a prediction that was exceeded is lengthened (Tsafrir, Etsion and Feitelson
2007, section 3.2)."""


class Estimates(Protocol):
    """Estimates the run times of jobs. It is called once each time a job enters the queue."""

    def __call__(self, job: BatchJob, processors: int) -> float:
        """Return the expected time of one attempt of `job` on `processors` processors, without
        verification and start-up."""

    def completed(self, job: BatchJob, time: float) -> None:
        """Record that an attempt of `job` that computed for `time` has completed the job."""

    def longer(self, job: BatchJob, believed: float) -> float | None:
        """Return the new, longer estimate of an attempt of `job` that has lasted as long as the
        estimate `believed`; None if there is none, so that the attempt is expected to end at any
        moment."""


@frozen
class Once:
    """Base of estimates that do not change while a job runs."""

    def completed(self, job: BatchJob, time: float) -> None:
        """Ignore the attempt's time, because these estimates learn nothing."""

    def longer(self, job: BatchJob, believed: float) -> float | None:
        return None


@frozen
class ExactEstimates(Once):
    """Returns the exact time that the job takes on its processors, as if it were known."""

    def __call__(self, job: BatchJob, processors: int) -> float:
        return job.profile.time(processors)


@define(eq=False)
class Noisy(Once):
    """Returns the time that the job takes on its processors, multiplied by a factor that `factor`
    draws once for each job."""

    factor: Callable[[], float]
    _drawn: dict[int, float] = field(factory=dict)

    def __call__(self, job: BatchJob, processors: int) -> float:
        if job.index not in self._drawn:
            self._drawn[job.index] = self.factor()
        return job.profile.time(processors) * self._drawn[job.index]


@define(eq=False)
class Recent:
    """Predicts the mean time of the user's last two completed jobs (of one, if there is only one),
    but no more than the user's estimate if there is one. Without such jobs, or where the user is
    not known, it is the user's estimate or, without one, the exact time."""

    _times: dict[str, deque[float]] = field(factory=dict)

    def __call__(self, job: BatchJob, processors: int) -> float:
        asked, times = job.believed(processors), self._times.get(job.user)
        if not times:
            return asked
        mean = sum(times) / len(times)
        return mean if job.estimate is None else min(mean, asked)

    def completed(self, job: BatchJob, time: float) -> None:
        if job.user:
            self._times.setdefault(job.user, deque(maxlen=2)).append(time)

    def longer(self, job: BatchJob, believed: float) -> float | None:
        # The smallest step above the exceeded prediction; the last step for very long jobs.
        step = STEPS[min(bisect_right(STEPS, believed), len(STEPS) - 1)]
        longer = believed + step
        if job.estimate is None:
            return longer
        return min(longer, job.estimate) if believed < job.estimate else None
