"""The decision points, which of them an object is a policy for, and what is asked of it there."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any

from attrs import frozen
from numpy.random import Generator

from policies.interface import (
    Allocation,
    AllocationPolicy,
    EnrolmentPolicy,
    KindPolicy,
    Order,
    RedistributionPolicy,
    RedundancyPolicy,
    ServiceOrder,
    Strategy,
)
from sims.errors import COMMAND_LINE, InputError


class Point(enum.Enum):
    """What a policy can decide; `sims/docs/starters` has a file of each name."""

    STRATEGY = "strategy"
    """Of a queue: what starts now."""
    ORDER = "order"
    """Of a queue: who is first."""
    ALLOCATION = "allocation"
    """Of moldable jobs in a queue: how many processors each."""
    BATCH_ALLOCATION = "batch_allocation"
    """The same for all attempts of a batch together."""
    ENROLMENT = "enrolment"
    """Which volatile workers an iterative job enrols, with how many tasks each."""
    PACK_ALLOCATION = "pack_allocation"
    """How a pack of malleable jobs shares the processors at the start."""
    REDISTRIBUTION = "redistribution"
    """Who of a pack changes size at an end or a fault."""
    COPIES = "copies"
    """Which jobs run, in how many copies."""
    SERVICE = "service"
    """Whom a master serves first."""
    DEADLINE = "deadline"
    """On which kind of worker a job with a deadline goes on."""


PROTOCOLS: Mapping[Point, Any] = MappingProxyType(
    {
        Point.STRATEGY: Strategy,
        Point.ORDER: Order,
        Point.ALLOCATION: Allocation,
        Point.ENROLMENT: EnrolmentPolicy,
        Point.PACK_ALLOCATION: AllocationPolicy,
        Point.REDISTRIBUTION: RedistributionPolicy,
        Point.COPIES: RedundancyPolicy,
        Point.SERVICE: ServiceOrder,
        Point.DEADLINE: KindPolicy,
    }
)


def recognised(policy: Any, suits: Callable[[Point], bool], named: str | None = None) -> Point:
    """The point that is `named`, or else the only one whose Protocol has the policy's parameters
    and that `suits`. Raises InputError."""
    known = ", ".join(point.value for point in Point)
    if named is not None:
        try:
            return Point(named)
        except ValueError:
            raise InputError(COMMAND_LINE, "--point", f"{named!r} is none", known) from None
    found = _alike(policy)
    if not found:
        problem = f"{policy!r} has the signature of no decision point (policies/interface)"
        raise InputError(COMMAND_LINE, "POLICY", problem, known)
    if len(found) > 1:
        found = [point for point in found if suits(point)] or found
    if len(found) > 1:
        several = " or ".join(point.value for point in found)
        problem = f"its signature suits {several}"
        raise InputError(COMMAND_LINE, "--point", problem, f"{several}, named")
    return found[0]


def _alike(policy: Any) -> list[Point]:
    """The points that a policy may be for: by the names of its parameters, else by their number."""
    for method, point in (("allot", Point.BATCH_ALLOCATION), ("at", Point.ORDER)):
        if callable(getattr(policy, method, None)):
            return [point]
    if not callable(policy):
        return []
    mine = _parameters(policy)
    asked = {point: _parameters(it.__call__) for point, it in PROTOCOLS.items()}
    named = [point for point, theirs in asked.items() if theirs == mine]
    return named or [point for point, theirs in asked.items() if len(theirs) == len(mine)]


def _parameters(call: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(call).parameters if name != "self"]


@frozen(eq=False)
class AskedCase:
    """One question to a policy."""

    arguments: tuple[Any, ...]
    judge: Callable[..., Any]
    """Asks a policy, given before the arguments, and returns its answer. Raises BadDecision where
    that cannot be carried out."""
    stalls: Callable[[Any], str | None] = lambda _: None
    """What is wrong with an answer that can be carried out, but leads nowhere."""

    def make(self) -> tuple[Any, ...]:
        """The arguments, new and equal at each call: what a policy does to them is seen."""
        return deepcopy(self.arguments)

    def __repr__(self) -> str:
        shown = (it for it in self.arguments if not isinstance(it, Generator))
        return "\n".join(f"  {it!r}" for it in shown)
