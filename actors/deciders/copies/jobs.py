"""Defines the jobs whose copies have one worker each, for the two deciders of copies."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.events import Outcome, ProtectionDescribed
from actors.job import AT_WORK, WAITING, Job, Life
from actors.messages import CancelCopy, JobOver, StateSaved
from actors.protection import Rules
from actors.protection.cloning import begun, furthest
from actors.protection.plan import Plan, State
from actors.run import Run
from actors.runs import FAILED, JobOfRuns
from actors.runtime import handles, message


@message
class FirstCopyEnded:
    """Decider to vectorised job: the first of your copies has ended, which completes you."""


@cache
def _rules(copies: int, cloning: bool) -> Rules:
    """Return the protection rules of vectorised jobs: at most `copies` copies at once, with or
    without cloning. They are cached: there may be a million jobs, all alike."""
    return Rules(copies=copies, cloning=cloning)


@define(eq=False)
class VectorisedJob(Job):
    """A job whose copies the decider `VectorisedCopies` keeps in arrays: its actor only submits the
    job and completes it, and is not told of its copies."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.PLANNED: frozenset({Life.WAITING}),
        Life.WAITING: frozenset({Life.COMPLETED}),
        Life.COMPLETED: frozenset(),
    }

    copies: int = field(kw_only=True)
    """Largest number of copies at once."""
    cloning: bool = field(kw_only=True, default=True)

    def describe(self, cause: int) -> int:
        super().describe(cause)
        # Only speeds change on these platforms: no state is ever lost, and cloning is free.
        rules = _rules(self.copies, self.cloning)
        self.record(cause, ProtectionDescribed, self.name, *rules.described)
        return cause

    @handles(FirstCopyEnded, during=(Life.WAITING,))
    def leave(self, message: FirstCopyEnded, cause: int) -> None:
        self.send(self.scheduler, JobOver(self.index), self.complete(cause))
        self.stop()

    def waits_for(self) -> str | None:
        return "the end of its first copy" if self.state is WAITING else super().waits_for()


@define(eq=False)
class PreemptibleJob(JobOfRuns):
    """A job each of whose copies has one worker and one run. It keeps the states of cancelled runs,
    from which later runs can begin, as redundancy17 assumes; with cloning it keeps the furthest
    only."""

    kept: list[State] = field(init=False, factory=list)
    """States of cancelled runs, the furthest first; with cloning, only that one."""
    reported: float | None = field(init=False, default=None)
    """Work done in the furthest kept or saved state, as last reported to the scheduler; None: there
    was none."""

    def furthest(self) -> State | None:
        """Return the state with the largest fraction of work done, be it that of a run under way or
        a kept one; of equal ones that of the run with the lower number. None if there is no
        state."""
        return _furthest(super().furthest(), *self.kept[:1])

    def plan(self, copy: Copy[Run]) -> Plan:
        """Return the plan of a copy's first run. With cloning the run begins from the job's
        furthest state, otherwise from the furthest kept state, which no other copy then gets. If a
        saved checkpoint is further than that state, the run begins from it instead."""
        protection = self.protection
        begins = self.furthest() if protection.rules.cloning else self._next_kept()
        return begun(protection.plan(copy), protection.saved, begins)

    def _next_kept(self) -> State | None:
        return self.kept.pop(0) if self.kept else None

    def report_progress(self, copy: Copy[Run], cause: int) -> None:
        super().report_progress(copy, cause)
        self._report_state(cause)

    def _report_state(self, cause: int) -> None:
        """Send the scheduler the work done in the furthest state that is kept or saved (None if
        there is no such state), if this has changed since the last report."""
        state = _furthest(*self.kept[:1], self.protection.saved)
        done = None if state is None else state.of(self.described.profile.time(1))
        if done != self.reported:
            self.reported = done
            self.send(self.scheduler, StateSaved(self.index, done), cause)

    @handles(CancelCopy, during=AT_WORK)
    def cancel_copy(self, message: CancelCopy, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None and copy.run is not None:
            # The state has to be taken before the run is cancelled and forgotten.
            self._keep(copy.run.state(self.now))
        super().cancel_copy(message, cause)
        self._report_state(cause)

    def _keep(self, state: State) -> None:
        if not self.protection.rules.cloning:
            insort(self.kept, state, key=lambda state: (-state.fraction, state.run))
        elif not self.kept or not self.kept[0].beyond(state):
            self.kept = [state]

    def over(self, run: Run, outcome: Outcome, cause: int) -> int:
        cause = super().over(run, outcome, cause)
        if outcome is FAILED and self.kept:
            # Kept states may be as corrupt as the run in which the error was found (P4).
            cause = self.discard(run.copy, self.kept[0].done, cause)
            self.kept.clear()
        self._report_state(cause)
        return cause


def _furthest(*states: State | None) -> State | None:
    """Return the state with the largest fraction of work done; of equal ones, that of the run with
    the lowest number. None stands for no state, and is returned if there is none."""
    known = [state for state in states if state is not None]
    return furthest(sorted(known, key=lambda state: state.run))
