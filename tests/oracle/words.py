"""What the rules tell apart by name."""

from __future__ import annotations

from enum import Enum, StrEnum, auto


class Protection(Enum):
    """How a job is kept from harm, as scenarios write it."""

    NONE = None
    BUDDIES = "buddies"
    IMAGES = "images"


class Part(Enum):
    """What a run goes through, in this order but for checkpoints, which interrupt computing."""

    STARTUP = auto()
    """Choosing its workers, and starting up (R5)."""
    MESSAGES = auto()
    LOADING = auto()
    """From shared storage (S1)."""
    RECOVERY = auto()
    """Or a clone's delay."""
    COMPUTING = auto()
    VERIFICATION = auto()
    """The one before a checkpoint."""
    CHECKPOINT = auto()
    FINAL = auto()
    """The last verification."""


class Source(Enum):
    """Where a run begins from."""

    SCRATCH = auto()
    IMAGE = auto()
    CLONE = auto()
    KEPT = auto()
    """What its members keep, be it nothing."""
    KEPT_IMAGE = auto()
    """What the master keeps of this copy."""


class Outcome(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    LOST = "lost"
    WITHDRAWN = "withdrawn"


class Cargo(StrEnum):
    """What a message carries."""

    PROGRAM = "program"
    DATA = "data"
    IMAGE = "image"
    SAVE = "save"


class Use(StrEnum):
    """Where a worker's time went, in the ledger's order."""

    USEFUL = "useful"
    LOST = "lost"
    REDUNDANT = "redundant"
    STARTUP = "startup"
    CHECKPOINT = "checkpoint"
    RECOVERY = "recovery"
    VERIFICATION = "verification"
    TRANSFER = "transfer"
    WAITING = "waiting"
    IDLE = "idle"
    RECLAIMED = "reclaimed"
    DOWN = "down"


SPENT = {
    Part.STARTUP: Use.STARTUP,
    Part.LOADING: Use.RECOVERY,
    Part.RECOVERY: Use.RECOVERY,
    Part.VERIFICATION: Use.VERIFICATION,
    Part.FINAL: Use.VERIFICATION,
}
"""What a member's time goes to while such a part advances."""
