"""Names the acts by which the world is changed from outside it, as by an agent, and the actor that
carries them out."""

from __future__ import annotations

import enum

DOOR = "agents' door"
"""Name of the actor that carries out these acts."""


class Act(enum.Enum):
    """The acts by which an agent changes the world."""

    SUBMIT = "submit"
    CANCEL = "cancel"
    """Cancel a job that the agent has submitted."""
    TAKE = "take"
    """Take a worker and give it back, as an owner does."""
    FAIL = "fail"
    HANG = "hang"
    SPEED = "speed"
    """Change a worker's speed."""
    CALL = "call"
    """Call a worker that its owner keeps until then."""
