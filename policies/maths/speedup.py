"""Speedup profiles: how long one attempt of a job takes on p processors (moldable21, section 3.1).

Roofline, communication, Amdahl, mix and power are points of one formula,
t(p) = a / min(p, d)^delta + b + (p - 1) c, which is what lets a whole set of jobs be allotted with
array arithmetic (`policies.maths.profiles`). A table says anything at all.
"""

from __future__ import annotations

import math
from typing import Protocol

from attrs import field, frozen
from attrs.validators import and_, deep_iterable, ge, gt, le, lt, min_len

POSITIVE = and_(gt(0.0), lt(math.inf))


class Profile(Protocol):
    """Time of one attempt by processor count; verification excluded."""

    @property
    def work(self) -> float:
        """w: time on one processor, what failure probabilities depend on (moldable21,
        equation 3)."""

    def time(self, processors: int) -> float:
        """t(p), in the scenario's unit; p from 1."""


@frozen
class Rigid:
    """A job whose user fixed the processors (rigid21, section 3.1)."""

    processors: int
    """p_j."""
    length: float
    """t_j, error-free execution time."""

    @property
    def work(self) -> float:
        """The area: a rigid job's failures depend on it (rigid21, section 3.4)."""
        return self.processors * self.length

    def time(self, processors: int) -> float:
        """t_j. Raises ValueError for any count but the one asked for."""
        if processors != self.processors:
            raise ValueError(f"a rigid job of {self.processors} processors was given {processors}")
        return self.length


@frozen
class Speedup:
    """t(p) = parallel / min(p, degree)^delta + serial + (p - 1) cost.

    Raises ValueError for what its bounds refuse.
    """

    work: float = field(validator=POSITIVE)
    """w, kept as given: the formula at p = 1 may round differently."""
    parallel: float = field(validator=ge(0))
    """a: the part that processors share."""
    degree: float = field(default=math.inf, validator=ge(1))
    """Degree of parallelism beyond which more processors do not help."""
    delta: float = field(default=1.0, validator=[ge(0), le(1)])
    """Exponent of the power model; 1 elsewhere."""
    serial: float = field(default=0.0, validator=ge(0))
    """b: the part that they do not share."""
    cost: float = field(default=0.0, validator=ge(0))
    """c: communication overhead per processor beyond the first."""

    def time(self, processors: int) -> float:
        """t(p); see the class."""
        shared = processors if processors < self.degree else self.degree
        if self.delta != 1.0:
            shared = shared**self.delta
        return self.parallel / shared + self.serial + (processors - 1) * self.cost


def roofline(work: float, degree: int) -> Speedup:
    """w/p up to a bounded degree of parallelism. Raises ValueError where not w > 0, degree >= 1."""
    return mix(work, degree, fraction=0.0, cost=0.0)


def communication(work: float, cost: float) -> Speedup:
    """w/p + (p - 1) c. Raises ValueError where not w > 0, c >= 0."""
    return mix(work, math.inf, fraction=0.0, cost=cost)


def amdahl(work: float, fraction: float) -> Speedup:
    """w ((1 - gamma)/p + gamma). Raises ValueError where not w > 0, gamma in [0, 1]."""
    return mix(work, math.inf, fraction=fraction, cost=0.0)


def mix(work: float, degree: float, fraction: float, cost: float) -> Speedup:
    """w (1 - gamma)/min(p, degree) + w gamma + (p - 1) c: the three above in one.

    Raises ValueError where not w > 0, degree >= 1, gamma in [0, 1], c >= 0.
    """
    return Speedup(work, work * (1 - fraction), degree, 1.0, work * fraction, cost)


def power(work: float, delta: float) -> Speedup:
    """w / p^delta. Raises ValueError where not w > 0, delta in [0, 1]."""
    return Speedup(work, work, delta=delta)


@frozen
class Table:
    """An arbitrary profile: times[p - 1] on p processors; it cannot use more than it lists."""

    times: tuple[float, ...] = field(
        converter=tuple[float, ...], validator=deep_iterable(POSITIVE, min_len(1))
    )

    @property
    def work(self) -> float:
        """t(1)."""
        return self.times[0]

    def time(self, processors: int) -> float:
        """t(p). Raises ValueError where the table does not list p."""
        if not 1 <= processors <= len(self.times):
            known = len(self.times)
            raise ValueError(f"a table of {known} times was asked for {processors} processors")
        return self.times[processors - 1]


def usable(profile: Profile, processors: int) -> int:
    """As many of `processors` as its job can use: a table's runs on no more than it lists."""
    return min(processors, len(profile.times)) if isinstance(profile, Table) else processors


@frozen
class Lockstep:
    """An iterative job whose user fixed the workers: an estimate of one iteration on average
    workers, tasks dealt round (volatile13, section III.A)."""

    processors: int
    """p_j."""
    tasks: int
    """m."""
    task_time: float
    """Mean time units per task."""

    @property
    def work(self) -> float:
        """Of an iteration."""
        return self.tasks * self.task_time

    def time(self, processors: int) -> float:
        """The longest share of the tasks."""
        return -(-self.tasks // processors) * self.task_time


@frozen
class Fixed:
    """A moldable job whose user fixed the processors all the same."""

    profile: Profile
    processors: int
    """How many it gets, always."""

    @property
    def work(self) -> float:
        """The same as the profile's."""
        return self.profile.work

    def time(self, processors: int) -> float:
        """The same as the profile's."""
        return self.profile.time(processors)


Asking = Rigid | Lockstep | Fixed
"""Profiles of jobs whose number of processors is fixed."""
