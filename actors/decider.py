"""What differs between schedulers: who decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.intervals import Intervals
from actors.messages import CopyOver, ProgressReport, RunProgress, StateSaved
from policies.availability import WorkerState
from policies.interface.queue import BatchJob

if TYPE_CHECKING:
    from actors.scheduler import Scheduler


class Decider:
    """What differs between schedulers: it keeps its books, asks its policies, and answers by
    calling the scheduler's `start_some`, `start_on`, `resize` and `cancel_copy`.

    `cause` is everywhere the number of the event that leads to the call.
    """

    __slots__ = ()

    wants_holdings = False
    """Whether workers are to report what they hold."""

    @property
    def wants_progress(self) -> bool:
        """Whether jobs are to report how far their runs are; known once it is attached."""
        return False

    def attach(self, scheduler: Scheduler) -> None:
        """Called once, before anything else."""

    def submitted(self, job: BatchJob, cause: int) -> None:
        """A job asks to be scheduled."""

    def over(self, message: CopyOver, cause: int) -> None:
        """A copy has ended; the pool has its workers back already."""

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        """A worker changed state, and the pool knows; whether that calls for a decision."""
        return False

    def programmed(self, worker: int, label: str, cause: int) -> bool:
        """A worker holds this program now; whether that calls for a decision."""
        return False

    def replaced(self, copy: int, numbers: Intervals) -> None:
        """A member of a copy was replaced: it has these now."""

    def progress_reported(self, message: ProgressReport, cause: int) -> None:
        """A malleable job reports its progress."""

    def progressed(self, message: RunProgress) -> None:
        """A job that reports tells how far a run is."""

    def saved(self, message: StateSaved) -> None:
        """A job that reports tells of a saved state."""

    def speed_changed(self, worker: int, speed: float, cause: int) -> None:
        """A worker changed speed, and the pool knows."""

    def ignores(self, worker: int, cause: int) -> bool:
        """Whether a fault of this worker changes nothing in its model; the log says so then."""
        return False

    def woken(self, cause: int) -> int | None:
        """What a wake-up call leads to a decision for; None: it does not count, as the decision
        that asked for it has been replaced, or the instant has been decided on."""
        return None

    def decide(self, cause: int) -> None:
        """All of this instant is known."""
