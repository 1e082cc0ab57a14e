"""What the audit knows of one worker: its state, its memory, and the message that passes."""

from __future__ import annotations

from collections.abc import Callable

from attrs import Factory, define

from actors.events import TransferKind
from policies.availability import WorkerState
from sims.audit.facts import UP, Run
from sims.audit.turns import Script, Teller, Timer


@define(eq=False)
class Worker(Teller):
    """One to which something has happened; others are UP, at speed 1."""

    number: int
    state: WorkerState = UP
    seq: int = 0
    """What changed its state last."""
    until: float | None = None
    """When a fault's downtime is over."""
    changed: float = -1
    """When its state did last."""
    away: tuple[float, int] | None = None
    """When it went DOWN first since it was UP, and seq of that."""
    lead: float | None = None
    """How long before it goes DOWN its owner says so."""
    told: list[float] = Factory(list)
    """When it goes DOWN, as its owner has said."""
    back: float = 0
    """When it ceased to be DOWN last."""
    known: bool = False
    """Whether a state of it has been told."""
    struck: Callable[[bool], Script] | None = None
    """What a fault without a downtime leads to, once it is known whether somebody hears of it."""
    speed: float = 1
    programs: set[str] = Factory(set)
    data: int = 0
    image: bool = False
    kind: TransferKind | None = None
    """Of the message of which a part has passed or is passing."""
    left: float = 0
    """Of it, at `since`."""
    since: float = 0
    passing: Timer | None = None
    """Its end, while it passes."""
    sent: int = -1
    """seq of its TransferStarted."""
    run: Run | None = None
    """That it fetches for."""
    fetches: bool = False
    """Whether the run continues from an image of the master's."""
    saving: bool = False
    wanted: tuple[float, int] = -1.0, -1
    """Since when, and since which event, it has wanted the message that it wants."""

    @property
    def lost(self) -> bool:
        """Whether its message only keeps its channel, as nobody has heard that it went DOWN."""
        return self.passing is not None and not self.passing.live

    def leave(self) -> None:
        """Complete programs are what leaving a run leaves."""
        self.data, self.image = 0, False
