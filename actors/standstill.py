"""Halts a run though its members are UP: while a member hangs, and while the run pauses (rules.md,
F6)."""

from __future__ import annotations

import enum
from typing import Protocol

from attrs import define, field

from actors.events import BY_MESSAGES, Stage
from actors.progress import PartBeside
from actors.protection.saving import Saving
from actors.runtime import NOTHING, Actor, UnexpectedMessage
from actors.steps import FREED, GOES_ON, HANGS, PAUSES, READY, Stimulus


class Halt(enum.IntEnum):
    """State of a run beside its step: it can stand still in every step, though its members are UP.
    While it is halted, its last awaited message does not make it go on."""

    MOVING = 0
    HUNG = 1
    """A member hangs (rules.md, F6)."""
    PAUSED = 2
    """The run pauses, for as long as its job says."""
    HUNG_PAUSED = 3
    """Both: the time of the pause does not pass either."""


MOVING, HUNG, PAUSED, HUNG_PAUSED = Halt
HALTS = {
    (MOVING, HANGS): HUNG,
    (MOVING, PAUSES): PAUSED,
    (HUNG, FREED): MOVING,
    (HUNG, PAUSES): HUNG_PAUSED,
    (PAUSED, HANGS): HUNG_PAUSED,
    (PAUSED, PAUSES): PAUSED,
    (PAUSED, GOES_ON): MOVING,
    (HUNG_PAUSED, FREED): PAUSED,
    (HUNG_PAUSED, PAUSES): HUNG_PAUSED,
    (HUNG_PAUSED, GOES_ON): HUNG,
}
"""Maps a halt and a stimulus to the halt that follows; any other pair is an error."""


class HaltedRun(Protocol):
    """A run, as far as what keeps it standing still uses it."""

    actor: Actor
    number: int
    stage: Stage
    saving: Saving
    missing: set[int]

    @property
    def whole(self) -> bool:
        """Whether all members that the run computes on are UP, and none hangs."""

    def review(self, cause: int) -> int:
        """Go on, or stand still, as now follows from the members and what halts the run."""

    def react(self, stimulus: Stimulus, cause: int) -> int:
        """Answer a stimulus as the run's present step does."""


@define(eq=False)
class Standstill:
    """Keeps what halts one run: that a member hangs, and that the run pauses. It comes into being
    when one of them happens first, as most runs never stand still."""

    run: HaltedRun
    halt: Halt = field(init=False, default=MOVING)
    """State of the run, by `HALTS`."""
    pause: PartBeside | None = field(init=False, default=None)
    """The run's pause; None: it does not pause, or only for this instant."""

    @property
    def pauses(self) -> bool:
        """Whether the run pauses, be it for this instant only."""
        return bool(self.halt & Halt.PAUSED)

    def stop(self, stimulus: Stimulus, cause: int) -> int:
        """Have the run advance no more, because a member hangs (HANGS) or the run pauses (PAUSES),
        until FREED and `go_on` follow; messages of members go on. `cause` is the number of the
        event that leads to it; return that of the last event that follows."""
        self.turn(stimulus)
        return self.run.review(cause)

    def turn(self, stimulus: Stimulus) -> None:
        """Change by the table `HALTS` whether the run is halted. Raises UnexpectedMessage where the
        table has no row, as for a hang of a run that hangs."""
        halt = HALTS.get((self.halt, stimulus))
        if halt is None:
            run = f"run {self.run.number} of {self.run.actor.name} in {self.halt.name}"
            raise UnexpectedMessage(f"{run} does not expect {stimulus.name}")
        self.halt = halt

    def rest(self, due: object, length: float, cause: int) -> None:
        """Pause for `length` time units, which pass only while all members are UP and none hangs.
        `due` is the message by which the job tells itself that the pause is over, and `cause` the
        number of the event that logs it."""
        self.pause = PartBeside(due)
        self.pause.begin(self.run.actor, length, self.run.whole, cause)

    def members_changed(self, cause: int) -> None:
        """Let the time of the pause pass or stand still, as members have changed state by the event
        numbered `cause`."""
        if self.pause is not None:
            self.pause.pass_on(self.run.actor, self.run.whole, cause)

    def end_pause(self) -> int:
        """Forget the run's pause, if it pauses. Return the number of the event for which its timer
        was last set."""
        pause, self.pause = self.pause, None
        if pause is None:
            return NOTHING
        pause.stop(self.run.actor)
        return pause.cause

    def go_on(self, cause: int) -> int:
        """End the pause, and have the run advance again. If the last awaited message has ended
        during the pause, the run's present part ends now. `cause` is the number of the event that
        leads to it; return that of the last event that follows."""
        self.turn(GOES_ON)
        run = self.run
        cause = run.review(cause)
        beside = run.saving.under_way
        sends = beside is not None and beside.part is None
        # If the last message has ended during the pause, the part ends only now.
        awaited = not (run.missing or self.halt) and (sends or run.stage in BY_MESSAGES)
        return run.react(READY, cause) if awaited else cause
