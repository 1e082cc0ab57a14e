"""Redundant copies: the state that a new copy begins from (WORLD.md, P5 and P6; redundancy17)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from actors.events import Stage
from actors.plan import Plan, State
from actors.protection.by_size import on

if TYPE_CHECKING:
    from actors.protection.rules import Rules


def begun(plan: Plan, rules: Rules, saved: State | None, furthest: State | None) -> Plan:
    """The plan of a copy that is placed now: from the saved image if that is further than the
    furthest run under way, from that run's state if copies are cloned, or from scratch."""
    clone = furthest if rules.cloning and furthest and furthest.done else None
    if saved is not None and (clone is None or saved.beyond(clone)):
        return _fetched(plan, rules, saved, on(rules.recovery, 1))
    if clone is not None:
        return _fetched(plan, rules, clone, rules.delay)
    return plan


def _fetched(plan: Plan, rules: Rules, state: State, time: float) -> Plan:
    """Through the master where there is one, else in `time`."""
    if rules.image is not None:
        return evolve(plan, begins=state, image=True)
    return evolve(plan, begins=state, before=((Stage.RECOVERING, time),))
