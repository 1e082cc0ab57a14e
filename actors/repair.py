"""Repairs what faults strike, in stages, by crews (rules.md, R6). `actors/blame.py` decides which
unit is blamed for a fault."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from math import inf
from operator import attrgetter
from typing import Any

from attrs import define, field

from actors.blame import Blame
from actors.chance import Chance
from actors.events.repair import (
    FaultBlamed,
    RepairEnded,
    RepairLaw,
    RepairOutcome,
    RepairStarted,
    Struck,
    UnitFailed,
    UnitRetired,
)
from actors.messages import ComputingChanged
from actors.records import Records
from actors.repair_messages import (
    BackFromRepair,
    FaultKnown,
    GoToRepair,
    LargestJobChanged,
    RecordsChanged,
    RunOver,
    RunStruck,
    Unit,
    UnitCured,
    UnitRetires,
    Units,
    UnitStruck,
)
from actors.runtime import NOTHING, Actor, Phase, handles, message
from actors.runtime.draws import UnitDraws
from actors.worker_messages import Fail

# Members under names of their own: reading one off its class takes 80 ns (Python 3.11).
PASSED_ON, FIXED, NOT_FIXED = RepairOutcome
EXPONENTIAL = RepairLaw.EXPONENTIAL
RUNS_END, FAULTS_OCCUR, STATES_CHANGE = Phase.RUNS_END, Phase.FAULTS_OCCUR, Phase.STATES_CHANGE


@define(eq=False)
class Stage:
    """One stage of the chain by which failed units are repaired: how long it takes, how many
    repairs it does at once, and whether it hands a repair on or removes the cause."""

    law: RepairLaw
    time: float
    """Mean time of a repair in this stage, time units."""
    passes_on: Chance
    """Decides whether the stage hands a repair on to the next one."""
    fixes: Chance
    """Decides whether a repair that the stage does not hand on has removed the cause of the
    fault."""
    free_crews: float = inf
    """Number of crews that are free, that is, of further repairs that the stage can begin now; inf:
    any number."""
    times: Iterator[float] = field(factory=lambda: iter(()))
    """Lengths of the first repairs, in the order in which they begin, in time units; later ones
    follow the law."""
    waiting: list[tuple[float, int, int, Repair]] = field(init=False, factory=list)
    """Repairs that wait for a crew, sorted: (time since which it waits, lowest worker of the unit,
    kind of unit, repair)."""


@define(eq=False)
class Repair:
    """The repair of a unit (worker, node or rack), from the time at which a fault is blamed on the
    unit to the end of the repair's last stage. `stage` is the number of its present stage."""

    unit: Unit
    cause: int
    """Number of the event for which the next stage begins."""
    stage: int = 0


@define(eq=False)
class Fault:
    """A fault that has struck a unit (worker, node or rack) and is not blamed on any unit yet: that
    happens once the fault is known on all of the unit's workers. `law` is the number of its law."""

    unit: Unit
    law: int
    unknown: set[int]
    """Workers of the unit on which the fault is not known yet."""
    cause: int
    """Number of the last event of the fault: it struck, or became known on a worker."""
    copies: dict[int, int] = field(factory=dict)
    """Maps each worker of the unit to the copy that held it when the fault became known on it; -1:
    none did."""


@message
class StageOver:
    """The actor that repairs tells itself that the time of this repair's present stage has
    passed."""

    repair: Repair


@message
class DrawOutcomes:
    """The actor that repairs tells itself to draw the outcomes of the stages that end at this
    instant."""


@message
class Strike:
    """The actor that repairs tells itself to carry out the ends of stages, which bring workers
    back, and then to let this instant's faults strike."""


@message
class AwaitKnown:
    """The actor that repairs tells itself to blame faults only after workers have changed state at
    this instant, because those changes make faults known."""


@message
class Deal:
    """The actor that repairs tells itself to blame the faults that are known by now on units, and
    then to assign free crews to waiting repairs."""


