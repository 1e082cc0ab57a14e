"""Times so close together that they are one instant (WORLD.md)."""

from __future__ import annotations

import math

INSTANT = 1 + 1e-12
"""Times up to so many times the earliest are one instant, that of the earliest: sums of decimals
coincide as they do on paper."""


def end_of_instant(now: float) -> float:
    """The latest time that is one instant with `now`."""
    return now * INSTANT if now > 0 else now


def after_instant(now: float, when: float) -> float:
    """`when`, or if that is one instant with `now`, the first time that is not: whoever waits until
    then and looks at the time again would else wait for ever."""
    end = end_of_instant(now)
    return math.nextafter(end, math.inf) if when <= end else when
