"""Orders used at production sites and in the literature: smallest first, ties by job index.

WFP3 and UNICEP: Tang, Lan, Desai and Buettner 2009; F1 to F4: Carastan-Santos and de Camargo 2017,
learnt from simulations; r is the estimate in seconds, n processors, s the submission, w the wait.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2, log10, sqrt

from attrs import field, frozen

from policies.interface.queue import BatchJob, Draw, Moment, Order, TimedOrder


def urgent_first(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """PRIORITY: the job of the highest priority first."""
    return job.priority


# --- orders that change with time ----------------------------------------------------------------

Waiting = Callable[[float, float, int], float]
"""(wait, estimate, processors) -> priority."""


@frozen
class ByWait:
    """An order by how long a job has waited."""

    priority: Waiting
    half_life: float | None = field(default=None, init=False)

    def at(self, moment: Moment) -> Order:
        now, priority = moment.now, self.priority

        def order(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
            return priority(now - job.submitted, time, processors)

        return order


def wfp3(wait: float, time: float, processors: int) -> float:
    """WFP3: the smallest -(w/r)^3 n first: large jobs and long waits."""
    return (wait / time) ** 3 * processors


def unicep(wait: float, time: float, processors: int) -> float:
    """UNICEP: the smallest -w/(r log2 n) first, n at least 2: small jobs and long waits."""
    return wait / (time * log2(max(processors, 2)))


@frozen
class FairShare:
    """FAIR-SHARE: the user who has used the least processor-time first, each use counting half as
    much after every half-life: usage(t) = sum over the user's runs of processors times the integral
    of 2^(-(t - u) / half_life) du, runs under way included; first come, first served within a user.
    """

    half_life: float | None = 7 * 86_400.0

    def at(self, moment: Moment) -> Order:
        known: dict[str, float] = {}

        def order(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
            if job.user not in known:
                known[job.user] = moment.used(job.user)
            return -known[job.user]

        return order


# --- orders learnt from simulations --------------------------------------------------------------

Learnt = Callable[[float, int], float]
"""(estimate, processors) -> its part of the score."""

LEARNT: dict[str, tuple[Learnt, float]] = {
    "F1": (lambda r, n: log10(r) * n, 870),
    "F2": (lambda r, n: sqrt(r) * n, 25_600),
    "F3": (lambda r, n: r * n, 6_860_000),
    "F4": (lambda r, n: r * sqrt(n), 530_000),
}
"""Name -> size's part, and the weight of log10(s). Read only."""


@frozen
class ByScore:
    """F1 log10(r) n + 870 log10(s); F2 sqrt(r) n + 25600 log10(s); F3 r n + 6860000 log10(s);
    F4 r sqrt(n) + 530000 log10(s)."""

    size: Learnt
    weight: float
    first: float = 0.0
    """When the log's first job was submitted: s counts from then, and is at least 1."""

    def __call__(
        self, job: BatchJob, processors: int, time: float, platform: int, draw: Draw
    ) -> float:
        return self.of(time, processors, job.submitted - self.first)

    def of(self, time: float, processors: int, since: float) -> float:
        """Larger is first."""
        return -(self.size(time, processors) + self.weight * log10(max(since, 1)))


TIMED: dict[str, TimedOrder] = {
    "WFP3": ByWait(wfp3),
    "UNICEP": ByWait(unicep),
    "FAIR-SHARE": FairShare(),
}
"""Read only."""
