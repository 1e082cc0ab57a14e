"""What the master's channels carry (WORLD.md, L1 to L4)."""

from __future__ import annotations

import enum

from attrs import frozen

from actors.runtime import Event


class TransferKind(enum.Enum):
    """What a message is."""

    PROGRAM = "program"
    DATA = "data"
    """One unit of it."""
    IMAGE = "image"
    """A saved state, or a clone's, fetched."""
    SAVE = "save"
    """A state, sent to the master."""


@frozen
class LinkDescribed(Event):
    """The master's bounded multi-port link; once, at the start."""

    channels: int
    """n_com: messages under way at once, in both directions together."""


@frozen
class TransferStarted(Event):
    """A worker holds one of the master's channels from now on."""

    worker: int
    job: str
    run: int
    kind: TransferKind
    left: float
    """Time that this message still takes."""


@frozen
class TransferSuspended(Event):
    """A worker holds no channel any more; what has passed of the message is kept."""

    worker: int
    kind: TransferKind
    left: float


@frozen
class TransferEnded(Event):
    """A message has passed whole."""

    worker: int
    kind: TransferKind


@frozen
class TransferDropped(Event):
    """What has passed of a message is lost: its run ended first, or its worker went DOWN."""

    worker: int
    kind: TransferKind


VOCABULARY: tuple[type[Event], ...] = (
    LinkDescribed,
    TransferStarted,
    TransferSuspended,
    TransferEnded,
    TransferDropped,
)
