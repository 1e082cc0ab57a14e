"""Jobs whose copies have one worker each, by who carries these."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, evolve, field

from actors.copies import AT_WORK
from actors.copy import Copy
from actors.events import Outcome, ProtectionDescribed, ProtectionKind, Stage
from actors.job import WAITING, Job, Life
from actors.messages import FirstCopyEnded, JobOver, WithdrawCopy
from actors.plan import Plan, State, furthest
from actors.progress import remaining
from actors.protection.copies import begun
from actors.run import Run
from actors.runs import FAILED, JobOfRuns
from actors.runtime import handles

FETCHING = (Stage.FEEDING, Stage.RECOVERING)


@define(eq=False)
class JobInColumns(Job):
    """Submits itself on arrival; which of its copies run where is not its business."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.PLANNED: frozenset({Life.WAITING}),
        Life.WAITING: frozenset({Life.COMPLETED}),
        Life.COMPLETED: frozenset(),
    }

    copies: int = field(kw_only=True)
    """The most at once."""
    cloning: bool = field(kw_only=True, default=True)

    def describe(self) -> None:
        """See Job."""
        super().describe()
        nothing = (ProtectionKind.NONE, None, 0, 0, False)
        told = (self.name, *nothing, self.copies, self.cloning, 0)
        self.system.journal.describe(ProtectionDescribed, *told)

    @handles(FirstCopyEnded, during=(Life.WAITING,))
    def leave(self, message: FirstCopyEnded) -> None:
        self.complete()
        self.send(self.scheduler, JobOver(self.index))
        self.stop()

    def waits_for(self) -> str | None:
        return "the end of its first copy" if self.state is WAITING else super().waits_for()


@define(eq=False)
class PreemptibleJob(JobOfRuns):
    """Each copy is a run of its own; what one has reached that is withdrawn is kept, as the states
    of 004's jobs outlive their places on machines."""

    kept: list[State] = field(init=False, factory=list)
    """States of withdrawn runs, the furthest first; with cloning, only that one."""

    def left(self) -> float:
        """Work that the furthest known state lacks."""
        work, best = self.described.profile.time(1), self._best()
        return work if best is None else remaining(work, best.of(work))

    def done(self, copy: int) -> float:
        """Work that this copy has done; below 0 where it only waits for its members."""
        run = self.copies[copy].run
        return -1 if run is None else run.done(self.now)

    def goes_on(self, copy: int) -> bool:
        """Whether a copy that stays where it is need not be cloned: it is as far as the furthest,
        fetches a state just now, or waits for its members."""
        run, best = self.copies[copy].run, self._best()
        if run is None or best is None or not self.protection.rules.cloning:
            return True
        return run.stage in FETCHING or not remaining(best.of(run.work), run.done(self.now))

    def furthest(self) -> State | None:
        """See JobOfRuns: under way, or kept."""
        return _furthest(super().furthest(), *self.kept[:1])

    def _best(self) -> State | None:
        """Of these and what the master has."""
        return _furthest(self.furthest(), self.protection.saved)

    def plan(self, copy: Copy) -> Plan:
        """See JobOfRuns: from the furthest state, or from the furthest that no copy runs."""
        protection = self.protection
        begins = self.furthest() if protection.rules.cloning else self._next_kept()
        cloned = evolve(protection.rules, cloning=True)
        return begun(protection.plan(copy), cloned, protection.saved, begins)

    def _next_kept(self) -> State | None:
        return self.kept.pop(0) if self.kept else None

    @handles(WithdrawCopy, during=AT_WORK)
    def withdraw(self, message: WithdrawCopy) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None and copy.run is not None:
            self._keep(copy.run.state(self.now))
        super().withdraw(message)

    def _keep(self, state: State) -> None:
        if not self.protection.rules.cloning:
            insort(self.kept, state, key=lambda state: (-state.fraction, state.run))
        elif not self.kept or not self.kept[0].beyond(state):
            self.kept = [state]

    def over(self, run: Run, outcome: Outcome) -> None:
        super().over(run, outcome)
        if outcome is FAILED and self.kept:
            # What was kept may be as corrupt as the run (P4).
            self._give_up(run.copy, self.kept[0].done)
            self.kept.clear()


def _furthest(*states: State | None) -> State | None:
    """Of equals, the one whose run is the oldest."""
    known = [state for state in states if state is not None]
    return furthest(sorted(known, key=lambda state: state.run))
