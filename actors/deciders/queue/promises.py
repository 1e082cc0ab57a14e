"""Logs a queue's reservations, shelves and batches, and finds the cause of each start."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, ParamSpec

from attrs import define, field

from actors.events import ReservationDropped, ReservationMade
from actors.runtime import NOTHING, Event
from policies.interface.queue import Decision, Queued, Reservation

if TYPE_CHECKING:
    from actors.decider import DecidersHost

P = ParamSpec("P")


@define(eq=False)
class Promises:
    """Logs reservations, shelves and batches, and finds the event that is the cause of each of them
    and of each start."""

    scheduler: DecidersHost
    trigger: int = field(init=False, default=NOTHING)
    """Number of the event that called for this decision; NOTHING: no event did."""
    logged: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """Maps a job's index to its promised start and the number of the event that logged it."""
    lead: int = field(init=False, default=NOTHING)
    """Number of the event with which this decision first starts a job that had waited; NOTHING:
    there is no such start."""
    moved: list[tuple[tuple[float, int], int]] = field(init=False, factory=list)
    """Reservations logged at this decision: the sort key of the job in the queue, and the event's
    number."""

    def decide(self, cause: int) -> None:
        """Prepare for a decision, which the event numbered `cause` has called for."""
        self.trigger, self.lead = cause, NOTHING
        if self.moved:
            self.moved.clear()

    def open(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """Log that a shelf or a batch opens, by an event of class `kind` with these arguments; it
        becomes the cause of the starts of this instant."""
        opened = self.scheduler.record(self._called(), kind, *args, **kwargs)
        if (tracker := self.scheduler.dispatcher.tracker) is not None:
            tracker.open(opened)

    def make(self, promise: Reservation) -> None:
        """Log a reservation: if all goes as expected, its job starts at the reservation's time or
        earlier."""
        waiting = promise.waiting
        fields = waiting.job.name, promise.start, waiting.processors
        seq = self.scheduler.record(self._called(), ReservationMade, *fields)
        self.logged[waiting.key[1]] = promise.start, seq
        self.moved.append((waiting.key, seq))

    def started(self, index: int, first: bool) -> None:
        """Record that the job with this index starts now; `first`: it is the first start of this
        decision.

        The first start can be the cause of later ones, if its job had waited. Its event is the next
        one of the log, because nothing else is logged until this start is carried out.
        """
        self.logged.pop(index, None)
        tracker = self.scheduler.dispatcher.tracker
        if first and tracker is not None and index not in tracker.wants:
            self.lead = self.scheduler.system.journal.length

    def drop(self, promise: Reservation) -> None:
        """Log that this reservation is dropped, although its job continues to wait, and forget
        it."""
        self.scheduler.record(self._called(), ReservationDropped, promise.waiting.job.name)
        self.logged.pop(promise.waiting.key[1], None)

    def _called(self) -> int:
        """Return the number (seq) of the cause of what is logged now: the event that opened a shelf
        or freed workers at this instant, else the one that called for the decision."""
        tracker = self.scheduler.dispatcher.tracker
        return self.trigger if tracker is None else tracker.called(self.trigger)

    def why(self, decision: Decision, waiting: Queued) -> int:
        """Return the number (seq) of the event that causes the start of `waiting`, a job that had
        waited, on workers that were free before. If its reservation has come due, that is the
        reservation's event. Else it is the first reservation logged at this decision for a job
        ahead of it, else this decision's first start. If there is neither, a reservation of
        `decision` is logged again to be the cause, or the event that called for the decision is."""
        start, seq = self.logged.get(waiting.key[1], (inf, NOTHING))
        if start <= self.scheduler.due_by:
            return seq
        ahead = (seq for key, seq in self.moved if key < waiting.key)
        cause = next(ahead, self.lead)
        return self._log_again(decision, waiting) if cause == NOTHING else cause

    def left_over(self) -> int:
        """Return the number (seq) of the event that causes one more copy of a running job, on
        workers that were free before: the first reservation of this decision or, without one, its
        first start, which left these workers over. Without either it is the event that called for
        the decision."""
        if self.moved:
            return self.moved[0][1]
        return self.trigger if self.lead == NOTHING else self.lead

    def _log_again(self, decision: Decision, waiting: Queued) -> int:
        """Log once more the first reservation of `decision` for a job ahead of `waiting`: its start
        has not changed, but its workers may have, which lets `waiting` start. Return that event's
        number (seq), or that of the event that called for the decision if there is no such
        reservation."""
        for promise in decision.reservations:
            # A start that is overdue was promised by a decision before this one.
            due = self.scheduler.now <= promise.start < inf
            if due and promise.waiting.key < waiting.key:
                self.make(promise)
                return self.moved[-1][1]
        return self.trigger
