"""Computes the progress of copies between two decision epochs, as single copies, rotating shares or
their mean; exact and vectorised.

Jobs come and go twice per arrival, and each time all M copies are settled and placed afresh: one
numpy operation on M numbers costs as much as one message, and M messages would cost too much.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.copies import Counts, Numbers
from policies.maths.gains import Gain
from policies.maths.tolerance import ROUNDING

NEVER = math.inf


def numbers(count: int, value: int, exact: bool) -> Numbers:
    """Return an array of `count` items, all `value`: floats or, if `exact`, rational numbers
    (Fraction)."""
    if exact:
        return np.full(count, Fraction(value), dtype=object)
    return np.full(count, float(value))


@define(eq=False)
class WorkAccount:
    """Accounts for the service (speed x time, in work units) that each worker has delivered since
    the last decision epoch, at which all copies were placed afresh. All arrays are by worker."""

    workers: int
    exact: bool = False
    """Whether rational numbers in object arrays are used; they serve to check results and are a
    hundred times slower."""
    delivered: Numbers = field(init=False)
    rate: Numbers = field(init=False)
    since: Numbers = field(init=False)
    never: Numbers = field(init=False)
    """The value NEVER for each worker, to be copied: three times as fast as filling a new array."""
    moving: NDArray[np.bool_] = field(init=False)
    """Whether each worker's rate is above 0."""

    def __attrs_post_init__(self) -> None:
        self.delivered = numbers(self.workers, 0, self.exact)
        self.rate = numbers(self.workers, 1, self.exact)
        self.since = numbers(self.workers, 0, self.exact)
        self.never = np.full(self.workers, NEVER, dtype=self.rate.dtype)
        self.moving = np.ones(self.workers, dtype=bool)

    def at(self, now: float) -> Numbers:
        """Return the service that each worker has delivered from the last decision epoch until
        `now`, in work units."""
        served: Numbers = self.delivered + self.rate * (now - self.since)
        return served

    def total(self, now: float) -> float:
        """Return the service that all workers together have delivered from the last decision epoch
        until `now`, in work units."""
        total: float = self.at(now).sum()
        return total

    def total_rate(self) -> float:
        """Return the sum of all workers' present rates, in work units per time unit."""
        total: float = self.rate.sum()
        return total

    def restart(self, now: float) -> None:
        """Begin a new decision epoch at `now`: the service delivered so far counts no more."""
        self.delivered[:] = 0
        self.since[:] = now

    def settle(self, worker: int, now: float) -> None:
        """Bring one worker's account up to `now`: what it has delivered until then is added up."""
        elapsed = now - self.since.item(worker)
        # `item` gives Python's numbers, with which single operations are faster than with numpy's.
        self.delivered[worker] = self.delivered.item(worker) + self.rate.item(worker) * elapsed
        self.since[worker] = now

    def change(self, worker: int, now: float, rate: float) -> None:
        """Set the worker's rate, in work units per time unit, to `rate` from `now` on."""
        self.settle(worker, now)
        self.rate[worker] = rate
        self.moving[worker] = rate > 0

    def end(self, worker: int, need: float) -> float:
        """Return the time at which this worker's service since the decision epoch will reach `need`
        at its present rate; NEVER if it will not. The caller guarantees that the worker had not
        delivered that much when its rate last changed."""
        rate = self.rate.item(worker)
        if need == NEVER:
            return NEVER
        since: float = self.since.item(worker)
        left = need - self.delivered.item(worker)
        if left <= need * ROUNDING and not self.exact:
            return since
        return since + left / rate if rate else NEVER

    def ends(self, needs: Numbers) -> Numbers:
        """Return, by worker, the time at which its service will reach its entry of `needs` at its
        present rate; NEVER for a worker of rate 0. Valid just after `restart` only, while nothing
        has been delivered."""
        # Only moving workers are divided by their rate: the others keep NEVER.
        ends = self.never.copy()
        np.divide(needs, self.rate, out=ends, where=self.moving)
        return ends + self.since


