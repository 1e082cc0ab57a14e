"""The steps of a run: what it does next at each, whatever happens (rules.md, R).

`ANSWERS`, at the end, is the run's table of states: it maps a step, and what happens in it, to the
function that answers. Each function takes the run and the number (seq) of the event that leads to
it, and returns an `Answer`. `actors/standstill.py` halts a run in whatever step it is.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Protocol

from actors.events import Outcome, Stage
from actors.progress import remaining
from actors.protection.plan import Plan
from actors.protection.saving import Answer, Level, Saver, Saving


class Step(enum.IntEnum):
    """A state of a run, in the run's table of answers. Several steps may be one `Stage` in the log:
    a run goes on from each of them in another way.

    The order counts: a run has begun to compute from COMPUTING on. Steps are integers, because
    other enums hash in Python code, once for each look into the table.
    """

    STARTING = 0
    """Workers are chosen, and processes start, before members fetch anything (rules.md, R5)."""
    STAGING_IN = 1
    """Members fetch what they lack (L2)."""
    LOADING = 2
    """The members load the state from which the run continues from shared storage (S1)."""
    PREPARING = 3
    """A part of `Plan.before` passes: recovery, a clone's delay, a redistribution."""
    CLOSING_VERIFICATION = 4
    """A verification precedes the checkpoint that closes a redistribution."""
    CLOSING_CHECKPOINT = 5
    """A checkpoint closes a redistribution (malleable17, section 3.3.2)."""
    CLOSING_STORE = 6
    """The checkpoint that closes a redistribution goes to the master too (P9)."""
    COMPUTING = 7
    OVERDUE = 8
    """The run computes, and another checkpoint falls due as soon as the one beside it is complete
    (P8)."""
    VERIFICATION = 9
    """A verification precedes a checkpoint (P4)."""
    CHECKPOINT = 10
    """The run stands still while a checkpoint is taken."""
    STORE = 11
    """The run stands still while a complete checkpoint goes to the master too (P9)."""
    LAST_VERIFICATION = 12
    """All work is done; a verification decides whether it is sound (R3)."""
    ENDED = 13


class Stimulus(enum.IntEnum):
    """A thing that happens to a run and that each step answers in its own way. Changes of members'
    state and speed are not among them: all steps answer these alike (`Run.review`)."""

    OVER = 0
    """The time of the present part has passed."""
    READY = 1
    """The last member has reported that it holds what it needs, or has sent its image."""
    NOTICE = 2
    """A member's owner announces that it takes the member DOWN (O1)."""
    SAVED = 3
    """The time of a checkpoint beside the work has passed (P8)."""
    HANGS = 4
    """A member hangs (F6)."""
    FREED = 5
    """The member that hangs is one that the run no longer computes on."""
    PAUSES = 6
    """The run is to stand still, whatever its present part is."""
    GOES_ON = 7
    """The pause is over."""


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11).
STARTING, STAGING_IN, LOADING, PREPARING = list(Step)[:4]
CLOSING_VERIFICATION, CLOSING_CHECKPOINT, CLOSING_STORE = list(Step)[4:7]
COMPUTING, OVERDUE, VERIFICATION, CHECKPOINT, STORE, LAST_VERIFICATION, ENDED = list(Step)[7:]
OVER, READY, NOTICE, SAVED, HANGS, FREED, PAUSES, GOES_ON = Stimulus
STEPS = {
    (False, Level.FIRST): CLOSING_CHECKPOINT,
    (False, Level.SECOND): CLOSING_STORE,
    (True, Level.FIRST): CHECKPOINT,
    (True, Level.SECOND): STORE,
}
"""Maps whether the run has begun to compute, and the level of a checkpoint, to the step in which
the run takes it."""
RECOVERS, VERIFIES = Stage.RECOVERING, Stage.VERIFYING


