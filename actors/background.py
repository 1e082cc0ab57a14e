"""A checkpoint that does not block its run (WORLD.md, P8)."""

from __future__ import annotations

from attrs import define, field

from actors.plan import State
from actors.progress import Progress
from actors.runtime import Actor, Phase, Timer, message


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
