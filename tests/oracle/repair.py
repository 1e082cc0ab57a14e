"""Repair in place of downtimes: who is blamed, crews and stages, and who does not come back
(rules.md, R6 to R8)."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

from attrs import define, evolve, field, frozen

from tests.oracle.faults import Law
from tests.oracle.jobs import ZERO, Run
from tests.oracle.parts import Worker
from tests.oracle.tenths import exact
from tests.oracle.timeline import DOWN, UP
from tests.oracle.words import Outcome
from tests.oracle.world import Stuck, World

NO_SCORE = {"initial": 0, "penalty": 0, "credit": 0, "period": 1}
KINDS = ("workers", "nodes", "racks")


@frozen(order=True)
class Unit:
    """What is struck, blamed and repaired as one."""

    first: int
    """Its lowest worker."""
    kind: int
    """Place among KINDS."""
    each: int
    """Workers of a unit of its kind."""


@define(eq=False)
class Repairing:
    """A unit in repair."""

    unit: Unit
    since: Fraction
    """When it came to its present stage."""
    stage: int = 0
    end: Fraction | None = None
    """When that stage will be over; None: it waits for a crew."""


@define(eq=False)
class Stage:
    """One of the stages that repair a unit."""

    time: Fraction
    crews: float
    passes_on: list[int]
    fixes: list[int] | None
    """None: each repair removes the cause."""
    repairs: list[Repairing] = field(factory=list)


class RepairWorld(World):
    """A world in which what a fault strikes is DOWN until it is repaired."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        super().__init__(scenario)
        said = scenario["repair"]
        self.stages = [
            Stage(
                exact(it["time"]),
                it.get("crews") or inf,
                list(it.get("passes_on", ())),
                list(it["fixes"]) if "fixes" in it else None,
            )
            for it in said["stages"]
        ]
        self.blamed, self.mistaken = list(said.get("blamed", ())), list(said.get("mistaken", ()))
        self.others = list(said.get("others", ()))
        self.errs = bool(self.blamed or self.mistaken)
        """Whether anything else than what was struck is ever blamed."""
        self.rule = said.get("retire")
        score = self.rule if isinstance(self.rule, dict) else NO_SCORE
        self.penalty, self.credit = exact(score["penalty"]), exact(score["credit"])
        self.credit_period = exact(score["period"])
        self.scores = [exact(score["initial"]) for _ in self.workers]
        self.over: list[tuple[list[int], Fraction]] = []
        """Members of runs that are over and how long these computed, until blame is known."""
        self.accused: set[int] = set()
        """Workers on which a fault is blamed at this instant."""
        self.record: dict[int, list[Fraction]] = {}
        self.back: dict[int, Fraction] = {}
        """When faults were blamed on each worker."""
        self.unheard: dict[Unit, dict[int, Fraction]] = {}
        """Of the units whose fault is not known: until when it is not, by worker."""
        self.law_of: dict[Unit, int] = {}
        """Number of the law that has struck it last."""
        self.retired: set[Unit] = set()
        self.fallen: set[int] = set()
        """Workers that were DOWN just before this instant."""
        self.lost: dict[int, Run] = {}
        """The run that a fault has ended at this instant, by member."""
        self.repaired: set[int] = set()
        """Workers that are back at this instant, from repair or as others are blamed."""

    # --- units ---

    def _workers(self, unit: Unit) -> range:
        return range(unit.first, min(unit.first + unit.each, len(self.workers)))

    def _in_repair(self) -> set[Unit]:
        return {it.unit for stage in self.stages for it in stage.repairs} | self.retired

    def _broken(self) -> set[int]:
        units = self._in_repair().union(self.unheard)
        return {q for unit in units for q in self._workers(unit)}

    # --- an instant ---

    def _change_workers(self) -> None:
        self.lost.clear()
        self.accused.clear()
        self.repaired.clear()
        self.fallen = {q for q, state in enumerate(self.state) if state == DOWN}
        self._credit()
        self._end_repairs()
        super()._change_workers()

    def _states(self) -> list[str]:
        states, broken = super()._states(), self._broken()
        return [DOWN if q in broken else state for q, state in enumerate(states)]

    def _end_repairs(self) -> None:
        """Those that are over go on, or come back, by worker."""
        over = [
            (it.unit, it) for stage in self.stages for it in stage.repairs if it.end == self.now
        ]
        for unit, it in sorted(over, key=lambda pair: pair[0]):
            stage = self.stages[it.stage]
            stage.repairs.remove(it)
            if it.stage + 1 < len(self.stages) and stage.passes_on and stage.passes_on.pop(0):
                self.stages[it.stage + 1].repairs.append(Repairing(unit, self.now, it.stage + 1))
                continue
            if stage.fixes is None or (stage.fixes and stage.fixes.pop(0)):
                self._cure(unit)
            if self._retires(unit):
                self.retired.add(unit)
            else:
                self.back.update(dict.fromkeys(self._workers(unit), self.now))
            self.repaired.update(self._workers(unit))

    @property
    def mended(self) -> set[int]:
        return {q for q in self.repaired if self.state[q] == UP}

    def _left(self) -> list[int]:
        gone = {q for unit in self.retired for q in self._workers(unit)}
        return [worker.index for worker in self.startable if worker.index not in gone]

    def _cure(self, unit: Unit) -> None:
        for law in self.laws:
            if law.curable and law.of == KINDS[unit.kind]:
                law.cure(unit.first // unit.each)

    def _retires(self, unit: Unit) -> bool:
        if self.rule is None:
            return False
        if isinstance(self.rule, dict):
            threshold = exact(self.rule["threshold"])
            return any(self.scores[q] <= threshold for q in self._workers(unit))
        count, window = self.rule
        times = self.record.get(unit.first, ())
        return sum(self.now - window < t <= self.now for t in times) >= count

    def _strike_all(self) -> None:
        for worker in self.workers:
            if self.now in worker.timeline.taken:
                for unheard in self.unheard.values():
                    if worker.index in unheard:
                        unheard[worker.index] = self.now
        super()._strike_all()
        self._know()

    def _strike(self, law: Law, unit: int, downtime: Fraction) -> None:
        if law.hang:
            super()._strike(law, unit, downtime)
            return
        struck = Unit(unit * law.each, KINDS.index(law.of), law.each)
        repaired = {q for it in self._in_repair() for q in self._workers(it)}
        if struck not in self.unheard and not repaired.issuperset(self._workers(struck)):
            self.law_of[struck] = self.laws.index(law)
            self._break(struck, self.now + law.detection)

    def _break(self, unit: Unit, latest: Fraction) -> None:
        """Of a worker that something else keeps DOWN nobody has to hear that it is DOWN."""
        self.unheard[unit] = {}
        for q in self._workers(unit):
            worker = self.workers[q]
            if worker.struck == self.now or self.state[q] != DOWN:
                self._fall(worker, latest)
                worker.struck, self.unheard[unit][q] = self.now, latest
            known = [it for it in self.unheard.values() if q in it]
            for unheard in (*known, self.unheard[unit]) if known else ():
                unheard[q] = min(it[q] for it in known)
            self.state[q] = DOWN

    def _fall(self, worker: Worker, heard: Fraction) -> None:
        if worker.down_since is not None:
            worker.heard = min(worker.heard, heard)
        self._go_down(worker, heard if worker.group else self.now)

    def _know(self) -> None:
        """Lose runs and blame what is known, until no more is known: blame ends runs, too."""
        while known := self._all_known():
            for unit in known:
                self._blame(unit)
            self._credit()
            self.state = self._states()
        self._credit()
        self._refuse_too_few()

    def _all_known(self) -> list[Unit]:
        """Units whose fault is known now, and was not, by law, then unit; those whose run another's
        fault ends are among them."""
        found: list[Unit] = []
        while True:
            known, under_way = self._known(), len(self._active())
            for unit in known:
                del self.unheard[unit]
                self._note_run(unit)
            found += known
            for worker in self.workers:
                self._lose_run(worker)
            if not known and under_way == len(self._active()):
                return sorted(found, key=lambda unit: (self.law_of[unit], unit))

    def _find_hangs(self) -> None:
        """Faults of whom a hung run leaves are known at once; then crews are dealt (Z2): what is
        known later, as replicas are judged or standbys are missing, comes after."""
        super()._find_hangs()
        self._know()
        self._deal_crews()

    def _decide(self) -> None:
        for worker in self.workers:  # which may be back since it was looked at
            if self.state[worker.index] == UP:
                worker.down_since = None
        self._credit()
        self._deal_crews()
        super()._decide()
        self._know()  # the fault of who has been replaced
        self._deal_crews()

    def _deal_crews(self) -> None:
        for stage in self.stages:
            self._begin(stage)

    def _known(self) -> list[Unit]:
        """Units whose fault is known now, and was not, but for what ends of runs make known."""
        for unheard in self.unheard.values():
            for q, latest in list(unheard.items()):
                if self.workers[q].group is None or latest <= self.now:
                    del unheard[q]
        return [unit for unit, unheard in self.unheard.items() if not unheard]

    def _begin(self, stage: Stage) -> None:
        """Deal out free crews: first come, first served, the lowest unit first."""
        waiting = [it for it in stage.repairs if it.end is None]
        waiting.sort(key=lambda it: (it.since, it.unit))
        for it in waiting[: int(min(stage.crews - self._busy(stage), len(waiting)))]:
            it.end = self.now + stage.time

    def _busy(self, stage: Stage) -> int:
        return sum(it.end is not None for it in stage.repairs)

    def _note_run(self, unit: Unit) -> None:
        for q in self._workers(unit):
            group = self.workers[q].group
            if group and group.run:
                for member in group.members:
                    self.lost.setdefault(member, group.run)

    def _lose_run(self, worker: Worker) -> None:
        group = worker.group
        if worker.down_since is not None and worker.heard <= self.now and group and group.run:
            for member in group.members:
                self.lost.setdefault(member, group.run)
            self._lose(group.run, worker.index)
        if worker.group is None:
            worker.heard = min(worker.heard, self.now)

    # --- blame ---

    def _blame(self, unit: Unit) -> None:
        culprit = self._culprit(unit)
        if culprit != unit:
            self.repaired.update(self._workers(unit))
        if culprit is None:
            return
        for q in self._workers(culprit):
            self.record.setdefault(q, []).append(self.now)
            self.accused.add(q)
            self.scores[q] -= self.penalty
        if culprit in self._in_repair():
            return
        self.stages[0].repairs.append(Repairing(culprit, self.now))
        if culprit != unit:
            for q in self._workers(culprit):
                if self.state[q] != DOWN:
                    self._fall(self.workers[q], self.now)
                self.state[q] = DOWN

    def _culprit(self, unit: Unit) -> Unit | None:
        runs = [self.lost[q] for q in self._workers(unit) if q in self.lost]
        run = next((it for it in runs), None)
        if run is None or not self.errs:
            return unit
        up = [q for q in self.members_of(run) if q not in self.fallen]
        others = sorted({self._unit_of(q, unit) for q in up} - {unit})
        if not others:
            return unit
        if self.blamed and not self.blamed.pop(0):
            return None
        if not (self.mistaken and self.mistaken.pop(0)):
            return unit
        return others[min(self.others.pop(0), len(others) - 1)]

    def _unit_of(self, q: int, like: Unit) -> Unit:
        return evolve(like, first=q // like.each * like.each)

    def finish(self, run: Run, outcome: Outcome) -> None:
        self.over.append((list(run.group.members), run.ran))
        super().finish(run, outcome)

    def _credit(self) -> None:
        """Members of runs that are over, and are not blamed, get a credit for each whole period of
        computing."""
        for members, ran in self.over:
            for q in members:
                if q not in self.accused:
                    self.scores[q] += self.credit * (ran // self.credit_period)
        self.over.clear()

    def _badness(self, q: int) -> Fraction:
        if self.placement == "fewest-faults":
            return Fraction(len(self.record.get(q, ())))
        if self.placement == "longest-back":
            return self.back.get(q, Fraction(-1))
        return -self.scores[q] if self.placement == "highest-score" else ZERO

    def members_of(self, run: Run) -> list[int]:
        """Its members, also where it has just ended."""
        return list(run.group.members)

    # --- retirement ---

    def _refuse_too_few(self) -> None:
        gone = {q for unit in self.retired for q in self._workers(unit)}
        for job in self.jobs:
            left = [q for q in self._left() if q in self.cells.mine(job)]
            left = self.cells.whole(left) if job.exclusive else left
            if job.release <= self.now and job.completion is None and job.processors > len(left):
                raise Stuck(f"job {job.index}: {left} are left at {self.now}")
        for group in self._kept():
            if group.job.replace_after is None and gone.intersection(group.members):
                raise Stuck(f"job {group.job.index} keeps who has retired")

    def _replaced_at(self, worker: Worker) -> float | Fraction:
        found = super()._replaced_at(worker)
        retired = any(worker.index in self._workers(unit) for unit in self.retired)
        return self.now if found < inf and retired else found

    def _fixed(self) -> list[Fraction]:
        ends = [it.end for stage in self.stages for it in stage.repairs if it.end is not None]
        heard = [t for unheard in self.unheard.values() for t in unheard.values()]
        return [*super()._fixed(), *(t for t in (*ends, *heard) if t > self.now)]
