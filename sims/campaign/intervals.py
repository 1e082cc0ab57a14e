"""How sure a mean is: the one place where the method of an interval is chosen.

Whatever is estimated is the mean of a sample: values, paired differences, or, of a ratio of means,
its linear form (the delta method). Of independent observations that is Student's t; where they are
skewed, the bias-corrected and accelerated bootstrap (BCa: Efron 1987). Both are scipy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import floor, inf, isfinite, log10, nan, sqrt
from typing import Any

import numpy as np
from attrs import field, frozen

LEVEL = 0.95
"""At which what is told holds."""
SKEWED = 1.0
"""Sample skewness from which Student's t is not trusted."""
FEWEST = 20
"""Observations that a bootstrap needs: resamples of fewer are too much alike."""
RESAMPLES = 9_999
CHUNK = 1_000_000
"""Observations resampled at once."""

Sample = tuple[float, ...]


def interval(sample: Sample, level: float) -> tuple[float, float]:
    """Ends of the confidence interval of a mean: a point where all observations are the same, and
    everything where there is but one."""
    from scipy.special import stdtrit

    if len(sample) == 1:
        return -inf, inf
    if _constant(sample):
        return sample[0], sample[0]
    if _skewed(sample):
        found = _bootstrapped(sample, level, _resamples(sample)).confidence_interval
        return float(found.low), float(found.high)
    mean, half = np.mean(sample), stdtrit(len(sample) - 1, 0.5 + level / 2) * _error(sample)
    return float(mean - half), float(mean + half)


def _constant(sample: Sample) -> bool:
    return float(np.ptp(sample)) <= 1e-12 * float(np.abs(sample).max())


def _error(sample: Sample) -> float:
    return float(np.std(sample, ddof=1)) / sqrt(len(sample))


def _skewed(sample: Sample) -> bool:
    from scipy.stats import skew

    return len(sample) >= FEWEST and abs(float(skew(sample))) > SKEWED


@lru_cache
def _resamples(sample: Sample) -> Any:
    """Drawn with a seed of their own: the same sample gives the same interval. They are kept, for
    one is asked at several levels."""
    return _bootstrapped(sample, LEVEL, None, RESAMPLES)


def _bootstrapped(sample: Sample, level: float, before: Any, more: int = 0) -> Any:
    from scipy.stats import bootstrap

    return bootstrap(
        *((sample,), np.mean),
        n_resamples=more,
        batch=max(1, CHUNK // len(sample)),
        confidence_level=level,
        method="BCa",
        bootstrap_result=before,
        rng=np.random.default_rng(0),
    )


# --- estimates --------------------------------------------------------------------------------


@frozen
class Estimate:
    """A mean, or a ratio of means, with its confidence interval."""

    mean: float
    low: float
    high: float
    size: int
    """Observations."""
    sample: Sample = field(default=(), eq=False, repr=False)
    """Whose mean it is; none: nothing more is known of it."""

    @property
    def half(self) -> float:
        """Half-width; where it is not symmetric, of the wider side."""
        return max(self.mean - self.low, self.high - self.mean)

    def at(self, level: float) -> Estimate:
        """The same at another level."""
        return _estimate(self.mean, self.sample, level) if self.sample else self


NONE = Estimate(nan, nan, nan, 0)


def mean_of(values: Sequence[float], level: float) -> Estimate:
    """The mean of independent observations; not a number without any."""
    return _estimate(float(np.mean(values)), tuple(values), level) if values else NONE


def ratio_of(values: Sequence[float], base: Sequence[float], level: float) -> Estimate | None:
    """mean(values) / mean(base), paired, by its linear form; None where the base's mean is 0 or
    less.

    A mean of the pairs' ratios would call each of two equally good, noisy policies the worse one.
    """
    ours, theirs = np.array(values, float), np.array(base, float)
    if not len(theirs) or not theirs.mean() > 0:
        return None
    ratio = float(ours.mean() / theirs.mean())
    linear = ratio + (ours - ratio * theirs) / theirs.mean()
    return _estimate(ratio, tuple(linear.tolist()), level)


def difference_of(values: Sequence[float], base: Sequence[float], level: float) -> Estimate | None:
    """mean(values) - mean(base), paired; None without any pair."""
    gains = [ours - theirs for ours, theirs in zip(values, base, strict=True)]
    return mean_of(gains, level) if gains else None


def _estimate(mean: float, sample: Sample, level: float) -> Estimate:
    low, high = interval(sample, level)
    if low == high:  # of a ratio, rounding may have moved it
        low = high = mean
    # An end of BCa's interval can lie beyond the mean of a sample that is skewed enough.
    return Estimate(mean, min(low, mean), max(high, mean), len(sample), sample)


# --- telling ----------------------------------------------------------------------------------


def rounded(estimate: Estimate | None) -> str:
    """To two digits of the half-width; both ends where they are not at the same distance; only the
    mean where there is none, a dash without a mean."""
    if estimate is None or not estimate.size:
        return "-"
    mean, low, high, half = estimate.mean, estimate.low, estimate.high, estimate.half
    if not isfinite(half):
        return f"{mean:,.8g}"
    if half == 0:
        return f"{mean:,.8g} ± 0"
    places = max(0, 1 - floor(log10(half)))
    if abs((high - mean) - (mean - low)) < 1e-6 * half:
        return f"{mean:,.{places}f} ± {half:,.{places}f}"
    return f"{mean:,.{places}f} [{low:,.{places}f}, {high:,.{places}f}]"


def estimate_as_json(it: Estimate | None) -> dict[str, Any] | None:
    """The same as data; an end that is not finite is null."""
    if it is None or not it.size:
        return None
    ends = {"half": it.half, "low": it.low, "high": it.high}
    known = {key: value if isfinite(value) else None for key, value in ends.items()}
    return {"mean": it.mean, **known, "size": it.size}
