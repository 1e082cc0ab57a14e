"""The parts of a job's runs: a file for each mechanism, of the mechanism's name.

They lie here, apart from `actors/protection/`, because a job has any number of them, and one
protection. `part.py` has the questions that a job asks its parts; `ORDER` below is the order in
which it asks, and the only list of them. A new mechanism is one file here and one line there.
"""

from __future__ import annotations

from actors.parts.clocks import Clocks
from actors.parts.detection import Detection
from actors.parts.hangs import Hangs
from actors.parts.notice import Notices
from actors.parts.part import Host, Part
from actors.parts.repair import Repair
from actors.parts.replacement import Replacement
from actors.parts.replicas import Replicas
from actors.parts.reuse import Reuse
from actors.parts.standbys import Standbys
from actors.parts.startup import Startup
from actors.parts.storage import StorageUse

__all__ = ["ORDER", "WANTING", "Host", "Part"]

ORDER: tuple[type[Part], ...] = (
    Startup,
    Reuse,
    Standbys,  # before all that ask about members: a message about a standby concerns no member
    Repair,  # notes who came back UP before replicas act on it
    Clocks,
    StorageUse,
    Replacement,
    Replicas,  # suspend a load before the fault that suspends it is hidden
    Detection,
    Hangs,
    Notices,
)
"""Kinds of parts in the order in which a job asks them. Where the first answer counts, an earlier
part answers for the later ones."""
WANTING = tuple(kind for kind in ORDER if "wanted" in vars(kind))
"""Those of them that a job can ask for by what it says."""
