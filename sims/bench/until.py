"""An actor that ends a benchmark's run."""

from __future__ import annotations

from attrs import define

from actors.runtime import Actor, handles, message


@message
class Over:
    """The time is up."""


@define(eq=False)
class StopAt(Actor):
    """Ends the run at time `end`."""

    end: float

    def started(self) -> None:
        self.at(self.end, Over())

    @handles(Over)
    def stop_run(self, _: Over) -> None:
        self.system.finish()
