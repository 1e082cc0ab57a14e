"""Computes the times of one malleable application by number of processors, and the cost of moving
to another number (malleable17, section 3).

The tables by size are made once, and looking a cost up must be cheap: the greedy heuristics ask for
hundreds of thousands in a run.
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
    """The parameters of the cost of a redistribution (moving an application to another number of
    processors; malleable17, eq. 6)."""

    fixed: float = 0.0
    """Startup time S of each redistribution, in s."""
    latency: float = 0.0
    """Latency beta of each message, in s."""
    inverse_bandwidth: float = 1.0
    """Inverse of the bandwidth, in s per data unit."""

    def cost(self, footprint: float, before: int, after: int) -> float:
        """Return RC, the time in s that it takes to redistribute an application's `footprint` (all
        of its data, in data units) from `before` to `after` processors (malleable17, eq. 6).

        It is S + rounds x (footprint x inverse bandwidth / (before x after) + beta).
        """
        message = footprint * self.inverse_bandwidth / (before * after) + self.latency
        return self.fixed + round_count(before, after) * message


def round_count(before: int, after: int) -> int:
    """Return the number of rounds of messages that a redistribution from `before` to `after`
    processors takes: max(min(before, after), |after - before|).

    It is the edge-chromatic number of the bipartite graph between the processors that stay and
    those that come or go, which is its largest degree (König; malleable17, section 3.3.1).
    """
    return max(min(before, after), abs(after - before))


@frozen
class Checkpointing:
    """The parameters of checkpoints against fail-stop faults (malleable17, section 3.1)."""

    mtbf: float
    """MTBF mu of one processor, in s; applications on j processors have mu / j. With inf no fault
    occurs."""
    unit_cost: float = 1.0
    """Time c, in s, to checkpoint one data unit on one processor."""
    latency: float = 0.0
    """Latency beta of each checkpoint message, in s."""
    downtime: float = 60.0
    """Downtime D between a fault and the start of the recovery, in s."""
    period: Callable[[Times, Times], Times] = young_period
    """Function of MTBF and C that returns tau, the checkpoint included."""
    cost: float | Callable[[Times], Times] | None = None
    """Cost C for any size, in s, or by size; None stands for m c / j + beta."""
    closes: bool = True
    """Whether a checkpoint closes each redistribution, because the copies that buddies keep have to
    move."""

    def checkpoint(self, footprint: float, sizes: Times) -> Times:
        """Return C_ij, the time in s of a checkpoint of an application with `footprint` data units,
        for each number of processors in `sizes`."""
        if callable(self.cost):
            return self.cost(sizes)
        if self.cost is not None:
            return np.full(len(sizes), self.cost)
        return checkpoint_cost(footprint, sizes, self.unit_cost, self.latency)


def synthetic_times(footprint: float, sequential: float, sizes: Times) -> Times:
    """Return t(m, q), the error-free time in s of the synthetic application of size m = `footprint`
    with the sequential fraction `sequential`, on each number of processors q in `sizes`
    (malleable17, eq. 7)."""
    whole = footprint * math.log2(footprint)
    return sequential * 2 * whole + (1 - sequential) * 2 * whole / sizes + whole / sizes


LONGEST = 1e300
"""Period, in s, that no work reaches. It stands for infinity, because infinity times zero
checkpoints is not a number."""

Table = Sequence[float]
"""Doubles by size: a thousand applications on 5,000 processors are 2.5 million sizes, and lists of
floats take four times the memory."""


@frozen(eq=False)
class Costs:
    """One application's times by size, in s; a size is a number of processors, a multiple of
    `pair`.

    The tables have the value for a size at index size // pair - 1. Where nothing is checkpointed
    and no fault is expected, t^R, the expected time of a fraction alpha of the work, is alpha times
    t_ij.
    """

    pair: int
    footprint: float
    link: Link
    largest: int
    """The smallest size with the least t^R of the whole work, j_max."""
    rate: float
    """Rate lambda of one processor's faults, per s; 0 where none is expected."""
    times: Table = field(repr=False)
    """Times t_ij without faults and checkpoints."""
    checkpoint: Table = field(repr=False)
    """Checkpoint costs C_ij, which are also the recovery times R_ij."""
    closings: Table = field(repr=False)
    """Checkpoint costs where a checkpoint closes each redistribution, else 0."""
    period: Table = field(repr=False)
    """Periods tau_ij, the checkpoint included."""
    work: Table = field(repr=False)
    """Work between two checkpoints, tau_ij - C_ij."""
    scale: Table = field(repr=False)
    """Factor of the expected time, e^(lambda j R) (1 / (lambda j) + D)."""
    full: Table = field(repr=False)
    """Term of the expected time for a full period, e^(lambda j tau) - 1."""

    def expected(self, size: int, left: float) -> float:
        """Return t^R, the expected time in s, faults included, of the fraction `left` of the work
        on `size` processors (malleable17, eq. 3)."""
        at = size // self.pair - 1
        work = left * self.times[at]
        count = int(work / self.work[at])
        if not self.rate:
            return work + count * self.checkpoint[at]
        rest = expm1(self.rate * size * (work - count * self.work[at]))
        return self.scale[at] * (count * self.full[at] + rest)

    def checkpoints(self, size: int, left: float) -> int:
        """Return N_ff, the number of checkpoints that the fraction `left` of the work takes on
        `size` processors without a fault (malleable17, eq. 2)."""
        at = size // self.pair - 1
        return int(left * self.times[at] / self.work[at])

    def duration(self, size: int, left: float) -> float:
        """Return the time in s, checkpoints included, of the fraction `left` of the work on `size`
        processors if no fault occurs."""
        at = size // self.pair - 1
        return left * self.times[at] + self.checkpoints(size, left) * self.checkpoint[at]

    def taken(self, size: int, elapsed: float) -> int:
        """Return N = floor(elapsed / tau), the number of checkpoints taken on `size` processors in
        the `elapsed` s since the last fault or redistribution (malleable17, eq. 5)."""
        return int(elapsed / self.period[size // self.pair - 1])

    def left(self, size: int, left: float, elapsed: float, taken: int) -> float:
        """Return the fraction of the work that is left on `size` processors, when the fraction
        `left` was left `elapsed` s ago and `taken` checkpoints were taken since; at least 0.

        All work counts, saved or not (malleable17, section 3.3.2); the time of a checkpoint under
        way counts as work.
        """
        at = size // self.pair - 1
        worked = elapsed - taken * self.checkpoint[at]
        return max(0.0, left - worked / self.times[at])

    def finish(self, start: float, before: int, after: int, left: float) -> float:
        """Return t^U, the expected end (a time, in s) of an application with the fraction `left` of
        its work, if at `start` it is redistributed from `before` to `after` processors.

        t^U = start + RC + C + t^R (malleable17, section 3.3.2). The formula is written out here:
        with calls to the other methods it takes twice as long, and the greedy heuristics do little
        else.
        """
        at = after // self.pair - 1
        link, apart = self.link, after - before if after > before else before - after
        least = before if before < after else after
        message = self.footprint * link.inverse_bandwidth / (before * after) + link.latency
        moved = start + (link.fixed + (apart if apart > least else least) * message)
        work = left * self.times[at]
        length = self.work[at]
        count = int(work / length)
        if not self.rate:
            return moved + self.closings[at] + work + count * self.checkpoint[at]
        rest = expm1(self.rate * after * (work - count * length))
        return moved + self.closings[at] + self.scale[at] * (count * self.full[at] + rest)

    def redistribution(self, before: int, after: int) -> float:
        """Return RC, the time in s of a redistribution from `before` to `after` processors
        (malleable17, eq. 6)."""
        return self.link.cost(self.footprint, before, after)

    def computing(self, size: int) -> float:
        """Return tau - C, the work in s between two checkpoints on `size` processors; inf where no
        checkpoint is taken. A size that the tables do not cover stands for the nearest that they
        do."""
        at = self.row(size)
        return self.work[at] if self.period[at] < LONGEST else math.inf

    def saving(self, size: int) -> float:
        """Return C, the time in s of a checkpoint on `size` processors, which is also that of a
        recovery. A size that the tables do not cover stands for the nearest that they do."""
        return self.checkpoint[self.row(size)]

    @property
    def most(self) -> int:
        """The largest size that the tables cover."""
        return self.pair * len(self.times)

    def row(self, size: int) -> int:
        """Return the index in the tables of `size` processors, rounded down to a multiple of
        `pair`, or of the nearest size that the tables cover."""
        return min(max(size // self.pair, 1), len(self.times)) - 1


def costs(
    times: Times,
    footprint: float,
    pair: int,
    link: Link,
    protection: Checkpointing | None,
) -> Costs:
    """Build the tables of one application with `footprint` data units, given the times in s that it
    takes on pair, 2 pair, 3 pair... processors, without faults and checkpoints.

    Without `protection` nothing is checkpointed and no fault is expected.
    """
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
    """Return three tables by size, on each of `sizes` processors: t^R of the whole work, and two
    factors of it, e^(lambda j R) (1 / (lambda j) + D) and e^(lambda j tau) - 1 (malleable17, eq.
    3).

    `times`, `cost` and `period` are t, C and tau by size. With an infinite MTBF both factors are 0,
    and t^R is the time without faults, checkpoints included.
    """
    if math.isinf(protection.mtbf):
        none = np.zeros(len(times))
        return times + checkpoints(times, period, cost) * cost, none, none
    rate, downtime = sizes / protection.mtbf, protection.downtime
    scale = np.exp(rate * cost) * (1 / rate + downtime)
    # A period without end takes no checkpoint: expm1 would overflow there, and infinity times zero
    # checkpoints is not a number.
    full = np.where(period < LONGEST, np.expm1(rate * period), 0)
    if (period < LONGEST).all():
        return expected_time(times, rate, cost, period, downtime), scale, full
    return scale * np.expm1(rate * times), scale, full


def _table(values: Times) -> Table:
    return array("d", np.asarray(values, dtype=np.float64).tobytes())
