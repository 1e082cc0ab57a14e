"""Lists the mechanisms of which the audit has rules, in the order in which it asks these.

At the end of an instant, what is missing is found in this order: workers whose owner has announced
to take them before members that are to be replaced, as those are replaced only once all states are
known.
"""

from __future__ import annotations

from sims.audit.dependencies import DependencyRules
from sims.audit.parts.agents import AgentRules
from sims.audit.parts.detection import DetectionRules
from sims.audit.parts.hangs import HangRules
from sims.audit.parts.maintenance import MaintenanceRules
from sims.audit.parts.notice import NoticeRules
from sims.audit.parts.partitions import PartitionRules
from sims.audit.parts.repair import RepairRules
from sims.audit.parts.replacement import ReplacementRules
from sims.audit.parts.replicas import ReplicaRules
from sims.audit.parts.reserve import ReserveRules
from sims.audit.parts.standbys import StandbyRules
from sims.audit.parts.startup import StartupRules
from sims.audit.parts.storage import StorageRules
from sims.audit.parts.wear import WearRules
from sims.audit.parts.whole_nodes import WholeNodeRules
from sims.audit.world import PartRules

ORDER: tuple[type[PartRules], ...] = (
    PartitionRules,  # before all that have a line of the head after theirs
    StartupRules,
    WholeNodeRules,
    NoticeRules,
    ReplacementRules,  # before standbys: a member that is away is replaced first
    StandbyRules,
    ReplicaRules,
    StorageRules,
    DetectionRules,
    HangRules,
    MaintenanceRules,
    WearRules,
    RepairRules,
    ReserveRules,
    DependencyRules,
    AgentRules,  # all effects of what agents did must have come
)
"""Kinds of rules in the order in which the audit asks them. Where two have lines at the same place
of the log's head, those of the later one come first."""
