"""Who has something to tell at an instant of a log: phases, turns and timers."""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator
from typing import Any

from attrs import define, field

from actors.events import Outcome, RunEnded, TransferDropped, TransferSuspended
from actors.runtime import Event
from sims.audit.law import fits

Script = Generator[Any, Any, Any]
"""What must be told, line after line: it yields (event, causes) and gets that line's seq; or None,
and gets the event that comes next, to go by what nothing in the world decides; or what it waits
for, and goes on when that is over; or another script, which goes on in its place."""


class Phase(enum.IntEnum):
    """What comes first within an instant (WORLD.md, One instant)."""

    MESSAGES = 0
    PARTS = 1
    RUNS = 2
    STATES = 3
    RESUME = 4
    DECISION = 5


@define(eq=False)
class Turn:
    """A script whose turn it is to tell."""

    phase: int
    script: Script
    want: Any


@define(eq=False)
class Teller:
    """A job or a worker: what it has to tell at this instant, one thing after the other."""

    turns: list[tuple[int, int, int, Callable[[], Script | None]]] = field(init=False, factory=list)
    """(phase, number, order, what makes the script), the first first."""
    front: Turn | None = field(init=False, default=None)
    """What it must tell next."""

    def may_tell(self, event: Event) -> bool:
        """Whether this may be what it has to tell now."""
        if self.front is None:
            return bool(self.turns)
        return self.front.want is None or fits(self.front.want[0], event)


@define(eq=False)
class Timer:
    """When something is due."""

    due: float
    phase: int
    teller: Teller
    number: int
    make: Callable[[], Script | None]
    live: bool = True


@define(eq=False)
class Parked:
    """What a script waits for."""

    script: Script | None = field(init=False, default=None)

    def take(self) -> Script | None:
        """That script, which goes on now: once, whoever else has seen that the wait is over."""
        script, self.script = self.script, None
        return script


def cancels(event: Event) -> bool:
    """Whether a run or a message ends here before its time."""
    if isinstance(event, RunEnded):
        return event.outcome in (Outcome.LOST, Outcome.CANCELLED)
    return isinstance(event, TransferDropped | TransferSuspended)
