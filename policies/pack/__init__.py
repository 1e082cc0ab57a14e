"""Policies for malleable applications that share a platform (malleable17)."""

from policies.interface.pack import LookAhead
from policies.pack.allocation import GreedySpeedupProfile, OptNoRedistrib
from policies.pack.names import ALLOCATIONS, CATALOGUE, NAMES, named, named_allocation
from policies.pack.redistribution import (
    Combined,
    EndLocal,
    Greedy,
    NoRedistribution,
    ShortestApplicationsFirst,
    acts_at_faults,
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
    "acts_at_faults",
    "named",
    "named_allocation",
]