class SteppedRun(Saver, Protocol):
    """A run, as far as its steps use it. Methods that begin a part return an `Answer`: whether it
    is over already, as it takes no time, and the number of the last event."""

    step: Step
    stage: Stage
    plan: Plan
    saving: Saving
    work: float
    """Whole work of the run, in time at speed 1."""
    prepared: int
    """Number of parts of `plan.before` that are over or under way."""

    @property
    def needs(self) -> object | None:
        """Messages that each member fetches; None: there is no master."""

    @property
    def computes(self) -> bool:
        """Whether the run has begun to compute."""

    def done(self, now: float) -> float:
        """Return the work done in the run until `now`."""

    def enter(self, step: Step, stage: Stage, length: float, cause: int) -> Answer:
        """Begin a part that takes `length`, as this step; the log calls it `stage`."""

    def share(self, step: Step, stage: Stage, cause: int) -> Answer:
        """Begin a part in which the members use the shared storage."""

    def fetch(self, cause: int) -> Answer:
        """Have the members fetch what they lack from the master."""

    def prepare(self, cause: int) -> Answer:
        """Begin the next part of `plan.before`."""

    def compute(self, cause: int, step: Step = ...) -> Answer:
        """Compute until the next checkpoint is due, or to the end of the work."""

    def turn_to(self, step: Step) -> None:
        """Go to another step without a new part: computing goes on."""

    def finish_computing(self) -> None:
        """Compute no more, as all work until the next checkpoint, or to the end, is done."""

    def interrupt_computing(self) -> None:
        """Compute no more for now: a checkpoint of the work that is done is taken."""

    def finds_error(self, cause: int) -> bool:
        """Return whether the verification that ends now finds an error."""

    def review(self, cause: int) -> int:
        """Go on at the rate that now follows from the members' states and speeds."""


# --- before it computes ---------------------------------------------------------------------------


def stage_in(run: SteppedRun, cause: int) -> Answer:
    """Have the members fetch from the master what they lack; without a master, prepare at once."""
    return prepare(run, cause) if run.needs is None else run.fetch(cause)


def prepare(run: SteppedRun, cause: int) -> Answer:
    """Begin the next part that comes before computing: a load, a recovery, a clone's delay, a
    redistribution, or the checkpoint that closes a redistribution. After the last one, compute."""
    plan = run.plan
    if plan.loads == run.prepared and run.step is not LOADING:
        return run.share(LOADING, RECOVERS, cause)
    if run.client is not None:
        run.client.end(run, cause)
    if run.stage is RECOVERS and (run.step is not LOADING or not plan.before):
        run.owner.recovered(run)
    if run.prepared < len(plan.before):
        return run.prepare(cause)
    return secure(run, cause) if plan.closes else run.compute(cause)


# --- computing ends -------------------------------------------------------------------------------


def computed(run: SteppedRun, cause: int) -> Answer:
    """Go on after computing until a checkpoint fell due, or to the end of the work. If all work is
    done, the last verification begins, otherwise a checkpoint."""
    if run.saving.counts:
        run.saving.count(run, cause)
    run.finish_computing()
    if run.base >= run.work:
        return run.enter(LAST_VERIFICATION, VERIFIES, run.plan.rules.verification, cause)
    return secure(run, cause)


def noticed(run: SteppedRun, cause: int) -> Answer:
    """Begin a checkpoint at once, because the owner of a member gives notice that it will take the
    worker DOWN. Nothing happens if the protection does not heed notices or there is nothing to save
    (O1)."""
    return fall_due(run, cause) if run.saving.heeds_notice(run) else (False, cause)


def ignored(_: SteppedRun, cause: int) -> Answer:
    """Ignore an owner's notice, because the run does not compute; it is not kept for later (O1)."""
    return False, cause


def fall_due(run: SteppedRun, cause: int) -> Answer:
    """Take a checkpoint in the midst of computing. If another one is still under way while the run
    computes, compute on and take this one as soon as that is complete."""
    if run.saving.under_way:
        run.turn_to(OVERDUE)
        return False, cause
    run.interrupt_computing()
    return secure(run, cause)


