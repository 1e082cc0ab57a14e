"""Policies for redundant copies: 004's two algorithms and what they are compared with."""

from policies.redundancy.fcfs import Fcfs
from policies.redundancy.laps import Laps, LapsR, ProcessorSharing
from policies.redundancy.named import named
from policies.redundancy.srpt import Srpt, SrptR, SrptREven

__all__ = ["Fcfs", "Laps", "LapsR", "ProcessorSharing", "Srpt", "SrptR", "SrptREven", "named"]
