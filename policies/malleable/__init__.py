"""Policies for malleable applications that share a platform (003)."""

from policies.malleable.allocation import GreedySpeedupProfile, OptNoRedistrib
from policies.malleable.names import ALLOCATIONS, CATALOGUE, NAMES, named, named_allocation
from policies.malleable.plan import LookAhead
from policies.malleable.redistribution import (
    Combined,
    EndLocal,
    Greedy,
    NoRedistribution,
    ShortestApplicationsFirst,
)

__all__ = [
    "ALLOCATIONS",
    "CATALOGUE",
    "NAMES",
    "Combined",
    "EndLocal",
    "Greedy",
    "GreedySpeedupProfile",
    "LookAhead",
    "NoRedistribution",
    "OptNoRedistrib",
    "ShortestApplicationsFirst",
    "named",
    "named_allocation",
]