DRAW, STRIKE, AWAIT_KNOWN, DEAL = DrawOutcomes(), Strike(), AwaitKnown(), Deal()


@define(eq=False)
class Repairs(Actor):
    """Actor that takes the faults of all hazards, blames each on a unit (a worker, node or rack)
    once it is known, and repairs that unit in stages.

    At an instant the stages that end come first, then faults strike, then those that are known are
    blamed, and last free crews are assigned.
    """

    stages: Sequence[Stage]
    worker: Callable[[int], Actor]
    """Returns the address of a worker."""
    of: Sequence[Struck]
    """Kind of unit that each law strikes, by number of the law."""
    units: Units
    blame: Blame
    records: Records
    scheduler: str
    """Name of the scheduler."""
    hazards: Mapping[Struck, Sequence[tuple[str, Container[int]]]]
    """Maps each kind of unit to the names of the hazards that strike such units and that are told
    which of them are cured, each with the numbers of the units that it can strike."""
    badness: Callable[[int], Any] | None = None
    """Returns how bad a worker's record is, by the measure of the scheduler's placement, or the
    record itself for one of the user's own; None: no placement chooses by records."""
    _units_of: Sequence[dict[int, Unit]] = field(init=False, default=())
    """The units that each law strikes, by number of the law: reading them by their kind takes a
    call of Python, as an enum hashes itself."""
    _struck: list[UnitStruck] = field(init=False, factory=list)
    _over: list[Repair] = field(init=False, factory=list)
    """Repairs whose stage is over at this instant and whose outcome is not drawn yet."""
    _ended: list[tuple[Repair, RepairOutcome]] = field(init=False, factory=list)
    """Repairs whose stage is over at this instant, each with the drawn outcome."""
    _unknown: dict[Unit, Fault] = field(init=False, factory=dict)
    _known: list[Fault] = field(init=False, factory=list)
    """Faults that have become known at this instant and are not blamed yet."""
    _repairs: dict[Unit, Repair] = field(init=False, factory=dict)
    _in_repair: dict[int, int] = field(init=False, factory=dict)
    """Maps each worker to the number of its units that are in repair, if there are any."""
    _computing: dict[int, float] = field(init=False, factory=dict)
    """Maps each copy whose run computes to the time at which that began."""
    _computed: dict[int, float] = field(init=False, factory=dict)
    """Maps copies to the time for which their present runs have computed, without that since
    `_computing`."""
    _ran: list[tuple[Sequence[int], float]] = field(init=False, factory=list)
    """Members and computing time of each run that has ended at this instant and waits for its
    faults to be blamed."""
    _blamed_now: set[int] = field(init=False, factory=set)
    """Workers that faults are blamed on at the instant `_blamed_at`; kept, because some runs end
    only after that."""
    _blamed_at: float = field(init=False, default=-1)
    _striking: bool = field(init=False, default=False)
    _waiting: int = field(init=False, default=0)
    """Number of repairs that wait for a crew."""
    _dealing: bool = field(init=False, default=False)
    _awaited: float = field(init=False, default=-1)
    """Time of the last instant at which the repairs have let workers change state before they blame
    faults; -1 before the first."""
    _draws: UnitDraws = field(init=False, repr=False)
    """Random numbers of repairs, by the lowest worker of the unit."""
    _blame_draws: UnitDraws = field(init=False, repr=False)
    """Random numbers that decide which units faults are blamed on, by the lowest worker of the
    struck unit."""

    def started(self) -> None:
        self._draws = self.system.unit_draws("repair")
        self._blame_draws = self.system.unit_draws("blame")
        self._units_of = tuple(self.units.known[of] for of in self.of)

    # --- stages that end ----------------------------------------------------------------------

    @handles(StageOver)
    def end_stage(self, message: StageOver, _: int) -> None:
        if self.is_last:
            self._end_alone(message.repair)
            return
        self._over.append(message.repair)
        if len(self._over) == 1:
            self.later(DRAW, NOTHING, RUNS_END)

    def _end_alone(self, repair: Repair) -> None:
        """End the repair's stage at an instant at which nothing else happens. If that is all that
        follows, crews are assigned at once."""
        outcome = self._outcome(repair)
        if outcome is FIXED:
            self._cure(repair.unit)
        self._end(repair, outcome, alone=True)
        if self._waiting:
            if self.is_last:
                self._assign()
            else:
                self._deal_soon(AWAIT_KNOWN)

    @handles(DrawOutcomes)
    def draw_outcomes(self, _: DrawOutcomes, __: int) -> None:
        """Draw the outcomes of the stages that end at this instant, in the order of their units'
        lowest workers. If the cause of a unit's faults is removed, the hazards that strike it are
        told so before this instant's faults strike."""
        over, self._over = self._over, []
        if len(over) > 1:
            over.sort(key=lambda it: it.unit.turn)
        for repair in over:
            outcome = self._outcome(repair)
            if outcome is FIXED:
                self._cure(repair.unit)
            self._ended.append((repair, outcome))
        self._strike_soon()

    def _cure(self, unit: Unit) -> None:
        """Tell the hazards that strike such units, and this one among them, that the cause of its
        faults is removed."""
        for hazard, units in self.hazards.get(unit.of, ()):
            if unit.number in units:
                self.send(self.system.find(hazard), UnitCured(unit.number), NOTHING)

    def _outcome(self, repair: Repair) -> RepairOutcome:
        stage, draws, worker = self.stages[repair.stage], self._draws, repair.unit.turn[0]
        if repair.stage + 1 < len(self.stages) and stage.passes_on.comes(draws, worker):
            return PASSED_ON
        return FIXED if stage.fixes.comes(draws, worker) else NOT_FIXED

    # --- faults -------------------------------------------------------------------------------

    @handles(UnitStruck)
    def note_fault(self, message: UnitStruck, _: int) -> None:
        if not self._striking and self.is_last:
            self._fail(message)
            return
        self._struck.append(message)
        self._strike_soon()

    def _strike_soon(self) -> None:
        if not self._striking:
            self._striking = True
            self.later(STRIKE, NOTHING, FAULTS_OCCUR)

    @handles(Strike)
    def strike(self, _: Strike, __: int) -> None:
        self._striking = False
        (ended, self._ended), (struck, self._struck) = (self._ended, []), (self._struck, [])
        if ended:  # free crews are assigned once, after this instant's faults are known
            self._deal_soon(AWAIT_KNOWN)
        for repair, outcome in ended:
            self._end(repair, outcome)
        if len(struck) > 1:
            struck.sort(key=lambda it: (it.law, it.first))
        for fault in struck:
            self._fail(fault)

    def _end(self, repair: Repair, outcome: RepairOutcome, alone: bool = False) -> None:
        """End the repair's stage with this outcome. `alone`: nothing else happens at this
        instant."""
        unit, stage = repair.unit, repair.stage
        named = unit.text
        repair.cause = self.record(repair.cause, RepairEnded, unit.of, named, stage, outcome)
        self.stages[stage].free_crews += 1
        if outcome is PASSED_ON:
            repair.stage += 1
            self._wait(repair, alone)
            return
        self.records.repaired(unit.workers)
        if self.records.retires(unit.workers, self.now):
            cause = self.record(repair.cause, UnitRetired, unit.of, named)
            self.send(self.system.find(self.scheduler), UnitRetires(unit.workers), cause)
        else:
            self._hand_back(repair)

    def _hand_back(self, repair: Repair) -> None:
        unit = repair.unit
        self.records.returned(unit.workers, self.now)
        self._report(unit.workers)
        del self._repairs[unit]
        for worker in unit.workers:
            self._in_repair[worker] -= 1
            if not self._in_repair[worker]:
                del self._in_repair[worker]
            if unit not in self._unknown:  # else another fault keeps it DOWN until that is known
                self.send(self.worker(worker), BackFromRepair(unit), repair.cause)

    def _fail(self, struck: UnitStruck) -> None:
        unit = self._units_of[struck.law].get(struck.unit)
        if unit is None:
            unit = self.units.unit(self.of[struck.law], struck.unit)
        # A fault is not in `_unknown` any more, and has no repair yet, where it has become known at
        # this instant (its run ended) and is still to be blamed.
        known = self._known
        pending = unit in self._unknown or (known and unit in map(_unit_of, known))
        gone, workers = self._in_repair, unit.workers
        if pending or (workers[0] in gone and all(map(gone.__contains__, workers))):
            return  # a fault of a unit that is in repair or just struck changes nothing
        cause = self.record(self.system.origin, UnitFailed, struck.law, unit.of, unit.text)
        self._unknown[unit] = Fault(unit, struck.law, set(unit.workers), cause)
        fail = Fail(0, struck.detection, struck.logs_detection, struck.law, unit)
        for worker in unit.workers:
            self.send(self.worker(worker), fail, cause)

    # --- blame --------------------------------------------------------------------------------

    @handles(RunStruck)
    def note_run(self, message: RunStruck, _: int) -> None:
        self.blame.note_run(message, self.now)

    @handles(FaultKnown)
    def fault_known(self, message: FaultKnown, cause: int) -> None:
        """Record that the faults that have struck units of the message's worker are known on that
        worker. A unit's fault can be blamed once it is known on all workers of the unit."""
        worker = message.worker
        for fault in [it for it in self._unknown.values() if worker in it.unknown]:
            fault.unknown.discard(worker)
            fault.copies[worker] = message.copy
            fault.cause = max(fault.cause, cause)
            if not fault.unknown:
                del self._unknown[fault.unit]
                self._known.append(fault)
                self._deal_soon(DEAL)

    def _deal_soon(self, how: AwaitKnown | Deal) -> None:
        """Blame the known faults, and assign free crews, later in this instant, once all faults
        that become known at it are known."""
        if not self._dealing:
            self._dealing = True
            awaited = self._awaited == self.now
            self.later(DEAL if awaited else how, NOTHING, STATES_CHANGE)

    @handles(AwaitKnown)
    def await_known(self, _: AwaitKnown, __: int) -> None:
        self._awaited = self.now
        self.later(DEAL, NOTHING, STATES_CHANGE)

    @handles(Deal)
    def deal(self, _: Deal, __: int) -> None:
        now = self.now
        if self._unknown and self._awaited != now:
            self.await_known(AWAIT_KNOWN, NOTHING)  # more faults may become known
            return
        self._dealing = False
        known, self._known = self._known, []
        blamed: set[int] = set()
        alone = len(known) == 1
        if not alone:
            known.sort(key=lambda it: (it.law, it.unit.number))
        for fault in known:
            blamed.update(self._blame(fault, alone))
        if self._blamed_at != now:
            self._blamed_at, self._blamed_now = now, set()
        self._blamed_now |= blamed
        ran, self._ran = self._ran, []
        for members, computed in ran:
            self._record(members, computed, self._blamed_now)
        self._assign()

    def _assign(self) -> None:
        """Assign free crews to waiting repairs, stage by stage."""
        if not self._waiting:
            return
        for number, stage in enumerate(self.stages):
            while stage.free_crews and stage.waiting:
                repair = stage.waiting.pop(0)[-1]
                self._waiting -= 1
                self._begin(stage, number, repair)

    def _blame(self, fault: Fault, alone: bool) -> Sequence[int]:
        """Blame a fault on a unit, begin that unit's repair unless it is in repair already, and
        return its workers; an empty sequence if no unit is blamed. If another unit than the struck
        one is blamed, or none, the struck one comes back at once, unless it is in repair. `alone`:
        no other fault is blamed at this instant."""
        unit, cause = fault.unit, fault.cause
        blamed = self.blame.choose(unit, fault.copies, self.units, self._blame_draws, self.now)
        if not self.blame.certain:
            other = None if blamed is None else blamed.text
            cause = self.record(cause, FaultBlamed, unit.of, unit.text, other)
        if blamed is not unit and unit not in self._repairs:
            for worker in unit.workers:
                self.send(self.worker(worker), BackFromRepair(unit), cause)
        if blamed is None:
            return ()
        self.records.blame(blamed.workers, self.now)
        self._report(blamed.workers)
        if blamed in self._repairs:
            return blamed.workers
        repair = self._repairs[blamed] = Repair(blamed, cause)
        for worker in blamed.workers:
            self._in_repair[worker] = self._in_repair.get(worker, 0) + 1
            if blamed is not unit:
                self.send(self.worker(worker), GoToRepair(blamed), cause)
        self._wait(repair, alone)
        return blamed.workers

    # --- records ------------------------------------------------------------------------------

    @handles(ComputingChanged)
    def note_computing(self, message: ComputingChanged, _: int) -> None:
        """Record that the run of a copy begins to compute, or that it ceases to; in the second case
        add the time between to its computing time."""
        copy = message.copy
        if message.computes:
            self._computing[copy] = self.now
        else:
            passed = self.now - self._computing.pop(copy)
            self._computed[copy] = self._computed.get(copy, 0) + passed

    @handles(RunOver)
    def note_end(self, message: RunOver, _: int) -> None:
        """Add the computing time of a run that has ended to the records of its members, together
        with which workers this instant's faults are blamed on. If faults of this instant are still
        to be blamed, do so once they are."""
        self._ran.append((message.members, self._computed.pop(message.copy, 0.0)))
        if not self._dealing:
            (members, computed), self._ran = self._ran[0], []
            blamed = self._blamed_now if self._blamed_at == self.now else ()
            self._record(members, computed, blamed)

    def _record(self, members: Sequence[int], computed: float, blamed: Collection[int]) -> None:
        """Add a run that is over to the records of its members; the parameters are those of
        `Records.ran`."""
        self.records.ran(members, computed, blamed)
        self._report(members)

    def _report(self, workers: Sequence[int]) -> None:
        """Report how bad the records of these workers are now to the scheduler, if its placement
        chooses by them."""
        if self.badness is not None:
            changed = RecordsChanged(workers, [self.badness(worker) for worker in workers])
            self.send(self.system.find(self.scheduler), changed, NOTHING)

    @handles(LargestJobChanged)
    def largest_job_changed(self, message: LargestJobChanged, _: int) -> None:
        self.records.needed = message.workers

    # --- crews --------------------------------------------------------------------------------

    def _wait(self, repair: Repair, alone: bool) -> None:
        """Have the repair wait for a crew of its stage. `alone`: no other one begins to wait at
        this instant, so that a free crew takes it up at once if no repair waits."""
        stage = self.stages[repair.stage]
        if alone and not self._waiting and stage.free_crews:
            self._begin(stage, repair.stage, repair)
            return
        waiting = stage.waiting
        self._waiting += 1
        turn = self.now, *repair.unit.turn, repair
        if waiting:
            insort(waiting, turn, key=lambda it: it[:3])
        else:
            waiting.append(turn)

    def _begin(self, stage: Stage, number: int, repair: Repair) -> None:
        stage.free_crews -= 1
        unit = repair.unit
        repair.cause = self.record(repair.cause, RepairStarted, unit.of, unit.text, number)
        time = next(stage.times, None)
        if time is None:
            time = stage.time
            if stage.law is EXPONENTIAL:
                time = self._draws.exponential(unit.turn[0], time)
        loop = self.system.loop
        loop.schedule(loop.now + time, RUNS_END, self, StageOver(repair), repair.cause)


_unit_of = attrgetter("unit")
