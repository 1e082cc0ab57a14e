"""What agents can do to the world."""

from __future__ import annotations

import enum

DOOR = "agents' door"
"""Name of the actor that carries out what agents ask for."""


class Act(enum.Enum):
    """What agents can do to the world."""

    SUBMIT = "submit"
    TAKE = "take"
    """Take a worker and give it back, as an owner does."""
    FAIL = "fail"
    HANG = "hang"
    SPEED = "speed"
    """Change a worker's speed."""
    CALL = "call"
    """Call a worker of the reserve."""
