"""The paper's names for its heuristics (003, sections 5 and 6)."""

from __future__ import annotations

from policies.interface.malleable import AllocationPolicy, RedistributionPolicy
from policies.malleable.allocation import GreedySpeedupProfile, OptNoRedistrib
from policies.malleable.plan import LookAhead
from policies.malleable.redistribution import (
    Combined,
    EndLocal,
    Greedy,
    NoRedistribution,
    ShortestApplicationsFirst,
)

NAMES = (
    "none",
    "EndLocal",
    "EndGreedy",
    "IteratedGreedy-EndGreedy",
    "IteratedGreedy-EndLocal",
    "ShortestApplicationsFirst-EndGreedy",
    "ShortestApplicationsFirst-EndLocal",
)
"""`EndLocal` and `EndGreedy` alone do nothing at faults; `none` never does anything."""

ALLOCATIONS = ("Opt-NoRedistrib", "GreedySpeedupProfile")


def named(name: str, look: LookAhead = LookAhead.ANY) -> RedistributionPolicy:
    """The redistribution policy called `name`. Raises ValueError for one not in `NAMES`."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is no redistribution policy; accepted: {', '.join(NAMES)}.")
    parts = name.split("-")
    return Combined(_at_end(parts[-1], look), _at_fault(parts[0], look))


def _at_end(name: str, look: LookAhead) -> RedistributionPolicy:
    if name == "EndLocal":
        return EndLocal(look)
    return Greedy() if name == "EndGreedy" else NoRedistribution()


def _at_fault(name: str, look: LookAhead) -> RedistributionPolicy:
    if name == "IteratedGreedy":
        return Greedy()
    if name == "ShortestApplicationsFirst":
        return ShortestApplicationsFirst(look)
    return NoRedistribution()


def named_allocation(name: str) -> AllocationPolicy:
    """The allocation policy called `name`. Raises ValueError for one not in `ALLOCATIONS`."""
    if name not in ALLOCATIONS:
        known = ", ".join(ALLOCATIONS)
        raise ValueError(f"{name!r} is no allocation policy; accepted: {known}.")
    return OptNoRedistrib() if name == "Opt-NoRedistrib" else GreedySpeedupProfile()
