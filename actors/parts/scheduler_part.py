"""A part of a scheduler is one mechanism of the platform's workers, with its own state;
`SchedulerPart` has the questions that a scheduler asks its parts."""

from __future__ import annotations

from typing import Protocol

from attrs import define

from actors.dispatcher import Dispatcher
from actors.intervals import Intervals
from actors.pool import Pool
from actors.runtime import Actor, Phase
from policies.availability import WorkerState
from policies.interface.queue import BatchJob


class SchedulerHost(Protocol):
    """The scheduler of a part, as far as its parts may use it."""

    pool: Pool
    described: dict[int, BatchJob]

    @property
    def dispatcher(self) -> Dispatcher:
        """The object that knows which copy holds which workers, and sends jobs their commands."""

    @property
    def now(self) -> float:
        """The current virtual time, in the scenario's unit."""

    def send(self, target: Actor, message: object, cause: int) -> None:
        """Deliver a message; see `Actor.send`."""

    def later(self, message: object, cause: int, phase: Phase) -> None:
        """Send a message to the scheduler itself in a later phase of this instant."""

    def known(self, worker: int, state: WorkerState, cause: int, copy: int) -> None:
        """Act on a worker's change of state that is known to the job which holds the worker."""

    def hide(self, worker: int, cause: int) -> None:
        """Let the parts know of a fault of this worker that is not to be known yet."""

    def hides(self, worker: int) -> bool:
        """Return whether a fault of this worker is not known yet."""

    def may_have(self, copy: int, worker: int) -> bool:
        """Return whether a copy may be given the worker, which is no spare, when that is free: it
        is of the partition of the copy's job."""

    def left_for(self, job: BatchJob) -> int:
        """Return the number of workers, spares excluded, that have not retired and that the job may
        be given when they are free: those of its partition."""

    def call(self, cause: int) -> None:
        """Have the decider decide at this instant."""

    def holds(self, copy: int) -> None:
        """Let the decider know that the workers which a copy holds are others from now on."""


@define(eq=False)
class SchedulerPart:
    """One mechanism of the workers that a scheduler gives to copies, such as their replacement. A
    scheduler asks its parts these questions, in the order of `actors.parts.OF_SCHEDULER`, and knows
    none of them by name. A part answers those that its mechanism is about, and serves the messages
    that its methods handle."""

    scheduler: SchedulerHost

    @property
    def calls(self) -> bool:
        """Whether the part has something to do before the next decision, which is to come at this
        instant."""
        return False

    @property
    def unsettled(self) -> bool:
        """Whether the part has something to do before the next decision, whenever that comes."""
        return self.calls

    # --- jobs and their copies ------------------------------------------------------------------

    def submitted(self, job: BatchJob) -> None:
        """Note that a job has been submitted."""

    def finished(self, job: BatchJob) -> None:
        """Note that a job has completed or been killed."""

    def holds_ready(self, copy: int, count: int) -> None:
        """Note that a copy that starts holds workers ready besides its `count` members."""

    def ended(self, copy: int, cause: int) -> None:
        """React to a copy's end; its workers are free in the pool already. `cause` is the number of
        the event that ended it."""

    def released(self, copy: int, numbers: Intervals) -> None:
        """React to workers that a copy no longer holds."""

    # --- workers change -------------------------------------------------------------------------

    def came_up(self, worker: int, repaired: bool, cause: int) -> None:
        """React to a worker that is UP again; the pool knows it already. `repaired`: a downtime or
        a repair has ended. `cause` is the number of the event that logs it."""

    def hide(self, worker: int, cause: int) -> None:
        """Note that a fault, which took the worker DOWN, is not known yet. `cause` is the number of
        the event that logs it."""

    def hides(self, worker: int) -> bool:
        """Return whether a fault of this worker is not known yet."""
        return False

    def went_down(self, worker: int, copy: int, cause: int) -> None:
        """React to a worker that is known to be DOWN now. `copy` is the number of the copy that
        holds it or has just released it, or -1; `cause` that of the event that logs the change."""

    # --- all changes of the instant are known ---------------------------------------------------

    def settle(self) -> bool:
        """Act on the changes of this instant, all of which are known, before a decision. Return
        whether the decision has to wait until jobs have logged what follows."""
        return False

    def reveal(self) -> None:
        """Act on the faults of free workers, which are known at once."""
