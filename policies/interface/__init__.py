"""Defines what policies see and what they answer: read-only views, decisions, and one Protocol for
each kind of decision.

A policy is the smallest object that satisfies one of these Protocols: a frozen attrs class or a
plain function. It reads views (some are live windows on the running simulation: a policy reads them
and never keeps them), returns a decision, and draws random numbers only from the generator that it
is handed.

Each family of decisions has a module of its own.
"""

from policies.interface.copies import ActiveJobs, CopyAllocation, RedundancyPolicy, Sharing
from policies.interface.deadline import DueJob, KindPolicy, Offer
from policies.interface.enrolment import (
    Configuration,
    Enrolment,
    EnrolmentPolicy,
    EnrolmentView,
    Reason,
    RunningView,
    Wake,
)
from policies.interface.pack import (
    AllocationPolicy,
    AllocationView,
    CandidateView,
    Cause,
    RedistributionPolicy,
    RedistributionView,
    Resize,
)
from policies.interface.placement import PlacementPolicy, StartView
from policies.interface.queue import (
    Allocation,
    Allotment,
    BatchAllocation,
    BatchJob,
    BatchPolicy,
    BatchView,
    Decision,
    Draw,
    Order,
    Queued,
    Reservation,
    Strategy,
)
from policies.interface.retirement import FleetView, RetirementPolicy, WorkerRecord
from policies.interface.service import ServiceOrder, Waiting

__all__ = [
    "ActiveJobs",
    "Allocation",
    "AllocationPolicy",
    "AllocationView",
    "Allotment",
    "BatchAllocation",
    "BatchJob",
    "BatchPolicy",
    "BatchView",
    "CandidateView",
    "Cause",
    "Configuration",
    "CopyAllocation",
    "Decision",
    "Draw",
    "DueJob",
    "Enrolment",
    "EnrolmentPolicy",
    "EnrolmentView",
    "FleetView",
    "KindPolicy",
    "Offer",
    "Order",
    "PlacementPolicy",
    "Queued",
    "Reason",
    "RedistributionPolicy",
    "RedistributionView",
    "RedundancyPolicy",
    "Reservation",
    "Resize",
    "RetirementPolicy",
    "RunningView",
    "ServiceOrder",
    "Sharing",
    "StartView",
    "Strategy",
    "Waiting",
    "Wake",
    "WorkerRecord",
]
