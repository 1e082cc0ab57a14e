"""Events of repairs: what faults strike, what they are blamed on, the stages of repair, and units
that do not come back (rules.md, R6 to R8)."""

from __future__ import annotations

import enum
from typing import Annotated

from actors.events.quantities import Quantity, WorkerSet
from actors.runtime import Event, fact


class Struck(enum.Enum):
    """Kind of the units that fail, and that are blamed and repaired as one."""

    WORKERS = "workers"
    NODES = "nodes"
    """All workers of a node fail at once; `platform.node` gives their number."""
    RACKS = "racks"
    """All nodes of a rack fail at once; `platform.rack` gives their number."""


class RepairLaw(enum.Enum):
    """Law of the time that a stage of repair takes."""

    EXPONENTIAL = "exponential"
    """The time is exponential."""
    FIXED = "fixed"
    """The time is always the same."""


class RepairOutcome(enum.Enum):
    """Says how a stage of the repair of a unit ended."""

    PASSED_ON = "passed-on"
    """The next stage goes on with the repair."""
    FIXED = "fixed"
    """The repair is over and has removed the cause of the fault."""
    NOT_FIXED = "not-fixed"
    """The repair is over and has not removed the cause of the fault."""


Probability = Annotated[float, Quantity("probability")]
Kind = Annotated[Struck, Quantity(meaning="Kind of the unit: a worker, a node or a rack.")]
StageNumber = Annotated[int, Quantity(meaning="Number of the stage of repair, from 0.")]
LawNumber = Annotated[int, Quantity(meaning="Number of the law among the scenario's laws, from 0.")]


@fact
class UnitFailed(Event):
    """A fault strikes a unit (a worker, node or rack) that is not in repair and was not just
    struck."""

    law: LawNumber
    of: Kind
    workers: WorkerSet
    """Workers of the unit."""


@fact
class FaultBlamed(Event):
    """The fault of a unit (a worker, node or rack) is known, and is blamed on that unit, on another
    one, or on none. The event is left out where all faults are blamed on what they have struck."""

    of: Kind
    workers: WorkerSet
    """Workers of the unit that the fault has struck."""
    blamed: WorkerSet | None
    """Workers of the unit that the fault is blamed on, which goes to repair; None: it is blamed on
    no unit."""


@fact
class RepairStarted(Event):
    """A stage of the repair of a unit begins."""

    of: Kind
    workers: WorkerSet
    """Workers of the unit."""
    stage: StageNumber


@fact
class RepairEnded(Event):
    """A stage of the repair of a unit is over. Nobody in the simulated world knows whether the
    cause is removed."""

    of: Kind
    workers: WorkerSet
    """Workers of the unit."""
    stage: StageNumber
    outcome: RepairOutcome
    """Outcome of the stage."""


@fact
class UnitRetired(Event):
    """A unit does not come back from its repair: its workers are DOWN for ever."""

    of: Kind
    workers: WorkerSet
    """Workers of the unit."""
