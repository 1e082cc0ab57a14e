"""What policies see and what they answer: frozen views, decisions, one Protocol per decision.

A policy is the smallest thing that satisfies one of these Protocols: a frozen attrs class or a
plain function. It reads views (some are live windows on the running world: read, never keep),
returns a decision, and draws randomness only from the generator that it is handed.

One module per family of decisions.
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
    "KindPolicy",
    "Offer",
    "Order",
    "Queued",
    "Reason",
    "RedistributionPolicy",
    "RedistributionView",
    "RedundancyPolicy",
    "Reservation",
    "Resize",
    "RunningView",
    "ServiceOrder",
    "Sharing",
    "Strategy",
    "Waiting",
    "Wake",
]
