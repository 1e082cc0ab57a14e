"""A run is one execution of (part of) a job's work on the members that it holds (rules.md, R).

What it does next is its table of states' answer (`ANSWERS` in `actors/steps.py`), and how it takes
checkpoints its protection's (`actors/protection/saving.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

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
from actors.progress import IDLE, PartBeside, Progress, remaining
from actors.protection.plan import Plan, State
from actors.protection.saving import Answer, Client, Level, Saving
from actors.runtime import (
    NOTHING,
    Actor,
    Event,
    Phase,
    Timer,
    UnexpectedMessage,
    constants_as_arguments,
    message,
)
from actors.standstill import Halt, Standstill
from actors.steps import (
    ANSWERS,
    COMPUTING,
    ENDED,
    LAST_VERIFICATION,
    OVER,
    OVERDUE,
    PREPARING,
    STAGING_IN,
    STARTING,
    STEPS,
    Step,
    Stimulus,
)
from actors.worker_messages import Needs
from policies.maths.tolerance import ROUNDING


@message
class PartDue:
    """A job tells itself that the time of the part in which this copy's run is (computing, a
    checkpoint, a recovery and so on) has passed."""

    copy: int
    run: int


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11).
PARTS_END, RUNS_END = Phase.PARTS_END, Phase.RUNS_END
COMPUTES, VERIFIES, STARTS_UP = Stage.COMPUTING, Stage.VERIFYING, Stage.STARTING_UP
CHECKPOINTS, SENDS = Stage.CHECKPOINTING, Stage.SAVING
AT_SPEED = COMPUTES, VERIFIES
"""Stages that advance at the members' speed; all others take their time at any speed (R1)."""


