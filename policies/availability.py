"""Defines the three states of a volatile worker, which the simulated world and the policies
share."""

from __future__ import annotations

import enum


class WorkerState(enum.Enum):
    """State of a processor at one instant (volatile13, section III.B); the value is the state's
    letter in a trace."""

    UP = "u"
    """Available: the worker computes and communicates."""
    RECLAIMED = "r"
    """Taken back by its owner: the worker is suspended and keeps its memory."""
    DOWN = "d"
    """Crashed: the worker has lost its program, data and computation."""

    # Enum's own hash is a function in Python, which every change of a worker's state calls twice.
    __hash__ = object.__hash__
