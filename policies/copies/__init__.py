"""Policies for redundant copies: redundancy17's two algorithms and what they are compared with."""

from policies.copies.arrival import Fcfs, Laps, LapsR, ProcessorSharing
from policies.copies.named import named
from policies.copies.srpt import Srpt, SrptR, SrptREven

__all__ = ["Fcfs", "Laps", "LapsR", "ProcessorSharing", "Srpt", "SrptR", "SrptREven", "named"]
