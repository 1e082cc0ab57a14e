"""What DOWN destroys: the run at once, and what buddies kept if two of them are gone (WORLD.md,
R2 and P2)."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    CheckpointLost,
    Outcome,
    ProtectionKind,
    RestartedFromScratch,
    RunEnded,
    Stage,
    StageStarted,
    WorkerChanged,
)
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit.facts import LoggedCopy
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

BEFORE = frozenset((Stage.STAGING_IN, Stage.RECOVERING))


@define(eq=False)
class LossAuditor(Auditor):
    """A run is lost at the instant at which a member goes DOWN, and no other is; a checkpoint of
    buddies is lost once two of a group were struck since the last recovery."""

    world: World
    doomed: dict[tuple[str, int], int] = field(factory=dict)
    """Runs that must be lost at this instant -> seq of the first DOWN."""
    due: list[tuple[Event, int]] = field(factory=list)
    """What must be told at this instant, and why."""

    @property
    def handlers(self) -> Handlers:
        return {
            WorkerChanged: self._move,
            StageStarted: self._recover,
            RunEnded: self._end,
            CheckpointLost: self._lose,
            RestartedFromScratch: self._lose,
        }

    def passed(self, t: float, seq: int) -> None:
        for (job, number), down in self.doomed.items():
            why = f"run {number} of {job} goes on, and a member is DOWN"
            self.world.breaks(Law.MEMORY, (down, seq), why)
        for event, because in self.due:
            self.world.breaks(Law.CHECKPOINT, (because, seq), f"nothing tells of {event}")
        self.doomed.clear()
        self.due.clear()

    def _move(self, event: WorkerChanged, t: float, seq: int) -> None:
        if event.state is not WorkerState.DOWN:
            return
        for copy in self.world.held.on(event.worker):
            run = copy.run
            if run is not None and run.told:
                continue  # its decider's: a server that fails keeps its copies (redundancy17)
            if run is not None:
                self.doomed.setdefault((run.job.name, run.event.run), seq)
            if copy.job.kind is ProtectionKind.BUDDIES:
                self._strike(copy, event.worker, seq)

    def _strike(self, copy: LoggedCopy, worker: int, seq: int) -> None:
        copy.struck |= {worker}
        pack = self.world.pack
        if pack is not None and not pack.fatal:
            return
        near = buddies(copy.members, worker, pack.pair if pack is not None else 2)
        if not near or not copy.struck.isdisjoint(near):
            struck = tuple(sorted(copy.struck))
            self.due.append((CheckpointLost(copy.job.name, copy.last, struck), seq))
            self._give_up(copy, seq)

    def _give_up(self, copy: LoggedCopy, seq: int) -> None:
        if copy.saved is not None and copy.saved.done:
            lost = RestartedFromScratch(copy.job.name, copy.last, copy.saved.done)
            self.due.append((lost, seq))
        copy.saved, copy.holders = None, copy.full

    def _recover(self, event: StageStarted, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is not None and event.stage not in BEFORE:
            run.copy.struck = frozenset()

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or run.told:
            return
        down = self.doomed.pop((event.job, event.run), None)
        if (event.outcome is Outcome.LOST) != (down is not None):
            gone = "none of its members went DOWN" if down is None else "a member went DOWN"
            why = f"{run.name} ended {event.outcome.value} and {gone}"
            self.world.breaks(Law.MEMORY, (run.seq if down is None else down, seq), why)
        if event.outcome is Outcome.FAILED:
            run.copy.struck = frozenset()
            self._fail(run.copy, seq)

    def _fail(self, copy: LoggedCopy, seq: int) -> None:
        """What was saved unverified may be as corrupt as the run."""
        protection = copy.job.protection
        if protection is None or protection.verified:
            return
        if protection.kind is ProtectionKind.BUDDIES:
            self._give_up(copy, seq)
        saved, copy.job.saved = copy.job.saved, None
        if saved is not None and saved.done:
            lost = RestartedFromScratch(copy.job.name, copy.last, saved.done)
            self.due.append((lost, seq))

    def _lose(self, event: CheckpointLost | RestartedFromScratch, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is not None:
            self.world.breaks(Law.CHECKPOINT, (run.seq, seq), f"{run.name} goes on")
        self._tell(event, t, seq)

    def _tell(self, event: Event, t: float, seq: int) -> None:
        told = [place for place, (due, _) in enumerate(self.due) if due == event]
        if told:
            del self.due[told[0]]
        else:
            self.world.breaks(Law.CHECKPOINT, (seq,), f"nothing has led to {event}")


def buddies(members: tuple[int, ...], worker: int, width: int) -> set[int]:
    """Who keeps a copy of this member's state, or whose copy it keeps. Rings of `width`, by
    increasing number; those left over join the ring before them, or are one of their own."""
    rings = [members[k : k + width] for k in range(0, len(members), width)]
    if len(rings) > 1 and len(rings[-1]) < width:
        rings[-2:] = [(*rings[-2], *rings[-1])]
    ring = next((ring for ring in rings if worker in ring), (worker,))
    place = ring.index(worker)
    return {ring[place - 1], ring[(place + 1) % len(ring)]} - {worker}
