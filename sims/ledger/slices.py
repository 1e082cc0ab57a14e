"""Slices of processor time."""

from __future__ import annotations

import enum
from fractions import Fraction

from attrs import frozen

from actors.intervals import count_in

Exact = Fraction | int
"""A sum of times without rounding: whole seconds and slots stay whole, which adds up faster."""


class Use(enum.Enum):
    """What a processor-second went to; each goes to exactly one."""

    USEFUL = "useful"
    """Computing whose result is in the state that completed the job (its iteration): all of the
    completing run's; that of the run that it began from up to `saved`; and so on back."""
    LOST = "lost"
    """Computing that has to be done again; at the log's end, what is saved or under way."""
    CHECKPOINT = "checkpoint"
    """Its run spends a checkpoint's `cost`."""
    RECOVERY = "recovery"
    """Its run spends `recovery`, or a clone's `delay`."""
    REDISTRIBUTION = "redistribution"
    """Its run moves data to another number of members."""
    TRANSFER = "transfer"
    """The worker is UP and held, and a message of its is under way, whatever it carries."""
    WAITING = "waiting"
    """Its run does not advance: for the link, for others, without speed, with kept members not all
    UP."""
    REDUNDANT = "redundant"
    """Computing of a run that was cancelled, as far as it is not useful."""
    VERIFICATION = "verification"
    """Its run's detector advances."""
    IDLE = "idle"
    """The worker is UP and nobody holds it."""
    RECLAIMED = "reclaimed"
    """Its owner has the worker, whether a run holds it or not."""
    DOWN = "down"
    """The worker is DOWN."""


@frozen
class Slice:
    """`processors` were put to one use over [start, end)."""

    processors: str
    """Interval set of numbers, such as `0-3 5`."""
    use: Use
    start: float
    end: float
    seq: int
    """The event that began it."""
    job: str | None = None
    run: int | None = None
    share: Fraction | float = 1
    """Part of each processor that this use had: below 1 only where workers multitask."""
    note: str = ""
    """What a picture or an export may add, such as `program`."""

    @property
    def each(self) -> Exact:
        """Time of each of its processors, exactly (floats are rationals)."""
        time = length(self.start, self.end)
        return time if self.share == 1 else Fraction(self.share) * time

    def amount(self) -> Exact:
        """Processor-time of this slice, exactly."""
        return count_in(self.processors) * self.each


def length(start: float, end: float) -> Exact:
    """end - start, exactly."""
    first, last = int(start), int(end)
    if first == start and last == end:
        return last - first
    return Fraction(end) - Fraction(start)
