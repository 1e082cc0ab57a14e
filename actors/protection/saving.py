"""Runs take their checkpoints standing still or working on meanwhile (rules.md, P8), on two levels
(P9), and when an owner gives notice (O1)."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    ProtectionKind,
    Stage,
)
from actors.owner import Owner
from actors.progress import PartBeside, Progress
from actors.protection.plan import Plan, State
from actors.runtime import Actor, Event, message
from policies.maths.tolerance import ROUNDING

Answer = tuple[bool, int]
"""Whether the part that the run has begun is over already, and the number of the last event."""


class Level(enum.IntEnum):
    """The two levels of a checkpoint."""

    FIRST = 1
    """The checkpoint is kept where the protection keeps checkpoints: with buddies, or as images."""
    SECOND = 2
    """Under buddies, the checkpoint is at the master too (P9)."""


FIRST, SECOND = Level


class Client(Protocol):
    """The part of a client of the shared storage that a run may use; it is
    `actors.parts.storage.StorageClient`."""

    size: float
    """Bytes of a state, of all members together."""
    part: Progress | None
    """Progress of the save or load under way, in bytes; None: there is none."""

    def begin(self, run: Any, part: Progress, aim: Callable[[int], None], cause: int) -> None:
        """Begin to save or load `part`, an account in bytes. `aim` is called, with the number of an
        event, whenever the bandwidth changes."""

    def review(self, run: Any, cause: int) -> int:
        """Ask for bandwidth, or give it back, as the run's members have changed; return the number
        (seq) of the last event."""

    def end(self, run: Any, cause: int) -> None:
        """Give the bandwidth back, and forget the save or load."""


class Saver(Protocol):
    """The part of a run that the object that takes its checkpoints may use."""

    actor: Actor
    number: int
    copy: Copy[Any]
    part: Progress
    base: float
    client: Client | None

    @property
    def width(self) -> int:
        """Number of members on which the run computes."""

    @property
    def passes(self) -> bool:
        """Whether the time of the run's parts passes: all members are UP, none hangs, and the run
        does not pause."""

    @property
    def owner(self) -> Owner:
        """The job, to which complete checkpoints are handed."""

    def state(self, now: float) -> State:
        """Return the run's state at `now`, as a checkpoint would save it."""

    def record(self, cause: int, kind: Callable[..., Event], *values: object) -> int:
        """Log an event of class `kind`, caused by the event numbered `cause`, about this run with
        these values; return its number (seq)."""

    def compute(self, cause: int) -> Answer:
        """Compute until the next checkpoint is due, or to the end of the work. Return whether this
        part is over already, and the number of the last event."""

    def stand_still(self, level: Level, cost: float | None, cause: int) -> Answer:
        """Interrupt the work for this level of a checkpoint: spend `cost` time units on it or, if
        None, have all members send images. Return whether this part is over already, and the number
        of the last event."""

    def store(self, level: Level, cause: int) -> Answer:
        """Interrupt the work and save the state to shared storage, as this level of a checkpoint.
        Return whether this part is over already, and the number of the last event."""

    def send_images(self, cause: int) -> None:
        """Have all members send their images to the master. `cause` is the number of the event that
        leads to it."""


@message
class CheckpointDue:
    """A job tells itself that a checkpoint which this copy's run takes while it computes is
    complete now, as its time has passed."""

    copy: int
    run: int


