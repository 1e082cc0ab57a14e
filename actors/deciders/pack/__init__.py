"""The pack: malleable applications among which workers are redistributed (003)."""

from actors.deciders.pack.decider import PackDecider
from actors.deciders.pack.faults import PaperFaults

__all__ = ["PackDecider", "PaperFaults"]
