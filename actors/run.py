"""A run is one execution of (part of) a job's work on the members that it holds (rules.md, R).

A run is a table of states: `Run.answers` maps (step, stimulus) to the method that answers. How a
run takes checkpoints is its protection's answer (`actors/protection/saving.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    BY_MESSAGES,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
)
from actors.owner import Owner
from actors.progress import PartBeside, Progress, remaining
from actors.protection.plan import Plan, State
from actors.protection.saving import Answer, Client, Level, Saving
from actors.runtime import NOTHING, Actor, Event, Phase, Timer, UnexpectedMessage, message
from actors.steps import HALTS, Halt, Step, Stimulus
from actors.worker_messages import Needs
from policies.maths.tolerance import ROUNDING


@message
class PartDue:
    """A job tells itself that the time of the part in which this copy's run is (computing, a
    checkpoint, a recovery and so on) has passed."""

    copy: int
    run: int


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11).
STARTING, STAGING_IN, LOADING, PREPARING = list(Step)[:4]
CLOSING_VERIFICATION, CLOSING_CHECKPOINT, CLOSING_STORE = list(Step)[4:7]
COMPUTING, OVERDUE, VERIFICATION, CHECKPOINT, STORE, LAST_VERIFICATION, ENDED = list(Step)[7:]
OVER, READY, NOTICE, SAVED, HANGS, FREED, PAUSES, GOES_ON = Stimulus
MOVING = Halt.MOVING
PARTS_END, RUNS_END = Phase.PARTS_END, Phase.RUNS_END
COMPUTES, VERIFIES, RECOVERS = Stage.COMPUTING, Stage.VERIFYING, Stage.RECOVERING
CHECKPOINTS, SENDS = Stage.CHECKPOINTING, Stage.SAVING
AT_SPEED = COMPUTES, VERIFIES
"""Stages that advance at the members' speed; all others take their time at any speed (R1)."""
STEPS = {
    (False, Level.FIRST): CLOSING_CHECKPOINT,
    (False, Level.SECOND): CLOSING_STORE,
    (True, Level.FIRST): CHECKPOINT,
    (True, Level.SECOND): STORE,
}
"""Maps whether the run has begun to compute, and the level of a checkpoint, to the step in which
the run takes it."""
IDLE = Progress(0)
"""Progress of a part that does not advance; shared, and never changed."""