@define(eq=False)
class RunningPlacement:
    """Progress of the copies of one placement, which lasts from one decision epoch (an instant at
    which all copies are placed afresh) to the next. Jobs are numbered in the order of the policy's
    allocation. `factor` is work done per unit of service."""

    left: Numbers
    """Work that is left at the decision epoch, by job, or by copy."""
    factor: float
    """Work per unit of a worker's service: the share that a copy gets, times any further factor."""
    ended: NDArray[np.bool_] = field(init=False)
    """Whether each job has a copy that has ended."""
    ends: Numbers = field(init=False)
    """Time at which the first copy on each worker, or each job, ends at the present speeds; NEVER
    if none does."""

    def earliest(self) -> float:
        """Return the time at which the first of all copies ends if no speed changes; NEVER if none
        will."""
        end: float = self.ends.item(self.ends.argmin())
        return end

    def change(self, worker: int, now: float) -> None:
        """Compute anew when copies end, as the speed of this worker has changed at `now`; its
        account has the new speed already."""

    @abstractmethod
    def mark_ended(self, due_by: float) -> None:
        """Set `ended` for each job that has a copy which ends at the time `due_by` or earlier."""

    @abstractmethod
    def lefts(self, now: float) -> Numbers:
        """Return an array with the work that each copy has left at `now`, job after job."""


@define(eq=False)
class RunningCopies(RunningPlacement):
    """Copies that have a worker, or a share of one, each. A copy progresses by the service of its
    own worker, and a job ends with the first of its copies."""

    service: WorkAccount
    workers: Counts
    """Worker of each copy, job after job."""
    first: Counts
    """Position of each job's first copy among all copies."""
    need: Numbers = field(init=False)
    """Service that each copy needs of its worker."""
    needs: Numbers = field(init=False)
    """Service that each worker has to deliver until the first of its copies ends."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.first), dtype=bool)
        self.need = self.left / self.factor
        self.needs = self.service.never.copy()
        # Each layer of M copies has at most one copy on each worker, so a plain minimum suffices.
        for start in range(0, len(self.workers), self.service.workers):
            layer = slice(start, start + self.service.workers)
            on, need = self.workers[layer], self.need[layer]
            self.needs[on] = np.minimum(self.needs[on], need) if start else need
        self.ends = self.service.ends(self.needs)

    def change(self, worker: int, now: float) -> None:
        self.ends[worker] = self.service.end(worker, self.needs.item(worker))

    def mark_ended(self, due_by: float) -> None:
        on = self.workers
        # On a worker that has delivered its smallest need, the copies with that need end.
        ending = (self.ends[on] <= due_by) & (self.need <= self.needs[on])
        self.ended |= np.logical_or.reduceat(ending, self.first)

    def lefts(self, now: float) -> Numbers:
        left: Numbers = self.left - self.factor * self.service.at(now)[self.workers]
        return left


@define(eq=False)
class Rotation(RunningPlacement):
    """Jobs with one copy each that use an equal share of every worker, so that a job progresses by
    the service of all workers together."""

    service: WorkAccount
    need: Numbers = field(init=False)
    """Service of all workers together that each job needs."""
    end: float = field(init=False)
    """Time at which the first job ends at the present speeds."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.left), dtype=bool)
        self.need = self.left / self.factor
        self.end = self._end(self.service.since.item(0))

    def earliest(self) -> float:
        return self.end

    def change(self, worker: int, now: float) -> None:
        self.end = self._end(now)

    def mark_ended(self, due_by: float) -> None:
        if self.end <= due_by:
            self.ended |= self.need <= self.need.min()

    def lefts(self, now: float) -> Numbers:
        left: Numbers = self.left - self.factor * self.service.total(now)
        return left

    def _end(self, now: float) -> float:
        rate = self.service.total_rate()
        left = self.need.min() - self.service.total(now)
        # Rounding may leave a little less than nothing.
        return now + max(left, 0) / rate if rate else NEVER


@define(eq=False)
class RunningMean(RunningPlacement):
    """Jobs that progress by their mean service: `factor` x g(r, t) for a job with r copies, in the
    time t since the decision epoch at which they were placed (redundancy17, eq. 5). The mean does
    not depend on any one worker."""

    gain: Gain
    copies: Counts
    since: float
    """Time of the decision epoch."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.left), dtype=bool)
        needs = (self.left / self.factor).tolist()
        pairs = zip(self.copies.tolist(), needs, strict=True)
        times = [self.gain.time(copies, need) for copies, need in pairs]
        self.ends = self.since + np.array(times, dtype=self.left.dtype)

    def mark_ended(self, due_by: float) -> None:
        self.ended |= self.ends <= due_by

    def lefts(self, now: float) -> Numbers:
        """Return an array with the work that each copy has left at `now`, job after job; all copies
        of a job count as equally far."""
        elapsed = now - self.since
        work = [self.gain.work(copies, elapsed) for copies in self.copies.tolist()]
        left = self.left - self.factor * np.array(work, dtype=self.left.dtype)
        return np.repeat(left, self.copies)