@define(eq=False, repr=False, field_transformer=constants_as_arguments)
class Run:
    """One run of a job: one execution of its work on the members that it holds. It goes through the
    steps of its plan, and answers each stimulus by the table `ANSWERS`.

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
    base: float = field(init=False, default=0)
    """Work done when the present part began."""
    exposed: float = field(init=False, default=0)
    """Workers x computing time since the last verified point (R3)."""
    missing: set[int] = field(init=False, factory=set)
    """Members that still lack a message, or have not sent theirs, in the present part."""
    still: Standstill | None = field(init=False, default=None)
    """The run's standstill, which keeps why it is halted; None until a member first hangs or the
    run first pauses."""
    started: int = field(init=False, default=NOTHING)
    """Number of the event that logs the run's start."""
    due: float = field(init=False, default=inf)
    """Time at which the present part ends; inf: it is not known."""
    cause: int = field(init=False, default=NOTHING)
    """Number of the event for which the timer was last set."""
    _timer: Timer | None = field(init=False, default=None)
    _over: PartDue = field(init=False)
    """The message by which the job tells itself that the time of a part of the run has passed."""
    _computing: bool = field(init=False, default=False)
    """Whether the run computed when its owner's watchers were last told."""
    prepared: int = field(init=False, default=0)
    """Number of parts of `plan.before` that are over or under way."""
    reach: float = field(init=False, default=0)
    """Work done when the present computing ends. It is set as that begins: a sum at the end, base +
    (work - base), may round to less than the work, and a checkpoint would follow with none left."""

    def __attrs_post_init__(self) -> None:
        self.actor, begins = self.copy.job, self.plan.begins
        self._over = PartDue(self.copy.number, self.number)
        if begins is not None:
            self.base, self.exposed = begins.of(self.work), begins.exposed

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
    def whole(self) -> bool:
        """Whether all members that the run computes on are UP, and none hangs."""
        still = self.still
        return not self.copy.absent and (still is None or not still.halt & Halt.HUNG)

    @property
    def passes(self) -> bool:
        """Whether the time of the run's parts passes: all members are UP, none hangs, and the run
        does not pause."""
        still = self.still
        return not self.copy.absent and (still is None or not still.halt)

    @property
    def pause(self) -> PartBeside | None:
        """The run's pause; None: it does not pause, or only for this instant."""
        return None if self.still is None else self.still.pause

    @property
    def standstill(self) -> Standstill:
        """The run's standstill, which keeps why it is halted; made when it is first asked for."""
        if self.still is None:
            self.still = Standstill(self)
        return self.still

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

    # --- from start to end --------------------------------------------------------------------

    def begin(self, cause: int, keeps: int | None) -> int:
        """Log that the run starts and holds its members from now on. `keeps` is the number of the
        run that held them before; None if none did. Return the number (seq) of the event."""
        begins = self.plan.begins
        source, saved = (begins.run, begins.done) if begins else (None, 0)
        actor, number, held, base = self.actor, self.number, self.copy.text, self.base
        self.started = cause = actor.record(
            cause, RunStarted, actor.name, number, held, self.work, base, source, saved, keeps
        )
        return cause

    def start_up(self, length: float, cause: int) -> int:
        """Spend `length` time units on starting up, then have the members fetch what they lack; if
        it is 0, they fetch at once. `cause` is the number of the event that leads to it; return
        that of the last event that follows."""
        if not length:
            return self.react(OVER, cause)
        return self.enter(STARTING, STARTS_UP, length, cause)[1]

    def member_ready(self, worker: int) -> bool:
        """Record that the member `worker` holds all that it needs, or has sent its image. Return
        whether the run goes on: the member is the last one that the run awaits, and nothing halts
        the run. A member that was RECLAIMED meanwhile reports again, which changes nothing and
        returns False."""
        if worker not in self.missing:
            return False
        self.missing.discard(worker)
        return not self.missing and (self.still is None or not self.still.halt)

    def pass_part(self, cause: int) -> int:
        """End the present part, whose time has passed, and go on with the next one. `cause` is the
        number of the event for which its timer was set; return that of the last event that
        follows."""
        self._stop()
        return self.react(OVER, cause)

    def react(self, stimulus: Stimulus, cause: int) -> int:
        """Call the function that the table `ANSWERS` has for the present step and this stimulus;
        then pass all parts of length 0 at once. `cause` is the number of the event that leads to
        it; return that of the last event that follows. Raises UnexpectedMessage where the table has
        no function."""
        while True:
            answer = ANSWERS.get((self.step, stimulus))
            if answer is None:
                run = f"run {self.number} of {self.actor.name} in {self.step.name}"
                raise UnexpectedMessage(f"{run} does not expect {stimulus.name}")
            over, cause = answer(self, cause)
            if not over:
                return cause
            stimulus = OVER

    def end(self, outcome: Outcome, cause: int, kept: bool = False) -> int:
        """End the run with this outcome, and log it. A checkpoint under way is given up, and
        bandwidth of shared storage is given back. `kept`: the copy still holds the members, for the
        job's next run. `cause` is the number of the event that leads to it. Return the number (seq)
        of the event that logs the end."""
        self._stop()
        if self.saving.counts:
            self.saving.count(self, cause)
        if self.saving.under_way is not None:
            self.saving.drop(self)
        self.step = ENDED
        actor = self.actor
        # A real process may end the last part late.
        self.base = min(self.done(actor.system.loop.now), self.work)
        self.part = IDLE
        if self.owner.parts.watchers:
            self._watch()
        cause = actor.record(cause, RunEnded, actor.name, self.number, outcome, self.base, kept)
        if self.still is not None:
            self.still.end_pause()
        for part in self.owner.parts.enders:
            part.run_ended(self, kept, cause)
        if self.client is not None:
            self.client.end(self, cause)
        return cause

    # --- parts of it begin and end; the table's answers and the protection call these ---------

    def record(self, cause: int, kind: Callable[..., Event], *values: object) -> int:
        """Log an event of this run, of class `kind` with these values after the job's name and the
        run's number; return the event's number (seq)."""
        return self.actor.record(cause, kind, self.actor.name, self.number, *values)

    def fetch(self, cause: int) -> Answer:
        """Have the members fetch from the master what they lack, and await them. Return whether
        this part is over already, and the number of the last event."""
        self.missing = set(self.copy.members)
        _, cause = self.enter(STAGING_IN, Stage.STAGING_IN, inf, cause)
        self.owner.stage_in(self.copy, self.plan.fetches, cause)
        return False, cause

    def prepare(self, cause: int) -> Answer:
        """Begin the next of the plan's parts before computing. Return whether it is over already,
        and the number of the last event."""
        stage, length = self.plan.before[self.prepared]
        self.prepared += 1
        return self.enter(PREPARING, stage, length, cause)

    def compute(self, cause: int, step: Step = COMPUTING) -> Answer:
        """Compute until the next checkpoint falls due or, if no work would be left after it, to the
        end of the work. In the step OVERDUE a checkpoint already waits for the one under way, so
        the run computes to the end. Return whether this part is over already, and the number of the
        last event."""
        left = remaining(self.work, self.base)
        period = inf if step is OVERDUE else self.plan.period
        # No checkpoint is begun when no work would be left after it (P7).
        last = left - period <= ROUNDING * self.work
        if not last and step is COMPUTING and self.saving.counts_by(period):
            last = True
        self.reach = self.work if last else self.base + period
        return self.enter(step, COMPUTES, left if last else period, cause)

    def stand_still(self, level: Level, cost: float | None, cause: int) -> Answer:
        """Interrupt the work for this level of a checkpoint. The members spend `cost` time units on
        it together or, if that is None, each sends its image to the master. Return whether this
        part is over already, and the number of the last event."""
        step = STEPS[self.step >= COMPUTING, level]
        if cost is not None:
            return self.enter(step, CHECKPOINTS, cost, cause)
        _, cause = self.enter(step, SENDS, inf, cause)
        self.send_images(cause)
        return False, cause

    def store(self, level: Level, cause: int) -> Answer:
        """Interrupt the work for this level of a checkpoint, which the members save to shared
        storage. Return whether this part is over already, and the number of the last event."""
        return self.share(STEPS[self.step >= COMPUTING, level], CHECKPOINTS, cause)

    def share(self, step: Step, stage: Stage, cause: int) -> Answer:
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

    def finish_computing(self) -> None:
        """Compute no more, as all work until `reach` is done."""
        self.exposed = self.exposure(self.actor.now)
        self.base, self.part = self.reach, IDLE

    def interrupt_computing(self) -> None:
        """Compute no more for now: a checkpoint of the work that is done is taken."""
        self.exposed = self.exposure(self.actor.now)
        self._stop()
        self.base, self.part = self.done(self.actor.now), IDLE

    def turn_to(self, step: Step) -> None:
        """Go to another step without a new part: computing goes on."""
        self.step = step

    def finds_error(self, cause: int) -> bool:
        """Return whether the verification that ends now finds an error. If it finds none, the work
        done so far is verified. `cause` is the number of the event that leads to it."""
        found = self.owner.finds_error(self, cause)
        if not found:
            self.exposed = 0
        return found

    def enter(self, step: Step, stage: Stage, length: float, cause: int) -> Answer:
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
        rate, end, actor = 0.0, inf, self.actor
        loop = actor.system.loop
        if stage in BY_MESSAGES:
            self.part = IDLE
        else:
            rate, now = self._rate(), loop.now
            self.part = Progress(length, 0, rate, now)
            if rate == 1 or not length:  # `Progress.end`, for a part that begins
                end = now + length
            elif rate:
                end = now + length / rate
        if length and step is not OVERDUE:  # in OVERDUE the run computes on
            cause = actor.record(
                cause, StageStarted, actor.name, self.number, stage, rate, self.base
            )
        if end < inf:
            self.due, self.cause = end, cause
            phase = RUNS_END if step is LAST_VERIFICATION else PARTS_END
            self._timer = loop.schedule(end, phase, actor, self._over, cause)
        if (self._computing or stage is COMPUTES) and self.owner.parts.watchers:
            self._watch()
        return False, cause

    # --- its rate and its timer ---------------------------------------------------------------

    def review(self, cause: int) -> int:
        """Go on at the rate that now follows from the members' states and speeds. If it differs
        from the rate so far, settle the account, log the change and move the timer. `cause` is the
        number of the event that leads to it; return that of the last event that follows."""
        self.saving.members_changed(self, cause)
        client = self.client
        if self.still is not None:
            self.still.members_changed(cause)
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
            self.exposed = self.exposure(now)
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
        if copy.absent or (self.still is not None and self.still.halt):  # not `passes`
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

    def _aim_anew(self, cause: int) -> None:
        self._stop()
        self._aim(cause)

    def _aim(self, cause: int) -> None:
        part = self.part
        end = part.end() if part.work else part.since
        if end is None or end == inf or part is IDLE:
            return
        self.due, self.cause = end, cause
        phase = RUNS_END if self.step is LAST_VERIFICATION else PARTS_END
        self._timer = self.actor.at(end, self._over, cause, phase)

    def _stop(self) -> None:
        if self._timer is not None:
            self.actor.system.loop.cancel(self._timer)
            self._timer, self.due = None, inf
