"""Messages about repairs (rules.md, R6 to R8): of faults' hazards, of workers, of the scheduler and
of jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import field, frozen

from actors.events.repair import Struck
from actors.runtime import message


@frozen
class Unit:
    """Workers that fail, are blamed and are repaired as one: a single worker, a node or a rack."""

    of: Struck
    number: int
    workers: range = field(eq=False)


@message
class UnitStruck:
    """Hazard to repairs: a fault of this law strikes the unit now."""

    law: int
    unit: int
    """Number of the unit."""
    first: int
    """Number of the unit in which the fault arose: this one, or the one from which it has
    spread."""
    detection: float
    """Time after which the fault is detected at the latest (F1)."""
    logs_detection: bool
    """Whether the log gives this detection time, because other kinds of faults have another."""


@message
class UnitCured:
    """Repairs to hazard: the cause of this unit's faults is removed; strike it no more."""

    unit: int
    """Number of the unit."""


@message
class StruckWhileDown:
    """Worker to scheduler: a fault has struck a unit of mine while I was DOWN already."""

    index: int


@message
class FaultKnown:
    """Scheduler to repairs: the faults of the units of this worker, which has gone DOWN, are known
    now."""

    worker: int
    copy: int
    """Number of the copy that holds the worker; -1: none does."""


@message
class RunStruck:
    """Job to repairs: a fault that is known now ends the run of this copy, or would end it if
    another fault of this instant did not."""

    copy: int
    members: Sequence[int]
    away: Collection[int]
    """Members that were DOWN before this instant."""


@message
class RunOver:
    """Job to repairs: the run of this copy is over."""

    copy: int
    members: Sequence[int]


@message
class UnitRetires:
    """Repairs to scheduler: these workers are DOWN for ever."""

    workers: Sequence[int]


@message
class MemberStruckAgain:
    """Scheduler to job: a fault strikes a member of a replica that has dropped out, which is DOWN
    already."""

    copy: int
    worker: int


@message
class MemberRetired:
    """Scheduler to job: this member of the copy is DOWN for ever."""

    copy: int
    worker: int


@message
class GoToRepair:
    """Repairs to worker: you are DOWN from now on, as your unit is repaired."""

    unit: Unit


@message
class BackFromRepair:
    """Repairs to worker: this unit of yours is in repair no more; you are UP again if nothing else
    keeps you DOWN."""

    unit: Unit