@define(eq=False, repr=False)
class Run:
    """One run of a job: one execution of its work on the members that it holds. It goes through the
    steps of its plan, and answers each stimulus by the table `answers`.

    Its job reports its members' changes to it, and hears from it as its `owner`. Methods take the
    number (seq) of the event that causes what they do, and return that of the last event that
    follows from it. An `Answer` is a pair: whether the part that has begun is over already, and
    that number.
    """

    owner: Owner
    number: int
    copy: Copy[Any]
    """The copy whose members the run holds."""
    work: float
    """Whole work of the run, in time at speed 1."""
    plan: Plan
    saving: Saving
    """The object that takes the run's checkpoints."""
    needs: Needs | None = None
    """Messages that each member fetches; None: there is no master."""
    client: Client | None = None
    """Client of the shared storage; None: the run keeps nothing there."""
    actor: Actor = field(init=False)
    """The run's job, which sets the run's timers and logs its events."""
    step: Step = field(init=False, default=STARTING)
    stage: Stage = field(init=False, default=Stage.STAGING_IN)
    """The stage that the log gives for `step`."""
    part: Progress = field(init=False, default=IDLE)
    """Progress of the present part, in work or time units, or in bytes where it saves to shared
    storage or loads from it."""
    base: float = field(init=False)
    """Work done when the present part began."""
    exposed: float = field(init=False, default=0)
    """Workers x computing time since the last verified point (R3)."""
    missing: set[int] = field(init=False, factory=set)
    """Members that still lack a message, or have not sent theirs, in the present part."""
    halt: Halt = field(init=False, default=MOVING)
    """Whether the run stands still though its members are UP, by `HALTS`."""
    pause: PartBeside | None = field(init=False, default=None)
    """The run's pause; None: it does not pause, or only for this instant."""
    started: int = field(init=False, default=NOTHING)
    """Number of the event that logs the run's start."""
    due: float = field(init=False, default=math.inf)
    """Time at which the present part ends; inf: it is not known."""
    cause: int = field(init=False, default=NOTHING)
    """Number of the event for which the timer was last set."""
    _timer: Timer | None = field(init=False, default=None)
    _over: PartDue = field(init=False)
    """The message by which the job tells itself that the time of a part of the run has passed."""
    _computing: bool = field(init=False, default=False)
    """Whether the run computed when its owner's watchers were last told."""
    _passed: int = field(init=False, default=0)
    """Number of parts of `plan.before` that are over or under way."""
    reach: float = field(init=False, default=0)
    """Work done when the present computing ends. It is set as that begins: a sum at the end, base +
    (work - base), may round to less than the work, and a checkpoint would follow with none left."""

    def __attrs_post_init__(self) -> None:
        self.actor, begins = self.copy.job, self.plan.begins
        self._over = PartDue(self.copy.number, self.number)
        self.base = begins.of(self.work) if begins else 0
        self.exposed = begins.exposed if begins else 0

    # --- what others ask ----------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether the run is over, whatever its outcome."""
        return self.step is ENDED

    @property
    def computes(self) -> bool:
        """Whether the run has begun to compute; also true in the checkpoints and verifications that
        follow."""
        return self.step >= COMPUTING

    @property
    def phase(self) -> Phase:
        """Phase of an instant in which the run's present part, or its pause, ends: last
        verifications end after all other parts."""
        last = self.step is LAST_VERIFICATION and not self.halt & Halt.PAUSED
        return RUNS_END if last else PARTS_END

    @property
    def whole(self) -> bool:
        """Whether all members that the run computes on are UP, and none hangs."""
        return not (self.copy.absent or self.halt & Halt.HUNG)

    @property
    def passes(self) -> bool:
        """Whether the time of the run's parts passes: all members are UP, none hangs, and the run
        does not pause."""
        return not (self.copy.absent or self.halt)

    @property
    def ends(self) -> float:
        """Time at which the run's pause ends, or its present part if it does not pause; inf where
        that is not known."""
        if self.pause is None:
            return self.due
        return math.inf if self.pause.end is None else self.pause.end

    @property
    def shares(self) -> bool:
        """Whether the present part is a save to shared storage or a load from it, which advances at
        the bandwidth that the storage gives the run."""
        return self.client is not None and self.client.part is self.part

    @property
    def width(self) -> int:
        """Number of members that the run computes on."""
        return self.copy.width

    def done(self, now: float) -> float:
        """Return the work done in the run until the time `now`, including that of the state from
        which it began."""
        return self.part.added(self.base, self.reach, now) if self.stage is COMPUTES else self.base

    def state(self, now: float) -> State:
        """Return the run's state at the time `now`, saved or not: its work done and its exposure to
        silent errors, as a checkpoint would save them or another copy could clone them."""
        return State(self.number, self.done(now), self.work, self.exposure(now))

    def ahead(self) -> tuple[float, ...]:
        """Return the durations, in time units, of the parts that lie between the present one and
        computing, in order. The result is empty once the run computes, and also in the checkpoint
        that closes a redistribution."""
        if self.computes or self.stage is CHECKPOINTS:
            return ()
        return self.plan.ahead(self._passed)[self.step is CLOSING_VERIFICATION :]

    # --- from start to end --------------------------------------------------------------------

    def begin(self, cause: int, keeps: int | None) -> int:
        """Log that the run starts and holds its members from now on. `keeps` is the number of the
        run that held them before; None if none did. Return the number (seq) of the event."""
        begins = self.plan.begins
        source, saved = (begins.run, begins.done) if begins else (None, 0)
        copy, numbers = self.copy, (self.work, self.base, source, saved, keeps)
        self.started = self.record(cause, RunStarted, copy.text, *numbers)
        return self.started

    def start_up(self, length: float, cause: int) -> int:
        """Spend `length` time units on starting up, then have the members fetch what they lack; if
        it is 0, they fetch at once. `cause` is the number of the event that leads to it; return
        that of the last event that follows."""
        if not length:
            return self.react(OVER, cause)
        return self._enter(STARTING, Stage.STARTING_UP, length, cause)[1]

    def member_ready(self, worker: int) -> bool:
        """Record that the member `worker` holds all that it needs, or has sent its image. Return
        whether the run goes on: it is the last one that the run awaits, and nothing halts the
        run. A member that was RECLAIMED meanwhile
        reports again, which changes nothing and returns False."""
        if worker not in self.missing:
            return False
        self.missing.discard(worker)
        return not (self.missing or self.halt)

    def stop(self, stimulus: Stimulus, cause: int) -> int:
        """Advance no more, because a member hangs (HANGS) or the run pauses (PAUSES), until
        `free` and `go_on` have been called; messages of members go on. `cause` is the number of
        the event that leads to it; return that of the last event that follows."""
        self.turn(stimulus)
        return self.review(cause)

    def turn(self, stimulus: Stimulus) -> None:
        """Change by the table `HALTS` whether the run is halted. Raises UnexpectedMessage where the
        table has no row, as for a hang of a run that hangs."""
        halt = HALTS.get((self.halt, stimulus))
        if halt is None:
            raise self._unexpected(self.halt, stimulus)
        self.halt = halt

    def rest(self, due: object, length: float, cause: int) -> None:
        """Pause for `length` time units, which pass only while all members are UP and none hangs.
        `due` is the message by which the job tells itself that the pause is over, and `cause` the
        number of the event that logs it."""
        self.pause = PartBeside(due)
        self.pause.begin(self.actor, length, self.whole, cause)

    def end_pause(self) -> int:
        """Forget the run's pause, if it pauses. Return the number of the event for which its timer
        was last set."""
        pause, self.pause = self.pause, None
        if pause is None:
            return NOTHING
        pause.stop(self.actor)
        return pause.cause

    def go_on(self, cause: int) -> int:
        """End the pause, and advance again. If the last awaited message has ended during the pause,
        the present part ends now. `cause` is the number of the event that leads to it; return that
        of the last event that follows."""
        self.turn(GOES_ON)
        cause = self.review(cause)
        beside = self.saving.under_way
        sends = beside is not None and beside.part is None
        # If the last message has ended during the pause, the part ends only now.
        awaited = not (self.missing or self.halt) and (sends or self.stage in BY_MESSAGES)
        return self.react(READY, cause) if awaited else cause

    def pass_part(self, cause: int) -> int:
        """End the present part, whose time has passed, and go on with the next one. `cause` is the
        number of the event for which its timer was set; return that of the last event that
        follows."""
        self._stop()
        return self.react(OVER, cause)

    def react(self, stimulus: Stimulus, cause: int) -> int:
        """Call the method that the table `answers` has for the present step and this stimulus; then
        pass all parts of length 0 at once. `cause` is the number of the event that leads to it;
        return that of the last event that follows. Raises UnexpectedMessage where the table has no
        method."""
        over, answers = True, self.answers
        while over:
            answer = answers.get((self.step, stimulus))
            if answer is None:
                raise self._unexpected(self.step, stimulus)
            over, cause = answer(self, cause)
            stimulus = OVER
        return cause

    def _unexpected(self, state: Step | Halt, stimulus: Stimulus) -> UnexpectedMessage:
        run = f"run {self.number} of {self.actor.name} in {state.name}"
        return UnexpectedMessage(f"{run} does not expect {stimulus.name}")

    def end(self, outcome: Outcome, cause: int, kept: bool = False) -> int:
        """End the run with this outcome, and log it. A checkpoint under way is given up, and
        bandwidth of shared storage is given back. `kept`: the copy still holds the members, for the
        job's next run. `cause` is the number of the event that leads to it. Return the number (seq)
        of the event that logs the end."""
        self._stop()
        if self.saving.counts:
            self.saving.count(self, cause)
        self.saving.drop(self)
        self.step = ENDED
        # A real process may end the last part late.
        self.base = min(self.done(self.actor.now), self.work)
        self.part = IDLE
        if self.owner.parts.watchers:
            self._watch()
        cause = self.record(cause, RunEnded, outcome, self.base, kept)
        if self.pause is not None:
            self.end_pause()
        for part in self.owner.parts.enders:
            part.run_ended(self, kept, cause)
        if self.client is not None:
            self.client.end(self, cause)
        return cause

    # --- answers: a method for each row of the table ------------------------------------------

    def _stage_in(self, cause: int) -> Answer:
        """Have the members fetch from the master what they lack; without a master, go on at once.
        Return whether this part is over already, and the number of the last event."""
        if self.needs is None:
            self.step = STAGING_IN
            return True, cause
        self.missing = set(self.copy.members)
        _, cause = self._enter(STAGING_IN, Stage.STAGING_IN, math.inf, cause)
        self.owner.stage_in(self.copy, self.plan.fetches, cause)
        return False, cause

    def _prepare(self, cause: int) -> Answer:
        """Begin the next part that comes before computing: a load, a recovery, a clone's delay, a
        redistribution, or the checkpoint that closes a redistribution. After the last one, compute.
        Return whether the part that begins is over already, and the number of the last event."""
        plan = self.plan
        if plan.loads == self._passed and self.step is not LOADING:
            return self._share(LOADING, RECOVERS, cause)
        if self.client is not None:
            self.client.end(self, cause)
        if self.stage is RECOVERS and (self.step is not LOADING or not plan.before):
            self.owner.recovered(self)
        if self._passed < len(plan.before):
            stage, length = plan.before[self._passed]
            self._passed += 1
            return self._enter(PREPARING, stage, length, cause)
        return self._secure(cause) if plan.closes else self.compute(cause)

    def _computed(self, cause: int) -> Answer:
        """Go on after computing until a checkpoint fell due, or to the end of the work. If all work
        is done, the last verification begins, otherwise a checkpoint. Return whether the part that
        begins is over already, and the number of the last event."""
        if self.saving.counts:
            self.saving.count(self, cause)
        self._settle_exposure()
        self.base, self.part = self.reach, IDLE
        if self.base >= self.work:
            return self._enter(LAST_VERIFICATION, VERIFIES, self.plan.rules.verification, cause)
        return self._secure(cause)

    def _verified(self, cause: int) -> Answer:
        """Decide on the verification that precedes a checkpoint and has just ended. If it finds an
        error the run fails; else the checkpoint begins. Return whether the part that begins is over
        already, and the number of the last event."""
        if self._found_error(cause):
            return False, self.owner.over(self, Outcome.FAILED, cause)
        return self.saving.begin(self, cause)

    def _verified_last(self, cause: int) -> Answer:
        """Decide on the last verification, which has just ended. If it finds an error the run
        fails; else it is completed. Return False, as no part begins, and the number of the last
        event."""
        outcome = Outcome.FAILED if self._found_error(cause) else Outcome.COMPLETED
        return False, self.owner.over(self, outcome, cause)

    def _saved(self, cause: int) -> Answer:
        """Record that the first level of a checkpoint for which the run stood still is complete;
        then begin the second level, if there is one, or compute on. Return whether the part that
        begins is over already, and the number of the last event."""
        return self.saving.complete(self, Level.FIRST, cause)

    def _stored(self, cause: int) -> Answer:
        """Record that the second level of a checkpoint for which the run stood still is complete
        (it is at the master or on shared storage, too), and compute on. Return whether the part
        that begins is over already, and the number of the last event."""
        return self.saving.complete(self, Level.SECOND, cause)

    def _saved_beside(self, cause: int) -> Answer:
        """Record that a level of the checkpoint that was taken while the run computed on is
        complete. If no second level follows, the work that the checkpoint slowed down goes on at
        full rate (P8). Return False, as the present part goes on, and the number of the last
        event."""
        cause = self.saving.complete_beside(self, cause)
        return False, cause if self.saving.under_way else self.review(cause)

    def _saved_late(self, cause: int) -> Answer:
        """Record that a level of the checkpoint that was taken while the run computed on is
        complete. If no second level follows, begin the checkpoint that has fallen due meanwhile,
        which saves the work done now; none begins if no work is left (P8, P9). Return whether the
        part that begins is over already, and the number of the last event."""
        cause = self.saving.complete_beside(self, cause)
        if self.saving.under_way:
            return False, cause  # its images go to the master first (P9)
        self.step = COMPUTING
        if remaining(self.work, self.done(self.actor.now)):
            return self._fall_due(cause)
        return False, self.review(cause)

    def _noticed(self, cause: int) -> Answer:
        """Begin a checkpoint at once, because the owner of a member gives notice that it will take
        the worker DOWN. Nothing happens if the protection does not heed notices or there is nothing
        to save (O1). Return whether the part that begins is over already, and the number of the
        last event."""
        if self.saving.heeds_notice(self):
            return self._fall_due(cause)
        return False, cause

    def _ignored(self, cause: int) -> Answer:
        """Ignore an owner's notice, because the run does not compute; it is not kept for later
        (O1). Return False, as the present part goes on, and `cause`."""
        return False, cause

    answers: ClassVar[Mapping[tuple[Step, Stimulus], Callable[[Run, int], Answer]]] = {
        (STARTING, OVER): _stage_in,
        (STAGING_IN, OVER): _prepare,
        (STAGING_IN, READY): _prepare,
        (LOADING, OVER): _prepare,
        (PREPARING, OVER): _prepare,
        (CLOSING_VERIFICATION, OVER): _verified,
        (CLOSING_CHECKPOINT, OVER): _saved,
        (CLOSING_STORE, OVER): _stored,
        (CLOSING_STORE, READY): _stored,
        (COMPUTING, OVER): _computed,
        (COMPUTING, READY): _saved_beside,
        (COMPUTING, SAVED): _saved_beside,
        (COMPUTING, NOTICE): _noticed,
        (OVERDUE, OVER): _computed,
        (OVERDUE, READY): _saved_late,
        (OVERDUE, SAVED): _saved_late,
        (VERIFICATION, OVER): _verified,
        (CHECKPOINT, OVER): _saved,
        (CHECKPOINT, READY): _saved,
        (STORE, OVER): _stored,
        (STORE, READY): _stored,
        (LAST_VERIFICATION, OVER): _verified_last,
        (LAST_VERIFICATION, READY): _saved_beside,
        (LAST_VERIFICATION, SAVED): _saved_beside,
        **dict.fromkeys([(it, NOTICE) for it in Step if it not in (COMPUTING, ENDED)], _ignored),
    }
    """Maps each step and each stimulus that it expects to the method that answers; any other pair
    is an error."""

    # --- what answers are made of; protections call those without an underscore ----------------

    def record(self, cause: int, kind: Callable[..., Event], *values: object) -> int:
        """Log an event of this run, of class `kind` with these values after the job's name and the
        run's number; return the event's number (seq)."""
        return self.actor.record(cause, kind, self.actor.name, self.number, *values)

    def compute(self, cause: int, step: Step = COMPUTING) -> Answer:
        """Compute until the next checkpoint falls due or, if no work would be left after it, to the
        end of the work. In the step OVERDUE a checkpoint already waits for the one under way, so
        the run computes to the end. Return whether this part is over already, and the number of the
        last event."""
        left = remaining(self.work, self.base)
        period = math.inf if step is OVERDUE else self.plan.period
        # No checkpoint is begun when no work would be left after it (P7).
        last = left - period <= ROUNDING * self.work
        if not last and step is COMPUTING and self.saving.counts_by(period):
            last = True
        self.reach = self.work if last else self.base + period
        return self._enter(step, COMPUTES, left if last else period, cause)

    def stand_still(self, level: Level, cost: float | None, cause: int) -> Answer:
        """Interrupt the work for this level of a checkpoint. The members spend `cost` time units on
        it together or, if that is None, each sends its image to the master. Return whether this
        part is over already, and the number of the last event."""
        step = STEPS[self.step >= COMPUTING, level]
        if cost is not None:
            return self._enter(step, CHECKPOINTS, cost, cause)
        _, cause = self._enter(step, SENDS, math.inf, cause)
        self.send_images(cause)
        return False, cause

    def store(self, level: Level, cause: int) -> Answer:
        """Interrupt the work for this level of a checkpoint, which the members save to shared
        storage. Return whether this part is over already, and the number of the last event."""
        return self._share(STEPS[self.step >= COMPUTING, level], CHECKPOINTS, cause)

    def _share(self, step: Step, stage: Stage, cause: int) -> Answer:
        """Begin a part in which the members save the state to shared storage, or load it, at the
        bandwidth that the storage gives the run (S1). `step` is the run's step from now on, and
        `stage` what the log calls it. Return whether the part is over already, because the state
        has size 0, and the number of the last event."""
        assert self.client is not None
        self.step, self.stage, size = step, stage, self.client.size
        if not size:
            self.part = IDLE
            return True, cause
        self.part = Progress(size, 0, 0, self.actor.now)
        cause = self.record(cause, StageStarted, stage, 0.0, self.base)
        if self.owner.parts.watchers:
            self._watch()
        self.client.begin(self, self.part, self._aim_anew, cause)
        return False, cause

    def send_images(self, cause: int) -> None:
        """Have all members that the run computes on send their images to the master, and await
        their reports that they have. `cause` is the number of the event that leads to it."""
        self.missing = set(self.copy.working)
        self.copy.send_images(cause)

    def _fall_due(self, cause: int) -> Answer:
        """Take a checkpoint in the midst of computing. If another one is still under way while the
        run computes, compute on and take this one as soon as that is complete. Return whether the
        part that begins is over already, and the number of the last event."""
        if self.saving.under_way:
            self.step = OVERDUE
            return False, cause
        self._settle_exposure()
        self._stop()
        self.base, self.part = self.done(self.actor.now), IDLE
        return self._secure(cause)

    def _secure(self, cause: int) -> Answer:
        """Begin a checkpoint of the present state, or the verification that precedes it. If another
        checkpoint is still under way while the run computes, compute on and take this one as soon
        as that is complete. Return whether the part that begins is over already, and the number of
        the last event."""
        if self.saving.under_way:
            return self.compute(cause, OVERDUE)
        rules = self.plan.rules
        if rules.verified:
            step = VERIFICATION if self.computes else CLOSING_VERIFICATION
            return self._enter(step, VERIFIES, rules.verification, cause)
        return self.saving.begin(self, cause)

    def _found_error(self, cause: int) -> bool:
        found = self.owner.finds_error(self, cause)
        if not found:
            self.exposed = 0
        return found

    def _enter(self, step: Step, stage: Stage, length: float, cause: int) -> Answer:
        """Begin a part that takes `length` and set its timer. The length is in time units or, while
        the run computes, in work. `step` is the run's step from now on, and `stage` what the log
        calls it. Return whether the part is over already, because it has length 0, and the number
        of the last event.

        The last verification has a timer even if it takes no time: last verifications come after
        all other parts of an instant.
        """
        self.step, self.stage = step, stage
        if length <= 0 and step is not LAST_VERIFICATION:
            self.part = IDLE
            return True, cause
        rate = 0.0
        if stage in BY_MESSAGES:
            self.part = IDLE
        else:
            rate = self._rate()
            self.part = Progress(length, 0, rate, self.actor.now)
        if length and step is not OVERDUE:  # in OVERDUE the run computes on
            cause = self.record(cause, StageStarted, stage, rate, self.base)
        self._aim(cause)
        if self.owner.parts.watchers:
            self._watch()
        return False, cause

    # --- its rate and its timer ---------------------------------------------------------------

    def review(self, cause: int) -> int:
        """Go on at the rate that now follows from the members' states and speeds. If it differs
        from the rate so far, settle the account, log the change and move the timer. `cause` is the
        number of the event that leads to it; return that of the last event that follows."""
        self.saving.members_changed(self, cause)
        client = self.client
        if self.pause is not None:
            self.pause.pass_on(self.actor, self.whole, cause)
        if client is not None:
            cause = client.review(self, cause)
        if self.stage in BY_MESSAGES or (client is not None and client.part is self.part):
            return cause
        rate = self._rate()
        if rate == self.part.rate:
            return cause
        now = self.actor.now
        if self.saving.counts:
            self.saving.count(self, cause)
        if self.stage is COMPUTES:
            self._settle_exposure()
        self._stop()
        self.part.change(now, rate)
        cause = self.record(cause, RateChanged, rate, self.done(now))
        self._aim(cause)
        if self.owner.parts.watchers:
            self._watch()
        return cause

    def _watch(self) -> None:
        """Tell the owner's watchers if the run has begun to compute, or has ceased to, since they
        were told last."""
        computes = self.stage is COMPUTES and self.part.rate > 0
        if computes is not self._computing:
            self._computing = computes
            for watcher in self.owner.parts.watchers:
                watcher.computes(self, computes)

    def _rate(self) -> float:
        """Return the rate of the present part, per time unit. It is 0 while a member is not UP or
        hangs, or the run pauses. Otherwise work and verifications advance at the slowest member's
        speed, reduced while a checkpoint slows the run down, times the share of groups that are
        left; all other parts have rate 1 (R1, P8, E1)."""
        copy = self.copy
        if copy.absent or self.halt:  # `passes`, inlined for speed
            return 0
        if self.stage not in AT_SPEED:
            return 1
        rate = copy.speed() * self.saving.pace
        return rate if copy.division is None else rate * copy.division.share

    def exposure(self, now: float) -> float:
        """Return the exposure to silent errors at the time `now`: workers x computing time since
        the last verified point (R3)."""
        if self.stage is not COMPUTES or not self.part.rate:
            return self.exposed
        return self.exposed + self.copy.width * (now - self.part.since)

    def _settle_exposure(self) -> None:
        self.exposed = self.exposure(self.actor.now)

    def _aim_anew(self, cause: int) -> None:
        self._stop()
        self._aim(cause)

    def _aim(self, cause: int) -> None:
        part = self.part
        end = part.end() if part.work else part.since
        if end is None or end == math.inf or part is IDLE:
            return
        self.due, self.cause = end, cause
        phase = RUNS_END if self.step is LAST_VERIFICATION else PARTS_END
        self._timer = self.actor.at(end, self._over, cause, phase)

    def _stop(self) -> None:
        if self._timer is not None:
            self.actor.cancel(self._timer)
            self._timer, self.due = None, math.inf
