"""The decision points, and which of them an object is a policy for."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_type_hints

from policies.interface import (
    Allocation,
    AllocationPolicy,
    BatchAllocation,
    EnrolmentPolicy,
    Order,
    RedistributionPolicy,
    RedundancyPolicy,
    ServiceOrder,
    Strategy,
)


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


PROTOCOLS: Mapping[Point, Any] = MappingProxyType(
    {
        Point.STRATEGY: Strategy,
        Point.ORDER: Order,
        Point.ALLOCATION: Allocation,
        Point.BATCH_ALLOCATION: BatchAllocation,
        Point.ENROLMENT: EnrolmentPolicy,
        Point.PACK_ALLOCATION: AllocationPolicy,
        Point.REDISTRIBUTION: RedistributionPolicy,
        Point.COPIES: RedundancyPolicy,
        Point.SERVICE: ServiceOrder,
    }
)


def points_of(policy: Any) -> list[Point]:
    """The points whose Protocol `policy` may satisfy, as far as its signature tells: by the names
    of its parameters, else by their number; among several, by their types and that of its answer.
    """
    if callable(getattr(policy, "allot", None)):
        return [Point.BATCH_ALLOCATION]
    if callable(getattr(policy, "at", None)):
        return [Point.ORDER]  # a timed one
    if not callable(policy):
        return []
    call = policy if inspect.isroutine(policy) else type(policy).__call__
    mine = _parameters(policy)
    alike = {point: _parameters(it.__call__) for point, it in PROTOCOLS.items() if _called(it)}
    named = [point for point, theirs in alike.items() if theirs == mine]
    found = named or [point for point, theirs in alike.items() if len(theirs) == len(mine)]
    typed = [point for point in found if _hints(call) & _hints(PROTOCOLS[point].__call__)]
    return typed if len(found) > 1 and typed else found


def _called(protocol: Any) -> bool:
    return "__call__" in vars(protocol)


def _parameters(call: Callable[..., Any]) -> list[str]:
    known = inspect.signature(call).parameters
    return [name for name in known if name != "self"]


SHARED = frozenset(
    ("", "Generator", "None", "NoneType", "Sequence", "class", "float", "int", "list")
)
"""Types that tell no point from another."""


def _hints(call: Callable[..., Any]) -> set[str]:
    """Names of the types in a signature that tell something."""
    try:
        hints = get_type_hints(call).values()
    except Exception:  # whatever a user's annotation is evaluated to
        return set()
    words = {word for hint in hints for word in _words(str(hint))}
    return words - SHARED


def _words(hint: str) -> list[str]:
    """`collections.abc.Sequence[a.b.Resize]` -> Sequence, Resize; `<class 'a.B'>` -> B."""
    for mark in "[]<>'|,":
        hint = hint.replace(mark, " ")
    return [word.rpartition(".")[2] for word in hint.split()]
