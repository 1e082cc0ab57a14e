"""Colours of what is drawn: Okabe and Ito's and some between, told apart with any colour vision."""

from __future__ import annotations

from attrs import frozen

from actors.events import Outcome
from actors.events import TransferKind as Kind
from sims.ledger import Use

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE, GREY = "#FFD92F", "#0072B2", "#D55E00", "#CC79A7", "#BBBBBB"
MINT, BROWN, SAND, WHITE, MIST = "#A8EBD6", "#6B3E12", "#F5E6B3", "#FFFFFF", "#E4E4E4"
COAL, VIOLET, LEAF = "#303030", "#8040E0", "#C0F0C0"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)

PROGRAM, IMAGE, SAVE = (kind.value for kind in (Kind.PROGRAM, Kind.IMAGE, Kind.SAVE))
"""Notes of the slices in which a worker's message is no data."""


@frozen
class Paint:
    """How one kind of box is drawn."""

    label: str
    colour: str
    state: bool = False
    """A worker's state: drawn as background, behind what it does."""


USES: dict[Use, Paint] = {
    Use.USEFUL: Paint("useful", GREEN),
    Use.LOST: Paint("lost work", VERMILION),
    Use.CHECKPOINT: Paint("checkpoint", BLUE),
    Use.RECOVERY: Paint("recovery", PURPLE),
    Use.REDISTRIBUTION: Paint("redistribution", BROWN),
    Use.TRANSFER: Paint("transfer (data)", SKY),
    Use.WAITING: Paint("waiting", SAND),
    Use.REDUNDANT: Paint("redundant", MINT),
    Use.VERIFICATION: Paint("verification", YELLOW),
    Use.IDLE: Paint("idle", WHITE),
    Use.RECLAIMED: Paint("RECLAIMED", GREY, state=True),
    Use.DOWN: Paint("DOWN", COAL, state=True),
}
PROGRAMS, IMAGES = Paint("transfer (program)", ORANGE), Paint("transfer (image)", VIOLET)
MESSAGES: dict[str, Paint] = {PROGRAM: PROGRAMS, IMAGE: IMAGES, SAVE: IMAGES}
"""By the slices' note, where that is no data."""

USE_PAINTS: tuple[Paint, ...] = (*USES.values(), PROGRAMS, IMAGES)
"""A box's kind is an index here."""

KIND: dict[Use, int] = {use: k for k, use in enumerate(USES)}


def kind_of(use: Use, note: str) -> int:
    """Index in USE_PAINTS of a slice."""
    return USE_PAINTS.index(MESSAGES[note]) if note in MESSAGES else KIND[use]


OUTCOMES: dict[Outcome | None, Paint] = {
    Outcome.COMPLETED: Paint("completed", GREEN),
    Outcome.FAILED: Paint("failed: an error was found", VERMILION),
    Outcome.LOST: Paint("lost: a worker went DOWN", PURPLE),
    Outcome.CANCELLED: Paint("cancelled", SKY),
    None: Paint("still going on", ORANGE),
}
WENT_ON = Paint("cancelled, its work went on in another run", LEAF)
IN_SYSTEM = Paint("in the system", MIST, state=True)

RUN_PAINTS: tuple[Paint, ...] = (*OUTCOMES.values(), WENT_ON, IN_SYSTEM)
RUN_KIND: dict[Outcome | None, int] = {outcome: k for k, outcome in enumerate(OUTCOMES)}
