"""What malleable applications, processors and their scheduler say to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.runtime import message

if TYPE_CHECKING:
    from actors.malleable.application import Application
    from actors.malleable.processor import Processor
    from actors.malleable.standing import Standing


# --- application and scheduler -----------------------------------------------------------------


@message
class Submit:
    """Application to scheduler: schedule me."""

    application: Application


@message
class Hold:
    """Scheduler to application: from now on you hold these as well, and those no more."""

    gained: tuple[Processor, ...]
    lost: tuple[Processor, ...]
    numbers: str
    """Interval set of all processors that are its own now; empty where no log wants it."""


@message
class CarryOn:
    """Scheduler to a struck application: recover on the processors that you have."""

    numbers: str


@message
class Promise:
    """Scheduler to application: your processors are promised to others; finish on them."""

    numbers: str


@message
class Joined:
    """Scheduler to application: promised processors are free now."""

    numbers: str


@message
class Settled:
    """Application to scheduler: where I stand, with the processors that you gave me."""

    standing: Standing


@message
class Struck:
    """Application to scheduler: a fault; what am I to do?"""

    standing: Standing


@message
class Ended:
    """Application to scheduler: all work is done, the processors are yours again."""

    index: int


@message
class Decide:
    """The scheduler to itself: all that ends or is struck now has been heard."""


# --- an application to itself --------------------------------------------------------------------


@message
class CheckpointDue:
    """A period's work is done."""


@message
class StageOver:
    """A checkpoint, downtime, recovery or redistribution has run its time."""


@message
class WorkDone:
    """All work is done."""


# --- processors ----------------------------------------------------------------------------------


@message
class Strike:
    """Hazard to processor: you fail."""


@message
class MemberStruck:
    """Processor to application: I was struck."""

    processor: Processor


@message
class Join:
    """Application to processor: you are mine."""

    application: Application


@message
class Leave:
    """Application to processor: you are free."""


@message
class Save:
    """Application to processor: this checkpoint is complete."""

    checkpoint: int


@message
class Keep:
    """Processor to buddy: the copy of my checkpoint."""

    checkpoint: int | None


@message
class Wipe:
    """Application to processor: your memory is lost."""


@message
class Forget:
    """Application to processor: the checkpoints are worth nothing any more."""


@message
class BuddyWiped:
    """Processor to buddy: I lost your copy."""

    processor: Processor


@message
class CopyLost:
    """Processor to application: what I lost, my buddy had too; now it has lost it as well."""

    processor: int
    buddy: int


@message
class Fetch:
    """Application to processor: have both copies sent to you again."""


@message
class SendBack:
    """Struck processor to buddy: send me my checkpoint and yours."""

    processor: Processor


@message
class Returned:
    """Buddy to struck processor: your checkpoint."""

    checkpoint: int | None
    buddy: int
