"""What each number of processors means for one malleable application, and what it costs to move to
another (malleable17, section 3).

Tables by size, made once; looking a cost up must be cheap: the greedy heuristics ask for hundreds
of thousands in a run.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from math import expm1

import numpy as np
from attrs import field, frozen

from policies.maths.checkpoint import (
    Times,
    checkpoint_cost,
    checkpoints,
    expected_time,
    young_period,
)


@frozen
class Link:
    """What a redistribution pays (malleable17, eq. 6)."""

    startup: float = 0.0
    """S, s for each redistribution."""
    latency: float = 0.0
    """beta, s for each message."""
    inverse_bandwidth: float = 1.0
    """1 / bandwidth, s per data unit."""

    def cost(self, footprint: float, before: int, after: int) -> float:
        """RC, in s, from `before` to `after` processors with `footprint` data units in all."""
        message = footprint * self.inverse_bandwidth / (before * after) + self.latency
        return self.startup + round_count(before, after) * message


def round_count(before: int, after: int) -> int:
    """Rounds of messages: the edge-chromatic number of the bipartite graph between those who stay
    and those who come or go, which is its largest degree (König; malleable17, section 3.3.1)."""
    return max(min(before, after), abs(after - before))


@frozen
class Checkpointing:
    """Checkpoints against fail-stop faults (malleable17, section 3.1)."""

    mtbf: float
    """mu of one processor, in s; applications on j processors have mu / j; inf: no fault comes."""
    unit_cost: float = 1.0
    """c, s to checkpoint one data unit on one processor."""
    latency: float = 0.0
    """beta, s for each checkpoint message."""
    downtime: float = 60.0
    """D, s between a fault and the start of the recovery."""
    period: Callable[[Times, Times], Times] = young_period
    """tau by MTBF and C, the checkpoint included."""
    cost: float | None = None
    """C whatever the size; None: m c / j + beta."""
    closes: bool = True
    """Whether a checkpoint closes each redistribution: what buddies keep has to move."""

    def checkpoint(self, footprint: float, sizes: Times) -> Times:
        """C_ij."""
        if self.cost is not None:
            return np.full(len(sizes), self.cost)
        return checkpoint_cost(footprint, sizes, self.unit_cost, self.latency)


def synthetic_times(footprint: float, sequential: float, sizes: Times) -> Times:
    """t(m, q) of the synthetic application of size m = `footprint`, in s (malleable17, eq. 7)."""
    whole = footprint * math.log2(footprint)
    return sequential * 2 * whole + (1 - sequential) * 2 * whole / sizes + whole / sizes


LONGEST = 1e300
"""s: a period that no work reaches. Infinity times no checkpoints would not be a number."""

Table = Sequence[float]
"""Doubles by size: a thousand applications on 5,000 processors are 2.5 million sizes, and lists
of floats take four times the memory."""


@frozen(eq=False)
class Costs:
    """One application's times by size; sizes are multiples of `pair`, times in s.

    Tables are indexed by size // pair - 1. Where nothing is checkpointed and no fault expected,
    t^R = alpha t.
    """

    pair: int
    footprint: float
    link: Link
    largest: int
    """j_max: the smallest size with the least t^R of the whole work."""
    rate: float
    """lambda: faults of one processor, per s; 0: none is expected."""
    times: Table = field(repr=False)
    """t_ij without faults and checkpoints."""
    checkpoint: Table = field(repr=False)
    """C_ij, which is also the recovery R_ij."""
    closings: Table = field(repr=False)
    """The same where a checkpoint closes each redistribution, else 0."""
    period: Table = field(repr=False)
    """tau_ij, the checkpoint included."""
    work: Table = field(repr=False)
    """tau_ij - C_ij."""
    scale: Table = field(repr=False)
    """e^(lambda j R) (1 / (lambda j) + D)."""
    full: Table = field(repr=False)
    """e^(lambda j tau) - 1."""

    def expected(self, size: int, left: float) -> float:
        """t^R of the fraction `left` of the work (malleable17, eq. 3)."""
        at = size // self.pair - 1
        work = left * self.times[at]
        count = int(work / self.work[at])
        if not self.rate:
            return work + count * self.checkpoint[at]
        rest = expm1(self.rate * size * (work - count * self.work[at]))
        return self.scale[at] * (count * self.full[at] + rest)

    def checkpoints(self, size: int, left: float) -> int:
        """N_ff of the fraction `left` of the work (malleable17, eq. 2)."""
        at = size // self.pair - 1
        return int(left * self.times[at] / self.work[at])

    def duration(self, size: int, left: float) -> float:
        """Time of the fraction `left` of the work if no fault comes."""
        at = size // self.pair - 1
        return left * self.times[at] + self.checkpoints(size, left) * self.checkpoint[at]

    def taken(self, size: int, elapsed: float) -> int:
        """N: checkpoints taken in `elapsed` s since the last fault or redistribution (eq. 5)."""
        return int(elapsed / self.period[size // self.pair - 1])

    def left(self, size: int, left: float, elapsed: float, taken: int) -> float:
        """What is left of the fraction `left` after `elapsed` s with `taken` checkpoints.

        All work counts, saved or not (malleable17, section 3.3.2); a checkpoint under way counts as
        work.
        """
        at = size // self.pair - 1
        worked = elapsed - taken * self.checkpoint[at]
        return max(0.0, left - worked / self.times[at])

    def finish(self, start: float, before: int, after: int, left: float) -> float:
        """t^U of the fraction `left`, redistributed from `before` to `after` processors at `start`.

        start + RC + C + t^R (malleable17, section 3.3.2). Written out: in calls to the methods
        below it takes twice as long, and the greedy heuristics do little else.
        """
        at = after // self.pair - 1
        link, apart = self.link, after - before if after > before else before - after
        least = before if before < after else after
        message = self.footprint * link.inverse_bandwidth / (before * after) + link.latency
        moved = start + (link.startup + (apart if apart > least else least) * message)
        work = left * self.times[at]
        length = self.work[at]
        count = int(work / length)
        if not self.rate:
            return moved + self.closings[at] + work + count * self.checkpoint[at]
        rest = expm1(self.rate * after * (work - count * length))
        return moved + self.closings[at] + self.scale[at] * (count * self.full[at] + rest)

    def redistribution(self, before: int, after: int) -> float:
        """RC, in s (malleable17, eq. 6)."""
        return self.link.cost(self.footprint, before, after)

    def computing(self, size: int) -> float:
        """tau - C: work between two checkpoints; inf: none is taken."""
        at = self.row(size)
        return self.work[at] if self.period[at] < LONGEST else math.inf

    def saving(self, size: int) -> float:
        """C, and R."""
        return self.checkpoint[self.row(size)]

    @property
    def most(self) -> int:
        """The largest size that the tables tell of."""
        return self.pair * len(self.times)

    def row(self, size: int) -> int:
        """Where the tables tell of `size`, or of the nearest that they know."""
        return min(max(size // self.pair, 1), len(self.times)) - 1


def costs(
    times: Times,
    footprint: float,
    pair: int,
    link: Link,
    protection: Checkpointing | None,
) -> Costs:
    """The tables of an application that takes `times` (s) on pair, 2 pair, 3 pair... processors."""
    if protection is None:
        none, never = np.zeros(len(times)), np.full(len(times), LONGEST)
        least = pair * (int(np.argmin(times)) + 1)
        tables = map(_table, (times, none, none, never, never, none, none))
        return Costs(pair, footprint, link, least, 0.0, *tables)
    return _protected(times, footprint, pair, link, protection)


def _protected(
    times: Times, footprint: float, pair: int, link: Link, protection: Checkpointing
) -> Costs:
    sizes = pair * np.arange(1, len(times) + 1, dtype=np.float64)
    cost = protection.checkpoint(footprint, sizes)
    with np.errstate(divide="ignore", over="ignore"):
        period = np.minimum(protection.period(protection.mtbf / sizes, cost), LONGEST)
        rates = _rates(times, sizes, cost, period, protection)
    whole, scale, full = rates
    closings = cost if protection.closes else np.zeros(len(times))
    tables = map(_table, (times, cost, closings, period, period - cost, scale, full))
    least = pair * (int(np.argmin(whole)) + 1)
    return Costs(pair, footprint, link, least, 1 / protection.mtbf, *tables)


def _rates(
    times: Times, sizes: Times, cost: Times, period: Times, protection: Checkpointing
) -> tuple[Times, Times, Times]:
    """t^R of the whole work, e^(lambda j R) (1 / (lambda j) + D), e^(lambda j tau) - 1."""
    if math.isinf(protection.mtbf):
        none = np.zeros(len(times))
        return times + checkpoints(times, period, cost) * cost, none, none
    rate, downtime = sizes / protection.mtbf, protection.downtime
    scale = np.exp(rate * cost) * (1 / rate + downtime)
    # None is taken of a period without end: not infinitely many times nothing.
    full = np.where(period < LONGEST, np.expm1(rate * period), 0)
    if (period < LONGEST).all():
        return expected_time(times, rate, cost, period, downtime), scale, full
    return scale * np.expm1(rate * times), scale, full


def _table(values: Times) -> Table:
    return array("d", np.asarray(values, dtype=np.float64).tobytes())
