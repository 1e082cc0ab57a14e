"""R-SHELF's expected ratio on proposition 3's instance (rigid21, section 4.4), by summation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-18
"""Probability of more failures than are summed over."""


def expected_ratio(processors: int, rate: float, scale: float) -> float:
    """E[T] / E[T_opt] of P uniprocessor jobs with t_j = scale/j and q_j = 1 - exp(-rate t_j).

    The failures are drawn, unlike in the proposition. Shelf k lasts as long as the longest job that
    fails at least k times; the optimum runs every chain on a processor of its own.
    """
    times = scale / np.arange(1, processors + 1)
    fails = -np.expm1(-rate * times)
    most = int(np.ceil(np.log(NEGLIGIBLE) / np.log(fails.max()))) + 1
    return _shelves(times, fails, most) / _chains(times, fails, most)


def _shelves(times: Floats, fails: Floats, most: int) -> float:
    """Sum over k of E[longest job with at least k failures]; times are decreasing."""
    reaches = fails ** np.arange(most)[:, None]
    shorter = np.cumprod(1 - reaches, axis=1)
    none_longer = np.hstack([np.ones((most, 1)), shorter[:, :-1]])
    return float((none_longer * reaches * times).sum())


def _chains(times: Floats, fails: Floats, most: int) -> float:
    """E[max_j (f_j + 1) t_j], as the integral of the tail over the lengths that chains can have."""
    lengths = np.unique(np.outer(np.arange(1, most + 1), times))
    # A chain's length is at most x with floor(x / t_j) attempts; the tolerance is for x = k t_j.
    attempts = np.floor(lengths[:, None] / times * (1 + 1e-12))
    below = np.prod(1 - fails**attempts, axis=1)
    return float(lengths[0] + ((1 - below[:-1]) * np.diff(lengths)).sum())
