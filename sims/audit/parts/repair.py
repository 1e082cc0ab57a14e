"""Derives the course of repairs: which units are DOWN until they are repaired, when their faults
are known, and when crews begin (rules.md, R6 to R8)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, define

from actors.events import (
    End,
    FaultBlamed,
    RepairEnded,
    RepairLaw,
    RepairOutcome,
    RepairStarted,
    Struck,
    UnitFailed,
    UnitRetired,
)
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit.facts import ExpectedCopy
from sims.audit.law import LinePhase, comes, follows, framed, ordered, possible, same
from sims.audit.parts import replacement
from sims.audit.scenario import GivenRepair
from sims.audit.turns import Script
from sims.audit.workers import DOWN, ExpectedWorker, joined, numbers, parse_spans, written
from sims.audit.world import Handler, PartRules, World

KINDS = tuple(Struck)
Absence = tuple[WorkerState, float | None]
"""State of a worker, and the time until which it lasts, if that is known."""


@define(eq=False)
class ExpectedUnit:
    """A unit (a worker, a node, a rack) that a fault has struck or is blamed for, until the end of
    its repair."""

    of: Struck
    workers: tuple[int, ...]
    law: int = 0
    undetected: set[int] = Factory(set)
    """Workers of the unit that are not known to be DOWN yet."""
    unsure: set[int] = Factory(set)
    """Workers of the unit that may be known to be DOWN, or not: the log does not say."""
    runs: list[tuple[ExpectedCopy, int]] = Factory(list)
    """Copies whose runs the fault has ended, with one of their members that it struck."""
    seq: int = -1
    """Sequence number of the last event about the unit."""
    stage: int = -1
    """Stage of its repair; -1 before that."""
    crew: bool = False
    """Whether a crew is at work."""
    since: float = 0
    """Time at which the fault struck, then since which the unit has waited for the present stage
    of its repair, or since which a crew has worked on that."""

    @property
    def named(self) -> str:
        """The unit's workers, as logs write them."""
        return written(joined(self.workers))


