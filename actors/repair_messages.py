"""Units that are repaired, and messages about repairs (rules.md, R6 to R8): of faults' hazards, of
workers, of the scheduler and of jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import define, field

from actors.events.repair import Struck
from actors.runtime import message

KINDS = tuple(Struck)


@define(eq=False)
class Unit:
    """Workers that fail, are blamed and are repaired as one: a single worker, a node or a rack. The
    actor that repairs makes one object for each unit, so that equal units are the same. It is read
    only, but not frozen at run time, which doubles the cost of making it.

    `of` is its kind, `number` its number among the units of that kind, and `workers` the numbers of
    its workers.
    """

    of: Struck
    number: int
    workers: range
    text: str = field(init=False)
    """Numbers of its workers, as logs write them."""

    turn: tuple[int, int] = field(init=False)
    """Sort key of the unit among those of one instant: its lowest worker, then its kind."""

    @text.default
    def _named(self) -> str:
        first, last = self.workers[0], self.workers[-1]
        return str(first) if first == last else f"{first}-{last}"

    @turn.default
    def _in_turn(self) -> tuple[int, int]:
        return self.workers[0], KINDS.index(self.of)


@define(eq=False)
class Units:
    """Keeps one object for each unit that is struck or blamed, and makes it when it is first
    needed."""

    sizes: Mapping[Struck, int]
    """Maps each kind of unit to the number of workers in one."""
    size: int
    """Number of workers on the platform."""
    known: Mapping[Struck, dict[int, Unit]] = field(init=False)
    """Maps each kind of unit to the units made so far, by number."""

    def __attrs_post_init__(self) -> None:
        self.known = {of: {} for of in Struck}

    def unit(self, of: Struck, number: int) -> Unit:
        """Return the unit of this kind and number."""
        unit = self.known[of].get(number)
        if unit is None:
            each = self.sizes[of]
            workers = range(number * each, min((number + 1) * each, self.size))
            unit = self.known[of][number] = Unit(of, number, workers)
        return unit


@message
class UnitStruck:
    """Hazard to repairs: a fault of the law numbered `law` strikes this unit (worker, node or rack)
    now."""

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
    """Repairs to hazard: the cause of the faults of this unit (worker, node or rack) is removed;
    strike it no more."""

    unit: int
    """Number of the unit."""


@message
class StruckWhileDown:
    """Worker to scheduler: a fault has struck my unit (worker, node or rack) while I was DOWN. My
    state does not change because of it. Pass the fault on to those who must act on it: the actor
    that repairs, and a job that holds me and can do without members."""

    index: int
    hidden: bool = False
    """Whether a job that holds me does not know of the fault yet, as my DOWN would have ended at
    this instant."""


@message
class FaultKnown:
    """Scheduler to repairs: the faults that have struck units of this worker, because of which it
    is DOWN, are known from now on and can be blamed on units."""

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
    """Repairs to scheduler: these workers do not come back from their repair, and are DOWN for
    ever."""

    workers: Sequence[int]


@message
class LargestJobChanged:
    """Scheduler to repairs: the largest unfinished job needs this number of workers from now on."""

    workers: int
    """Number of workers; 0 if there is no job."""


@message
class RecordsChanged:
    """Repairs to scheduler: the records of these workers are this bad from now on, by the measure
    of the placement (rules.md, R9)."""

    workers: Sequence[int]
    badness: Sequence[Any]
    """How bad the record of each of these workers is; the records themselves for a placement of the
    user's own."""


@message
class MemberFaultHidden:
    """Scheduler to job: a fault that you must not know of yet strikes this member of the copy at
    the very instant at which its DOWN would have ended."""

    copy: int
    worker: int


@message
class MemberStruckAgain:
    """Scheduler to job: a fault strikes a member that is DOWN already. It belongs to a replica (a
    group of members that holds the whole state) that has dropped out of its run."""

    copy: int
    worker: int


@message
class MemberRetired:
    """Scheduler to job: this member of the copy does not come back from its repair: it is DOWN for
    ever."""

    copy: int
    worker: int


@message
class GoToRepair:
    """Repairs to worker: you are DOWN from now on, because your unit is repaired: a fault of
    another unit has been blamed on it."""

    unit: Unit


@message
class BackFromRepair:
    """Repairs to worker: this unit of yours keeps you DOWN no longer. You are UP again if nothing
    else keeps you DOWN."""

    unit: Unit
