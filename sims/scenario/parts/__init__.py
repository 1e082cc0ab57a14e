"""The mechanisms of a scenario: a file for each, of the name that it has in `actors/parts/`.

`part.py` has the questions that those who read, build and check a scenario ask; `PARTS` below is
the order in which they ask, and the only list. A new mechanism is one file here and one line there.
A mechanism's keys stand in the section that they are part of (`[platform]`, `[protection]`, listed
jobs), or in a table of its own: the first lines of its file say where.
"""

from __future__ import annotations

from sims.scenario.parts.agents import Agents
from sims.scenario.parts.dependencies import Dependencies
from sims.scenario.parts.detection import Detection
from sims.scenario.parts.hangs import Hangs
from sims.scenario.parts.limits import Limits
from sims.scenario.parts.maintenance import Maintenance
from sims.scenario.parts.notice import Notice
from sims.scenario.parts.part import ScenarioPart
from sims.scenario.parts.partitions import Partitions
from sims.scenario.parts.repair import Repair
from sims.scenario.parts.replacement import Replacement
from sims.scenario.parts.replicas import Replicas
from sims.scenario.parts.reserve import Reserve
from sims.scenario.parts.standbys import Standbys
from sims.scenario.parts.startup import Startup
from sims.scenario.parts.storage import Storage
from sims.scenario.parts.whole_nodes import WholeNodes

__all__ = ["PARTS", "ScenarioPart"]

PARTS: tuple[ScenarioPart, ...] = (
    Startup(),
    Storage(),
    Standbys(),
    Replicas(),
    Hangs(),
    Replacement(),
    Detection(),
    Repair(),
    Notice(),
    Maintenance(),
    Dependencies(),  # the head has them before the partitions of jobs
    Partitions(),  # jobs that fit into no partition are left out before those above a limit
    WholeNodes(),  # the head has partitions first
    Limits(),
    Reserve(),  # workers are called for jobs that limits leave in the queue
    Agents(),
)
"""The mechanisms, in the order in which they are asked."""