@define(eq=False)
class ExpectedRepairs:
    """The faults that are not blamed on a unit yet, the repairs under way, and the workers that
    they keep DOWN."""

    w: World
    described: GivenRepair
    undetected: list[ExpectedUnit] = Factory(list)
    """Units whose fault is not known."""
    known: list[ExpectedUnit] = Factory(list)
    """Units whose fault is known and has to be blamed."""
    units: list[ExpectedUnit] = Factory(list)
    """Units in repair."""
    retired: set[int] = Factory(set)
    """Workers that are DOWN for ever."""
    cured: set[tuple[int, int]] = Factory(set)
    """Number of the law, and lowest worker, of each unit that a curable law strikes no more."""
    broken: dict[int, set[ExpectedUnit]] = Factory(dict)
    """Maps each worker that is DOWN for a fault or a repair to the units for which it is."""
    falls: dict[int, int] = Factory(dict)
    """Maps workers that have to go DOWN at this instant to the events that cause it."""
    struck: set[int] = Factory(set)
    """Events of the faults that strike at this instant."""
    blamed: dict[int, Absence] = Factory(dict)
    """Maps workers that have changed state because of a blame of this instant to their states
    before it."""
    blames: set[int] = Factory(set)
    """Events of the blames of this instant."""
    ended: ExpectedUnit | None = None
    """Unit whose repair ended last at this instant."""
    back: dict[int, int] = Factory(dict)
    """Maps workers whose repair ended at this instant to the event that ended it."""
    changed: float = -1
    """Time of the last change of a worker's state."""

    # --- what a worker's state follows from ------------------------------------------------------

    def cause(self, worker: ExpectedWorker, down: bool) -> int:
        """Return the event that must cause the worker's change of state in the present line: DOWN
        if `down`, else one to UP or RECLAIMED. It is 0 if the worker's owner makes the change.

        Raises Broken where a worker leaves DOWN that is not repaired.
        """
        w = self.w
        self.changed = w.now
        number, cause = worker.number, w.line.cause if w.line is not None else 0
        if not down:
            possible(not self.broken.get(number), f"worker {number} is not repaired")
            found = self.back.get(number, 0) if worker.state is DOWN else 0
        else:
            # An owner may take it DOWN at the very instant at which a fault strikes it.
            due = self.falls.pop(number, 0)
            found = due if cause else 0
        if found in self.blames:
            self.blamed.setdefault(number, (worker.state, worker.until))
        return found

    def states_before(self, seq: int) -> Mapping[int, Absence]:
        """Return, by number of the worker, the states that workers had before the blames of this
        instant changed them, if event `seq` comes before all blames; else nothing."""
        return self.blamed if seq < min(self.blames, default=-1) else {}

    def known_down(
        self, worker: int, copy: ExpectedCopy | None, seq: int, since: float | None = None
    ) -> None:
        """Note that worker number `worker` is known to be DOWN, by event `seq` (-1: no event says
        so); `copy` held it (None: no copy did). It is known since time `since`, or since a fault
        struck that did so later (None: from now on).

        Once all workers of a struck unit are known to be DOWN, the unit waits for its fault to be
        blamed, or, where blame is certain, for its repair.
        """
        for unit in [it for it in self.undetected if worker in it.undetected]:
            unit.undetected.discard(worker)
            unit.seq = max(unit.seq, seq)
            if copy is not None and worker in copy.members:
                unit.runs.append((copy, worker))
            if not unit.undetected:
                self.undetected.remove(unit)
                if self.described.certain:
                    self._repair(unit, self.w.now if since is None else max(since, unit.since))
                else:
                    self.known.append(unit)

    def _repair(self, unit: ExpectedUnit, since: float) -> None:
        unit.stage, unit.since = 0, since
        self.units.append(unit)

    def _mend(self, unit: ExpectedUnit, seq: int) -> None:
        """Let the unit keep its workers DOWN no longer, from event `seq` on; those that no other
        unit in repair keeps DOWN can come back."""
        for worker in unit.workers:
            units = self.broken[worker]
            units.discard(unit)
            if not units:
                del self.broken[worker]
                self.back[worker] = seq

    # --- lines -----------------------------------------------------------------------------------

    def fail(self, event: UnitFailed) -> Script:
        """Check the line of a fault that strikes a unit: its law can strike that, and it is not in
        repair. Note which workers it takes DOWN."""
        w, described = self.w, self.described
        w.turns.settle(LinePhase.LIMITS)
        w.turns.phase = LinePhase.LIMITS
        # At the start workers get their first states before anything strikes.
        ordered(self.changed != w.now or not w.now, "it is after a change of state")
        possible(event.law < len(described.of), "there is no such law")
        possible(described.of[event.law] is event.of, "the law strikes other units")
        workers = self._workers(event.of, event.workers)
        cured = (event.law, workers[0]) in self.cured
        # The fault of another node may spread to it.
        spread = event.of is Struck.NODES
        possible(not cured or spread, "the law strikes it no more")
        # Repairs begin after all faults of an instant, even repairs for faults that were known
        # before.
        begun = [it for it in self.units if it.stage == 0 and it.since == w.now]
        struck = (*self.undetected, *self.known, *begun)
        possible(all(it.workers != workers or it.of is not event.of for it in struck))
        in_repair = {n for unit in self.units if unit not in begun for n in unit.workers}
        possible(not in_repair.issuperset(workers), "a fault of what is in repair changes nothing")
        seq = yield event, 0
        unit = ExpectedUnit(event.of, workers, event.law, set(workers), seq=seq, since=w.now)
        self.struck.add(seq)
        self.undetected.append(unit)
        for number in workers:
            worker, copy = w.worker(number), w.holdings.holder(number)
            self.broken.setdefault(number, set()).add(unit)
            if worker.state is not DOWN:
                self.falls.setdefault(number, seq)
            elif copy is not None and number not in copy.undetected and self._hidden(unit, number):
                copy.undetected[number] = w.now, seq
                worker.detection = max(w.platform.detections)
                yield from w.hide(copy, number, seq)
            elif copy is None or number not in copy.undetected:
                self.known_down(number, self._struck_away(copy), seq)

    def _struck_away(self, copy: ExpectedCopy | None) -> ExpectedCopy | None:
        """Return `copy`, which holds a struck worker that is DOWN already, as the one whose run the
        fault may have ended, and note that it is struck now; None where nobody holds the worker, or
        where no run goes on while a member is DOWN: only members in groups let it."""
        held = copy if copy is not None and copy.division is not None else None
        if held is not None and held.run is not None:
            held.struck, held.former = self.w.now, held.members
        return held

    def _hidden(self, unit: ExpectedUnit, number: int) -> bool:
        """Return whether the fault of `unit`, which strikes its worker `number` while a copy holds
        it DOWN, may be detected late: that DOWN would have ended at this instant.

        The log does not say whether the worker's owner has it DOWN still, so that the fault is
        known at once, nor which law has which detection: then either is accepted.
        """
        w = self.w
        others = self.broken[number] - {unit}
        if others or w.kept(number, DOWN) or not w.platform.late:
            return False
        if w.platform.has_owner(number) or len(set(w.platform.detections)) > 1:
            unit.unsure.add(number)
        return True

    def reveals(self, copy: ExpectedCopy, worker: int) -> bool:
        """Let a fault of `worker` that may have been known at once, but was not said to be, be
        known since it struck. Return whether there is such a fault."""
        units = [it for it in self.undetected if worker in it.unsure]
        for unit in units:
            unit.unsure.discard(worker)
            copy.undetected.pop(worker, None)
            # No event says so: each fault of the worker is known since it struck.
            self.known_down(worker, self._struck_away(copy), -1, unit.since)
        return bool(units)

    def _reveal(self, of: Struck, named: str) -> None:
        """Reveal, by a line about a unit, the faults of its workers that may have been known."""
        for unit in [it for it in self.undetected if it.unsure and it.of is of]:
            for worker in sorted(unit.unsure if unit.named == named else ()):
                copy = self.w.holdings.holder(worker)
                if copy is not None:
                    self.reveals(copy, worker)

    def _workers(self, of: Struck, named: str) -> tuple[int, ...]:
        """Return the numbers of the workers of the unit of kind `of` that the text `named` names.
        Raises Broken if the platform has no such unit."""
        spans = parse_spans(named)
        possible(len(spans) == 2 and spans[1] <= self.w.head.processors, "there is no such unit")
        first, end = spans
        each = {Struck.WORKERS: 1, Struck.NODES: self.w.platform.node}.get(of)
        if each is not None:  # the log does not say how many nodes a rack has
            whole = end == min(first + each, self.w.head.processors)
            possible(first % each == 0 and whole, "there is no such unit")
        return numbers(spans)

    def blame(self, event: FaultBlamed) -> Script:
        """Check the line that blames a known fault on a unit, rightly or not, or on none; the unit
        that is blamed goes to repair."""
        workers = self._workers(event.of, event.workers)
        self._reveal(event.of, event.workers)
        found = (it for it in self.known if it.workers == workers and it.of is event.of)
        unit = follows(next(found, None), "no such fault is known")
        first = min(self.known, key=lambda it: (it.law, it.workers[0]))
        follows(unit is first, "another fault is blamed before")
        other = None if event.blamed is None else self._workers(event.of, event.blamed)
        if other != workers:
            possible(self._may_err(unit, other), "it cannot be blamed")
        seq = yield event, unit.seq
        self.known.remove(unit)
        unit.seq = seq
        self.blames.add(seq)
        again = any(it.workers == other and it.of is unit.of for it in self.units)
        if other == workers and not again:
            self._repair(unit, self.w.now)
            return
        self._mend(unit, seq)
        if other is not None and not again:
            blamed = ExpectedUnit(event.of, other, unit.law, seq=seq)
            self._repair(blamed, self.w.now)
            for number in other:
                self.broken.setdefault(number, set()).add(blamed)
                if self.w.worker(number).state is not DOWN:
                    self.falls.setdefault(number, seq)

    def _may_err(self, unit: ExpectedUnit, other: tuple[int, ...] | None) -> bool:
        """Return whether the fault of `unit` may by mistake be blamed on the unit with the workers
        `other`, or on no unit (None).

        That is possible only if the fault ended a run. Of that run (of several, the one with the
        lowest worker of `unit`) the members count that are not in `unit` and were not DOWN before
        this instant: there must be one (for None), or one among `other`.
        """
        runs = sorted(unit.runs, key=lambda it: it[1])
        lost = [it for it, worker in runs if it.struck == self.w.now and worker in it.former]
        if not lost:
            return False
        members = {n for n in lost[0].former if not self._was_down(n)}.difference(unit.workers)
        return bool(members) if other is None else bool(members.intersection(other))

    def _was_down(self, number: int) -> bool:
        worker = self.w.worker(number)
        return worker.rose == self.w.now or (worker.state is DOWN and worker.fell < self.w.now)

    def start(self, event: RepairStarted) -> Script:
        """Check the line by which a free crew begins a stage of a repair: it serves the unit that
        has waited longest for this stage."""
        self._reveal(event.of, event.workers)
        waiting = self._waiting(event.stage)
        unit = follows(waiting[0] if waiting else None, "nothing waits for this stage")
        follows(self._crews(event.stage) > 0, "no crew is free")
        yield RepairStarted(unit.of, unit.named, unit.stage), unit.seq
        unit.seq, unit.crew, unit.since = self.w.seq, True, self.w.now

    def _waiting(self, stage: int) -> list[ExpectedUnit]:
        """Return the units that wait for this stage of their repair, in the order in which they are
        served: those that have waited longest, then by lowest worker."""
        waiting = [it for it in self.units if it.stage == stage and not it.crew]
        return sorted(waiting, key=lambda it: (it.since, it.workers[0], KINDS.index(it.of)))

    def _crews(self, stage: int) -> float:
        possible(0 <= stage < len(self.described.crews), "there is no such stage")
        crews = self.described.crews[stage]
        if crews is None:
            return 1
        return crews - sum(it.stage == stage and it.crew for it in self.units)

    def end(self, event: RepairEnded) -> Script:
        """Check the line that ends a stage of a repair: the unit passes on to the next stage, or
        its repair is over."""
        w, described = self.w, self.described
        w.turns.settle(LinePhase.LIMITS)
        w.turns.phase = LinePhase.LIMITS
        ordered(not self.struck and self.changed != w.now, "it is after a fault")
        found = (it for it in self.units if it.crew and it.named == event.workers)
        unit = follows(next((it for it in found if it.of is event.of), None), "no crew repairs it")
        stage, passed_on = unit.stage, event.outcome is RepairOutcome.PASSED_ON
        fixed = described.laws[stage] is RepairLaw.FIXED
        follows(not fixed or same(w.now, unit.since + described.times[stage]), "it takes its time")
        possible(not passed_on or stage + 1 < len(described.laws), "it is the last stage")
        seq = yield RepairEnded(unit.of, unit.named, stage, event.outcome), unit.seq
        unit.seq, unit.crew = seq, False
        if passed_on:
            unit.stage, unit.since = stage + 1, w.now
            return
        if event.outcome is RepairOutcome.FIXED:
            laws = (law for law in described.curable if described.of[law] is unit.of)
            self.cured.update((law, unit.workers[0]) for law in laws)
        self.units.remove(unit)
        self._mend(unit, seq)
        self.ended = unit

    def retire(self, event: UnitRetired) -> Script:
        """Check the line that says that a unit whose repair has just ended retires: its workers are
        DOWN for ever."""
        unit = follows(self.ended, "its repair has not just ended")
        seq = yield UnitRetired(unit.of, unit.named), unit.seq
        unit.seq, unit.stage = seq, len(self.described.laws)
        self.units.append(unit)
        for worker in unit.workers:
            self.broken.setdefault(worker, set()).add(unit)
            self.back.pop(worker, None)
            self.retired.add(worker)
            copy = self.w.holdings.holder(worker)
            if copy is not None and worker in copy.away:
                replacement.wanted(self.w, copy, worker)
        for part in self.w.parts[PartRules.retired]:
            part.retired(seq)

    def _must_be_back(self, number: int) -> bool:
        """Return whether worker `number` is DOWN for no reason: no unit in repair, owner or window
        keeps it so."""
        w = self.w
        kept = self.broken.get(number) or w.platform.has_owner(number) or w.kept(number, DOWN)
        return not kept and w.worker(number).state is DOWN

    def close(self) -> None:
        """Check at the end of an instant that all changes of state, blames and starts of repairs
        that were due have come. Forget the faults, blames and returns of the instant."""
        if self.w.capped or self.w.turns.ended:
            return
        comes(not self.falls, "workers {} go DOWN", sorted(self.falls))
        comes(not self.known, "a fault of {} is blamed", self.known and self.known[0].named)
        away = [n for n in self.back if self._must_be_back(n)]
        comes(not away, "workers {} come back: nothing keeps them DOWN any more", away)
        for stage in range(len(self.described.crews)):
            idle = self._crews(stage) > 0 and self._waiting(stage)
            comes(not idle, "a crew repairs {}", idle and idle[0].named)
        self.ended = None
        self.struck.clear()
        self.back.clear()
        self.blamed.clear()
        self.blames.clear()


