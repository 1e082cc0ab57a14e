"""Colours of what is drawn: Okabe and Ito's and some between, told apart with any colour vision."""

from __future__ import annotations

import enum

from attrs import frozen

from actors.events import Outcome
from actors.events import TransferKind as Kind
from sims.ledger import Use

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE, GREY = "#FFD92F", "#0072B2", "#D55E00", "#CC79A7", "#BBBBBB"
MINT, BROWN, SAND, WHITE, MIST = "#A8EBD6", "#6B3E12", "#F5E6B3", "#FFFFFF", "#E4E4E4"
COAL, VIOLET, LEAF = "#303030", "#8040E0", "#C0F0C0"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)


@frozen
class Paint:
    """How one kind of box is drawn."""

    label: str
    colour: str
    state: bool = False
    """A worker's state: drawn as background, behind what it does."""
    marker: str = ""
    """Of a sign, as matplotlib calls it; the shape alone tells signs apart."""
    glyph: str = ""
    """The same, as bokeh calls it."""


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
MESSAGES: dict[str, Paint] = {
    Kind.PROGRAM.value: Paint("transfer (program)", ORANGE),
    Kind.IMAGE.value: Paint("transfer (image)", VIOLET),
    Kind.SAVE.value: Paint("transfer (image)", VIOLET),
}
"""By the slices' note, where that is no data."""

USE_PAINTS: tuple[Paint, ...] = (*USES.values(), *MESSAGES.values())
"""A box's kind is an index here."""

_KINDS: tuple[Use | str, ...] = (*USES, *MESSAGES)
KIND = {it: kind for kind, it in enumerate(_KINDS)}
"""Of a use, or of a message."""
USE_OF = tuple(it if isinstance(it, Use) else Use.TRANSFER for it in _KINDS)
"""Of a box's kind."""

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


class Sign(enum.IntEnum):
    """What happens at one instant."""

    ERROR = 0
    CRASH = 1
    FAULT = 2
    """DOWN by a fault, or while held, and no run was lost by it."""
    IGNORED = 3
    FATAL = 4
    CHECKPOINT = 5


SIGNS: dict[int, Paint] = {
    Sign.ERROR: Paint("silent error found", BLACK, marker="x", glyph="x"),
    Sign.CRASH: Paint("DOWN, run lost", VERMILION, marker="v", glyph="inverted_triangle"),
    Sign.FAULT: Paint("fault", VERMILION, marker="X", glyph="diamond"),
    Sign.IGNORED: Paint("fault without effect", BLUE, marker="+", glyph="cross"),
    Sign.FATAL: Paint("checkpoint lost", PURPLE, marker="*", glyph="star"),
    Sign.CHECKPOINT: Paint("checkpoint", BLUE, marker="o", glyph="circle"),
}
