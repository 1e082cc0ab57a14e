"""Defines what a service order sees and answers: it decides which workers use the master's channels
first (volatile13, section III.B, leaves this open)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Waiting(Protocol):
    """A worker that wants one of the master's channels, or has one; a live view."""

    @property
    def index(self) -> int: ...

    @property
    def serving(self) -> bool:
        """Whether the worker holds a channel at present."""

    @property
    def started(self) -> bool:
        """Whether the worker has already received a part of its next message."""

    @property
    def left(self) -> float:
        """Communication time that the worker still needs in total, in the scenario's unit."""


class ServiceOrder(Protocol):
    """Chooses the workers that the master serves from now on, the first one first: at most
    `channels` of those in `waiting`, at the time `now`.

    It is asked about members of runs first, then about workers that are held ready to replace
    members, with the channels that are left.
    """

    @property
    def every_slot(self) -> bool:
        """Whether the choice can change while the workers in `waiting` stay the same. If so, the
        order is called again at the start of every slot, that is, at each whole time."""

    def __call__(
        self, waiting: Sequence[Waiting], channels: int, now: float
    ) -> Sequence[Waiting]: ...
