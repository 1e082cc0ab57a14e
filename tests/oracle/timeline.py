"""Workers' states and speeds over time, known beforehand."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from tests.oracle.tenths import exact

Span = tuple[Fraction, Fraction]

UP, RECLAIMED, DOWN = "u", "r", "d"


class Timeline:
    """A worker's whole future: its owner's letters, one a time unit, its faults and its speeds."""

    def __init__(self, index: int, scenario: dict[str, Any]) -> None:
        owners, speeds = scenario["owner"], scenario["speeds"]
        self._owner: str = owners[index] if owners else ""
        self._speeds = [(exact(t), exact(s)) for t, s in speeds[index]] if speeds else []
        by_nodes = scenario.get("faults_of") == "nodes"
        place = index // scenario["node"] if by_nodes else index
        faults = sorted(exact(t) for t, struck in scenario["faults"] if struck == place)
        struck = self._struck(faults, exact(scenario["downtime"]))
        owned = [(Fraction(k), Fraction(k + 1)) for k, s in enumerate(self._owner) if s == DOWN]
        self._downs = union(owned + struck)
        detection = exact(scenario.get("detection", 0))
        self.strikes = {start: self._heard(start, start + detection) for start, _ in self._downs}
        """When it goes DOWN, and when who holds it hears so; with downtime 0 it is back at once."""
        self.notices = self._notices(exact(scenario["notice"])) if "notice" in scenario else set()
        """When its owner says that it will be DOWN."""

    def _struck(self, faults: list[Fraction], downtime: Fraction) -> list[Span]:
        """The DOWNs of the faults that strike."""
        struck: list[Span] = []
        for fault in faults:
            # A fault is judged by the state that the worker would have without it.
            if self._owner_at(fault) != DOWN and not (struck and fault < struck[-1][1]):
                struck.append((fault, fault + downtime))
        return struck

    def _heard(self, strike: Fraction, latest: Fraction) -> Fraction:
        """Earlier where it is UP before, or its owner says DOWN."""
        for time in sorted(time for time in self._turns if strike <= time < latest):
            if self.state_at(time) == UP or self._owner_at(time) == DOWN:
                return time
        return latest

    def _notices(self, ahead: Fraction) -> set[Fraction]:
        """None while it is DOWN."""
        before = UP + self._owner
        taken = [k for k, s in enumerate(self._owner) if s == DOWN and before[k] != DOWN]
        said = {max(Fraction(0), k - ahead) for k in taken}
        return {time for time in said if self.state_at(time) != DOWN}

    @cached_property
    def _turns(self) -> set[Fraction]:
        """When its state changes."""
        states = pairwise(self._owner + UP)
        turns = {Fraction(k) for k, (before, then) in enumerate(states, 1) if before != then}
        return turns | {t for down in self._downs for t in down}

    @property
    def times(self) -> set[Fraction]:
        """When something of it happens."""
        told = self.notices.union(self.strikes.values())
        return self._turns | told | {t for t, _ in self._speeds}

    def _owner_at(self, time: Fraction) -> str:
        letter = int(time)
        return self._owner[letter] if letter < len(self._owner) else UP

    def state_at(self, time: Fraction) -> str:
        """UP, RECLAIMED or DOWN."""
        if any(start <= time < end for start, end in self._downs):
            return DOWN
        return self._owner_at(time)

    def speed_at(self, time: Fraction) -> Fraction:
        """1 before any change."""
        speed = Fraction(1)
        for since, value in self._speeds:
            if since <= time:
                speed = value
        return speed


def union(spans: list[Span]) -> list[Span]:
    """Those without a gap between them are one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
