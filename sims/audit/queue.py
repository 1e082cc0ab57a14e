"""Laws of the queue of rigid and moldable jobs: shelves, batches, reservations."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from attrs import define, field

from actors.batch.events import (
    AttemptSized,
    BatchOpened,
    JobDescribed,
    JobKilled,
    ReservationMade,
    ShelfOpened,
)
from actors.events import JobCompleted, JobSubmitted, RunEnded, RunStarted, ScenarioStarted
from actors.runtime import Record
from sims.audit.law import Law, Violation


@define
class _Shelf:
    """One that opened at this instant."""

    record: Record
    opened: ShelfOpened
    jobs: int = 0
    end: float = 0
    """When the longest of its attempts is believed to end."""


@define
class QueueAuditor:
    """A shelf holds what starts with it; a batch all that is pending; promises lie ahead."""

    processors: int = 0
    pending: dict[str, int] = field(factory=dict)
    """Job, submitted and not gone -> batches that it has been in."""
    running: set[str] = field(factory=set)
    estimates: dict[str, float] = field(factory=dict)
    batches: int = 0
    shelf: _Shelf | None = None

    def __call__(self, record: Record) -> Iterator[Violation]:
        if self.shelf is not None and record.t > self.shelf.record.t:
            yield from self._close_shelf(self.shelf)
        match record.event:
            case ScenarioStarted(processors=processors):
                self.processors = processors
            case ShelfOpened():
                yield from self._open_shelf(record.event, record)
            case BatchOpened():
                yield from self._open_batch(record.event, record.seq)
            case ReservationMade():
                yield from self._promise(record.event, record)
            case _:
                self._note(record)

    def close(self, last: Record) -> Iterator[Violation]:
        if self.shelf is not None:
            yield from self._close_shelf(self.shelf)

    def _note(self, record: Record) -> None:
        match record.event:
            case JobSubmitted(job=job):
                self.pending[job] = 0
            case JobDescribed(job=job, estimate=estimate):
                if estimate is not None:
                    self.estimates[job] = estimate
            case AttemptSized():
                self._start(record.event, record.t)
            case RunStarted(job=job):
                self.running.add(job)
            case RunEnded(job=job):
                self.running.discard(job)
            case JobCompleted(job=job) | JobKilled(job=job):
                self.pending.pop(job, None)

    def _start(self, event: AttemptSized, now: float) -> None:
        if self.shelf is not None:
            believed = self.estimates.get(event.job, event.time) + event.verification
            self.shelf.jobs += 1
            self.shelf.end = max(self.shelf.end, now + believed)

    def _open_shelf(self, event: ShelfOpened, record: Record) -> Iterator[Violation]:
        if self.running:
            why = f"a shelf opens while {min(self.running)} runs"
            yield Violation(Law.DECISION, (record.seq,), why)
        self.shelf = _Shelf(record, event)

    def _close_shelf(self, shelf: _Shelf) -> Iterator[Violation]:
        self.shelf = None
        opened, seq = shelf.opened, shelf.record.seq
        if shelf.jobs != opened.jobs or not isclose(shelf.end, opened.end, rel_tol=1e-12):
            why = f"{shelf.jobs} attempts start and end by {shelf.end}; it says {opened}"
            yield Violation(Law.DECISION, (seq,), why)

    def _open_batch(self, event: BatchOpened, seq: int) -> Iterator[Violation]:
        self.batches += 1
        attempts = max((2**joined for joined in self.pending.values()), default=0)
        found = (self.batches, len(self.pending), attempts)
        if found != (event.batch, event.jobs, event.attempts):
            why = f"batch, jobs and attempts are {found} by the log; it says {event}"
            yield Violation(Law.DECISION, (seq,), why)
        if self.running:
            why = f"a batch opens while {min(self.running)} runs"
            yield Violation(Law.DECISION, (seq,), why)
        for job in self.pending:
            self.pending[job] += 1

    def _promise(self, event: ReservationMade, record: Record) -> Iterator[Violation]:
        waiting = event.job in self.pending and event.job not in self.running
        fits = 1 <= event.processors <= self.processors
        if not (waiting and fits and event.start >= record.t):
            why = f"{event.processors} processors from {event.start} on for {event.job}"
            yield Violation(Law.PROMISE, (record.seq,), why)
