"""What `holdfast live` needs to know of real processes."""

from __future__ import annotations

from sims.tables.fields import Positive
from sims.tables.section import Section


class LiveSection(Section):
    """`[live]`: how `holdfast live` and `reality` carry the scenario out; other commands ignore
    it. Its times are in seconds of the wall clock."""

    scale: Positive = 1.0
    """Seconds per time unit."""
    pace: Positive = 0.05
    """Seconds between two steps of a computation, at speed 1."""
    bandwidth: Positive = 1.0
    """Megabytes a second through a channel of the master."""
    tolerance: Positive = 0.05
    """How many seconds late work may be complete that counts as on time."""
    patience: Positive = 20.0
    """How many seconds late it may be at most: a run whose work is later has failed."""
    function: str | None = None
    """`package.module:name` of a function (state, number of the step) -> state, both states bytes:
    a step of the computation; default: a hash."""
