"""Derives when units come under a law of faults, and how many of those that it does not strike
(rules.md, F8)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from attrs import Factory, define

from actors.events import FaultsDescribed, UnitsWornOut, WearDescribed
from actors.runtime import Event
from sims.audit.facts import HeadLine
from sims.audit.law import LinePhase, comes, follows, ordered, possible
from sims.audit.turns import Emitter, Script
from sims.audit.workers import numbers, parse_spans
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class WearingLaw:
    """A law of faults that strikes more and more of its units."""

    described: WearDescribed
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
        return (self.instants + 1) * self.described.interval

    @property
    def listed(self) -> frozenset[int] | None:
        """Those of the well units that the log's head lists for the last instant; None if it lists
        none, as they are drawn."""
        each = self.described.listed
        if self.instants > len(each):
            return None
        return self.well.intersection(numbers(parse_spans(each[self.instants - 1])))

    @property
    def count(self) -> int:
        """Number of units that wear out at the last instant."""
        listed = self.listed
        return min(self.described.count, len(self.well)) if listed is None else len(listed)


@define(eq=False)
class WearRules(PartRules):
    """The rules of units that wear out."""

    head: ClassVar = HeadLine(WearDescribed, after=FaultsDescribed, once=False)
    laws: dict[int, WearingLaw] = Factory(dict)
    """Maps numbers of laws to the laws under which units come."""
    clock: Emitter = Factory(Emitter)
    """Begins each instant at which units wear out; it logs no line itself."""

    def describe(self, event: Any) -> None:
        """Keep a line of the head that says how units wear out. Raises Broken where it does not go
        together with the line that says which units the law strikes at the start."""
        w = self.w
        possible(event.law in w.some and event.law not in self.laws, "no law of some units is so")
        units, struck = w.some[event.law]
        sound = event.size >= 1 and -(-w.head.processors // event.size) == units
        possible(sound and event.interval > 0, "the platform has no such units")
        for text in event.listed:
            listed = numbers(parse_spans(text))
            possible(bool(listed) and listed[-1] < units, "there are no such units")
        law = self.laws[event.law] = WearingLaw(event, units, set(struck))
        self._await(law)

    def _await(self, law: WearingLaw) -> None:
        described = law.described
        if law.instants >= len(described.listed) and not described.count:
            return  # no more units wear out
        number, begin = law.described.law, partial(self._begin, law)
        self.w.turns.at(law.due, LinePhase.MESSAGES, self.clock, number, begin)

    def _begin(self, law: WearingLaw) -> None:
        """Begin an instant at which units wear out: which ones can is known before its repairs
        end."""
        law.instants += 1
        law.well = frozenset(range(law.units)).difference(law.struck) | self._cured(law)
        law.awaited = law.count > 0
        self._await(law)

    def _cured(self, law: WearingLaw) -> frozenset[int]:
        repairs, number, size = self.w.repairs, law.described.law, law.described.size
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
            size = law.described.size
            repairs.cured.difference_update([(event.law, unit * size) for unit in worn])

    def close(self) -> None:
        """Check, at the end of an instant, that no line about units that wear out is missing."""
        if not (self.w.capped or self.w.turns.ended):
            missing = [it for it in self.laws.values() if it.awaited]
            comes(not missing, "{} units wear out", missing and missing[0].count)
