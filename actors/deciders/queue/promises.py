"""A queue's log: reservations, shelves and batches, and the cause of each start."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, ParamSpec

from attrs import define, field

from actors.events import ReservationDropped, ReservationMade
from actors.runtime import NOTHING, Event
from policies.interface.queue import Decision, Queued, Reservation

if TYPE_CHECKING:
    from actors.scheduler import Scheduler

P = ParamSpec("P")


@define(eq=False)
class Promises:
    """Logs reservations, shelves and batches, each with its cause."""

    scheduler: Scheduler
    trigger: int = field(init=False, default=NOTHING)
    """Number of the event that called for this decision."""
    logged: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """By job index: when it is promised to start, seq of that promise."""
    lead: int = field(init=False, default=NOTHING)
    """seq of the first start of this decision, of a job that had waited."""
    moved: list[tuple[tuple[float, int], int]] = field(init=False, factory=list)
    """Reservations logged at this decision: the job's place in the queue, seq."""

    def decide(self, cause: int) -> None:
        """A decision begins."""
        self.trigger, self.lead = cause, NOTHING
        self.moved.clear()

    def open(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """A shelf or batch: by what ended last, or else arrived."""
        opened = self.scheduler.record(self._called(), kind, *args, **kwargs)
        if self.scheduler.tracker is not None:
            self.scheduler.tracker.opened = opened

    def make(self, promise: Reservation) -> None:
        """A job will start at that time or before, or so it seems now."""
        waiting = promise.waiting
        about = waiting.job.name, promise.start, waiting.processors
        seq = self.scheduler.record(self._called(), ReservationMade, *about)
        self.logged[waiting.key[1]] = promise.start, seq
        self.moved.append((waiting.key, seq))

    def started(self, index: int, first: bool) -> None:
        """A job of the queue starts now. The first start of a decision, of a job that had waited,
        can cause later ones: it is the next event, as nothing else is logged until this decision is
        carried out."""
        self.logged.pop(index, None)
        tracker = self.scheduler.tracker
        if first and tracker is not None and index not in tracker.wants:
            self.lead = self.scheduler.system.journal.length

    def drop(self, promise: Reservation) -> None:
        """Log that this reservation is dropped."""
        self.scheduler.record(self._called(), ReservationDropped, promise.waiting.job.name)
        self.logged.pop(promise.waiting.key[1], None)

    def _called(self) -> int:
        """The event that opened a shelf or freed workers at this instant, else the one that called
        for the decision."""
        tracker = self.scheduler.tracker
        return self.trigger if tracker is None else tracker.called(self.scheduler.now, self.trigger)

    def why(self, decision: Decision, waiting: Queued) -> int:
        """The cause of the start of a job that had waited, none of whose workers was freed now: its
        reservation has come due, or a job ahead of it was promised other workers or has started."""
        start, seq = self.logged.get(waiting.key[1], (inf, NOTHING))
        if start <= self.scheduler.due_by:
            return seq
        ahead = (seq for key, seq in self.moved if key < waiting.key)
        cause = next(ahead, self.lead)
        return self._log_again(decision, waiting) if cause == NOTHING else cause

    def left_over(self) -> int:
        """The cause of one more copy of a job under way, of whose workers none was freed: this
        decision's first promise or start, after which these were to spare."""
        if self.moved:
            return self.moved[0][1]
        return self.trigger if self.lead == NOTHING else self.lead

    def _log_again(self, decision: Decision, waiting: Queued) -> int:
        """Log again a reservation ahead of this job whose start has not changed but whose workers
        may have."""
        for promise in decision.reservations:
            if promise.start < inf and promise.waiting.key < waiting.key:
                self.make(promise)
                return self.moved[-1][1]
        return self.trigger
