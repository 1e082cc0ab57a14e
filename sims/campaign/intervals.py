"""How sure a mean is: the one place where the method of an interval is chosen.

Whatever is estimated is the mean of a sample: values, paired differences, or, of a ratio of means,
its linear form (the delta method). `estimator` picks by the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, sqrt
from typing import Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import skew
from scipy.stats import t as student

Floats = NDArray[np.float64]

LEVEL = 0.95
"""At which what is told holds."""
SKEWED = 1.0
"""Sample skewness from which Student's t is not trusted."""
FEWEST = 20
"""Observations that a bootstrap needs: resamples of fewer are too much alike."""
RESAMPLES = 9_999
CHUNK = 1_000_000
"""Observations resampled at once."""


class Estimator(Protocol):
    """Knows how far a sample's mean may be off."""

    def interval(self, level: float) -> tuple[float, float]:
        """Ends of the confidence interval at `level`."""

    def p(self, null: float) -> float:
        """Two-sided: 1 - p is the level at which an end of the interval is `null`."""


def estimator(sample: Floats) -> Estimator:
    """Of independent observations: Student's t; where they are skewed, the bootstrap (BCa)."""
    spread = len(sample) > 1 and float(np.ptp(sample)) > 1e-12 * float(np.abs(sample).max())
    if not spread:
        return Constant(float(sample[0]), len(sample))
    if len(sample) >= FEWEST and abs(float(skew(sample))) > SKEWED:
        return Bootstrap.of(sample)
    return StudentT(float(sample.mean()), float(sample.std(ddof=1)), len(sample))


@frozen
class Constant:
    """All observations are the same; or there is but one, and nothing is known."""

    value: float
    size: int

    def interval(self, level: float) -> tuple[float, float]:
        """A point, or everything."""
        return (self.value, self.value) if self.size > 1 else (-inf, inf)

    def p(self, null: float) -> float:
        """Certain, or nothing known."""
        return 1.0 if self.size == 1 or self.value == null else 0.0


@frozen
class StudentT:
    """Student's t."""

    mean: float
    deviation: float
    size: int

    def interval(self, level: float) -> tuple[float, float]:
        """Symmetric."""
        half = float(student.ppf(0.5 + level / 2, self.size - 1)) * self._error
        return self.mean - half, self.mean + half

    def p(self, null: float) -> float:
        """Of the t-test."""
        return float(2 * student.sf(abs(self.mean - null) / self._error, self.size - 1))

    @property
    def _error(self) -> float:
        return self.deviation / sqrt(self.size)


@frozen(eq=False)
class Bootstrap:
    """Bias-corrected and accelerated (Efron 1987). Resamples are drawn with a seed of their own:
    the same sample gives the same interval. It knows no p below 2 / (RESAMPLES + 1)."""

    means: Floats
    """Of the resamples, sorted."""
    bias: float
    acceleration: float

    @classmethod
    def of(cls, sample: Floats) -> Bootstrap:
        """Resample."""
        rng, size = np.random.default_rng(0), len(sample)
        rows = max(1, CHUNK // size)
        counts = [min(rows, RESAMPLES - done) for done in range(0, RESAMPLES, rows)]
        drawn = [sample[rng.integers(size, size=(many, size))].mean(axis=1) for many in counts]
        means = np.sort(np.concatenate(drawn))
        away = sample - sample.mean()  # the jackknife's, up to a factor that falls out
        acceleration = float((away**3).sum() / (6 * (away**2).sum() ** 1.5))
        return cls(means, float(ndtri(_below(means, sample.mean()))), acceleration)

    def interval(self, level: float) -> tuple[float, float]:
        """Not symmetric."""
        low, high = (self._quantile(tail) for tail in ((1 - level) / 2, (1 + level) / 2))
        return low, high

    def _quantile(self, tail: float) -> float:
        z = self.bias + float(ndtri(tail))
        share = float(ndtr(self.bias + z / (1 - self.acceleration * z)))
        return float(np.quantile(self.means, share))

    def p(self, null: float) -> float:
        """The tail at whose quantile `null` is, twice."""
        q = float(ndtri(_below(self.means, null))) - self.bias
        tail = float(ndtr(q / (1 + self.acceleration * q) - self.bias))
        return min(1.0, 2 * min(tail, 1 - tail))


def _below(means: Floats, value: float) -> float:
    """The share of means below a value, half of those at it included; never 0 or 1."""
    twice = int(means.searchsorted(value)) + int(means.searchsorted(value, "right"))
    return min(max(twice / 2, 1.0), RESAMPLES) / (RESAMPLES + 1)


# --- estimates --------------------------------------------------------------------------------


@frozen
class Estimate:
    """A mean, or a ratio of means, with its confidence interval."""

    mean: float
    low: float
    high: float
    size: int
    """Observations."""
    sure: Estimator | None = field(default=None, eq=False, repr=False)

    @property
    def half(self) -> float:
        """Half-width; where it is not symmetric, of the wider side."""
        return max(self.mean - self.low, self.high - self.mean)

    def at(self, level: float) -> Estimate:
        """The same at another level."""
        if self.sure is None:
            return self
        return Estimate(self.mean, *self.sure.interval(level), self.size, self.sure)

    def p(self, null: float) -> float:
        """Of `null` being true; 1 where nothing is known."""
        return 1.0 if self.sure is None else self.sure.p(null)


def mean_of(values: Sequence[float], level: float) -> Estimate:
    """The mean of independent observations; not a number without any."""
    return _estimate(float(np.mean(values)), np.array(values, float), level) if values else NONE


def ratio_of(values: Sequence[float], base: Sequence[float], level: float) -> Estimate | None:
    """mean(values) / mean(base), paired, by its linear form; None where the base's mean is 0.

    A mean of the pairs' ratios would call each of two equally good, noisy policies the worse one.
    """
    ours, theirs = np.array(values, float), np.array(base, float)
    if not len(theirs) or not theirs.mean():
        return None
    ratio = float(ours.mean() / theirs.mean())
    return _estimate(ratio, ratio + (ours - ratio * theirs) / theirs.mean(), level)


def _estimate(mean: float, sample: Floats, level: float) -> Estimate:
    sure = estimator(sample)
    return Estimate(mean, *sure.interval(level), len(sample), sure)


NONE = Estimate(nan, nan, nan, 0)


def holm(ps: Sequence[float], alpha: float) -> list[float]:
    """The level at which Holm's procedure tests each of several hypotheses, so that with
    probability 1 - alpha none that is true is rejected: an interval at that level holds the null
    just where it is not rejected."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    levels, stopped = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        own = stopped or alpha / (len(ps) - rank)
        levels[index] = 1 - own
        if ps[index] > own:
            stopped = own
    return levels
