"""Context that the functions need which put an event of one job into words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from actors.events import ScenarioStarted
from actors.runtime import Event
from sims.telling import Clock, worker_of

if TYPE_CHECKING:  # a summary needs no history
    from sims.history.reader import Run


@frozen
class About:
    """Context for putting an event of one job into words."""

    job: str
    started: ScenarioStarted
    clock: Clock
    run: Run | None
    """The run that the event names, if any."""

    def worker(self, number: int) -> str:
        """Return how a trace names worker number `number`."""
        return worker_of(self.started, number)


Words = Mapping[type[Event], Callable[[Any, About], str | None]]
"""Maps event classes to functions that put the event into words; None as their result means that
there is nothing to say of it."""
Acts = Mapping[type[Event], Callable[[Any, ScenarioStarted], str]]
"""Maps events of what an agent does to functions that put them into words."""
