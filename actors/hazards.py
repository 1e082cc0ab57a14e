"""What may befall a run, whatever the kind of its job."""

from __future__ import annotations

from math import expm1

from attrs import frozen
from numpy.random import Generator


@frozen(eq=False)
class SilentErrors:
    """A Poisson process over what processors compute; a run that is struck looks sound until its
    end, when the error is found and all of it is lost (001, section 3.2)."""

    rate: float
    """lambda: errors per processor and unit of time."""
    rng: Generator

    def strike(self, area: float) -> bool:
        """Whether a run of this area (processors x time) is struck: q = 1 - exp(-lambda a)."""
        return float(self.rng.random()) < -expm1(-self.rate * area)
