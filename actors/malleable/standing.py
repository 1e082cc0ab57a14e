"""Where an application stands, as it tells its scheduler."""

from __future__ import annotations

from attrs import frozen


@frozen
class Standing:
    """An application at its last fault or redistribution (003, section 3.3.2); times in s."""

    index: int
    size: int
    since: float
    """t_lastR: when it computes again, or did."""
    left: float
    """alpha at that time."""
    expected: float
    """t^U."""
    end: float
    """When it ends if no fault comes."""
    moving: bool = False
    """A fault interrupted a redistribution, which has to be made again: no other meanwhile."""
