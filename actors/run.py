"""A run: one execution of (part of) a job's work on the members that it holds (WORLD.md, R)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    VerificationEnded,
)
from actors.messages import PartDue
from actors.plan import Plan, State
from actors.progress import NEGLIGIBLE, Progress, remaining
from actors.runtime import NOTHING, Phase, Timer

if TYPE_CHECKING:
    from actors.copy import Copy
    from actors.runtime import Actor, Event

STAGING_IN, COMPUTING, VERIFYING = Stage.STAGING_IN, Stage.COMPUTING, Stage.VERIFYING
SAVING, CHECKPOINTING, RECOVERING = Stage.SAVING, Stage.CHECKPOINTING, Stage.RECOVERING
AT_SPEED = COMPUTING, VERIFYING
"""Stages that advance at the members' speed; others take their time whatever it is."""
WAITING = STAGING_IN, SAVING
"""Stages that end when every member has reported."""
IDLE = Progress(0)
"""Progress of a part that does not advance; never changed."""


@define(eq=False, repr=False)
class Run:
    """The account of one run, and the timer of the part that it is in.

    Its rate follows from its members: a change settles the account and moves the timer. Its job
    reports them to it, and is called through `over` when it ends.
    """

    actor: Actor
    """Its job, whose timers and journal it uses."""
    number: int
    copy: Copy[Run]
    work: float
    plan: Plan
    finds_error: Callable[[float], bool]
    logs_exposure: bool
    """Whether the log has each verification's exposure: errors are drawn by it."""
    """Whether a verification finds an error, by exposure."""
    saved: Callable[[Run, int], None]
    """What to do with a complete checkpoint."""
    recovered: Callable[[Run], None]
    """Called when the recovery is over."""
    over: Callable[[Run, Outcome, int], int]
    stage: Stage = field(init=False, default=STAGING_IN)
    part: Progress = field(init=False, default=IDLE)
    base: float = field(init=False)
    """Work done when the present part began."""
    computes: bool = field(init=False, default=False)
    """Whether it has begun to compute."""
    exposed: float = field(init=False, default=0)
    """Workers x computing time since the last verified point."""
    missing: set[int] = field(init=False, factory=set)
    """Members that lack a message (staging in), or have not sent theirs (saving)."""
    timer: Timer | None = field(init=False, default=None)
    due: float = field(init=False, default=math.inf)
    phase: Phase = field(init=False, default=Phase.PARTS_END)
    cause: int = field(init=False, default=NOTHING)
    """Number of the event since which the timer is set."""
    ended: bool = field(init=False, default=False)
    started: int = field(init=False, default=NOTHING)
    """Number of the event with which it started."""
    _left: int = field(init=False, default=0)
    """Parts of the plan before computing that are over."""
    _reach: float = field(init=False, default=0)
    """Work done when the present computing ends. Not summed up then: base + (work - base) need not
    be work, and a checkpoint would be taken with nothing left."""

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

    # --- from start to end --------------------------------------------------------------------

    def begin(self, cause: int, keeps: int | None) -> int:
        """The run holds its members from now on."""
        begins = self.plan.begins
        source, saved = (begins.run, begins.done) if begins else (None, 0)
        copy, numbers = self.copy, (self.work, self.base, source, saved, keeps)
        self.started = self._record(cause, RunStarted, copy.text, *numbers)
        return self.started

    def stage_in(self, cause: int) -> int:
        """Wait for all members to hold what they need."""
        self.missing = set(self.copy.members)
        return self._enter(STAGING_IN, math.inf, cause)[1]

    def member_ready(self, worker: int, cause: int) -> int:
        """This member holds all that it needs, or has sent its image."""
        self.missing.discard(worker)
        if not self.missing and self.stage in WAITING and not self.ended:
            return self.advance(cause)
        return cause

    def advance(self, cause: int) -> int:
        """Go over to the next part; those of length 0 are passed at once. Returns the number of the
        last event, of which this is the way for all that follows it."""
        over = True
        while over and not self.ended:
            over, cause = self._next(cause)
        return cause

    def pass_part(self, cause: int) -> int:
        """The present part's time is over."""
        self._stop()
        if self.stage is COMPUTING:
            self._settle_exposure()
        return self.advance(cause)

    def review(self, cause: int) -> int:
        """Its members' states or speeds have changed."""
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

    def end(self, outcome: Outcome, cause: int, kept: bool = False) -> int:
        """End the run with this outcome."""
        self._stop()
        self.ended = True
        self.base = self.done(self.actor.now)
        self.part = IDLE
        return self._record(cause, RunEnded, outcome, self.base, kept)

    def hand_over(self, cause: int) -> tuple[State, int]:
        """End it for a run on other members, which keeps all its work, saved or not. The part of a
        checkpoint that has passed counts as work (malleable17, section 3.3.2, read literally)."""
        now = self.actor.now
        if self.stage is CHECKPOINTING and self.computes:
            self.base = min(self.base + self.part.at(now), self.work)
        state = self.state(now)
        return state, self.end(Outcome.CANCELLED, cause)

    def _record(self, cause: int, kind: Callable[..., Event], *values: object) -> int:
        return self.actor.record(cause, kind, self.actor.name, self.number, *values)

    # --- its parts ----------------------------------------------------------------------------

    def _next(self, cause: int) -> tuple[bool, int]:
        """Begin the part after the present one; whether it is over already."""
        plan, stage = self.plan, self.stage
        if stage is COMPUTING:
            self.base = self._reach
            self.part = IDLE
            return self._after_computing(cause)
        if stage is VERIFYING:
            return self._verified(cause)
        if stage in (SAVING, CHECKPOINTING):
            cause = self._record(cause, CheckpointTaken, self.base)
            self.saved(self, cause)
            return self._compute(cause)
        if stage is RECOVERING:
            self.recovered(self)
        if self._left < len(plan.before):
            part, length = plan.before[self._left]
            self._left += 1
            return self._enter(part, length, cause)
        return self._secure(cause) if plan.closes else self._compute(cause)

    def _compute(self, cause: int) -> tuple[bool, int]:
        self.computes = True
        left, period = remaining(self.work, self.base), self.plan.period
        last = left - period <= NEGLIGIBLE * self.work
        self._reach = self.work if last else self.base + period
        return self._enter(COMPUTING, left if last else period, cause)

    def _after_computing(self, cause: int) -> tuple[bool, int]:
        if self.base >= self.work:
            # Always as a timer: the last verifications of an instant come after all other parts.
            self.phase = Phase.RUNS_END
            return self._enter(VERIFYING, self.plan.verification, cause, at_once=False)
        return self._secure(cause)

    def _secure(self, cause: int) -> tuple[bool, int]:
        """Save the present state, after a verification where one precedes checkpoints."""
        if self.plan.verified:
            return self._enter(VERIFYING, self.plan.verification, cause)
        return self._checkpoint(cause)

    def _verified(self, cause: int) -> tuple[bool, int]:
        found = self.finds_error(self.exposed)
        if self.logs_exposure:
            self._record(cause, VerificationEnded, self.exposed, found)
        if found:
            return False, self.over(self, Outcome.FAILED, cause)
        self.exposed = 0
        if self.base >= self.work:
            return False, self.over(self, Outcome.COMPLETED, cause)
        return self._checkpoint(cause)

    def _checkpoint(self, cause: int) -> tuple[bool, int]:
        if self.plan.cost is not None:
            return self._enter(CHECKPOINTING, self.plan.cost, cause)
        self.missing = set(self.copy.members)
        _, cause = self._enter(SAVING, math.inf, cause)
        self.copy.send_images(self.actor, cause)
        return not self.missing, cause

    def _enter(
        self, stage: Stage, length: float, cause: int, at_once: bool = True
    ) -> tuple[bool, int]:
        """Begin a part of this length; whether it is over already."""
        self.stage = stage
        if at_once and length <= 0:
            self.part = IDLE
            return True, cause
        rate = 0.0
        if stage in WAITING:
            self.part = IDLE
        else:
            rate = self._rate()
            self.part = Progress(length, 0, rate, self.actor.now)
        if length:
            cause = self._record(cause, StageStarted, stage, rate, self.base)
        self._aim(cause)
        return False, cause

    # --- its rate and its timer ---------------------------------------------------------------

    def _rate(self) -> float:
        copy = self.copy
        if copy.absent:
            return 0
        return copy.speed() if self.stage in AT_SPEED else 1

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