@define(eq=False)
class Saving:
    """Takes the checkpoints of one run by interrupting its work: the run stands still until a
    checkpoint is complete. The subclass `SavingBeside` lets it compute on, `CountedSaving` has
    checkpoints that cost nothing, and `ContinuousSaving` has them all the time."""

    plan: Plan
    counts: float = field(init=False, default=0)
    """Work between two checkpoints that are counted by arithmetic when the present computing ends;
    0: none are."""
    pace: float = field(init=False, default=1)
    """Part of the members' speed at which the run works; below 1 while a checkpoint slows it
    down."""
    under_way: Beside | None = field(init=False, default=None)
    """The checkpoint that is taken while the run works on; None: there is none."""

    def heeds_notice(self, run: Saver) -> bool:
        """Return whether an owner's notice, that it will take a member DOWN, makes a checkpoint due
        now. It does if the protection asks for that (`on_notice`), the run has computed since its
        last checkpoint, and the run does not stand still for a reason that is not known yet, such
        as a fault or a hang (O1, F1, F6)."""
        if not self.plan.rules.on_notice or run.owner.doubts(run.copy):
            return False
        return run.part.at(run.actor.now) > 0

    def counts_by(self, period: float) -> bool:
        """Return whether checkpoints that fall due every `period` of work from now on are counted
        by arithmetic, so that the run computes to the end of its work."""
        return False

    def count(self, run: Any, cause: int) -> None:
        """Count the checkpoints that have fallen due since the present computing began, if they are
        counted by arithmetic. `cause` is the number of the event that leads to it."""

    def begin(self, run: Saver, cause: int) -> Answer:
        """Begin a checkpoint of the run that is due, once the verification before it, if there is
        one, has ended. Return whether the part that begins is over already, and the number of the
        last event."""
        if self._shares(FIRST):
            return run.store(FIRST, cause)
        return run.stand_still(FIRST, self.plan.cost, cause)

    def complete(self, run: Saver, level: Level, cause: int) -> Answer:
        """Record that this level of a checkpoint, for which the run stands still, is complete; then
        begin the second level if this checkpoint has one, else compute on. Return whether the part
        that begins is over already, and the number of the last event."""
        cause = self._keep(run, run.state(run.actor.now), level, cause)
        if self._goes_on(run, level):
            if self._shares(SECOND):
                return run.store(SECOND, cause)
            return run.stand_still(SECOND, self.plan.rules.time_to_store, cause)
        return run.compute(cause)

    def complete_beside(self, run: Saver, cause: int) -> int:
        """Record that a level of the checkpoint that is taken while the run computes is complete.
        Return the number (seq) of the last event that follows. A run that stands still for
        checkpoints has none: this is then an error of the program."""
        raise AssertionError("a run stands still while this protection saves its state")

    def members_changed(self, run: Saver, cause: int) -> None:
        """Let the time of the checkpoint that is taken while the run computes pass only while all
        members are UP, as members have changed state. `cause` is the number of the event that logs
        the change."""

    def drop(self, run: Saver) -> None:
        """Give up the checkpoint that is taken while the run computes, if there is one, as the run
        ends."""

    def _keep(self, run: Saver, state: State, level: Level, cause: int) -> int:
        copy = run.copy
        if level is SECOND:
            run.owner.stored(run, state)
            cause = run.record(cause, CheckpointStored, state.done)
        else:
            copy.taken += 1
            cause = run.record(cause, CheckpointTaken, state.done)
            run.owner.saved(run, state, cause)
        if run.client is not None:
            run.client.end(run, cause)
        return cause

    def _shares(self, level: Level) -> bool:
        """Return whether this level of a checkpoint goes to shared storage (S1)."""
        rules = self.plan.rules
        if rules.bytes is None:
            return False
        return level is SECOND or rules.kind is ProtectionKind.IMAGES

    def _goes_on(self, run: Saver, level: Level) -> bool:
        """Return whether a checkpoint whose level `level` is complete is sent to the master too, as
        its second level. With `images_every` = k each k-th one is, counted over all runs of the
        copy (P9)."""
        every = self.plan.rules.images_every
        return level is FIRST and every is not None and run.copy.taken % every == 0


