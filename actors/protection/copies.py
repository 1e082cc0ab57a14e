"""Redundant copies: from which state one begins (WORLD.md, P5 and P6; 004)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.events import Stage
from actors.plan import State
from actors.protection.by_size import on

if TYPE_CHECKING:
    from actors.protection.rules import Rules


def origin(rules: Rules, saved: State | None, furthest: State | None) -> dict[str, Any]:
    """Fields of the plan of a copy that is placed now: the saved image if it is further than the
    furthest run under way, that run's state if copies are cloned, or scratch."""
    clone = furthest if rules.cloning and furthest and furthest.done else None
    if saved is not None and (clone is None or saved.fraction > clone.fraction):
        return _fetched(rules, saved, on(rules.recovery, 1))
    if clone is not None:
        return _fetched(rules, clone, rules.delay)
    return {}


def _fetched(rules: Rules, state: State, time: float) -> dict[str, Any]:
    """Through the master where there is one, else in `time`."""
    if rules.image is not None:
        return {"begins": state, "image": True}
    return {"begins": state, "before": ((Stage.RECOVERING, time),)}
