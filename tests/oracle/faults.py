"""Laws of faults and of hangs: whom they strike, and when (rules.md, F2 to F4, F6 and F7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Any

from tests.oracle.tenths import exact

LONGEST = 600
"""Time up to which records of logs are replayed, unless a scenario says `replayed_until`."""

Strike = tuple[Fraction, int, Fraction]
"""When, which unit, and how long it is DOWN."""


def laws_of(scenario: dict[str, Any]) -> list[Law]:
    """The scenario's laws in their order; `faults` and `hangs` are the first."""
    first = {
        "strikes": scenario["faults"],
        "of": scenario.get("faults_of", "workers"),
        "downtime": scenario["downtime"],
        "detection": scenario.get("detection", 0),
        "spread": scenario.get("spread", ()),
    }
    hangs = {
        "strikes": scenario.get("hangs", ()),
        "effect": "hang",
        "detection": scenario.get("hang_detection", 0),
    }
    return [Law(said, scenario) for said in (first, hangs, *scenario.get("laws", ()))]


class Law:
    """One of them, and what of it is still to come."""

    def __init__(self, said: dict[str, Any], scenario: dict[str, Any]) -> None:
        node, self.rack = scenario.get("node", 1), scenario.get("rack", 1)
        self.of: str = said.get("of", "workers")
        self.each = {"workers": 1, "nodes": node, "racks": node * self.rack}[self.of]
        """Workers of a unit."""
        self.units = -(-scenario["workers"] // self.each)
        self.hang = said.get("effect") == "hang"
        self.detection = exact(said.get("detection", 0))
        downtime = exact(said.get("downtime", 0))
        listed = [(exact(t), unit, downtime) for t, unit in said.get("strikes", ())]
        until = scenario.get("replayed_until", LONGEST)
        self.strikes = defaultdict[Fraction, list[tuple[int, Fraction]]](list)
        """Maps times to the units that it strikes then, and how long they are DOWN."""
        for time, unit, down in chain(listed, replayed(said, until)):
            self.strikes[time].append((unit, down))
        self.spread = list(said.get("spread", ()))
        self.curable = bool(said.get("curable", False))
        self.cured: set[int] = set()
        """Units that it strikes no more (R6)."""
        self.under = set(said.get("units", range(self.units)))
        """Units that it strikes now."""
        self.times = {
            unit: [exact(it) for it in gaps]
            for unit, gaps in enumerate(said.get("gaps", ()))
            if unit < self.units
        }
        """Computing times from fault to fault, by unit; the first of each is what is left (F4)."""
        self.interval = exact(said.get("interval", 0))
        self.added: list[list[int]] = said.get("added", [])
        """Units that wear out at each multiple of the interval (F8)."""
        self.downtime = downtime

    @property
    def gaps(self) -> dict[int, list[Fraction]]:
        """Of the units that it strikes now, where some are left."""
        return {unit: gaps for unit, gaps in self.times.items() if gaps and unit in self.under}

    @property
    def wears(self) -> list[Fraction]:
        """When units wear out."""
        return [(k + 1) * self.interval for k in range(len(self.added))]

    def wear(self, now: Fraction) -> None:
        """Strike those too, from now on, that wear out now."""
        for time, units in zip(self.wears, self.added, strict=True):
            if time == now:
                self.cured -= set(units) - self.under
                self.under |= set(units)

    def cure(self, unit: int) -> None:
        """Strike it no more; if it wears out, its next time is the one after that under way."""
        if unit in self.under and self.times.get(unit):
            self.times[unit].pop(0)
        self.under.discard(unit)
        self.cured.add(unit)

    def workers(self, unit: int, of: int) -> range:
        """Those of a unit, of so many in all."""
        return range(unit * self.each, min((unit + 1) * self.each, of))

    def due(self, now: Fraction) -> list[tuple[int, Fraction]]:
        """Units that it strikes now, in order, and how long they are DOWN."""
        found = list(self.strikes.get(now, ()))
        for unit, gaps in self.gaps.items():
            if gaps[0] == 0:
                found.append((unit, self.downtime))
                gaps.pop(0)
        return sorted(it for it in found if it[0] not in self.cured)

    def spreads(self, unit: int) -> Iterator[int]:
        """The other nodes of its rack that are struck, too (F3)."""
        first = unit // self.rack * self.rack
        for other in range(first, min(first + self.rack, self.units)):
            if other != unit and self.spread and self.spread.pop(0):
                yield other


def replayed(said: dict[str, Any], longest: int) -> Iterator[Strike]:
    """Each unit's record, from the window's begin on (F7).

    `record`: by node of the log, its failures (start, end), from the first of all on; `length`: of
    the log; `nodes`: whose record each unit has.
    """
    begin = exact(said.get("start", 0))
    for unit, node in enumerate(said.get("nodes", ())):
        for start, end in said["record"][node]:
            for time in range(0, longest + said["length"], said["length"]):
                since, until = (it + time - begin for it in (start, end))
                if until > 0:
                    yield max(since, Fraction(0)), unit, until - max(since, Fraction(0))
