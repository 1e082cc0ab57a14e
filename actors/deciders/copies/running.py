"""What runs between two checkpoints: copies, rotating shares, or their mean; exact, vectorised.

Jobs come and go twice per arrival, and each time all M copies are settled and placed afresh: one
numpy operation on M numbers costs as much as one message, M messages would cost the budget.
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

NEVER = math.inf
ROUNDING = 1e-12
"""Relative: less of a copy's need than this is rounding, and the copy has ended. Else a copy that
ends as its worker stops would wait for the worker's return to do 1e-17 of its work."""


def numbers(count: int, value: int, exact: bool) -> Numbers:
    """So many times `value`, as rational numbers where they are to be `exact`."""
    if exact:
        return np.full(count, Fraction(value), dtype=object)
    return np.full(count, float(value))


@define(eq=False)
class WorkAccount:
    """Per worker: service delivered until `since`, and the rate since then."""

    workers: int
    exact: bool = False
    """Rational numbers in object arrays: to check results, a hundred times slower."""
    delivered: Numbers = field(init=False)
    rate: Numbers = field(init=False)
    since: Numbers = field(init=False)
    never: Numbers = field(init=False)
    """NEVER for each worker, to copy: three times as fast as filling a new array."""
    moving: NDArray[np.bool_] = field(init=False)
    """Where the rate is above 0."""

    def __attrs_post_init__(self) -> None:
        self.delivered = numbers(self.workers, 0, self.exact)
        self.rate = numbers(self.workers, 1, self.exact)
        self.since = numbers(self.workers, 0, self.exact)
        self.never = np.full(self.workers, NEVER, dtype=self.rate.dtype)
        self.moving = np.ones(self.workers, dtype=bool)

    def at(self, now: float) -> Numbers:
        """Service of each worker since the checkpoint, work units."""
        served: Numbers = self.delivered + self.rate * (now - self.since)
        return served

    def total(self, now: float) -> float:
        """Service of all workers together."""
        total: float = self.at(now).sum()
        return total

    def total_rate(self) -> float:
        """Rate of all workers together."""
        total: float = self.rate.sum()
        return total

    def restart(self, now: float) -> None:
        """A new checkpoint: nothing is delivered before it."""
        self.delivered[:] = 0
        self.since[:] = now

    def settle(self, worker: int, now: float) -> None:
        """Move one worker's account to `now`."""
        elapsed = now - self.since.item(worker)
        self.delivered[worker] = self.delivered.item(worker) + self.rate.item(worker) * elapsed
        self.since[worker] = now

    def change(self, worker: int, now: float, rate: float) -> None:
        """From `now` on the worker has this rate."""
        self.settle(worker, now)
        self.rate[worker] = rate
        self.moving[worker] = rate > 0

    def end(self, worker: int, need: float) -> float:
        """When the worker will have delivered `need`, which it has not yet; NEVER: never."""
        rate = self.rate.item(worker)
        if need == NEVER:
            return NEVER
        since: float = self.since.item(worker)
        left = need - self.delivered.item(worker)
        if left <= need * ROUNDING and not self.exact:
            return since
        return since + left / rate if rate else NEVER

    def ends(self, needs: Numbers) -> Numbers:
        """When each worker will have delivered its part of `needs`, just after `restart`."""
        ends = self.never.copy()
        np.divide(needs, self.rate, out=ends, where=self.moving)
        return ends + self.since


@define(eq=False)
class RunningPlacement:
    """The copies of one placement; jobs are numbered in the order of the allocation."""

    left: Numbers
    """Work that each job, or copy, lacks at the checkpoint."""
    factor: float
    """Share, and what multiplies it: work per unit of a worker's service."""
    ended: NDArray[np.bool_] = field(init=False)
    """Per job: whether a copy has ended."""
    ends: Numbers = field(init=False)
    """When each worker, or job, will have done what is needed first."""

    def earliest(self) -> float:
        """When the first copy ends, as things stand; NEVER: never."""
        end: float = self.ends.item(self.ends.argmin())
        return end

    def change(self, worker: int, now: float) -> None:
        """A worker's account or rate has changed."""

    @abstractmethod
    def mark_ended(self, due_by: float) -> None:
        """Note the jobs that have a copy that ends by then."""

    @abstractmethod
    def lefts(self, now: float) -> Numbers:
        """Work that each copy lacks, job after job."""


@define(eq=False)
class RunningCopies(RunningPlacement):
    """Each copy progresses by what its own worker delivers; a job ends with its first copy."""

    service: WorkAccount
    workers: Counts
    """Server of each copy, job after job."""
    first: Counts
    """Number of each job's first copy."""
    need: Numbers = field(init=False)
    """Service that each copy needs of its worker."""
    needs: Numbers = field(init=False)
    """The smallest such need per worker."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.first), dtype=bool)
        self.need = self.left / self.factor
        self.needs = self.service.never.copy()
        for start in range(0, len(self.workers), self.service.workers):
            layer = slice(start, start + self.service.workers)
            on, need = self.workers[layer], self.need[layer]
            self.needs[on] = np.minimum(self.needs[on], need) if start else need
        self.ends = self.service.ends(self.needs)

    def change(self, worker: int, now: float) -> None:
        self.ends[worker] = self.service.end(worker, self.needs.item(worker))

    def mark_ended(self, due_by: float) -> None:
        on = self.workers
        ending = (self.ends[on] <= due_by) & (self.need <= self.needs[on])
        self.ended |= np.logical_or.reduceat(ending, self.first)

    def lefts(self, now: float) -> Numbers:
        left: Numbers = self.left - self.factor * self.service.at(now)[self.workers]
        return left


@define(eq=False)
class Rotation(RunningPlacement):
    """One copy per job, which gets a share of every worker: their service adds up."""

    service: WorkAccount
    need: Numbers = field(init=False)
    """Service of all workers together that each job needs."""
    end: float = field(init=False)
    """When the first of them will have it."""

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
        return now + max(left, 0) / rate if rate else NEVER


@define(eq=False)
class RunningMean(RunningPlacement):
    """A job with r copies progresses by x g(r, t) in the time t since its checkpoint (eq. 5): the
    mean does not depend on any one worker."""

    gain: Gain
    copies: Counts
    since: float
    """The checkpoint."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.left), dtype=bool)
        needs = (self.left / self.factor).tolist()
        pairs = zip(self.copies.tolist(), needs, strict=True)
        times = [self.gain.time(copies, need) for copies, need in pairs]
        self.ends = self.since + np.array(times, dtype=self.left.dtype)

    def mark_ended(self, due_by: float) -> None:
        self.ended |= self.ends <= due_by

    def lefts(self, now: float) -> Numbers:
        """Work that each copy lacks: all of a job's copies count as equally far."""
        elapsed = now - self.since
        work = [self.gain.work(copies, elapsed) for copies in self.copies.tolist()]
        left = self.left - self.factor * np.array(work, dtype=self.left.dtype)
        return np.repeat(left, self.copies)
