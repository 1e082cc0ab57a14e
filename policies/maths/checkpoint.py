"""Computes cost, period and expected time of periodic checkpoints under fail-stop faults
(malleable17, section 3).

Every function takes arrays of one shape (for example, one element for each number of processors),
with times in s, and returns an array of that shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def checkpoint_cost(
    footprint: float, processors: Times, unit_cost: float, latency: float = 0.0
) -> Times:
    """Return C_ij, the time in which each processor sends its share of the memory to its buddy
    (malleable17, section 3.1).

    `footprint` is m_i in data units, `unit_cost` is c in s per data unit, `latency` is beta in s.
    """
    return footprint * unit_cost / processors + latency


def young_period(mtbf: Times, cost: Times) -> Times:
    """Return tau = sqrt(2 mtbf C) + C, Young's period from one checkpoint's end to the next one's,
    the checkpoint itself included (malleable17, eq. 1); C is `cost`."""
    return np.sqrt(2 * mtbf * cost) + cost


def checkpoints(work: Times, period: Times, cost: Times) -> Times:
    """Return N_ff, the number of checkpoints that `work` s of computation take without a fault
    (malleable17, eq. 2): one after every `period` - `cost` s of work. Work that is a multiple of
    this ends with a checkpoint."""
    return np.floor(work / (period - cost))


def expected_time(work: Times, rate: Times, cost: Times, period: Times, downtime: float) -> Times:
    """Return t^R, the expected time of `work` s of computation under faults at `rate` per s, with a
    checkpoint of `cost` s every `period` s, the checkpoint included (malleable17, eq. 3).

    After a fault, the run loses `downtime` s and a recovery of as long as a checkpoint (R = C).
    Faults occur during checkpoints too.
    """
    full = checkpoints(work, period, cost)
    rest = work - full * (period - cost)
    # The last part of the work, shorter than a period, ends without a checkpoint.
    scale = np.exp(rate * cost) * (1 / rate + downtime)
    return scale * (full * np.expm1(rate * period) + np.expm1(rate * rest))


def young_work(mtbf: float, cost: float) -> float:
    """Return the work in s between two checkpoints by Young's formula, sqrt(2 mtbf cost), where
    `mtbf` is that of all members of the run together and `cost` the time of a checkpoint."""
    return math.sqrt(2 * mtbf * cost)


def daly_work(mtbf: float, cost: float) -> float:
    """Return the work in s between two checkpoints by Daly's higher-order formula (J. T. Daly, FGCS
    22, 2006, eq. 37), where `mtbf` is that of all members of the run together and `cost` the time
    of a checkpoint. Where cost >= 2 mtbf the work is `mtbf`."""
    # Daly's expansion holds for C < 2 mu only; beyond it he sets the work to mu.
    if cost >= 2 * mtbf:
        return mtbf
    ratio = cost / (2 * mtbf)
    return math.sqrt(2 * mtbf * cost) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - cost
