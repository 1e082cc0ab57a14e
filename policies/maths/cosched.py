"""What each number of processors means for one malleable application (003, section 3).

Tables by size, made once; looking a cost up must be cheap: the greedy heuristics ask for hundreds
of thousands in a run.
"""

from __future__ import annotations

import math
from math import expm1

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.maths.checkpoint import checkpoint_cost, expected_time, young_period
from policies.maths.redistribution import Link


@frozen
class Protection:
    """Buddy checkpoints against fail-stop faults (003, section 3.1)."""

    mtbf: float
    """mu of one processor, in s; applications on j processors have mu / j."""
    unit_cost: float = 1.0
    """c, s to checkpoint one data unit on one processor."""
    latency: float = 0.0
    """beta, s for each checkpoint message."""
    downtime: float = 60.0
    """D, s between a fault and the start of the recovery."""


def synthetic_times(
    footprint: float, sequential: float, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """t(m, q) of the synthetic application of size m = `footprint`, in s (003, eq. 7)."""
    whole = footprint * math.log2(footprint)
    return sequential * 2 * whole + (1 - sequential) * 2 * whole / sizes + whole / sizes


@frozen(eq=False)
class Costs:
    """One application's times by size; sizes are multiples of `pair`, times in s.

    Lists are indexed by size // pair - 1. Without protection (`downtime` is None) nothing is
    checkpointed and t^R = alpha t.
    """

    pair: int
    footprint: float
    link: Link
    times: list[float]
    """t_ij without faults and checkpoints."""
    largest: int
    """j_max: the smallest size with the least t^R of the whole work."""
    downtime: float | None
    """D."""
    checkpoint: list[float]
    """C_ij, which is also the recovery R_ij."""
    period: list[float]
    """tau_ij, the checkpoint included."""
    work: list[float]
    """tau_ij - C_ij."""
    rate: list[float]
    """lambda j."""
    scale: list[float]
    """e^(lambda j R) (1 / (lambda j) + D)."""
    full: list[float]
    """e^(lambda j tau) - 1."""

    def expected(self, size: int, left: float) -> float:
        """t^R of the fraction `left` of the work (003, eq. 3)."""
        at = size // self.pair - 1
        work = left * self.times[at]
        if self.downtime is None:
            return work
        count = int(work / self.work[at])
        rest = expm1(self.rate[at] * (work - count * self.work[at]))
        return self.scale[at] * (count * self.full[at] + rest)

    def checkpoints(self, size: int, left: float) -> int:
        """N_ff of the fraction `left` of the work (003, eq. 2)."""
        at = size // self.pair - 1
        return 0 if self.downtime is None else int(left * self.times[at] / self.work[at])

    def duration(self, size: int, left: float) -> float:
        """Time of the fraction `left` of the work if no fault comes."""
        at = size // self.pair - 1
        return left * self.times[at] + self.checkpoints(size, left) * self.checkpoint[at]

    def taken(self, size: int, elapsed: float) -> int:
        """N: checkpoints taken in `elapsed` s since the last fault or redistribution (eq. 5)."""
        return int(elapsed / self.period[size // self.pair - 1])

    def left(self, size: int, left: float, elapsed: float, taken: int) -> float:
        """What is left of the fraction `left` after `elapsed` s with `taken` checkpoints.

        All work counts, saved or not (003, section 3.3.2); a checkpoint under way counts as work.
        """
        at = size // self.pair - 1
        worked = elapsed - taken * self.checkpoint[at]
        return max(0.0, left - worked / self.times[at])

    def saved(self, size: int, left: float, taken: int) -> float:
        """What is left of the fraction `left` at the last of `taken` checkpoints."""
        at = size // self.pair - 1
        return max(0.0, left - taken * self.work[at] / self.times[at]) if taken else left

    def finish(self, start: float, before: int, after: int, left: float) -> float:
        """t^U of the fraction `left`, redistributed from `before` to `after` processors at `start`.

        start + RC + C + t^R (003, section 3.3.2). Written out: in calls to the methods below it
        takes twice as long, and the greedy heuristics do little else.
        """
        at = after // self.pair - 1
        link, apart = self.link, after - before if after > before else before - after
        least = before if before < after else after
        message = self.footprint * link.inverse_bandwidth / (before * after) + link.latency
        moved = start + (link.startup + (apart if apart > least else least) * message)
        work = left * self.times[at]
        if self.downtime is None:
            return moved + work
        length = self.work[at]
        count = int(work / length)
        rest = expm1(self.rate[at] * (work - count * length))
        return moved + self.checkpoint[at] + self.scale[at] * (count * self.full[at] + rest)

    def redistribution(self, before: int, after: int) -> float:
        """RC, in s (003, eq. 6)."""
        return self.link.cost(self.footprint, before, after)

    def closing(self, size: int) -> float:
        """C of the checkpoint that closes a redistribution to `size`; 0 without protection."""
        return self.checkpoint[size // self.pair - 1]


def costs(
    times: NDArray[np.float64],
    footprint: float,
    pair: int,
    link: Link,
    protection: Protection | None,
) -> Costs:
    """The tables of an application that takes `times` (s) on pair, 2 pair, 3 pair... processors."""
    sizes = pair * np.arange(1, len(times) + 1, dtype=np.float64)
    if protection is None:
        none, never = [0.0] * len(times), [math.inf] * len(times)
        largest = pair * (int(np.argmin(times)) + 1)
        plain = times.tolist()
        return Costs(
            pair, footprint, link, plain, largest, None, none, never, never, none, none, none
        )
    return _protected(times, sizes, footprint, pair, link, protection)


def _protected(
    times: NDArray[np.float64],
    sizes: NDArray[np.float64],
    footprint: float,
    pair: int,
    link: Link,
    protection: Protection,
) -> Costs:
    rate = sizes / protection.mtbf
    cost = checkpoint_cost(footprint, sizes, protection.unit_cost, protection.latency)
    period = young_period(1 / rate, cost)
    whole = expected_time(times, rate, cost, period, protection.downtime)
    return Costs(
        pair=pair,
        footprint=footprint,
        link=link,
        times=times.tolist(),
        largest=pair * (int(np.argmin(whole)) + 1),
        downtime=protection.downtime,
        checkpoint=cost.tolist(),
        period=period.tolist(),
        work=(period - cost).tolist(),
        rate=rate.tolist(),
        scale=(np.exp(rate * cost) * (1 / rate + protection.downtime)).tolist(),
        full=np.expm1(rate * period).tolist(),
    )
