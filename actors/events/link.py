"""What the master's channels carry (WORLD.md, L1 to L4)."""

from __future__ import annotations

import enum
from typing import Annotated

from attrs import frozen

from actors.events.quantities import JobName, Quantity, RunNumber, Time, WorkerNumber
from actors.runtime import Event


class TransferKind(enum.Enum):
    """What a message carries."""

    PROGRAM = "program"
    DATA = "data"
    """One unit of it."""
    IMAGE = "image"
    """A saved state, or a clone's state, fetched from the master."""
    SAVE = "save"
    """A checkpoint, sent to the master."""


@frozen
class LinkDescribed(Event):
    """The master's bounded multi-port link; once, at the start."""

    channels: Annotated[int, Quantity("channels")]
    """n_com: messages under way at once, in both directions together."""
    order: str = "started-first"
    """Who is served first: `started-first`, `longest-first`, as a `timetable` says, by which a
    channel may stay free, or by `module:Name` of a program's own."""


@frozen
class TransferStarted(Event):
    """A worker holds one of the master's channels from now on."""

    worker: WorkerNumber
    job: JobName
    run: RunNumber
    kind: TransferKind
    """What the message is."""
    left: Time
    """Time that this message still takes."""


@frozen
class TransferSuspended(Event):
    """A worker holds no channel any more; what has passed of the message is kept."""

    worker: WorkerNumber
    kind: TransferKind
    """What the message is."""
    left: Time
    """Time of a channel that the message still takes."""


@frozen
class TransferEnded(Event):
    """A message has passed whole."""

    worker: WorkerNumber
    kind: TransferKind
    """What the message is."""


@frozen
class TransferDropped(Event):
    """What has passed of a message is lost: its run ended first, or its worker went DOWN."""

    worker: WorkerNumber
    kind: TransferKind
    """What the message is."""


VOCABULARY: tuple[type[Event], ...] = (
    LinkDescribed,
    TransferStarted,
    TransferSuspended,
    TransferEnded,
    TransferDropped,
)
