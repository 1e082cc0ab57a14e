"""Says estimates: the digits of a mean that its interval shows, and both as text and as JSON."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import Any

from sims.intervals import Estimate


def rounded(estimate: Estimate | None) -> str:
    """Return an estimate as text, rounded to two digits of its half-width.

    The text has both ends where they are not at the same distance from the mean, only the mean
    where there is no interval, and a dash where there is no mean.
    """
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


def rounded_ratio(estimate: Estimate | None) -> str:
    """Return a ratio of amounts as `rounded` does, but in words where its interval reaches down to
    0, so that digits would be meaningless, or where there is no interval.

    An interval from 0 to 2 or more allows for a variant that is far better and for one that is
    twice as bad; from 0 to less than that, only the upper end is known.
    """
    if estimate is None or estimate.size < 2:
        return rounded(estimate)
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if not isfinite(high - low):
        return f"{about(mean)}, no interval"
    if low > 0 or low == high:
        return rounded(estimate)
    return f"{'anything ' * (high >= 2)}below {about(high)}"


def at_most(runs: int, level: float) -> str:
    """Return the percentage of runs in which an event may come at most, at the confidence level
    `level`, that came in none of so many: rounded up, to a whole number from 1 on."""
    part = 100 * (1 - (1 - level) ** (1 / runs))
    places = 0 if part >= 1 else -floor(log10(part))
    return f"{ceil(part * 10**places) / 10**places:g}"


def about(value: float) -> str:
    """Return a ratio as text with two digits, and with two decimals near 1."""
    if abs(value) >= 10:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def estimate_as_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return an estimate as data: its `mean`, `half`, `low`, `high` and `size`.

    An end that is not finite is None, and so is the whole of an estimate that has no observations.
    """
    if estimate is None or not estimate.size:
        return None
    ends = {"half": estimate.half, "low": estimate.low, "high": estimate.high}
    known = {key: value if isfinite(value) else None for key, value in ends.items()}
    return {"mean": estimate.mean, **known, "size": estimate.size}
