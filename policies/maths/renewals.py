"""Computes renewals of Weibull and lognormal laws: the scale of a law, the time that is left at an
arbitrary moment, and the expected number of renewals (D. R. Cox, Renewal Theory, 1962, chapters 4
and 5).

Weibull's shape 1 is the exponential law, for which a new unit and one at an arbitrary moment behave
alike.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 400
"""Number of points at which the renewal function is computed; its error is below 1 in 1,000."""
MANY = 20
"""Number of means after which a law of small variation, such as Weibull's of shape 1 or above,
follows its asymptote to within 1 in 40."""
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
    if shape == 1:
        return time / mean
    return _renewals(WeibullLives(shape), time, mean, soon=shape > 1)


def lognormal_renewals(time: float, mean: float, sigma: float) -> float:
    """Return m(time) as `expected_renewals` does, for lognormal lives with this `mean`, whose
    logarithm has the standard deviation `sigma`."""
    return _renewals(LognormalLives(sigma), time, mean, soon=sigma <= 1)


def _renewals(lives: Lives, time: float, mean: float, soon: bool) -> float:
    """Return m(time) for lives of this law, stretched to the mean `mean`. `soon`: the law follows
    its asymptote after MANY means."""
    if not 0 < time < math.inf:
        return time / mean
    if soon and time > MANY * mean:
        # Asymptote of the renewal function: t / mean + (c^2 - 1) / 2, c^2 the squared variation.
        return time / mean + (lives.squared_variation - 1) / 2
    scaled = time / mean * lives.mean
    times, renewals = _solved(lives, 2.0 ** math.ceil(math.log2(scaled)))
    return float(np.interp(scaled, times, renewals))


@frozen
class WeibullLives:
    """Weibull lives of this shape and scale 1."""

    shape: float

    @property
    def mean(self) -> float:
        return math.gamma(1 + 1 / self.shape)

    @property
    def squared_variation(self) -> float:
        return math.gamma(1 + 2 / self.shape) / self.mean**2 - 1

    @property
    def power(self) -> float:
        """Power of the even spacing by which the times lie closer together near 0, where the
        renewal function is not smooth: it begins as t^shape."""
        return max(1.0, 2 / self.shape)

    def cdf(self, times: Floats) -> Floats:
        """Return the distribution function at each of `times`."""
        found: Floats = -np.expm1(-(times**self.shape))
        return found

    def residual(self, times: Floats) -> Floats:
        """Return, for each of `times`, the probability that a life, seen at an arbitrary moment of
        it, ends within this time."""
        return residual_cdf(times, self.mean, self.shape)


@frozen
class LognormalLives:
    """Lognormal lives of median 1, whose logarithm has the standard deviation `sigma`."""

    sigma: float

    @property
    def mean(self) -> float:
        return math.exp(self.sigma**2 / 2)

    @property
    def squared_variation(self) -> float:
        return math.expm1(self.sigma**2)

    @property
    def power(self) -> float:
        return max(1.0, 2 * self.sigma)

    def cdf(self, times: Floats) -> Floats:
        return self._normal(times, 0)

    def residual(self, times: Floats) -> Floats:
        # The integral of 1 - F by parts: lives up to t have the mean Phi(ln t / sigma - sigma).
        whole: Floats = times * (1 - self.cdf(times)) / self.mean + self._normal(times, self.sigma)
        return whole

    def _normal(self, times: Floats, less: float) -> Floats:
        from scipy.special import ndtr

        with np.errstate(divide="ignore"):
            found: Floats = ndtr(np.log(times) / self.sigma - less)
        return found


Lives = WeibullLives | LognormalLives


@cache
def _solved(lives: Lives, end: float) -> tuple[Floats, Floats]:
    """Return times up to `end` and the renewal function m at each time, for lives of scale 1.

    The renewal equation m(t) = F(t) + integral of F(t - x) dm(x) is solved for an m that is linear
    between the times; the integral of F over each step is exact.
    """
    times = end * (np.arange(STEPS + 1) / STEPS) ** lives.power
    steps, middles = np.diff(times), (times[1:] + times[:-1]) / 2
    since = times[1:, None] - times[None, :]
    areas = _area_below(lives, np.maximum(since, 0))
    point = steps < CLOSE * since[:, 1:]
    means = np.where(
        point,
        lives.cdf(np.maximum(times[1:, None] - middles, 0)),
        (areas[:, :-1] - areas[:, 1:]) / steps,
    )
    distribution = lives.cdf(times[1:])
    grown = np.zeros(STEPS)  # over each step
    for k in range(STEPS):
        before = grown[:k].sum()
        # m(t_k) = before + grown[k] stands on both sides of the equation: solved for grown[k].
        grown[k] = (distribution[k] + means[k, :k] @ grown[:k] - before) / (1 - means[k, k])
    return times, np.concatenate(([0.0], grown.cumsum()))


def _area_below(lives: Lives, times: Floats) -> Floats:
    """Return the integral from 0 to each of `times` of the lives' distribution function F."""
    return times - lives.mean * lives.residual(times)
