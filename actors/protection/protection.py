"""The questions that every protection answers, and the one that saves nothing: re-execution
(rules.md, P1)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from attrs import define, evolve, field

from actors.copy import Copy
from actors.events import Stage
from actors.protection.cloning import begun
from actors.protection.plan import Plan, State
from actors.protection.rules import Rules, on
from actors.protection.saving import ContinuousSaving, CountedSaving, Saving, SavingBeside


@define(eq=False)
class Protection:
    """Base class of the protections of one job: each keeps what the job has saved, and says what
    its next run begins from, how checkpoints are taken and what a failure destroys."""

    keeps: ClassVar[bool] = False
    """Whether a copy whose run is lost or failed keeps its members for the next one."""

    rules: Rules
    saved: State | None = field(init=False, default=None)
    """The state that is kept for the whole job; None: there is none."""
    _plans: dict[int, Plan] = field(init=False, factory=dict)
    """Maps a number of members to the plan of a run from scratch, kept because every run needs
    one."""
    _last: tuple[Plan, State | None, Plan] | None = field(init=False, default=None)
    """The last plan from scratch, the checkpoint, and the plan that begins from it: most runs that
    are lost begin where the last one did."""

    _saving: Saving | None = field(init=False, default=None)
    """Object that takes the checkpoints of runs with the last plan by interrupting their work; it
    keeps nothing of a run, so that all of them share it."""

    def placed(self, copy: Copy[Any], furthest: Callable[[], State | None]) -> Plan:
        """Return the plan of the first run of a copy that is placed now: from the job's checkpoint
        or, with cloning, from the state of the furthest run under way, which `furthest` returns,
        whichever is further."""
        return self._begun(self.plan(copy), furthest() if self.rules.cloning else None)

    def resumed(self, copy: Copy[Any]) -> Plan:
        """Return the plan of the next run on the members that a copy has kept after its last run,
        some of them in the places of members that went DOWN (P12)."""
        return self._begun(self.plan(copy), None)

    def _begun(self, plan: Plan, clone: State | None) -> Plan:
        """Return `plan` changed so that it begins from the job's checkpoint or from `clone`."""
        if clone is not None:
            return begun(plan, self.saved, clone)
        last = self._last
        if last is None or last[0] is not plan or last[1] is not self.saved:
            self._last = last = plan, self.saved, begun(plan, self.saved, None)
        return last[2]

    def plan(self, copy: Copy[Any]) -> Plan:
        """Return the plan of a run from scratch on the copy's members, with the period and the cost
        of its checkpoints."""
        members, by_members = len(copy.members), self.rules.period_of
        plan = self._plans.get(members)
        if plan is None:
            plan = self._plans[members] = self._plan(members)
        return plan if by_members is None else evolve(plan, period=by_members(copy.members))

    def _plan(self, members: int) -> Plan:
        rules = self.rules
        before = ((Stage.RECOVERING, rules.changeover),) if rules.changeover else ()
        return Plan(rules, before=before, period=rules.period(members), cost=self._cost(members))

    def _cost(self, members: int) -> float | None:
        """Return the time of a checkpoint of a run on `members` workers; None: its members send
        images on channels of the master, and the checkpoint lasts until all have arrived."""
        return on(self.rules.cost, members)

    def saving(self, plan: Plan, is_unseen: Callable[[], bool]) -> Saving:
        """Return the object that takes the checkpoints of one run with this plan. They are counted
        by arithmetic where they take no time, no message and no storage, no other copy needs them
        and, as `is_unseen` returns, neither the scheduler nor the log needs to know of each."""
        rules = self.rules
        if not plan.period:
            return ContinuousSaving(plan)
        if plan.cost == 0 and rules.blocking and rules.copies == 1 and rules.bytes is None:
            needed = rules.verified or rules.on_notice or rules.images_every
            if not needed and is_unseen():
                return CountedSaving(plan)
        if not rules.blocking:
            return SavingBeside(plan)
        if self._saving is None or self._saving.plan is not plan:
            self._saving = Saving(plan)
        return self._saving

    @abstractmethod
    def save(self, copy: Copy[Any], state: State) -> None:
        """Store `state`, that of a checkpoint of the copy's run that is complete now, so that later
        runs can begin from it."""

    def store(self, copy: Copy[Any], state: State) -> None:
        """Store `state`, that of a checkpoint of the copy's run that is at the master, too (P9)."""

    def member_failed(self, copy: Copy[Any], worker: int) -> float | None:
        """Discard what is lost as the member `worker` of the copy goes DOWN. Return the saved work
        that is lost with it; None if nothing is discarded."""
        return None

    def recovered(self, copy: Copy[Any]) -> None:
        """Record that the recovery with which the copy's run began is over."""

    def replaced(self, copy: Copy[Any], worker: int, other: int) -> None:
        """Record that the worker `other` has the place of the member `worker` from now on."""

    def exchanged(self, copy: Copy[Any], left: Iterable[int]) -> None:
        """Record that the copy has other members from now on; the workers `left` are none any
        more."""

    def failed_members(self, copy: Copy[Any]) -> Iterable[int]:
        """Return the members that have gone DOWN since the last recovery ended; none where the
        protection does not depend on them."""
        return ()

    def lost(self, copy: Copy[Any]) -> float:
        """Return the saved work that was lost while the copy's run went on, which did not need it:
        it is given up now that the run is lost. 0 if there is none."""
        return 0

    def left(self, copy: Copy[Any]) -> None:
        """Forget what the copy's members hold, as the copy has ended."""

    @abstractmethod
    def failed(self, copy: Copy[Any]) -> float | None:
        """Discard what may be corrupt, as a verification of the copy's run has found an error.
        Return the saved work that is given up; None if nothing is."""

    def forget(self) -> None:
        """Discard what was saved for the whole job, because the job, or its iteration, is
        completed."""
        self.saved = None


@define(eq=False)
class ReExecution(Protection):
    """The default protection, under which every run begins from scratch (P1)."""

    def plan(self, copy: Copy[Any]) -> Plan:
        plan = super().plan(copy)
        # No checkpoint is taken, whatever period the rules give.
        return plan if plan.period == math.inf else evolve(plan, period=math.inf)

    def save(self, copy: Copy[Any], state: State) -> None:
        raise AssertionError("nothing is saved under re-execution")

    def failed(self, copy: Copy[Any]) -> float | None:
        return None
