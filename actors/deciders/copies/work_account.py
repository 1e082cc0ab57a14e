"""Work delivered by each worker since the last checkpoint: exact, vectorised.

Jobs come and go twice per arrival, and each time all M copies are settled and placed afresh: one
numpy operation on M numbers costs as much as one message, M messages would cost the budget.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.copies import Numbers

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
