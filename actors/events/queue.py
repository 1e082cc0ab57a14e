"""What the queue's deciders promise and open."""

from __future__ import annotations

from attrs import frozen

from actors.runtime import Event


@frozen
class ReservationMade(Event):
    """A waiting job was promised processors; recorded where promises are kept."""

    job: str
    start: float
    processors: int


@frozen
class ShelfOpened(Event):
    """The jobs that start at this instant form a shelf."""

    end: float
    """T_i: when its longest attempt is expected to end."""
    jobs: int


@frozen
class BatchOpened(Event):
    """All pending jobs have been allotted processors for their next attempts (000, 4.4)."""

    batch: int
    """From 1."""
    jobs: int
    attempts: int
    """The most attempts that one of its jobs may make in it."""


VOCABULARY: tuple[type[Event], ...] = (ReservationMade, ShelfOpened, BatchOpened)
