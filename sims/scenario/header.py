"""What the log's first record says of a scenario beside its name, seed and policy."""

from __future__ import annotations

from attrs import frozen


@frozen
class Header:
    """The platform in a line."""

    processors: int
    """Processors, workers or servers."""
    workers: tuple[str, ...]
    """Their names where they have some; empty for a numbered pool."""
    unit: str
    """Unit of every time: `s` or `slot`."""
