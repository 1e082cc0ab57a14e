"""The four criteria that rank configurations (002, section VI)."""

from __future__ import annotations

import enum
from math import isclose, log

from policies.maths.markov import Estimate


class Criterion(enum.Enum):
    """How good a configuration is, from its probability of success P and duration E."""

    P = "P"
    """Probability of success."""
    E = "E"
    """Expected completion time: the shorter the better."""
    Y = "Y"
    """Yield: P / (t + E), with t the slots since the iteration began."""
    AY = "AY"
    """Apparent yield: P / E."""

    def score(self, estimate: Estimate, elapsed: int) -> float:
        """Higher is better; logarithms, so that hopeless configurations still compare."""
        if self is Criterion.E:
            return -estimate.duration
        if self is Criterion.P:
            return estimate.log_success
        since = elapsed if self is Criterion.Y else 0
        return estimate.log_success - log(since + estimate.duration)


def better(new: float, old: float) -> bool:
    """Whether a score is higher by more than rounding: what is kept is kept at a tie."""
    return new > old and not isclose(new, old, rel_tol=1e-12, abs_tol=1e-12)
