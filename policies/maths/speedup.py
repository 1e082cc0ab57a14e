"""Defines speedup profiles: the time of one attempt of a job on p processors (moldable21, section
3.1).

Roofline, communication, Amdahl, mix and power are points of one formula, t(p) = a / min(p, d)^delta
+ b + (p - 1) c. So a whole set of jobs is allotted with array arithmetic
(`policies.maths.profiles`). A table may list any times.
"""

from __future__ import annotations

import math
from typing import Protocol

from attrs import field, frozen
from attrs.validators import and_, deep_iterable, ge, gt, le, lt, min_len

POSITIVE = and_(gt(0.0), lt(math.inf))


class Profile(Protocol):
    """A speedup profile: gives the time of one attempt of a job by number of processors,
    verification excluded."""

    @property
    def work(self) -> float:
        """Time on one processor, w, on which failure probabilities depend (moldable21, equation
        3)."""

    def time(self, processors: int) -> float:
        """Return t(p) in the scenario's unit, for p from 1."""


@frozen(weakref_slot=False)
class Rigid:
    """The profile of a rigid job: its user fixed the number of processors (rigid21, section
    3.1)."""

    processors: int
    """Number of processors, p_j."""
    length: float
    """Error-free execution time, t_j."""

    @property
    def work(self) -> float:
        """The job's area, on which a rigid job's failures depend (rigid21, section 3.4)."""
        return self.processors * self.length

    def time(self, processors: int) -> float:
        """Return the job's execution time t_j. Raises ValueError for any number of processors but
        the requested one."""
        if processors != self.processors:
            raise ValueError(f"a rigid job of {self.processors} processors was given {processors}")
        return self.length


@frozen
class Speedup:
    """A formula for moldable jobs on p processors: t(p) = parallel / min(p, degree)^delta + serial
    + (p - 1) cost.

    Raises ValueError for values outside the bounds of its fields.
    """

    work: float = field(validator=POSITIVE)
    """Time on one processor, w, stored as given because the formula at p = 1 may round
    differently."""
    parallel: float = field(validator=ge(0))
    """The part a of the work that processors share."""
    degree: float = field(default=math.inf, validator=ge(1))
    """Degree of parallelism beyond which more processors do not help."""
    delta: float = field(default=1.0, validator=[ge(0), le(1)])
    """Exponent of the power model; 1 elsewhere."""
    serial: float = field(default=0.0, validator=ge(0))
    """The part b of the work that processors do not share."""
    cost: float = field(default=0.0, validator=ge(0))
    """Communication overhead c per processor beyond the first."""

    def time(self, processors: int) -> float:
        """Return t(p), the time of one attempt on p = `processors`, by the formula of the class."""
        shared = processors if processors < self.degree else self.degree
        if self.delta != 1.0:
            shared = shared**self.delta
        return self.parallel / shared + self.serial + (processors - 1) * self.cost


def roofline(work: float, degree: int) -> Speedup:
    """Return the roofline profile of a job of `work` w, its time on one processor: w/p for p up to
    `degree`, and constant beyond. Raises ValueError where not w > 0, degree >= 1."""
    return mix(work, degree, fraction=0.0, cost=0.0)


def communication(work: float, cost: float) -> Speedup:
    """Return the communication profile of a job of `work` w, its time on one processor: w/p + (p -
    1) c, where c is `cost`. Raises ValueError where not w > 0, c >= 0."""
    return mix(work, math.inf, fraction=0.0, cost=cost)


def amdahl(work: float, fraction: float) -> Speedup:
    """Return Amdahl's profile of a job of `work` w, its time on one processor: w ((1 - gamma)/p +
    gamma), where the sequential `fraction` is gamma. Raises ValueError where not w > 0, gamma in
    [0, 1]."""
    return mix(work, math.inf, fraction=fraction, cost=0.0)


def mix(work: float, degree: float, fraction: float, cost: float) -> Speedup:
    """Return the general profile, time w (1 - gamma)/min(p, degree) + w gamma + (p - 1) c, of which
    the roofline, communication and Amdahl profiles are special cases.

    w is `work`, gamma the sequential `fraction`, c the `cost` per further processor. Raises
    ValueError where not w > 0, degree >= 1, gamma in [0, 1], c >= 0.
    """
    return Speedup(work, work * (1 - fraction), degree, 1.0, work * fraction, cost)


def power(work: float, delta: float) -> Speedup:
    """Return the power-law profile of a job of `work` w, its time on one processor: w / p^delta.
    Raises ValueError where not w > 0, delta in [0, 1]."""
    return Speedup(work, work, delta=delta)


@frozen
class Table:
    """An arbitrary profile, with times[p - 1] the time on p processors; a job with it cannot use
    more processors than there are times."""

    times: tuple[float, ...] = field(
        converter=tuple[float, ...], validator=deep_iterable(POSITIVE, min_len(1))
    )

    @property
    def work(self) -> float:
        """Time on one processor, t(1)."""
        return self.times[0]

    def time(self, processors: int) -> float:
        """Return t(p), the listed time on p = `processors`. Raises ValueError where the table does
        not list p."""
        if not 1 <= processors <= len(self.times):
            known = len(self.times)
            raise ValueError(f"a table of {known} times was asked for {processors} processors")
        return self.times[processors - 1]


def usable(profile: Profile, processors: int) -> int:
    """Return how many of `processors` processors a job with this profile can use: with a table at
    most as many as it lists times for, with any other profile all."""
    return min(processors, len(profile.times)) if isinstance(profile, Table) else processors


@frozen
class Lockstep:
    """The profile of an iterative job (m tasks dealt to workers anew in each iteration, which ends
    with the slowest worker) whose user fixed the number of workers (volatile13, section III.A).

    It estimates one iteration on workers of average speed, to which tasks are dealt in turn.
    """

    processors: int
    """Number of processors, p_j."""
    tasks: int
    """Number of tasks of an iteration, m."""
    task_time: float
    """Mean time of a task, in time units."""

    @property
    def work(self) -> float:
        """Work of one iteration, in time units on one average worker."""
        return self.tasks * self.task_time

    def time(self, processors: int) -> float:
        """Return the time of one iteration: ceil(tasks / processors) tasks in a row, which is what
        the worker with the most tasks has."""
        # The ceiling of tasks / processors: tasks are dealt in turn, so the first worker has the
        # most.
        return -(-self.tasks // processors) * self.task_time


@frozen
class Fixed:
    """The profile of a moldable job that always gets the number of processors that its user
    fixed."""

    profile: Profile
    processors: int
    """Number of processors that the job always gets."""

    @property
    def work(self) -> float:
        """Time on one processor, that of the underlying profile."""
        return self.profile.work

    def time(self, processors: int) -> float:
        """Return the time that the underlying profile gives on `processors` processors."""
        return self.profile.time(processors)


Asking = Rigid | Lockstep | Fixed
"""Profiles of jobs whose number of processors is fixed."""
