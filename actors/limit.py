"""The end of a run that its user sets, whatever runs."""

from __future__ import annotations

from attrs import define, frozen

from actors.events import End
from actors.runtime import Actor, Phase, handles


@frozen
class LimitReached:
    """To itself."""


@define(eq=False)
class TimeLimit(Actor):
    """Ends the run, as CAPPED, once all that happens at this time has happened."""

    time: float

    def started(self) -> None:
        self.at(self.time, LimitReached(), Phase.SERVICE)

    @handles(LimitReached)
    def end(self, _: LimitReached) -> None:
        self.system.finish(End.CAPPED)
