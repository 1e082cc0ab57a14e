"""Implements laws of job sizes p_j, in time on a machine of unit speed."""

from __future__ import annotations

import math

import numpy as np
from attrs import field, frozen
from attrs.validators import gt
from numpy.random import Generator
from numpy.typing import NDArray


@frozen
class Deterministic:
    """All jobs have the size `mean`."""

    mean: float = field(default=1.0, validator=gt(0))
    """Size of every job."""

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        return np.full(count, self.mean, dtype=float)


@frozen
class Exponential:
    """Sizes have an exponential law: no memory, and a squared coefficient of variation of 1."""

    mean: float = field(default=1.0, validator=gt(0))
    """Mean size, in time on a machine of unit speed."""

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        return rng.exponential(self.mean, count)


@frozen
class BoundedPareto:
    """Sizes have a power law cut off at both ends, with P(X > x) = (x^-alpha - high^-alpha) /
    (low^-alpha - high^-alpha) for x between `low` and `high`: many small jobs, few huge ones."""

    alpha: float = field(default=1.5, validator=gt(0))
    """Exponent of the tail: P(X > x) falls as x^-alpha."""
    low: float = field(default=0.5, validator=gt(0))
    """Smallest size of a job."""
    high: float = field(default=50.0, validator=gt(0))
    """Largest size of a job."""

    def __attrs_post_init__(self) -> None:
        if self.high <= self.low:
            raise ValueError(f"A bounded Pareto law needs low < high, not {self.low}, {self.high}.")
        try:
            finite = math.isfinite(self.mean)
        except (OverflowError, ZeroDivisionError):
            finite = False
        if not finite:
            raise ValueError(f"A bounded Pareto law of alpha = {self.alpha} has no finite mean.")

    @property
    def mean(self) -> float:
        a, low, high = self.alpha, self.low, self.high
        if a == 1:
            return low * high / (high - low) * math.log(high / low)
        spread = math.pow(low, 1 - a) - math.pow(high, 1 - a)
        return math.pow(low, a) / self._mass * a / (a - 1) * spread

    @property
    def _mass(self) -> float:
        return 1 - math.pow(self.low / self.high, self.alpha)

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        quantile = rng.random(count) * self._mass
        # One by one: numpy's power of an array differs in its last bit between processors.
        power = -1 / self.alpha
        return np.array([self.low * (1 - each) ** power for each in quantile.tolist()])


@frozen
class Hyperexponential:
    """Sizes have a mixture of exponential laws: a job is of kind i with probability
    probabilities[i], and has the mean size means[i] then. The squared coefficient of variation is 1
    or above."""

    probabilities: tuple[float, ...] = (0.9, 0.1)
    """Probability of each kind of job."""
    means: tuple[float, ...] = (0.5, 5.5)
    """Mean size of each kind of job."""

    def __attrs_post_init__(self) -> None:
        alike = len(self.means) == len(self.probabilities) > 0
        if not alike or not all(0 < mean < math.inf for mean in self.means):
            raise ValueError("A hyperexponential law has one mean above 0 per probability.")
        whole = math.isclose(math.fsum(self.probabilities), 1)
        if not whole or min(self.probabilities) < 0:
            text = "A hyperexponential law's probabilities are 0 or above, and sum to 1."
            raise ValueError(text)

    @property
    def mean(self) -> float:
        return float(np.dot(self.probabilities, self.means))

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        phases = rng.choice(len(self.means), size=count, p=self.probabilities)
        return np.asarray(rng.exponential(1, count) * np.asarray(self.means)[phases])


SizeLaw = Deterministic | Exponential | BoundedPareto | Hyperexponential
"""A law of job sizes: it has a mean, and draws sizes above 0."""
