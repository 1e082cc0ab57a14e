"""What batch schedulers and their jobs say to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.events import Outcome
from actors.runtime import message

if TYPE_CHECKING:
    from actors.batch.job import Job


@message
class Arrive:
    """A job to itself: the release time has come."""


@message
class Submit:
    """Job to scheduler: schedule me."""

    job: Job


@message
class StartAttempt:
    """Scheduler to job: run one attempt now on these processors."""

    processors: int
    numbers: str
    """Their interval set; empty where no log wants it."""


@message
class AttemptOver:
    """A job to itself: the attempt and its verification have run their time."""


@message
class LoseAttempt:
    """Scheduler to job: a processor of your attempt went DOWN."""


@message
class LimitReached:
    """A job to itself: it has used up the user's estimate, and the scenario kills such jobs."""


@message
class AttemptEnded:
    """Job to scheduler: the processors are yours again."""

    index: int
    """The job's."""
    outcome: Outcome


@message
class RepairDue:
    """The hazard to itself: this processor's downtime is over."""

    processor: int


@message
class ProcessorWentDown:
    """Hazard to scheduler: it runs nothing any more."""

    processor: int
    until: float


@message
class ProcessorCameBack:
    """Hazard to scheduler: it is free again."""

    processor: int


@message
class Decide:
    """The scheduler to itself: all that ends or arrives now has been heard."""
