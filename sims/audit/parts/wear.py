"""Derives when units come under a law of faults, and how many of those that it does not strike
(rules.md, F8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from math import floor
from typing import Any, ClassVar

from attrs import Factory, define, frozen

from actors.events import FaultsDescribed, FaultsExpected, UnitsWornOut
from actors.runtime import Event
from sims.audit.facts import HeadLine
from sims.audit.law import LinePhase, comes, follows, ordered, possible
from sims.audit.scenario import Table, amount, spans_in, whole
from sims.audit.turns import Emitter, Script
from sims.audit.workers import numbers, parse_spans
from sims.audit.world import Handler, PartRules, World


@frozen
class GivenWear:
    """How units come under a law of faults in the course of time, as the scenario describes it."""

    size: int
    """Number of workers of a whole unit."""
    interval: float
    """Time from one instant at which units wear out to the next; the first is one interval after
    the start."""
    count: int
    """Number of units that are drawn at each of these instants."""
    listed: tuple[frozenset[int], ...]
    """Numbers of the units that wear out at the first of these instants, in place of drawn ones."""


@define(eq=False)
class WearingLaw:
    """A law of faults that strikes more and more of its units."""

    number: int
    given: GivenWear
    units: int
    """Number of all units of its kind."""
    struck: set[int]
    """Units that the law has struck from the start, or since they wore out; cured ones too."""
    instants: int = 0
    """Number of instants at which units wear out, up to the present one."""
    well: frozenset[int] = frozenset()
    """Units that the law did not strike before the last of these instants."""
    awaited: bool = False
    """Whether the line is still to come that says which of them wear out at this instant."""

    @property
    def due(self) -> float:
        """Time of the next instant at which units wear out."""
        return (self.instants + 1) * self.given.interval

    @property
    def listed(self) -> frozenset[int] | None:
        """Well units that the scenario lists to wear out at the last instant; None if it lists no
        units, which are drawn then."""
        each = self.given.listed
        return None if self.instants > len(each) else self.well & each[self.instants - 1]

    @property
    def count(self) -> int:
        """Number of units that wear out at the last instant."""
        listed = self.listed
        return min(self.given.count, len(self.well)) if listed is None else len(listed)


@define(eq=False)
class WearRules(PartRules):
    """The rules of units that wear out."""

    head: ClassVar = HeadLine(FaultsDescribed, after=FaultsExpected, once=False)
    drawn: set[int] = Factory(set)
    """Numbers of the laws whose units the log's head has named."""
    laws: dict[int, WearingLaw] = Factory(dict)
    """Maps numbers of laws to the laws under which units come."""
    clock: Emitter = Factory(Emitter)
    """Begins each instant at which units wear out; it logs no line itself."""

    def prepare(self) -> None:
        """Keep which units wear out under the laws whose units the scenario gives."""
        for number, table in enumerate(self.w.given.laws):
            if "units" in table:
                self._strike(number, spans_in(table["units"], self._units_of(table)[0]))

    def describe(self, event: Any) -> None:
        """Keep a line of the head that says which units a law strikes at the start. Raises Broken
        if these are none of its units, none were drawn, or the law has been described before."""
        laws = self.w.given.laws
        possible(event.law < len(laws), "its scenario has {} laws", len(laws))
        table, struck = laws[event.law], numbers(parse_spans(event.struck))
        possible("share" in table and event.law not in self.drawn, "nothing is drawn, or twice")
        self.drawn.add(event.law)
        units, _ = self._units_of(table)
        few = floor(amount(table, "share") * units + 0.5)
        right = event.units == units and max(struck, default=0) < units and len(struck) == few
        possible(right, "{} of {} units are drawn", few, units)
        self._strike(event.law, struck)

    def _units_of(self, table: Table) -> tuple[int, int]:
        """Return the number of units of a law's kind, and the number of workers of a whole one."""
        given, of, size = self.w.given, table.get("of", "workers"), 1
        if of != "workers":
            rack = whole(given.section("platform"), "rack", 1) if of == "racks" else 1
            size = given.platform.node * rack
        possible(size >= 1, "{} without workers", of)
        return -(-given.platform.size // size), size

    def _strike(self, number: int, struck: Iterable[int]) -> None:
        """Have the law strike these units from the start, and others once they wear out, if the
        scenario has that."""
        table = self.w.given.laws[number]
        if "interval" not in table:
            return
        units, size = self._units_of(table)
        interval, share = amount(table, "interval"), amount(table, "share_added")
        listed = tuple(spans_in(it, units) for it in table.get("added", ()))
        possible(interval > 0, "no time passes")
        wear = GivenWear(size, interval, floor(share * units + 0.5), listed)
        law = self.laws[number] = WearingLaw(number, wear, units, set(struck))
        self._await(law)

    def _await(self, law: WearingLaw) -> None:
        if law.instants >= len(law.given.listed) and not law.given.count:
            return  # no more units wear out
        begin = partial(self._begin, law)
        self.w.turns.at(law.due, LinePhase.MESSAGES, self.clock, law.number, begin)

    def _begin(self, law: WearingLaw) -> None:
        """Begin an instant at which units wear out: which ones can is known before its repairs
        end."""
        law.instants += 1
        law.well = frozenset(range(law.units)).difference(law.struck) | self._cured(law)
        law.awaited = law.count > 0
        self._await(law)

    def _cured(self, law: WearingLaw) -> frozenset[int]:
        repairs, number, size = self.w.repairs, law.number, law.given.size
        if repairs is None:
            return frozenset()
        return frozenset(worker // size for it, worker in repairs.cured if it == number)

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {UnitsWornOut: self._wear_out}

    def _wear_out(self, w: World, event: UnitsWornOut) -> Script:
        """Check the line by which units wear out: it comes before repairs end and faults strike,
        and names as many units as it must, of those that the law does not strike."""
        w.turns.settle(LinePhase.RUNS)
        w.turns.phase = LinePhase.RUNS
        law = possible(self.laws.get(event.law), "units of this law do not wear out")
        follows(law.awaited, "no units wear out now")
        repairs = w.repairs
        early = repairs is None or not (repairs.struck or repairs.ended or repairs.back)
        ordered(early, "it is after a fault or a repair")
        worn, listed = frozenset(numbers(parse_spans(event.units))), law.listed
        possible(worn <= law.well, "the law strikes {} already", sorted(worn - law.well))
        follows(len(worn) == law.count, "{} units wear out", law.count)
        follows(listed in (None, worn), "units {} wear out", listed and sorted(listed))
        law.awaited = False
        yield event, 0
        law.struck |= worn
        if repairs is not None:
            size = law.given.size
            repairs.cured.difference_update([(event.law, unit * size) for unit in worn])

    def close(self) -> None:
        """Check, at the end of an instant, that no line about units that wear out is missing."""
        if not (self.w.capped or self.w.turns.ended):
            missing = [it for it in self.laws.values() if it.awaited]
            comes(not missing, "{} units wear out", missing and missing[0].count)
