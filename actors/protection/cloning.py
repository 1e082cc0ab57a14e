"""Cloning: a new copy of a job begins from the furthest state that there is, be it that of a copy
under way or a saved one (rules.md, P5).

Fractions of the work are compared, not amounts: copies on other numbers of members have other work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from actors.copy import Copy
from actors.events import ProtectionKind, Stage
from actors.protection.plan import Plan, State
from actors.protection.rules import on


class CloneableRun(Protocol):
    """A run, as far as cloning uses it."""

    number: int

    def state(self, now: float) -> State:
        """Return the run's state at `now`, as another copy would begin from it."""


C = TypeVar("C", bound=CloneableRun)


def furthest_run(
    copies: Iterable[Copy[C]], doubts: Callable[[Copy[C]], bool], now: float
) -> State | None:
    """Return the state, at `now`, of the run under way with the most work done, relative to its
    whole work; None if no run is under way. Of several equally far it is that of the run with the
    lowest worker. Runs whose copies are in doubt, by `doubts`, do not count."""
    known = [copy for copy in copies if copy.run is not None and not doubts(copy)]
    known.sort(key=lambda copy: min(copy.members, default=-1))
    return furthest(copy.run.state(now) for copy in known if copy.run is not None)


def furthest(states: Iterable[State]) -> State | None:
    """Return the state with the largest fraction done; of several whose fractions differ by no more
    than 1e-12, the first. None if there is no state."""
    best: State | None = None
    for state in states:
        if best is None or state.beyond(best):
            best = state
    return best


def begun(plan: Plan, saved: State | None, clone: State | None) -> Plan:
    """Return `plan`, that of a copy which is placed now, changed so that it begins from a saved
    state. That is `saved`, the job's checkpoint, if it is further than `clone`, the state of the
    copy that could be cloned; else `clone`. Without either the plan stays one from scratch; a clone
    without any work does not count (P5)."""
    rules = plan.rules
    if clone is not None and not clone.done:
        clone = None  # a state without work is not fetched
    state = saved if saved is not None and (clone is None or saved.beyond(clone)) else clone
    if state is not None and rules.bytes is not None and rules.kind is ProtectionKind.IMAGES:
        return plan.beginning(state, loads=len(plan.before))  # loaded after the changeover
    if saved is not None and state is saved:
        return _fetched(plan, saved, on(rules.recovery, 1) + rules.changeover)
    if clone is not None:
        return _fetched(plan, clone, rules.delay + rules.changeover)
    return plan


def _fetched(plan: Plan, state: State, time: float) -> Plan:
    """Return `plan` changed so that it begins from this state. Each member fetches it through the
    master; without one, a recovery of `time` time units stands for that."""
    if plan.rules.image is not None:
        return plan.beginning(state, fetches=True)
    return plan.beginning(state, ((Stage.RECOVERING, time),))
