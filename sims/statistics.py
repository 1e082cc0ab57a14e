"""Means with their confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, sqrt
from statistics import fmean, stdev

from attrs import frozen
from scipy.stats import t as student


@frozen
class Interval:
    """A mean and the half-width of its confidence interval (Student's t)."""

    mean: float
    half: float
    """Infinite where there is one observation only."""
    size: int

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half

    def holds(self, value: float) -> bool:
        """Whether `value` lies within."""
        return self.low <= value <= self.high

    def __format__(self, spec: str) -> str:
        return f"{self.mean:{spec}} ± {self.half:{spec}}"


def mean_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The mean of independent observations, with its confidence interval at `level`."""
    if not values:
        return Interval(nan, nan, 0)
    if len(values) == 1:
        return Interval(values[0], inf, 1)
    error = stdev(values) / sqrt(len(values))
    half = float(student.ppf(0.5 + level / 2, len(values) - 1)) * error
    return Interval(fmean(values), half, len(values))


def ratio_interval(
    values: Sequence[float], reference: Sequence[float], level: float = 0.95
) -> Interval:
    """mean(values) / mean(reference), paired, with its confidence interval at `level`: Student's t
    on the residuals `value - ratio * reference` (the delta method, as of survey ratios).

    A mean of the pairs' ratios would call each of two equally good, noisy policies the worse one.
    Not a number where the reference's mean is 0.
    """
    base = fmean(reference) if reference else 0.0
    if not base:
        return Interval(nan, nan, len(reference))
    ratio = fmean(values) / base
    pairs = zip(values, reference, strict=True)
    spread = mean_interval([value - ratio * other for value, other in pairs], level)
    return Interval(ratio, spread.half / base, len(values))
