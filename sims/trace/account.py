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
    """Program or data on their way to some worker, while nothing is computed."""
    USEFUL = "useful"
    LOST = "lost"
    """Computation that has to be done again."""
    VERIFICATION = "verification"
    CHECKPOINT = "checkpoint"
    DOWNTIME = "downtime"
    RECOVERY = "recovery"
    REDISTRIBUTION = "redistribution"
    SUSPENDED = "suspended"
    """It holds processors that compute nothing: reclaimed, down, or at speed 0."""
    UNSETTLED = "unsettled"
    """Computation that a fault could still undo, or a check reject, where the log ends."""


@define
class FlowAccount:
    """Turns from part to part; what is computed is at risk until it is kept or lost."""

    submitted: float | None = None
    until: float = 0
    """How far the account reaches."""
    part: Part = Part.WAITING
    """What goes on from then on."""
    spent: dict[Part, Fraction] = field(factory=lambda: dict.fromkeys(Part, Fraction(0)))
    saved: Fraction = Fraction(0)
    """Computation that a checkpoint holds; it can be lost with it."""
    at_risk: Fraction = Fraction(0)
    """Computation that nothing holds yet."""

    def open(self, now: float) -> None:
        """The job is submitted, and waits."""
        self.submitted = self.until = now

    def turn(self, now: float, part: Part) -> None:
        """From `now` on the job is about `part`."""
        passed = Fraction(now) - Fraction(self.until)
        if self.part is Part.USEFUL:
            self.at_risk += passed
        else:
            self.spent[self.part] += passed
        self.until, self.part = now, part

    def save(self) -> None:
        """A checkpoint holds all that was computed."""
        self.saved, self.at_risk = self.saved + self.at_risk, Fraction(0)

    def lose(self) -> None:
        """What no checkpoint holds is lost."""
        self.spent[Part.LOST] += self.at_risk
        self.at_risk = Fraction(0)

    def lose_all(self) -> None:
        """The checkpoint is lost as well."""
        self.save()
        self.at_risk, self.saved = self.saved, Fraction(0)
        self.lose()

    def keep(self) -> None:
        """Nothing can undo any more what was computed."""
        self.spent[Part.USEFUL] += self.saved + self.at_risk
        self.saved = self.at_risk = Fraction(0)

    def close(self, now: float, completed: bool) -> None:
        """The job is over, or the log."""
        self.turn(now, self.part)
        if completed:
            self.keep()
            return
        self.spent[Part.UNSETTLED] += self.saved + self.at_risk
        self.saved = self.at_risk = Fraction(0)

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
                yield f"  {part.value:<16}{float(time):>16,.10g}  {float(time / total):>6.1%}"
