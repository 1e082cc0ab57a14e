"""Workers' owners and speeds over time, known beforehand."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.oracle.tenths import exact

UP, RECLAIMED, DOWN = "u", "r", "d"


class Timeline:
    """A worker's whole future but for faults: its owner's letters, one a time unit, and speeds."""

    def __init__(self, index: int, scenario: dict[str, Any]) -> None:
        owners, speeds = scenario["owner"], scenario["speeds"]
        self._owner: str = owners[index] if owners else ""
        self._speeds = [(exact(t), exact(s)) for t, s in speeds[index]] if speeds else []
        before = UP + self._owner
        taken = [k for k, s in enumerate(self._owner) if s == DOWN and before[k] != DOWN]
        self.taken = {Fraction(k) for k in taken}
        """When its owner takes it DOWN."""
        self.notices: set[Fraction] = set()
        """When its owner says that it will be DOWN, unless it is."""
        if "notice" in scenario:
            ahead = exact(scenario["notice"])
            self.notices = {max(Fraction(0), k - ahead) for k in taken}

    @property
    def times(self) -> set[Fraction]:
        """When something of it happens."""
        states = pairwise(self._owner + UP)
        turns = {Fraction(k) for k, (before, then) in enumerate(states, 1) if before != then}
        return turns | self.notices | {t for t, _ in self._speeds}

    def owner_at(self, time: Fraction) -> str:
        """UP, RECLAIMED or DOWN."""
        letter = int(time)
        return self._owner[letter] if letter < len(self._owner) else UP

    def speed_at(self, time: Fraction) -> Fraction:
        """1 before any change."""
        speed = Fraction(1)
        for since, value in self._speeds:
            if since <= time:
                speed = value
        return speed
