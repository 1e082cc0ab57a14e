"""Computes renewals of Weibull laws: the scale of a law, the time that is left at an arbitrary
moment, and the expected number of renewals (D. R. Cox, Renewal Theory, 1962, chapters 4 and 5).

Shape 1 is the exponential law, for which a new unit and one at an arbitrary moment behave alike.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 400
"""Number of points at which the renewal function is computed; its error is below 1 in 1,000."""
MANY = 20
"""Number of means after which a law of shape 1 or above follows its asymptote to within 1 in 40."""
CLOSE = 1e-6
"""Length of a step, relative to the time since it, below which the step counts as a point,
because differences would cancel."""


def weibull_scale(mean: float, shape: float) -> float:
    """Return the scale of the Weibull law with this `mean` and `shape`: mean / Gamma(1 + 1 /
    shape)."""
    return mean / math.gamma(1 + 1 / shape)


def residual_cdf(times: Floats, mean: float, shape: float) -> Floats:
    """Return, for each of `times`, the probability that at most this much is left of a Weibull life
    with `mean` and `shape`, seen at an arbitrary moment of the life.

    The residual life has the density (1 - F(x)) / mean, whose integral is the regularised
    incomplete gamma function P(1 / shape, (x / scale)^shape). Times and mean are in one unit.
    """
    from scipy.special import gammainc  # it takes longer to import than most runs

    scaled = np.asarray(times, dtype=np.float64) / weibull_scale(mean, shape)
    found: Floats = gammainc(1 / shape, scaled**shape)
    return found


def expected_renewals(time: float, mean: float, shape: float) -> float:
    """Return m(time), the expected number of renewals (failures, each followed by a new life) in
    [0, time] of a unit that is new at 0 and has Weibull lives with `mean` and `shape`.

    For shape 1, and for a time of 0 or infinity, this is time / mean, which is also the exact value
    for a unit that is at an arbitrary moment of its life.
    """
    if shape == 1 or not 0 < time < math.inf:
        return time / mean
    if shape > 1 and time > MANY * mean:
        # Asymptote of the renewal function: t / mean + (c^2 - 1) / 2, c^2 the squared variation.
        return time / mean + (_squared_variation(shape) - 1) / 2
    scaled = time / weibull_scale(mean, shape)
    times, renewals = _solved(shape, 2.0 ** math.ceil(math.log2(scaled)))
    return float(np.interp(scaled, times, renewals))


def _squared_variation(shape: float) -> float:
    """Return the squared coefficient of variation, variance / mean^2, of a Weibull law with this
    shape."""
    return math.gamma(1 + 2 / shape) / math.gamma(1 + 1 / shape) ** 2 - 1


@cache
def _solved(shape: float, end: float) -> tuple[Floats, Floats]:
    """Return times up to `end` and the renewal function m at each time, for a law of scale 1.

    The renewal equation m(t) = F(t) + integral of F(t - x) dm(x) is solved for an m that is linear
    between the times; the integral of F over each step is exact. Below shape 1, m begins as
    t^shape, so earlier times lie closer together.
    """
    times = end * (np.arange(STEPS + 1) / STEPS) ** max(1.0, 2 / shape)
    steps, middles = np.diff(times), (times[1:] + times[:-1]) / 2
    since = times[1:, None] - times[None, :]
    areas = _area_below(np.maximum(since, 0), shape)
    point = steps < CLOSE * since[:, 1:]
    means = np.where(
        point,
        -np.expm1(-(np.maximum(times[1:, None] - middles, 0) ** shape)),
        (areas[:, :-1] - areas[:, 1:]) / steps,
    )
    distribution = -np.expm1(-(times[1:] ** shape))
    grown = np.zeros(STEPS)  # over each step
    for k in range(STEPS):
        before = grown[:k].sum()
        # m(t_k) = before + grown[k] stands on both sides of the equation: solved for grown[k].
        grown[k] = (distribution[k] + means[k, :k] @ grown[:k] - before) / (1 - means[k, k])
    return times, np.concatenate(([0.0], grown.cumsum()))


def _area_below(times: Floats, shape: float) -> Floats:
    """Return the integral from 0 to each of `times` of the distribution function F of the Weibull
    law with this shape and scale 1."""
    mean = math.gamma(1 + 1 / shape)
    return times - mean * residual_cdf(times, mean, shape)
