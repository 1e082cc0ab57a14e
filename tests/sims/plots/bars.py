"""What is drawn with a bar."""

from __future__ import annotations

from sims.campaign.intervals import Estimate


def bar(mean: float, half: float) -> Estimate:
    """A mean of nine observations, and the half-width of its interval."""
    return Estimate(mean, mean - half, mean + half, 9)
