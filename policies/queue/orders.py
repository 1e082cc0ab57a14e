"""Implements the orders of a queue: rigid21's, those of production sites and those of the
literature; ties go by job index.

WFP3 and UNICEP: Tang, Lan, Desai and Buettner 2009; F1 to F4: Carastan-Santos and de Camargo 2017,
learnt from simulations. In the formulas r is the estimate in seconds, n processors, s the
submission and w the wait.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from math import exp, log, log2, log10, sqrt

from attrs import define, field, frozen

from policies.interface.queue import BatchJob, Draw, Moment, Order, TimedOrder


def longest_time(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """LPT: the longest processing time first. Return `time`, the job's expected time on its
    processors, as its priority; the larger priority comes first."""
    return time


def shortest_time(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """SPT: the shortest processing time first. Return -`time`, of the job's expected time on its
    processors, as its priority; the larger priority comes first."""
    return -time


def highest_allocation(
    job: BatchJob, processors: int, time: float, platform: int, draw: Draw
) -> float:
    """HPA: the highest processor allocation first. Return `processors`, the job's number of them,
    as its priority; the larger priority comes first."""
    return processors


def lowest_allocation(
    job: BatchJob, processors: int, time: float, platform: int, draw: Draw
) -> float:
    """LPA: the lowest processor allocation first. Return -`processors`, of the job's number of
    them, as its priority; the larger priority comes first."""
    return -processors


def largest_area(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """LA: the largest area first. Return the area, `processors` x `time`, as the job's priority;
    the larger priority comes first."""
    return processors * time


def smallest_area(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """SA: the smallest area first. Return minus the area, `processors` x `time`, as the job's
    priority; the larger priority comes first."""
    return -processors * time


def random(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """RANDOM: one draw per job and run, kept through all its failures. Return what `draw` returns
    for the job, uniform in [0, 1), as its priority; the larger priority comes first."""
    return draw(job)


def large_first(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """LJF: jobs of at least (P+1)/2 processors by decreasing allocation, then the small ones in any
    order, here by index (rigid21, section 4.2.1). Return `processors` as a large job's priority, 0
    as a small one's; P = `platform`, and the larger priority comes first."""
    return processors if 2 * processors >= platform + 1 else 0


