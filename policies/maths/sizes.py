"""How large jobs are: laws of the size p_j, in time on a machine of unit speed."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from attrs import field, frozen
from attrs.validators import gt
from numpy.random import Generator
from numpy.typing import NDArray


class SizeLaw(Protocol):
    """A law of job sizes."""

    @property
    def mean(self) -> float:
        """Time units."""

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        """`count` independent sizes, above 0."""


@frozen
class Deterministic:
    """All jobs are alike."""

    mean: float = field(validator=gt(0))

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        return np.full(count, self.mean, dtype=float)


@frozen
class Exponential:
    """No memory; squared coefficient of variation 1."""

    mean: float = field(validator=gt(0))

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        return rng.exponential(self.mean, count)


@frozen
class BoundedPareto:
    """P(X > x) proportional to x^-alpha between `low` and `high`: many small, few huge."""

    alpha: float = field(validator=gt(0))
    low: float = field(validator=gt(0))
    high: float = field(validator=gt(0))

    def __attrs_post_init__(self) -> None:
        if self.high <= self.low:
            raise ValueError(f"A bounded Pareto law needs low < high, not {self.low}, {self.high}.")

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
    """A mixture of exponential laws: squared coefficient of variation above 1."""

    probabilities: tuple[float, ...]
    means: tuple[float, ...]

    def __attrs_post_init__(self) -> None:
        if len(self.means) != len(self.probabilities) or min(self.means, default=0) <= 0:
            raise ValueError("A hyperexponential law needs one mean above 0 per probability.")
        if min(self.probabilities) < 0 or not math.isclose(math.fsum(self.probabilities), 1):
            raise ValueError("A hyperexponential law's probabilities sum to 1.")

    @property
    def mean(self) -> float:
        return float(np.dot(self.probabilities, self.means))

    def draw(self, rng: Generator, count: int) -> NDArray[np.float64]:
        phases = rng.choice(len(self.means), size=count, p=self.probabilities)
        return np.asarray(rng.exponential(1, count) * np.asarray(self.means)[phases])
