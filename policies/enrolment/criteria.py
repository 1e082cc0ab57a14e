"""The four criteria that rank configurations (volatile13, section VI)."""

from __future__ import annotations

import enum
from math import inf, log

TIE = 1e-12
"""Scores nearer than this (relative) are equal: the same sum in another order is no reason to
change, and workers that are alike must tie."""


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

    def score(self, log_success: float, duration: float, elapsed: int) -> float:
        """Higher is better; logarithms of P and yields, so that hopeless cases still compare.

        `log_success`: ln P, unused by E; `duration`: E in slots, unused by P; `elapsed`: t in
        slots, used by Y alone.
        """
        if self is Criterion.E:
            return -duration
        if self is Criterion.P:
            return log_success
        since = elapsed if self is Criterion.Y else 0
        return log_success - log(since + duration)


def bar(score: float) -> float:
    """What a score must exceed to be better than `score` by more than rounding."""
    return score + TIE * (1.0 + abs(score)) if score > -inf else score
