"""The life of a malleable application."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Life(enum.Enum):
    """States of an application."""

    WAITING = "waiting for processors"
    COMPUTING = "computing"
    CHECKPOINTING = "checkpointing"
    STRUCK = "struck by a fault, waiting for the scheduler's answer"
    DOWN = "down"
    RECOVERING = "recovering"
    REDISTRIBUTING = "redistributing"
    CLOSING = "closing a redistribution by a checkpoint"
    ENDED = "ended"


_STRUCK = frozenset((Life.STRUCK,))

TRANSITIONS: Mapping[Life, frozenset[Life]] = {
    Life.WAITING: frozenset((Life.COMPUTING,)),
    Life.COMPUTING: frozenset((Life.CHECKPOINTING, Life.REDISTRIBUTING, Life.ENDED)) | _STRUCK,
    Life.CHECKPOINTING: frozenset((Life.COMPUTING, Life.REDISTRIBUTING)) | _STRUCK,
    Life.STRUCK: frozenset((Life.DOWN,)),
    Life.DOWN: frozenset((Life.RECOVERING,)) | _STRUCK,
    Life.RECOVERING: frozenset((Life.COMPUTING, Life.REDISTRIBUTING)) | _STRUCK,
    Life.REDISTRIBUTING: frozenset((Life.CLOSING, Life.COMPUTING)) | _STRUCK,
    Life.CLOSING: frozenset((Life.COMPUTING,)) | _STRUCK,
    Life.ENDED: frozenset(),
}
