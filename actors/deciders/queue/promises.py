"""What a queue's decider tells: promises, shelves and batches, and why each start is possible."""

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
    """Told to the log, each with its cause."""

    scheduler: Scheduler
    trigger: int = field(init=False, default=NOTHING)
    """Number of the event that called for this decision."""
    told: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """By job index: when it is promised to start, seq of that promise."""
    lead: int = field(init=False, default=NOTHING)
    """seq of the first start of this decision, of a job that had waited."""
    moved: list[tuple[tuple[float, int], int]] = field(init=False, factory=list)
    """Promises told at this decision: the job's place in the queue, seq."""

    def decide(self, cause: int) -> None:
        """A decision begins."""
        self.trigger, self.lead = cause, NOTHING
        self.moved.clear()

    def open(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """A shelf or batch: by what ended last, or else arrived."""
        opened = self.scheduler.record(self._called(), kind, *args, **kwargs)
        if self.scheduler.news is not None:
            self.scheduler.news.opened = opened

    def make(self, promise: Reservation) -> None:
        """A job will start at that time or before, or so it seems now."""
        waiting = promise.waiting
        about = waiting.job.name, promise.start, waiting.processors
        seq = self.scheduler.record(self._called(), ReservationMade, *about)
        self.told[waiting.key[1]] = promise.start, seq
        self.moved.append((waiting.key, seq))

    def started(self, index: int, first: bool) -> None:
        """A job of the queue starts now; the first of a decision, where it had waited, is nobody's
        to wait for any more. Its start is the next event: nothing is told until this decision is
        carried out."""
        self.told.pop(index, None)
        news = self.scheduler.news
        if first and news is not None and index not in news.wants:
            self.lead = self.scheduler.system.journal.length

    def drop(self, promise: Reservation) -> None:
        """Another job is ahead now."""
        self.scheduler.record(self._called(), ReservationDropped, promise.waiting.job.name)
        self.told.pop(promise.waiting.key[1], None)

    def _called(self) -> int:
        """What opened, or freed workers last, at this instant, or else called for the decision."""
        news = self.scheduler.news
        return self.trigger if news is None else news.called(self.scheduler.now, self.trigger)

    def why(self, decision: Decision, waiting: Queued) -> int:
        """The cause of a start of who waited, and of whose workers none was freed: his time has
        come, or somebody ahead of him is promised others, or has started."""
        start, seq = self.told.get(waiting.key[1], (inf, NOTHING))
        if start <= self.scheduler.due_by:
            return seq
        ahead = (seq for key, seq in self.moved if key < waiting.key)
        cause = next(ahead, self.lead)
        return self._retold(decision, waiting) if cause == NOTHING else cause

    def left_over(self) -> int:
        """The cause of one more copy of a job under way, of whose workers none was freed: this
        decision's first promise or start, after which these were to spare."""
        if self.moved:
            return self.moved[0][1]
        return self.trigger if self.lead == NOTHING else self.lead

    def _retold(self, decision: Decision, waiting: Queued) -> int:
        """A promise whose start has not moved, but its workers have."""
        for promise in decision.reservations:
            if promise.start < inf and promise.waiting.key < waiting.key:
                self.make(promise)
                return self.moved[-1][1]
        return self.trigger
