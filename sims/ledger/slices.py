"""Slices of processor time, and the numbered sets of processors that they lie on."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from attrs import frozen

from actors.runtime import Record

Range = tuple[int, int]
"""First and last processor number."""


class Use(enum.Enum):
    """What a processor-second went to; each goes to exactly one."""

    USEFUL = "useful"
    LOST = "lost"
    """Work that has to be done again."""
    CHECKPOINT = "checkpoint"
    RECOVERY = "recovery"
    """Downtime of the application and restoring its state."""
    REDISTRIBUTION = "redistribution"
    TRANSFER = "transfer"
    """Program or data on their way from the master."""
    WAITING = "waiting"
    """For the link, or for others."""
    REDUNDANT = "redundant"
    """Work of a copy that another copy was ahead of."""
    VERIFICATION = "verification"
    IDLE = "idle"
    RECLAIMED = "reclaimed"
    DOWN = "down"


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
    """Part of each processor that this use had: below 1 only where servers multitask, or where a
    failure undid a part of what was done meanwhile."""
    note: str = ""
    """What a picture or an export may add, such as `program`."""

    def amount(self) -> Fraction:
        """Processor-time of this slice, exactly (floats are rationals)."""
        return count(self.processors) * Fraction(self.share) * length(self.start, self.end)


class Accountant(Protocol):
    """Folds one family's events into slices. Idle time is what no slice covers."""

    def __call__(self, record: Record) -> Iterator[Slice]:
        """The slices that end, or become known, with this record. Slices of one processor come in
        order of time, but for work that a fault could still undo: it comes once that is settled."""

    def close(self, now: float) -> Iterator[Slice]:
        """The slices still open where the log ends."""


def length(start: float, end: float) -> Fraction:
    """end - start, exactly."""
    return Fraction(end) - Fraction(start)


# Whoever folds a log asks for the same set again and again while its run goes on: reading it takes
# a microsecond per interval.
@lru_cache(maxsize=16_384)
def ranges(processors: str) -> tuple[Range, ...]:
    """(first, last) of each interval of an interval set such as `0-3 5`."""
    parts = (part.partition("-") for part in processors.split())
    return tuple((int(first), int(last if dash else first)) for first, dash, last in parts)


def text(numbers: Iterable[int]) -> str:
    """Ascending numbers as an interval set: `0-3 5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)


@lru_cache(maxsize=16_384)
def count(processors: str) -> int:
    """How many processors an interval set holds."""
    return sum(last - first + 1 for first, last in ranges(processors))
