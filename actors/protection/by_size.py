"""Times that may depend on the number of members (malleable17: C_ij)."""

from __future__ import annotations

import math
from collections.abc import Callable

MANY = 1 << 30
"""Members: more than any pack has, where times of a pair may be those of a single one."""
BySize = Callable[[int], float]
"""A time, or an amount of work, by number of members."""


def never(members: int) -> float:
    """No checkpoint is taken."""
    return math.inf


def on(value: float | BySize, members: int) -> float:
    """The value on so many members."""
    return value(members) if callable(value) else value


def alike(value: float | BySize) -> float | None:
    """The value, if it is finite and the same on any number of members, else None."""
    one = on(value, 1)
    return one if one < math.inf and one == on(value, MANY) else None
