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
from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted, ScenarioStarted
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.telling import counted


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
    allowed: dict[str, int] = field(factory=dict)
    """Job -> attempts that it may still make in this batch."""
    promised: dict[str, Record] = field(factory=dict)
    shelf: _Shelf | None = None
    shelves: bool = False
    """Whether one has ever opened."""
    loose: list[int] = field(factory=list)
    """Starts while nothing ran, outside of a shelf, of jobs that did not just fail."""
    ended: dict[str, float] = field(factory=dict)
    """Job -> when its last attempt ended."""

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
            case RunStarted():
                yield from self._begin(record.event, record)
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
            case RunEnded(job=job, outcome=outcome):
                self.running.discard(job)
                self.ended[job] = record.t
                if outcome is Outcome.LOST and self.batches:
                    self.allowed[job] += 1
            case JobCompleted(job=job) | JobKilled(job=job):
                self.pending.pop(job, None)

    def _begin(self, event: RunStarted, record: Record) -> Iterator[Violation]:
        seq = record.seq
        alone = not self.running and self.ended.get(event.job) != record.t
        self.running.add(event.job)
        if alone and self.shelf is None:
            self.loose.append(seq)
        yield from self._loose()
        if not self.batches:
            return
        self.allowed[event.job] = self.allowed.get(event.job, 0) - 1
        if self.allowed[event.job] < 0:
            why = f"{event.job} makes more attempts than its batch lets it"
            yield Violation(Law.DECISION, (seq,), why)

    def _start(self, event: AttemptSized, now: float) -> None:
        if self.shelf is not None:
            believed = self.estimates.get(event.job, event.time) + event.verification
            self.shelf.jobs += 1
            self.shelf.end = max(self.shelf.end, now + believed)

    def _open_shelf(self, event: ShelfOpened, record: Record) -> Iterator[Violation]:
        if self.shelf is not None:
            yield Violation(Law.DECISION, (self.shelf.record.seq, record.seq), "two shelves open")
        if self.running:
            why = f"a shelf opens while {min(self.running)} runs"
            yield Violation(Law.DECISION, (record.seq,), why)
        self.shelf, self.shelves = _Shelf(record, event), True
        yield from self._loose()

    def _loose(self) -> Iterator[Violation]:
        if self.shelves and self.loose:
            why = "jobs start outside of a shelf"
            yield Violation(Law.DECISION, tuple(self.loose), why)
            self.loose.clear()

    def _close_shelf(self, shelf: _Shelf) -> Iterator[Violation]:
        self.shelf = None
        opened, seq = shelf.opened, shelf.record.seq
        if shelf.jobs != opened.jobs or not isclose(shelf.end, opened.end, rel_tol=1e-12):
            why = f"{counted(shelf.jobs, 'attempt')} that end by {shelf.end}; it says {opened}"
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
            self.allowed[job] = 2 ** self.pending[job]
            self.pending[job] += 1

    def _promise(self, event: ReservationMade, record: Record) -> Iterator[Violation]:
        before = self.promised.get(event.job)
        if before is not None and (before.t, before.event) == (record.t, event):
            yield Violation(Law.PROMISE, (before.seq, record.seq), "it is promised twice")
        self.promised[event.job] = record
        waiting = event.job in self.pending and event.job not in self.running
        fits = 1 <= event.processors <= self.processors
        if not (waiting and fits and event.start >= record.t):
            why = f"{counted(event.processors, 'processor')} from {event.start} on for {event.job}"
            yield Violation(Law.PROMISE, (record.seq,), why)
