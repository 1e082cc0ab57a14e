"""A part of a queue is one mechanism of its decisions, with its own state; `QueuePart` has the
questions that a queue's decider asks its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from attrs import define

from actors.events import Outcome
from actors.parts.scheduler_part import SchedulerHost
from actors.runtime import Actor
from actors.runtime.actor import Recorder
from policies.availability import WorkerState
from policies.interface.queue import BatchView, Queued, Run, Strategy


class Deciding(SchedulerHost, Protocol):
    """The scheduler, as far as parts of its queue may use it."""

    record: Recorder
    workers: Callable[[int], Actor] | None

    @property
    def due_by(self) -> float:
        """The latest time that still belongs to the present instant."""

    def decide_soon(self, cause: int) -> None:
        """Have the decider decide at this instant, once all else of it has been handled."""


class WaitingJobs(BatchView, Protocol):
    """The queue, as far as its parts may use it."""

    queue: list[Queued]
    memory: object

    def withdraw(self, gone: Iterable[Queued]) -> None:
        """Take these entries out of the queue."""

    def enqueue_all(self, many: Sequence[Queued]) -> None:
        """Insert the entries of many jobs, each at its place."""

    def resize(self, waiting: Queued, processors: int) -> None:
        """Set the number of free workers that a waiting job needs to start."""


@define(eq=False)
class QueuePart:
    """Base class of the mechanisms of a queue's decisions. The decider asks all of its parts, and
    knows none by name. A part answers those questions that it is about; the answers here are those
    of a queue without it."""

    # --- runs and workers change ----------------------------------------------------------------

    def started(self, run: Run) -> None:
        """Note that a run has begun now."""

    def ended(self, run: Run, outcome: Outcome) -> None:
        """Note that a run has ended now with this outcome."""

    def cancelled(self, index: int, waiting: Queued | None) -> None:
        """Forget the job with this index, which was cancelled as it waited; `waiting` is its entry
        in the queue, None if it had none there."""

    def changed(self, worker: int, state: WorkerState) -> None:
        """Note that a worker has changed its state to `state`."""

    def call_for(self, agent: str, scheduler: Deciding, cause: int) -> None:
        """Call the next worker that is kept until its call, for an agent. `cause` is the number of
        the event for which the agent asks."""

    # --- a decision -----------------------------------------------------------------------------

    def release(self, state: WaitingJobs) -> None:
        """Put entries back into the queue that are to be looked at again."""

    def asked(self, strategy: Strategy) -> Strategy:
        """Return what is asked in place of the strategy."""
        return strategy

    def above(self, waiting: Queued) -> bool:
        """Return whether one more copy of a job that runs already must not start."""
        return False

    def members(self, waiting: Queued, processors: int) -> int:
        """Return the number of members of a job that starts now, which has `processors` in the
        queue."""
        return processors

    # --- a decision has been carried out --------------------------------------------------------

    def looks_again(self, state: WaitingJobs) -> bool:
        """Return whether the part reacts to what the decision leaves."""
        return False

    def carried_out(self, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """React to what the last decision of this instant leaves, once jobs have logged what it
        does. `cause` is the number of the event that called for the decision."""
