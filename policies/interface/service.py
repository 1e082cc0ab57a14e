"""The master's channels: who is served first (volatile13, section III.B leaves it open)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Waiting(Protocol):
    """A worker that wants one of the master's channels (live)."""

    @property
    def index(self) -> int: ...

    @property
    def serving(self) -> bool:
        """A channel is its own at present."""

    @property
    def started(self) -> bool:
        """A part of the message that it receives next has been received already."""

    @property
    def left(self) -> float:
        """Time of communication that it lacks in all."""


class ServiceOrder(Protocol):
    """Chooses the workers that the master serves from now on: at most `channels` of `waiting`."""

    @property
    def every_slot(self) -> bool:
        """Whether the choice may change while demand does not: ask again as every slot begins, at
        each whole time."""

    def __call__(
        self, waiting: Sequence[Waiting], channels: int, now: float
    ) -> Sequence[Waiting]: ...
