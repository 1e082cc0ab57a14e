"""A decider is what differs between schedulers: it keeps its own state, asks its policies, and has
the scheduler carry out what they decide."""

from __future__ import annotations

from typing import Protocol, TypeVar

from actors.intervals import Intervals
from actors.messages import CopyOver, ProgressReport, RunProgress, StateSaved
from actors.parts.queue_part import Deciding
from actors.pool import Pool
from actors.runtime import Phase, Timer
from actors.runtime.actor import Home
from actors.worker_messages import HoldingsChanged
from policies.availability import WorkerState
from policies.interface.queue import BatchJob

P = TypeVar("P")


class DecidersHost(Deciding, Protocol):
    """The scheduler, as far as its decider may use it."""

    system: Home
    holdings: dict[int, HoldingsChanged]
    """The last report of each worker on what it holds."""

    def at(self, time: float, message: object, cause: int, phase: Phase = ...) -> Timer:
        """Send a message to the scheduler itself at a time; see `Actor.at`."""

    def cancel(self, timer: Timer) -> None:
        """Cancel a timer; see `Actor.cancel`."""

    def part(self, kind: type[P]) -> P:
        """Return the scheduler's part of this class."""

    def count_copies(self, ended: int) -> None:
        """Add `ended` to the number of copies that have ended."""

    def reveal(self) -> None:
        """Act on the faults of free workers, which are known at once: no job need detect them
        (rules.md, F1)."""


class Decider:
    """Base class of the parts that differ between schedulers: a decider keeps its state, asks its
    policies, and answers by calling the scheduler's `start_some`, `start_on`, `resize` and
    `cancel_copy`.

    `cause` is everywhere the number (seq) of the event that leads to the call.
    """

    __slots__ = ()

    wants_holdings = False
    """Whether workers are to report what they hold."""

    @property
    def wants_progress(self) -> bool:
        """Whether jobs are to report how far their runs are (by `RunProgress`); known once the
        decider is attached."""
        return False

    def attach(self, scheduler: DecidersHost) -> None:
        """Set the scheduler whose decider this is, and prepare for the run. It is called once,
        before all other methods."""

    def submitted(self, job: BatchJob, cause: int) -> None:
        """Record that a job has been submitted and waits for workers. `cause` is the number of the
        event that logs its submission."""

    def over(self, message: CopyOver, cause: int) -> None:
        """Record that a copy has ended; its workers are free in the pool already. `cause` is the
        number of the event that ended it."""

    def may_have(self, job: BatchJob, worker: int) -> bool:
        """Return whether the job may be given the worker, which is no spare, when that is free."""
        return True

    def left_for(self, job: BatchJob, pool: Pool) -> int:
        """Return the number of workers of `pool`, spares excluded, that have not retired and that
        the job may be given when they are free."""
        return pool.left

    def cancelled(self, index: int) -> None:
        """Forget the job with this index, which was cancelled while it waited for workers."""

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        """Record that a worker has changed its state to `state`; the pool knows it already. Return
        whether that calls for a decision. `cause` is the number of the event that logs the
        change."""
        return False

    def programmed(self, worker: int, label: str, cause: int) -> bool:
        """Record that a worker holds the program called `label` from now on. Return whether that
        calls for a decision. `cause` is the number of the event that logs it."""
        return False

    @property
    def idle(self) -> bool:
        """Whether nothing waits, so that a decision would start, log and change nothing."""
        return False

    def call_reserve(self, agent: str, cause: int) -> None:
        """Call the next worker that is kept until then for this agent, if there is one. `cause` is
        the number of the event for which it asks."""

    def replaced(self, copy: int, processors: int, numbers: Intervals) -> None:
        """Record that the copy numbered `copy` holds exactly the workers `numbers`, `processors` in
        number, from now on: a member was replaced, or a standby joined or went DOWN."""

    def progress_reported(self, message: ProgressReport, cause: int) -> None:
        """Record a malleable job's report on when one of its copies computes again and how much
        work is left then. `cause` is the number of the event that led to the report."""

    def progressed(self, message: RunProgress) -> None:
        """Record a report on how far the run of a copy is. Jobs send such reports if
        `wants_progress` is true."""

    def saved(self, message: StateSaved) -> None:
        """Record the work done in the most advanced state that a job keeps apart from its runs
        under way; only some kinds of jobs send such reports."""

    def speed_changed(self, worker: int, speed: float, cause: int) -> None:
        """Record that a worker has changed its speed to `speed`; the pool knows it already. `cause`
        is the number of the event that logs the change."""

    def ignores(self, worker: int, cause: int) -> bool:
        """Return whether a fault that comes to this worker now changes nothing in the decider's
        model of faults; if so, log that it is ignored. Only malleable17's own model ignores
        faults."""
        return False

    def woken(self, cause: int) -> int | None:
        """Answer a timer that the decider has set, as it ends: return the number (seq) of the event
        that causes the decision that is due now. Return None if no decision is needed, because the
        timer has been replaced by another or this instant has been decided on."""
        return None

    def decide(self, cause: int) -> None:
        """Decide which copies start, are resized or end, now that all other changes of this instant
        are known. `cause` is the number of the event that calls for the decision."""

    def carried_out(self, cause: int) -> None:
        """React to the state that the last decision of this instant leaves, once jobs have logged
        its effects. It is called only after a message LookAgain."""

    def stalled(self) -> str:
        """Return, for the report on a deadlock, which policy leaves its jobs waiting though nothing
        runs; an empty text if none does."""
        return ""