def first_come(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """FCFS: the earliest submission first, what EASY is usually combined with (rigid21, section
    2.4). Return minus the time of submission as the job's priority; the larger priority comes
    first."""
    return -job.submitted


PAPER_ORDERS: dict[str, Order] = {
    "LPT": longest_time,
    "SPT": shortest_time,
    "HPA": highest_allocation,
    "LPA": lowest_allocation,
    "LA": largest_area,
    "SA": smallest_area,
    "RANDOM": random,
}
"""The seven orders of rigid21 by the papers' names; read only."""


def urgent_first(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """PRIORITY: the job of the highest priority first. Return the priority that the site or the
    user gave the job; the larger one comes first."""
    return job.priority


PLAIN: dict[str, Order] = {
    **PAPER_ORDERS,
    "LJF": large_first,
    "FCFS": first_come,
    "SJF": shortest_time,
    "PRIORITY": urgent_first,
}
"""The orders that depend only on what is known of a job, and on draws, by name; read only."""


# --- orders that change with time ----------------------------------------------------------------

WEEK = 7 * 86_400.0
"""Seconds in a week."""

Waiting = Callable[[float, float, int], float]
"""Function of a wait's formula: (wait, estimate, processors) -> priority."""


@frozen
class ByWait:
    """An order whose priorities depend on how long each job has waited, by a given formula."""

    priority: Waiting
    half_life: float | None = field(default=None, init=False)

    def at(self, moment: Moment) -> Order:
        now, priority = moment.now, self.priority

        def order(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
            return priority(now - job.submitted, time, processors)

        return order


def wfp3(wait: float, time: float, processors: int) -> float:
    """WFP3: large jobs and long waits first, by the smallest -(w/r)^3 n, with the wait w, the
    estimated time r and n processors. Return (w/r)^3 n as the priority; the larger priority comes
    first."""
    return (wait / time) ** 3 * processors


def unicep(wait: float, time: float, processors: int) -> float:
    """UNICEP: small jobs and long waits first, by the smallest -w/(r log2 n), with the wait w, the
    estimated time r and n processors, at least 2. Return w/(r log2 n) as the priority; the larger
    priority comes first."""
    return wait / (time * log2(max(processors, 2)))


@frozen
class FairShare:
    """FAIR-SHARE: the user who has used the least processor-time first, each use counting half as
    much after every half-life: usage(t) = sum over the user's runs of processors times the integral
    of 2^(-(t - u) / half_life) du, runs under way included; first come, first served within a user.
    """

    half_life: float | None = WEEK

    def at(self, moment: Moment) -> Order:
        known: dict[str, float] = {}

        def order(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
            if job.user not in known:
                known[job.user] = moment.used(job.user)
            return -known[job.user]

        return order


# --- Slurm's multifactor priority -----------------------------------------------------------------


class Favour(enum.Enum):
    """Says which jobs the size factor of MULTIFACTOR puts first."""

    LARGE = "large"
    SMALL = "small"


@frozen
class Factors:
    """The factors of a job's number under MULTIFACTOR, each from 0 to 1."""

    age: float
    fair_share: float
    size: float
    tier: float


class Arrived(float):
    """A priority of which equal ones go by arrival: the earlier submission is the larger."""

    __slots__ = ("submitted",)
    submitted: float

    @classmethod
    def at(cls, priority: float, submitted: float) -> Arrived:
        """Return this priority of a job that was submitted at this time; of a negated priority,
        that is minus the time."""
        it = cls(priority)
        it.submitted = submitted
        return it

    def __neg__(self) -> Arrived:
        return Arrived.at(-float(self), -self.submitted)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arrived):
            return float(self) == other
        return float(self) == float(other) and self.submitted == other.submitted

    def __hash__(self) -> int:
        return hash(float(self))

    def __lt__(self, other: float) -> bool:
        if float(self) == float(other) and isinstance(other, Arrived):
            return self.submitted > other.submitted
        return float(self) < float(other)

    def __gt__(self, other: float) -> bool:
        return not (self < other or self == other)

    def __le__(self, other: float) -> bool:
        return self < other or self == other

    def __ge__(self, other: float) -> bool:
        return not self < other


@frozen
class Multifactor:
    """MULTIFACTOR: the highest sum of weight x factor first, ties by arrival, as Slurm's plug-in of
    that name counts. Age is min(waited / age_max, 1); fair share 2^-(usage / share), with the
    user's part of all decayed processor-time so far over 1 / (number of users seen); size p / P, or
    1 - p / P; tier that of the job's partition over the highest."""

    age: float = 0.0
    fair_share: float = 0.0
    size: float = 0.0
    tier: float = 0.0
    age_max: float = WEEK
    """Wait from which on a job's age is 1."""
    half_life: float | None = WEEK
    """Time in which the weight of past usage halves."""
    favour: Favour = Favour.LARGE
    """Whether the size factor puts large jobs first, or small ones."""
    tiers: Sequence[int] = ()
    """Tier of each partition, by its number; empty: all are alike."""

    def factors_at(self, moment: Moment) -> Callable[[BatchJob, int, int], Factors]:
        """Return the function that returns the factors of a job at a moment, given the job, the
        number of processors that it would get, and that of the platform."""
        used = {user: moment.used(user) for user in moment.users}
        total, users = sum(used.values()), len(used)
        fair = {user: 2.0 ** -(use / total * users) for user, use in used.items() if total}
        highest = max(self.tiers, default=0)

        def factors(job: BatchJob, processors: int, platform: int) -> Factors:
            size = processors / platform
            return Factors(
                age=min((moment.now - job.submitted) / self.age_max, 1.0),
                fair_share=fair.get(job.user, 1.0),
                size=size if self.favour is Favour.LARGE else 1 - size,
                tier=self.tiers[job.partition] / highest if highest > 0 else 1.0,
            )

        return factors

    def number(self, factors: Factors) -> float:
        """Return the sum of weight x factor."""
        first = self.age * factors.age + self.fair_share * factors.fair_share
        return first + self.size * factors.size + self.tier * factors.tier

    def at(self, moment: Moment) -> Order:
        factors = self.factors_at(moment)

        def order(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
            return Arrived.at(self.number(factors(job, processors, platform)), job.submitted)

        return order


# --- orders learnt from simulations --------------------------------------------------------------

Learnt = Callable[[float, int], float]
"""Function of a learnt formula: (estimate, processors) -> the size's part of the score."""

LEARNT: dict[str, tuple[Learnt, float]] = {
    "F1": (lambda r, n: log10(r) * n, 870),
    "F2": (lambda r, n: sqrt(r) * n, 25_600),
    "F3": (lambda r, n: r * n, 6_860_000),
    "F4": (lambda r, n: r * sqrt(n), 530_000),
}
"""Maps each name to the size's part of its score and the weight of log10(s); read only."""


@frozen
class ByScore:
    """An order by a score that was learnt from simulations, the lowest first: F1 log10(r) n + 870
    log10(s), F2 sqrt(r) n + 25600 log10(s), F3 r n + 6860000 log10(s), F4 r sqrt(n) + 530000
    log10(s).

    r is the estimated time, n the number of processors, and s the time from the first job's
    submission to this one's.
    """

    size: Learnt
    weight: float
    first: float = 0.0
    """Submission time of the log's first job: s counts from it, and is at least 1."""

    def __call__(
        self, job: BatchJob, processors: int, time: float, platform: int, draw: Draw
    ) -> float:
        return self.of(time, processors, job.submitted - self.first)

    def of(self, time: float, processors: int, since: float) -> float:
        """Return the priority (larger is first) of a job with the estimate `time` on `processors`
        processors, which is submitted `since` after the first job."""
        return -(self.size(time, processors) + self.weight * log10(max(since, 1)))


MULTIFACTOR = "MULTIFACTOR"
TIMED: dict[str, TimedOrder] = {
    "WFP3": ByWait(wfp3),
    "UNICEP": ByWait(unicep),
    "FAIR-SHARE": FairShare(),
    MULTIFACTOR: Multifactor(),
}
"""The orders that change with time, by name; read only."""


@define
class _Account:
    used: float = 0.0
    """Decayed processor-time up to `since`."""
    since: float = 0.0
    busy: int = 0
    """Number of processors in use since then."""


@define(eq=False)
class Usage:
    """Tracks each user's decayed processor-time: what has been used counts half as much after every
    `half_life`, and processors in use add to it."""

    half_life: float
    _accounts: dict[str, _Account] = field(factory=dict)

    def of(self, user: str, now: float) -> float:
        """Return the user's decayed processor-time at `now`; 0 for a user who has had none. From an
        amount u, with b processors in use since then, it is b / d + (u - b / d) e^(-d t) after a
        time t, with d = ln 2 over the half-life."""
        account = self._accounts.get(user)
        if account is None:
            return 0.0
        # The solution of used' = busy - d used, which tends to busy / d.
        decay = log(2) / self.half_life
        limit = account.busy / decay
        return limit + (account.used - limit) * exp(-decay * (now - account.since))

    def change(self, user: str, processors: int, now: float) -> None:
        """Change the number of processors that the user has in use, from `now` on, by `processors`,
        which is negative for a release."""
        used = self.of(user, now)
        account = self._accounts.setdefault(user, _Account())
        account.used, account.since, account.busy = used, now, account.busy + processors