@define(eq=False)
class RepairRules(PartRules):
    """The rules of repairs and retirement."""

    def prepare(self) -> None:
        """Keep how the platform repairs what faults strike; such faults have no downtimes."""
        repair = self.w.given.repair
        if repair is not None:
            self.w.repairs = ExpectedRepairs(self.w, repair)

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {
            UnitFailed: lambda w, event: _of(w).fail(event),
            FaultBlamed: lambda w, event: _told(w).blame(event),
            RepairStarted: lambda w, event: _told(w).start(event),
            RepairEnded: lambda w, event: _of(w).end(event),
            UnitRetired: lambda w, event: _of(w).retire(event),
        }

    def ended(self, end: End) -> None:
        retired = self.w.repairs is not None and self.w.repairs.retired
        if end is End.DEPLETED:
            framed(self.w.jobs and retired, "no worker retired that a job lacks")

    def close(self) -> None:
        if self.w.repairs is not None:
            self.w.repairs.close()


def _of(w: World) -> ExpectedRepairs:
    found: ExpectedRepairs = possible(w.repairs, "nothing is repaired")
    return found


def _told(w: World) -> ExpectedRepairs:
    """Return the state of repairs, after all jobs have been told of this instant's changes of
    states: which runs a fault ends, and which faults become known with that, decides what is blamed
    and repaired."""
    w.turns.advance(LinePhase.RESUME)
    return _of(w)
