"""What runs begin from, and what is saved (WORLD.md, P2 to P6)."""

from __future__ import annotations

from math import isclose

from attrs import define

from actors.events import (
    CheckpointTaken,
    DeciderKind,
    Outcome,
    ProtectionDescribed,
    ProtectionKind,
    RunEnded,
    RunStarted,
)
from sims.audit.facts import LoggedRun, LoggedState
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

ROUNDING = 1e-9
LOST, FAILED = Outcome.LOST, Outcome.FAILED


@define(eq=False)
class ProtectionAuditor(Auditor):
    """A run begins from what is with its buddies; else from the furthest of what the master keeps
    and, with cloning, of the runs under way; never ahead of its source."""

    of_touched = True
    world: World

    @property
    def handlers(self) -> Handlers:
        return {
            ProtectionDescribed: self._describe,
            RunStarted: self._start,
            CheckpointTaken: self._save,
            RunEnded: self._end,
        }

    def passed(self, t: float, seq: int) -> None:
        for copy in self.world.touched:
            kept = copy.run is None and copy.job.kept.get(copy.last) is copy
            if kept and not copy.away:
                why = f"{copy.job.name} kept all members of run {copy.last}, UP, and starts no run"
                self.world.breaks(Law.PROGRESS, (copy.seq, seq), why)

    def _describe(self, event: ProtectionDescribed, t: float, seq: int) -> None:
        times = (event.cost, event.recovery, event.delay)
        sound = all(it is None or it >= 0 for it in times)
        often = event.period is None or event.period > 0
        kept = event.period is None or event.kind is not ProtectionKind.NONE
        if not (sound and often and kept and event.copies >= 1):
            self.world.breaks(Law.FRAME, (seq,), f"{event}")

    # --- where a run begins -------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or run.told:
            return
        job, law = run.job, Law.CHECKPOINT
        if event.keeps is not None:
            run.image = True
            lawful = [run.copy.saved]
        elif run.former is not None:
            former = run.former
            state = LoggedState(former.event.run, former.done, former.event.work)
            lawful = [state if former.computes else run.copy.saved]
        else:
            lawful, law = self._origins(run, t), Law.CLONE
            run.image = job.saved is not None and _begins(run, job.saved)
            if run.image and self._cloned(run, t):
                run.image = False
        if not any(_begins(run, state) for state in lawful):
            can = " or ".join(_told(state) for state in lawful)
            why = f"{run.name} begins with {event.begun!r}, {event.saved!r} of run {event.source}"
            self.world.breaks(law, (seq,), f"{why}; it could begin from {can}")

    def _origins(self, run: LoggedRun, t: float) -> list[LoggedState | None]:
        """The states that it may begin from: equals of the furthest."""
        rules, saved = run.job.protection, run.job.saved
        states = [*self._clones(run, t), *run.job.left]
        if saved is not None:
            states.append(saved)
        if run.job.left and not (rules is not None and rules.cloning):
            return [*states, None]  # each copy goes on from a state of its own
        best = max((state.fraction for state in states), default=0)
        return [it for it in states if it.fraction >= best * (1 - ROUNDING)] or [None]

    def _clones(self, run: LoggedRun, t: float) -> list[LoggedState]:
        rules = run.job.protection
        if rules is None or not rules.cloning:
            return []
        others = [other for other in run.job.open.values() if other is not run]
        states = [LoggedState(o.event.run, o.at(t), o.event.work) for o in others]
        return [state for state in states if state.done > 0]

    def _cloned(self, run: LoggedRun, t: float) -> bool:
        """Whether one under way was as far as what is saved: then that is taken."""
        saved = run.job.saved
        clones = [state.fraction for state in self._clones(run, t)]
        return saved is not None and max(clones, default=-1) >= saved.fraction * (1 - ROUNDING)

    # --- what is saved ------------------------------------------------------------------------

    def _save(self, event: CheckpointTaken, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is None:
            return
        kind = run.job.kind
        if kind is ProtectionKind.NONE:
            why = f"{run.name} takes a checkpoint, and {event.job} keeps none"
            self.world.breaks(Law.CHECKPOINT, (seq,), why)
        state = LoggedState(event.run, event.done, run.event.work)
        if kind is ProtectionKind.BUDDIES:
            run.copy.saved, run.copy.holders = state, run.copy.full
        elif kind is ProtectionKind.IMAGES:
            saved = run.job.saved
            if saved is None or state.fraction > saved.fraction:
                run.job.saved = state

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None:
            return
        if event.outcome is Outcome.COMPLETED:
            run.job.saved = None  # of an iteration: it is over
        self._leave(run, event)
        keeps = run.job.kind is ProtectionKind.BUDDIES and event.outcome in (LOST, FAILED)
        if event.kept != keeps and not run.told:
            whether = "keeps" if event.kept else "does not keep"
            why = f"{event.job} {whether} the members of a run {event.outcome.value}"
            self.world.breaks(Law.CHECKPOINT, (run.seq, seq), why)
        if event.kept:
            self.world.touched[run.copy] = None

    def _leave(self, run: LoggedRun, event: RunEnded) -> None:
        """Preempted jobs go on from where they were, if copies are what is decided (redundancy17);
        an error that is found makes all of it worthless (P4)."""
        started = self.world.started
        if started is None or started.decider is not DeciderKind.COPIES or run.told:
            return
        if event.outcome is FAILED:
            run.job.left = ()
        elif event.outcome is Outcome.CANCELLED and event.done > 0:
            state = LoggedState(event.run, event.done, run.event.work)
            run.job.left = (*run.job.left, state)


def _begins(run: LoggedRun, state: LoggedState | None) -> bool:
    """Whether it says that it begins from this state."""
    event = run.event
    if state is None:
        return event.source is None and event.begun == 0 and event.saved == 0
    begun = state.done if state.work == event.work else state.fraction * event.work
    return (
        event.source == state.run
        and isclose(event.saved, state.done, rel_tol=ROUNDING)
        and isclose(event.begun, begun, rel_tol=ROUNDING)
    )


def _told(state: LoggedState | None) -> str:
    return f"{state.done!r} of run {state.run}" if state is not None else "scratch"
