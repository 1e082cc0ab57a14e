"""The account of one run: what it has done, its rate, the timer of its part (WORLD.md, R), and a
checkpoint that does not block it (P8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define, field

from actors.events import RateChanged, Stage
from actors.plan import Plan, State
from actors.progress import Progress
from actors.runtime import NOTHING, Actor, Event, Phase, Timer, message

if TYPE_CHECKING:
    from actors.copy import Copy


@message
class PartDue:
    """A job to itself: a part of this copy's run has ended."""

    copy: int
    run: int


@message
class HearNotices:
    """Job to itself: hear all notices of this instant, each of which makes a checkpoint due."""


@message
class CheckpointDue:
    """A job to itself: a checkpoint of this copy that does not block its run is complete."""

    copy: int
    run: int


@define(eq=False)
class BackgroundCheckpoint:
    """While all members send their images, or for a time that passes while all of them are UP."""

    state: State
    """What it saves."""
    due: CheckpointDue
    stores: bool = False
    """Whether its images are sent, after buddies have it (P9)."""
    part: Progress | None = field(init=False, default=None)
    """Of the time that it takes; None: it is complete with the last image."""
    cause: int = field(init=False, default=-1)
    """Number of the event since which its timer is set."""
    end: float | None = field(init=False, default=None)
    """When it will be complete, where that is known."""
    _timer: Timer | None = field(init=False, default=None)

    def begin(self, actor: Actor, cost: float, passes: bool, cause: int) -> None:
        """It takes this time."""
        self.part = Progress(cost, 0, 0, actor.now)
        self.pass_on(actor, passes, cause)

    def pass_on(self, actor: Actor, passes: bool, cause: int) -> None:
        """Whether all members are UP from now on."""
        if self.part is None or passes == bool(self.part.rate):
            return
        self.stop(actor)
        self.part.change(actor.now, int(passes))
        self.end, self.cause = self.part.end(), cause
        if self.end is not None:
            self._timer = actor.at(self.end, self.due, cause, Phase.PARTS_END)

    def stop(self, actor: Actor) -> None:
        """It is complete, or dropped."""
        if self._timer is not None:
            actor.cancel(self._timer)
            self._timer = self.end = None


STAGING_IN, COMPUTING, VERIFYING = Stage.STAGING_IN, Stage.COMPUTING, Stage.VERIFYING
SAVING, CHECKPOINTING, RECOVERING = Stage.SAVING, Stage.CHECKPOINTING, Stage.RECOVERING
AT_SPEED = COMPUTING, VERIFYING
"""Stages that advance at the members' speed; others take their time whatever it is."""
WAITING = STAGING_IN, SAVING
"""Stages that end when every member has reported."""
IDLE = Progress(0)
"""Progress of a part that does not advance; never changed."""


@define(eq=False, repr=False)
class RunAccount:
    """Its rate follows from its members: a change settles the account and moves the timer."""

    actor: Actor
    """Its job, whose timers and journal it uses."""
    number: int
    copy: Copy[Any]
    work: float
    plan: Plan
    stage: Stage = field(init=False, default=STAGING_IN)
    part: Progress = field(init=False, default=IDLE)
    base: float = field(init=False)
    """Work done when the present part began."""
    computes: bool = field(init=False, default=False)
    """Whether it has begun to compute."""
    exposed: float = field(init=False, default=0)
    """Workers x computing time since the last verified point."""
    timer: Timer | None = field(init=False, default=None)
    due: float = field(init=False, default=math.inf)
    phase: Phase = field(init=False, default=Phase.PARTS_END)
    cause: int = field(init=False, default=NOTHING)
    """Number of the event since which the timer is set."""
    ended: bool = field(init=False, default=False)
    background: BackgroundCheckpoint | None = field(init=False, default=None)
    """A checkpoint that is under way beside its part."""
    _left: int = field(init=False, default=0)
    """Parts of the plan before computing that are over."""

    def __attrs_post_init__(self) -> None:
        begins = self.plan.begins
        self.base = begins.of(self.work) if begins else 0
        self.exposed = begins.exposed if begins else 0

    # --- what others ask ----------------------------------------------------------------------

    def done(self, now: float) -> float:
        """Work done until `now`."""
        return self.base + self.part.at(now) if self.stage is COMPUTING else self.base

    def state(self, now: float) -> State:
        """What another copy would clone at `now`."""
        return State(self.number, self.done(now), self.work, self._exposure(now))

    def ahead(self) -> tuple[float, ...]:
        """Times of the parts between the present one and computing."""
        if self.computes:
            return ()
        if self.stage is CHECKPOINTING:
            return ()
        return self.plan.ahead(self._left)[self.stage is VERIFYING :]

    def _exposure(self, now: float) -> float:
        if self.stage is not COMPUTING or not self.part.rate:
            return self.exposed
        return self.exposed + len(self.copy.members) * (now - self.part.since)

    def _record(self, cause: int, kind: Callable[..., Event], *values: object) -> int:
        return self.actor.record(cause, kind, self.actor.name, self.number, *values)

    # --- its rate and its timer ---------------------------------------------------------------

    def review(self, cause: int) -> int:
        """Its members' states or speeds have changed."""
        if self.background is not None:
            self.background.pass_on(self.actor, not self.copy.absent, cause)
        if self.ended or self.stage in WAITING:
            return cause
        rate = self._rate()
        if rate == self.part.rate:
            return cause
        now = self.actor.now
        if self.stage is COMPUTING:
            self._settle_exposure()
        self._stop()
        self.part.change(now, rate)
        cause = self._record(cause, RateChanged, rate, self.done(now))
        self._aim(cause)
        return cause

    def _rate(self) -> float:
        copy = self.copy
        if copy.absent:
            return 0
        if self.stage not in AT_SPEED:
            return 1
        speed = copy.speed()
        return speed if self.background is None else speed * (1 - self.plan.slowdown)

    def _settle_exposure(self) -> None:
        now = self.actor.now
        self.exposed = self._exposure(now)

    def _aim(self, cause: int) -> None:
        part = self.part
        end = part.end() if part.work else part.since
        if end is None or end == math.inf or part is IDLE:
            return
        self.due, self.cause = end, cause
        due = PartDue(self.copy.number, self.number)
        self.timer = self.actor.at(end, due, cause, self.phase)

    def _stop(self) -> None:
        if self.timer is not None:
            self.actor.cancel(self.timer)
            self.timer, self.due = None, math.inf