@define(eq=False)
class SavingBeside(Saving):
    """Takes the checkpoints of one run while the run computes on, at a rate reduced by `slowdown`
    (P8)."""

    def begin(self, run: Saver, cause: int) -> Answer:
        state = run.state(run.actor.now)
        cause = run.record(cause, CheckpointStarted, run.base)
        return run.compute(self._start(run, state, FIRST, self.plan.cost, cause))

    def _start(self, run: Saver, state: State, level: Level, cost: float | None, cause: int) -> int:
        due = CheckpointDue(run.copy.number, run.number)
        self.under_way = beside = Beside(due, state, level)
        self.pace = 1 - self.plan.rules.slowdown
        if self._shares(level):
            size = self.plan.rules.bytes
            if not size:
                return self.complete_beside(run, cause)
            assert run.client is not None
            beside.part = Progress(size, 0, 0, run.actor.now)
            run.client.begin(run, beside.part, partial(beside.aim, run.actor), cause)
        elif cost is None:
            run.send_images(cause)
        elif cost:
            beside.begin(run.actor, cost, run.passes, cause)
        else:
            return self.complete_beside(run, cause)
        return cause

    def complete_beside(self, run: Saver, cause: int) -> int:
        """Record that a level of the checkpoint under way is complete. The second level, if there
        is one, begins at once and saves the same state. Return the number (seq) of the last event
        that follows."""
        beside = self.under_way
        assert beside is not None
        self.drop(run)
        cause = self._keep(run, beside.state, beside.level, cause)
        if self._goes_on(run, beside.level):
            cause = run.record(cause, CheckpointStarted, beside.state.done)
            cost = self.plan.rules.time_to_store
            return self._start(run, beside.state, SECOND, cost, cause)
        return cause

    def members_changed(self, run: Saver, cause: int) -> None:
        if self.under_way is not None and not self._shares(self.under_way.level):
            self.under_way.pass_on(run.actor, run.passes, cause)

    def drop(self, run: Saver) -> None:
        if self.under_way is not None:
            self.under_way.stop(run.actor)
            self.under_way, self.pace = None, 1


@define(eq=False)
class Beside(PartBeside):
    """A checkpoint that is taken while its run computes. It is complete when all members have sent
    their images or its bytes have passed to shared storage, or after a time that passes only while
    all members are UP (P8)."""

    state: State
    """The state that the checkpoint saves."""
    level: Level


class Counted(Saver, Protocol):
    """A run whose checkpoints cost nothing, so that they are counted by arithmetic, without an
    event for each."""

    work: float
    exposed: float
    reach: float
    """Work done when the present computing ends."""

    def exposure(self, now: float) -> float:
        """Return workers x computing time since the last verified point, at `now` (R3)."""


@define(eq=False)
class CountedSaving(Saving):
    """Takes the checkpoints of one run by arithmetic, without an event for each: they cost nothing,
    and neither the log nor another actor needs to know of each."""

    def counts_by(self, period: float) -> bool:
        self.counts = period
        return True

    def count(self, run: Counted, cause: int) -> None:
        """Count the checkpoints that take no time and have fallen due since the present computing
        began, and store the state of the last one. From then on the run goes on as if that one had
        just been taken. `cause` is the number of the event that leads to it."""
        period, part, now = self.counts, run.part, run.actor.now
        self.counts, done = 0, part.at(now)
        # No checkpoint is taken when no work would be left after it (P7).
        most = math.ceil((run.work * (1 - ROUNDING) - run.base) / period) - 1
        count = max(min(math.floor(done / period * (1 + ROUNDING)), most), 0)
        exposed = run.exposure(now)
        run.base += count * period
        if count:
            at = part.since + count * period / part.rate if part.rate else now
            cause = run.record(cause, CheckpointTaken, run.base)
            # Events count as if each checkpoint were logged, and the stage that follows it.
            run.actor.system.journal.count(2 * count - 1)
            run.copy.taken += count
            state = State(run.number, run.base, run.work, run.exposure(at))
            run.owner.saved(run, state, cause)
        run.exposed, run.reach = exposed, run.work if count == most else run.base + period
        run.part = Progress(run.reach - run.base, done - count * period, part.rate, now)


class Stopped(Saver, Protocol):
    """A run that is over, or whose computing is, at the present instant."""

    stage: Stage


@define(eq=False)
class ContinuousSaving(Saving):
    """Saves the state of one run all the time, at no cost and without an event: what it has
    computed when it ends, or when its computing does, is saved."""

    def counts_by(self, period: float) -> bool:
        self.counts = math.inf
        return True

    def count(self, run: Stopped, cause: int) -> None:
        """Store the state of the run as it is now, if it computes and has computed anything."""
        state = run.state(run.actor.now)
        if run.stage is Stage.COMPUTING and state.done:
            run.owner.saved(run, state, cause)
