"""Where a job's flowtime went: its time in the system, cut into parts that add up to it exactly."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from fractions import Fraction

from attrs import define, field

from sims.telling import in_units


class Part(enum.Enum):
    """What a job was about, from its submission to its completion; one at a time."""

    WAITING = "waiting"
    """For processors, for its turn, or for the link."""
    TRANSFER = "transfer"
    """A message on its way to or from some worker, while nothing is computed."""
    USEFUL = "useful"
    LOST = "lost"
    """Computation that is not in the state that completed the job."""
    VERIFICATION = "verification"
    CHECKPOINT = "checkpoint"
    DOWNTIME = "downtime"
    """It keeps processors that are not all UP, between two runs."""
    RECOVERY = "recovery"
    REDISTRIBUTION = "redistribution"
    SUSPENDED = "suspended"
    """A run of it stands still: a member is RECLAIMED or DOWN, or at speed 0."""
    UNSETTLED = "unsettled"
    """Computation that a fault could still undo, or a check reject, where the log ends."""


@define
class FlowAccount:
    """Time by part."""

    spent: dict[Part, Fraction] = field(factory=lambda: dict.fromkeys(Part, Fraction(0)))

    def add(self, part: Part, start: float, end: float) -> None:
        """The job was about `part` over [start, end)."""
        self.spent[part] += Fraction(end) - Fraction(start)

    @property
    def total(self) -> Fraction:
        """Completion minus submission (or the log's end minus submission), exactly."""
        return sum(self.spent.values(), Fraction(0))

    def as_json(self) -> dict[str, object]:
        """The account as data."""
        parts = {part.value: float(time) for part, time in self.spent.items() if time}
        return {"flowtime": float(self.total), "parts": parts}

    def lines(self, unit: str) -> Iterator[str]:
        """The account for people."""
        total = self.total
        yield f"where its {in_units(float(total), unit)} went:"
        for part, time in self.spent.items():
            if time:
                told = in_units(float(time), unit)
                yield f"  {part.value:<16}{told:>22}  {float(time / total):>6.1%}"
