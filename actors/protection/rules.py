"""What a scenario says of a job's protection, what every protection answers, and the two that leave
members alone: re-execution (WORLD.md, P1) and images (P3)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from attrs import define, evolve, field, frozen

from actors.copy import Copy
from actors.events import ProtectionKind, Stage
from actors.plan import Plan, State
from actors.run import Run

MANY = 1 << 30
"""Members: more than any pack has, where times of a pair may be those of a single one."""
BySize = Callable[[int], float]
"""A time, or an amount of work, by number of members."""


def never(members: int) -> float:
    """No checkpoint is taken."""
    return math.inf


def on(value: float | BySize, members: int) -> float:
    """The value on so many members."""
    return value(members) if callable(value) else value


def alike(value: float | BySize) -> float | None:
    """The value, if it is finite and the same on any number of members, else None."""
    one = on(value, 1)
    return one if one < math.inf and one == on(value, MANY) else None


@frozen(kw_only=True)
class Rules:
    """One job's protection, as its scenario gives it; times in the scenario's unit."""

    kind: ProtectionKind = ProtectionKind.NONE
    period: BySize = never
    """Work between two checkpoints."""
    cost: float | BySize = 0
    """Time of a checkpoint, all members together."""
    recovery: float | BySize = 0
    changeover: float = 0
    """Time before a run computes, or recovers, on workers that its job did not hold."""
    group: int = 2
    """Members that are each other's buddies, in a ring."""
    fatal: bool = True
    """Whether a state that two buddies have lost is gone; False: malleable17's own, whose faults
    never meet (section 6.1)."""
    verification: float = 0
    """v: the detector's time."""
    verified: bool = False
    """Whether a verification precedes each checkpoint (P4)."""
    copies: int = 1
    """The most runs at once (P5)."""
    cloning: bool = False
    """Whether a copy begins from the furthest one's state."""
    delay: float = 0
    """Time to fetch a clone without a master."""
    image: float | None = None
    """Time that an image is on a channel; None: there is no master."""
    blocking: bool = True
    """Whether a checkpoint takes the run's time (P8)."""
    slowdown: float = 0
    """What work loses of its rate while one that does not is under way."""
    images_every: int = 0
    """k: each k-th checkpoint of buddies is sent to the master too (P9); 0: none is."""
    image_cost: float = 0
    """Time of that without a master."""
    on_notice: bool = False
    """Whether an owner's notice makes a checkpoint due (O1)."""
    replace_after: float | None = None
    """How long a kept member is away before it is replaced (P10); None: for ever."""
    node: int = 1
    """Workers of a node, with whom buddies share none if they can (N1)."""
    period_of: Callable[[Sequence[int]], float] | None = None
    """In place of `period`, by members, where it depends on which of them fail together (N1)."""


def begun(plan: Plan, rules: Rules, saved: State | None, furthest: State | None) -> Plan:
    """The plan of a copy that is placed now: from the saved image if that is further than the
    furthest run under way, from that run's state if copies are cloned, or from scratch."""
    clone = furthest if rules.cloning and furthest and furthest.done else None
    if saved is not None and (clone is None or saved.beyond(clone)):
        return _fetched(plan, rules, saved, on(rules.recovery, 1) + rules.changeover)
    if clone is not None:
        return _fetched(plan, rules, clone, rules.delay + rules.changeover)
    return plan


def _fetched(plan: Plan, rules: Rules, state: State, time: float) -> Plan:
    """Through the master where there is one, else in `time`."""
    if rules.image is not None:
        return evolve(plan, begins=state, image=True)
    return evolve(plan, begins=state, before=((Stage.RECOVERING, time),))


@define(eq=False)
class Protection:
    """What one job has saved, and what that means for its runs."""

    keeps: ClassVar[bool] = False
    """Whether a copy whose run is lost or failed keeps its members for the next one."""

    rules: Rules
    saved: State | None = field(init=False, default=None)
    """What is kept for the whole job."""
    _plans: dict[int, Plan] = field(init=False, factory=dict)
    """By number of members: one is needed for every run."""

    def placed(self, copy: Copy[Run], furthest: State | None) -> Plan:
        """The first run of a copy; `furthest`: of the job's runs that are under way."""
        return begun(self.plan(copy), self.rules, self.saved, furthest)

    def resumed(self, copy: Copy[Run]) -> Plan:
        """The next run on members that were kept."""
        raise AssertionError("only buddies keep their members")

    def plan(self, copy: Copy[Run]) -> Plan:
        """A run from scratch."""
        members, by_members = len(copy.members), self.rules.period_of
        plan = self._plans.get(members)
        if plan is None:
            plan = self._plans[members] = self._plan(members)
        return plan if by_members is None else evolve(plan, period=by_members(copy.members))

    def _plan(self, members: int) -> Plan:
        rules = self.rules
        image = None if rules.image else rules.image  # what has size 0 is with the master at once
        return Plan(
            before=((Stage.RECOVERING, rules.changeover),) if rules.changeover else (),
            period=rules.period(members),
            cost=on(rules.cost, members),
            verification=rules.verification,
            verified=rules.verified,
            blocking=rules.blocking,
            slowdown=rules.slowdown,
            stores=rules.images_every,
            store_cost=rules.image_cost if rules.image is None else image,
            on_notice=rules.on_notice,
        )

    @abstractmethod
    def save(self, copy: Copy[Run], state: State) -> None:
        """A checkpoint of a copy's run is complete."""

    def member_failed(self, copy: Copy[Run], worker: int) -> float | None:
        """A member went DOWN: the saved work that this destroys; None: none is."""
        return None

    def recovered(self, copy: Copy[Run]) -> None:
        """The recovery with which the copy's run began is over."""

    @abstractmethod
    def failed(self, copy: Copy[Run]) -> float | None:
        """A verification found an error: the saved work that is given up; None: none is."""

    def forget(self) -> None:
        """The work is done (an iteration's, say): what was saved of it is forgotten."""
        self.saved = None


@define(eq=False)
class ReExecution(Protection):
    """The default protection: every run begins from scratch."""

    def plan(self, copy: Copy[Run]) -> Plan:
        """Nothing is saved, whatever the period says."""
        return evolve(super().plan(copy), period=math.inf)

    def save(self, copy: Copy[Run], state: State) -> None:
        raise AssertionError("nothing is saved under re-execution")

    def failed(self, copy: Copy[Run]) -> float | None:
        return None


@define(eq=False)
class Images(Protection):
    """The master keeps the furthest complete checkpoint of the job, whichever copy sent it."""

    def plan(self, copy: Copy[Run]) -> Plan:
        plan = super().plan(copy)
        image = self.rules.image
        if image is None:
            return plan
        # What has size 0 is with the master at once; else every member sends its own.
        return evolve(plan, cost=None if image else 0)

    def save(self, copy: Copy[Run], state: State) -> None:
        if self.saved is None or state.beyond(self.saved):
            self.saved = state

    def failed(self, copy: Copy[Run]) -> float | None:
        """Unverified images may be as corrupt as the run (P4)."""
        if self.rules.verified or self.saved is None:
            return None
        lost, self.saved = self.saved.done, None
        return lost
