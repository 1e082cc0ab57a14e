"""Limits on virtual time and on the makespan, set by the user."""

from __future__ import annotations

from attrs import define, frozen

from actors.events import End
from actors.messages import CapReached
from actors.runtime import Actor, Phase, handles


@frozen
class TimeIsUp:
    """To itself."""


@define(eq=False)
class TimeLimit(Actor):
    """Ends the run, as CAPPED, once all that happens at this time has happened."""

    time: float

    def started(self) -> None:
        self.at(self.time, TimeIsUp(), self.system.origin, Phase.SERVICE)

    @handles(TimeIsUp)
    def end(self, _: TimeIsUp, cause: int) -> None:
        self.system.finish(cause, End.CAPPED)


@define(eq=False)
class Cap(Actor):
    """Ends the run, as CAPPED, at a makespan at which it counts as failed: work that ends then is
    complete, nothing is decided, and what runs is cancelled."""

    time: float
    scheduler: Actor

    def started(self) -> None:
        self.at(self.time, TimeIsUp(), self.system.origin, Phase.DECISION)

    @handles(TimeIsUp)
    def end(self, _: TimeIsUp, cause: int) -> None:
        self.send(self.scheduler, CapReached(), cause)
