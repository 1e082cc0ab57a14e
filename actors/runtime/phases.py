"""What happens first within one instant of virtual time."""

from __future__ import annotations

import enum


class Phase(enum.IntEnum):
    """The order of one instant; a phase begins when all messages of the one before are handled.

    Without it, whether a worker that goes DOWN at the very end of an attempt loses that attempt,
    or whether a freed processor is seen by a decision, would hang on who was started first.
    """

    WORK_ENDS = 0
    """Work that ends now is complete: intervals are half-open."""
    STATES_CHANGE = 1
    """Workers change state."""
    DECISION = 2
    """The scheduler decides, once."""
    SERVICE = 3
    """What a decision asked for is served: the master deals out its channels."""
