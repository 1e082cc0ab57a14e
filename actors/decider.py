"""What a scheduler asks of whoever decides for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from actors.messages import CopyOver, Stood
from policies.availability import WorkerState

if TYPE_CHECKING:
    from actors.job import Job
    from actors.scheduler import Scheduler


class Decider(Protocol):
    """What differs between schedulers: it keeps its books, asks its policies, and answers by
    calling the scheduler's `start_some`, `start_on` and `withdraw`."""

    def attach(self, scheduler: Scheduler) -> None:
        """Called once, before anything else."""

    def submitted(self, job: Job) -> None:
        """A job asks to be scheduled."""

    def over(self, message: CopyOver) -> None:
        """A copy has given its workers back; they are free already."""

    def changed(self, worker: int, state: WorkerState, until: float | None) -> bool:
        """A worker changed state, and the pool knows; whether that calls for a decision."""

    def programmed(self, worker: int, label: str) -> bool:
        """A worker holds this program now; whether that calls for a decision."""

    def stood(self, message: Stood) -> None:
        """A malleable job tells where it stands."""

    def sped(self, worker: int, speed: float) -> None:
        """A worker changed speed, and the pool knows."""

    def woken(self) -> bool:
        """Whether a wake-up call counts: False for one of a decision since replaced, or in an
        instant decided on."""

    def decide(self) -> None:
        """All of this instant is known."""