def secure(run: SteppedRun, cause: int) -> Answer:
    """Begin a checkpoint of the present state, or the verification that precedes it. If another
    checkpoint is still under way while the run computes, compute on and take this one as soon as
    that is complete."""
    if run.saving.under_way:
        return run.compute(cause, OVERDUE)
    rules = run.plan.rules
    if rules.verified:
        step = VERIFICATION if run.computes else CLOSING_VERIFICATION
        return run.enter(step, VERIFIES, rules.verification, cause)
    return run.saving.begin(run, cause)


# --- verifications and checkpoints end ------------------------------------------------------------


def verified(run: SteppedRun, cause: int) -> Answer:
    """Decide on the verification that precedes a checkpoint and has just ended. If it finds an
    error the run fails; else the checkpoint begins."""
    if run.finds_error(cause):
        return False, run.owner.over(run, Outcome.FAILED, cause)
    return run.saving.begin(run, cause)


def verified_last(run: SteppedRun, cause: int) -> Answer:
    """Decide on the last verification, which has just ended. If it finds an error the run fails;
    else it is completed. No part begins."""
    outcome = Outcome.FAILED if run.finds_error(cause) else Outcome.COMPLETED
    return False, run.owner.over(run, outcome, cause)


def saved(run: SteppedRun, cause: int) -> Answer:
    """Record that the first level of a checkpoint for which the run stood still is complete; then
    begin the second level, if there is one, or compute on."""
    return run.saving.complete(run, Level.FIRST, cause)


def stored(run: SteppedRun, cause: int) -> Answer:
    """Record that the second level of a checkpoint for which the run stood still is complete (it is
    at the master or on shared storage, too), and compute on."""
    return run.saving.complete(run, Level.SECOND, cause)


def saved_beside(run: SteppedRun, cause: int) -> Answer:
    """Record that a level of the checkpoint that was taken while the run computed on is complete.
    If no second level follows, the work that the checkpoint slowed down goes on at full rate (P8).
    The present part goes on."""
    cause = run.saving.complete_beside(run, cause)
    return False, cause if run.saving.under_way else run.review(cause)


def saved_late(run: SteppedRun, cause: int) -> Answer:
    """Record that a level of the checkpoint that was taken while the run computed on is complete.
    If no second level follows, begin the checkpoint that has fallen due meanwhile, which saves the
    work done now; none begins if no work is left (P8, P9)."""
    cause = run.saving.complete_beside(run, cause)
    if run.saving.under_way:
        return False, cause  # its images go to the master first (P9)
    run.turn_to(COMPUTING)
    if remaining(run.work, run.done(run.actor.now)):
        return fall_due(run, cause)
    return False, run.review(cause)


ANSWERS: Mapping[tuple[Step, Stimulus], Callable[[SteppedRun, int], Answer]] = {
    (STARTING, OVER): stage_in,
    (STAGING_IN, OVER): prepare,
    (STAGING_IN, READY): prepare,
    (LOADING, OVER): prepare,
    (PREPARING, OVER): prepare,
    (CLOSING_VERIFICATION, OVER): verified,
    (CLOSING_CHECKPOINT, OVER): saved,
    (CLOSING_STORE, OVER): stored,
    (CLOSING_STORE, READY): stored,
    (COMPUTING, OVER): computed,
    (COMPUTING, READY): saved_beside,
    (COMPUTING, SAVED): saved_beside,
    (COMPUTING, NOTICE): noticed,
    (OVERDUE, OVER): computed,
    (OVERDUE, READY): saved_late,
    (OVERDUE, SAVED): saved_late,
    (VERIFICATION, OVER): verified,
    (CHECKPOINT, OVER): saved,
    (CHECKPOINT, READY): saved,
    (STORE, OVER): stored,
    (STORE, READY): stored,
    (LAST_VERIFICATION, OVER): verified_last,
    (LAST_VERIFICATION, READY): saved_beside,
    (LAST_VERIFICATION, SAVED): saved_beside,
    **dict.fromkeys([(it, NOTICE) for it in Step if it not in (COMPUTING, ENDED)], ignored),
}
"""Maps each step and each stimulus that it expects to the function that answers; any other pair is
an error."""
