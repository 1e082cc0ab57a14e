"""A run: one execution of (part of) a job's work on the members that it holds (WORLD.md, R)."""

from __future__ import annotations

import math
from collections.abc import Callable

from attrs import define, field

from actors.events import (
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    Outcome,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    VerificationEnded,
)
from actors.plan import State
from actors.progress import NEGLIGIBLE, Progress, remaining
from actors.run_account import (
    CHECKPOINTING,
    COMPUTING,
    IDLE,
    RECOVERING,
    SAVING,
    STAGING_IN,
    VERIFYING,
    WAITING,
    BackgroundCheckpoint,
    CheckpointDue,
    RunAccount,
)
from actors.runtime import NOTHING, Phase


@define(eq=False, repr=False)
class Run(RunAccount):
    """One run, from part to part of its plan. Its job reports its members' changes to it, and is
    called through `over` when it ends."""

    finds_error: Callable[[float], bool]
    """Whether a verification finds an error, by exposure."""
    logs_exposure: bool
    """Whether the log has each verification's exposure: errors are drawn by it."""
    saved: Callable[[Run, State, int], None]
    """What to do with a complete checkpoint."""
    recovered: Callable[[Run], None]
    """Called when the recovery is over."""
    over: Callable[[Run, Outcome, int], int]
    missing: set[int] = field(init=False, factory=set)
    """Members that lack a message (staging in), or have not sent theirs (saving)."""
    started: int = field(init=False, default=NOTHING)
    """Number of the event with which it started."""
    _storing: bool = field(init=False, default=False)
    """The images of a checkpoint that buddies have are being sent (P9)."""
    _overdue: bool = field(init=False, default=False)
    """A checkpoint is due once that one is complete."""
    _reach: float = field(init=False, default=0)
    """Work done when the present computing ends. Not summed up then: base + (work - base) need not
    be work, and a checkpoint would be taken with nothing left."""

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
        if self.missing or self.ended:
            return cause
        if self.stage in WAITING:
            return self.advance(cause)
        if self.background is not None and self.background.part is None:
            return self.pass_background(cause)
        return cause

    def hear_notice(self, cause: int) -> int:
        """The owner of a member takes it DOWN: a checkpoint is due, if there is anything to save
        (WORLD.md, O1)."""
        now = self.actor.now
        if not self.plan.on_notice or self.stage is not COMPUTING or self.copy.unheard:
            return cause
        return self._fall_due(cause) if self.part.at(now) > 0 else cause

    def _fall_due(self, cause: int) -> int:
        """A checkpoint is due in the midst of computing."""
        if self.background is not None:
            self._overdue = True
            return cause
        now = self.actor.now
        self._settle_exposure()
        self._stop()
        self.base, self.part = self.done(now), IDLE
        over, cause = self._secure(cause)
        return self.advance(cause) if over else cause

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

    def end(self, outcome: Outcome, cause: int, kept: bool = False) -> int:
        """End the run with this outcome."""
        self._stop()
        if self.background is not None:
            self.background.stop(self.actor)
            self.background = None
        self.ended = True
        self.base = min(self.done(self.actor.now), self.work)  # its last part may be late
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
            return self._saved(cause)
        if stage is RECOVERING:
            self.recovered(self)
        if self._left < len(plan.before):
            part, length = plan.before[self._left]
            self._left += 1
            return self._enter(part, length, cause)
        return self._secure(cause) if plan.closes else self._compute(cause)

    def _compute(self, cause: int) -> tuple[bool, int]:
        self.computes = True
        left = remaining(self.work, self.base)
        period = math.inf if self._overdue else self.plan.period
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
        if self.background is not None:
            self._overdue = True
            return self._compute(cause)
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
        if not self.plan.blocking:
            cause = self._begin_background(cause)
            return self._compute(cause)
        return self._take(self.plan.cost, cause)

    def _take(self, cost: float | None, cause: int) -> tuple[bool, int]:
        """Have the members spend this time or, if None, send their images."""
        if cost is not None:
            return self._enter(CHECKPOINTING, cost, cause)
        self.missing = set(self.copy.members)
        _, cause = self._enter(SAVING, math.inf, cause)
        self.copy.send_images(self.actor, cause)
        return not self.missing, cause

    def _saved(self, cause: int) -> tuple[bool, int]:
        """A checkpoint that blocks is complete, with buddies or on shared storage."""
        state = State(self.number, self.base, self.work, self.exposed)
        cause = self._log_saved(state, self._storing, cause)
        self._storing = self._stores_next(self._storing)
        return self._take(self.plan.store_cost, cause) if self._storing else self._compute(cause)

    def _log_saved(self, state: State, stored: bool, cause: int) -> int:
        copy = self.copy
        if stored:
            copy.stored = state
            return self._record(cause, CheckpointStored, state.done)
        copy.taken += 1
        cause = self._record(cause, CheckpointTaken, state.done)
        self.saved(self, state, cause)
        return cause

    def _stores_next(self, stored: bool) -> bool:
        """Whether the checkpoint that is complete is to be sent to the master too."""
        every = self.plan.stores
        return not stored and every > 0 and self.copy.taken % every == 0

    # --- a checkpoint that does not block it --------------------------------------------------

    def _begin_background(self, cause: int) -> int:
        state = State(self.number, self.base, self.work, self.exposed)
        cause = self._record(cause, CheckpointStarted, self.base)
        return self._pass_beside(state, self.plan.cost, False, cause)

    def _pass_beside(self, state: State, cost: float | None, stores: bool, cause: int) -> int:
        due = CheckpointDue(self.copy.number, self.number)
        self.background = background = BackgroundCheckpoint(state, due, stores)
        if cost is None:
            self.missing = set(self.copy.members)
            self.copy.send_images(self.actor, cause)
        elif cost:
            background.begin(self.actor, cost, not self.copy.absent, cause)
        else:
            return self._complete_background(cause)
        return cause

    def pass_background(self, cause: int) -> int:
        """The checkpoint beside its part is complete: what it slowed down goes on."""
        cause = self._complete_background(cause)
        if self.background is not None:
            return cause
        overdue, self._overdue = self._overdue, False
        left = remaining(self.work, self.done(self.actor.now))
        if overdue and left and self.stage is COMPUTING:
            return self._fall_due(cause)
        return self.review(cause)

    def _complete_background(self, cause: int) -> int:
        background = self.background
        assert background is not None
        background.stop(self.actor)
        self.background = None
        cause = self._log_saved(background.state, background.stores, cause)
        if self._stores_next(background.stores):
            cause = self._record(cause, CheckpointStarted, background.state.done)
            return self._pass_beside(background.state, self.plan.store_cost, True, cause)
        return cause

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
        if length and not (self._overdue and stage is COMPUTING):
            cause = self._record(cause, StageStarted, stage, rate, self.base)
        self._aim(cause)
        return False, cause
