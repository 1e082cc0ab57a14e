"""What all scenarios begin with, and what the log's first record says of them."""

from __future__ import annotations

from attrs import field, frozen

from sims.scenario.fields import not_negative


@frozen(kw_only=True)
class Head:
    """The keys above the first section of every scenario file."""

    name: str
    seed: int = field(default=0, validator=not_negative)
    """The run's one seed."""
    log: str | None = None
    """Where `holdfast run` writes the log, from the current folder; default: logs/NAME.jsonl;
    `none`: nowhere."""


@frozen
class Header:
    """The platform in a line."""

    processors: int
    """Processors, workers or servers."""
    workers: tuple[str, ...]
    """Their names where they have some; empty for a numbered pool."""
    unit: str
    """Unit of every time: `s` or `slot`."""
