"""The paper's names for its heuristics (malleable17, sections 5 and 6)."""

from __future__ import annotations

from policies.interface.pack import AllocationPolicy, LookAhead, RedistributionPolicy
from policies.pack.allocation import GreedySpeedupProfile, OptNoRedistrib
from policies.pack.redistribution import (
    Combined,
    EndLocal,
    Greedy,
    NoRedistribution,
    ShortestApplicationsFirst,
)

CATALOGUE = {
    "none": "nobody is ever redistributed",
    "EndLocal": "at ends only: idle processors to the longest application",
    "EndGreedy": "at ends only: the whole schedule afresh",
    "IteratedGreedy-EndGreedy": "the whole schedule afresh at every fault and end",
    "IteratedGreedy-EndLocal": "afresh at faults, idle processors at ends",
    "ShortestApplicationsFirst-EndGreedy": "from the shortest at faults, afresh at ends",
    "ShortestApplicationsFirst-EndLocal": "from the shortest at faults, idle processors at ends",
}
"""Redistribution policies by the paper's names, each in a line."""

NAMES = tuple(CATALOGUE)

ALLOCATIONS: dict[str, AllocationPolicy] = {
    "Opt-NoRedistrib": OptNoRedistrib(),
    "GreedySpeedupProfile": GreedySpeedupProfile(),
}


def named(name: str, look: LookAhead = LookAhead.ANY) -> RedistributionPolicy:
    """The redistribution policy called `name`. Raises ValueError for one not in `CATALOGUE`."""
    if name not in CATALOGUE:
        raise ValueError(f"{name!r} is no redistribution policy; accepted: {', '.join(NAMES)}.")
    parts: dict[str, RedistributionPolicy] = {
        "EndLocal": EndLocal(look),
        "EndGreedy": Greedy(),
        "IteratedGreedy": Greedy(),
        "ShortestApplicationsFirst": ShortestApplicationsFirst(look),
    }
    at_fault, _, at_end = name.rpartition("-")
    never = NoRedistribution()
    return Combined(parts.get(at_end, never), parts.get(at_fault, never))


def named_allocation(name: str) -> AllocationPolicy:
    """The allocation policy called `name`. Raises ValueError for one not in `ALLOCATIONS`."""
    if name not in ALLOCATIONS:
        known = ", ".join(ALLOCATIONS)
        raise ValueError(f"{name!r} is no allocation policy; accepted: {known}.")
    return ALLOCATIONS[name]
