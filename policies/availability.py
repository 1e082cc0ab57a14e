"""The three states of a volatile worker, which the world and the policies share."""

from __future__ import annotations

import enum


class WorkerState(enum.Enum):
    """State of a processor at one instant (volatile13, section III.B); the value is its letter in a
    trace."""

    UP = "u"
    """Available: it computes and communicates."""
    RECLAIMED = "r"
    """Taken back by its owner: suspended, its memory kept."""
    DOWN = "d"
    """Crashed: program, data and computation are lost."""

    # Enum's own hash is a function in Python, which every change of a worker's state calls twice.
    __hash__ = object.__hash__
