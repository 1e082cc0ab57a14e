"""The parts of a job's runs, and those of the scheduler: a file for each mechanism, of its name.

They lie here, apart from `actors/protection/`, because a job has any number of them, and one
protection. `part.py` has the questions that a job asks its parts; `ORDER` below is the order in
which it asks, and the only list of them. A new mechanism is one file here and one line there.
`scheduler_part.py` and `OF_SCHEDULER` are the same for the scheduler; a mechanism that both take
part in has both parts in its file.
"""

from __future__ import annotations

from actors.parts.clocks import Clocks
from actors.parts.detection import Detection, HiddenFaults
from actors.parts.early_release import EarlyRelease
from actors.parts.hangs import Hangs
from actors.parts.notice import Notices
from actors.parts.part import Host, Part
from actors.parts.repair import Repair, RepairReports, Retirement
from actors.parts.replacement import Replacement, ReplacementChoice
from actors.parts.replicas import Replicas
from actors.parts.reserve import ReserveCalls
from actors.parts.reuse import Reuse
from actors.parts.scheduler_part import SchedulerHost, SchedulerPart
from actors.parts.standbys import StandbyIntake, Standbys
from actors.parts.startup import Startup
from actors.parts.storage import StorageUse
from actors.parts.walltime import Walltime
from actors.parts.whole_nodes import WholeNodes

__all__ = [
    "OF_SCHEDULER",
    "ORDER",
    "WANTING",
    "Host",
    "Part",
    "SchedulerHost",
    "SchedulerPart",
]

ORDER: tuple[type[Part], ...] = (
    Startup,
    Reuse,
    WholeNodes,
    Standbys,  # before all that ask about members: a message about a standby concerns no member
    Repair,  # notes who came back UP before replicas act on it
    Retirement,
    Clocks,
    StorageUse,
    Walltime,
    Replacement,
    Replicas,  # suspend a load before the fault that suspends it is hidden
    Detection,
    Hangs,
    Notices,
)
"""Kinds of parts in the order in which a job asks them. Where the first answer counts, an earlier
part answers for the later ones."""
WANTING = tuple(kind for kind in ORDER if "wanted" in vars(kind))
"""Kinds of parts that a job can ask for by its own keys."""

OF_SCHEDULER: tuple[type[SchedulerPart], ...] = (
    EarlyRelease,
    ReplacementChoice,  # before standbys: a member that is away is replaced first
    StandbyIntake,
    HiddenFaults,  # last of those that settle an instant: what they gave out is held
    RepairReports,
    ReserveCalls,
)
"""Kinds of parts in the order in which a scheduler asks them."""
