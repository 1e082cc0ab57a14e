"""What moving data between workers costs (malleable17, sections 3.1 and 3.3)."""

from __future__ import annotations

from attrs import field, frozen

from sims.scenario.fields import not_negative


@frozen(kw_only=True)
class LinkSection:
    """`[link]`: between workers, for buddies' checkpoints and redistributions alike
    (malleable17)."""

    unit: float = field(default=1.0, validator=not_negative)
    """c = 1 / bandwidth: s per data unit, for checkpoints and redistributions alike."""
    latency: float = field(default=0.0, validator=not_negative)
    """beta: s for each message."""
    startup: float = field(default=0.0, validator=not_negative)
    """S: s for each redistribution."""
