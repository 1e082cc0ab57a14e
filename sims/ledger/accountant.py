"""The accountant: events in, slices of processor time out (WORLD.md, Ledger)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    IterationCompleted,
    JobCompleted,
    JobKilled,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    StageStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.runtime import Record
from sims.ledger.described import Described
from sims.ledger.fate import Fate
from sims.ledger.holders import Holders, Key
from sims.ledger.own import Own
from sims.ledger.slices import Range, Slice, count, ranges, together
from sims.ledger.spans import RunSpan, Status, attempted

Slices = Iterable[Slice]
NOTHING: Slices = ()
COMPLETED, CANCELLED = Outcome.COMPLETED, Outcome.CANCELLED


@define(eq=False)
class Accountant:
    """Folds a log into slices; idle time is what no slice covers.

    Slices of one processor come in order of time, but for computing: what it was for is known when
    the job (the iteration) is completed. A run that ends whole, alone and without stages (an
    attempt of rigid21 or moldable21) is told at once, and nothing is kept of it.
    """

    processors: int
    """Size of the platform."""
    wants: frozenset[type] = field(init=False)
    _on: dict[type, Callable[[Record, Any], Slices]] = field(init=False)
    _holders: Holders = field(init=False)
    _described: Described = field(init=False, factory=Described)
    _attempts: dict[Key, tuple[Record, RunStarted]] = field(init=False, factory=dict)
    """Open runs of which nothing is known but their start."""
    _spans: dict[Key, RunSpan] = field(init=False, factory=dict)
    """Other open runs, and those whose members are kept."""
    _jobs: dict[str, Fate] = field(init=False, factory=dict)
    _own: dict[int, Own] = field(init=False, factory=dict)
    _stalled: set[int] = field(init=False, factory=set)
    """Workers of speed 0."""

    def __attrs_post_init__(self) -> None:
        self._holders = Holders(self.processors)
        self._on = {
            RunStarted: self._start,
            RunEnded: self._end,
            StageStarted: self._advance,
            RateChanged: self._advance,
            CheckpointTaken: self._save,
            MembersJoined: self._join,
            MembersChanged: self._join,
            MembersReleased: self._release,
            JobCompleted: self._complete,
            IterationCompleted: self._complete,
            JobKilled: self._kill,
            WorkerChanged: self._turn,
            WorkerSpeedChanged: self._speed,
            TransferStarted: self._transfer,
            TransferSuspended: self._stop_transfer,
            TransferEnded: self._stop_transfer,
            TransferDropped: self._stop_transfer,
            **self._described.handlers,
        }
        self.wants = frozenset(self._on)

    def __call__(self, record: Record) -> Slices:
        """The slices that end, or become known, with this record."""
        handle = self._on.get(type(record.event))
        return handle(record, record.event) if handle is not None else NOTHING

    def close(self, now: float) -> Iterator[Slice]:
        """The slices still open where the log ends; what is saved or under way is lost."""
        for key in list(self._attempts):
            self._known(key)
        for span in self._spans.values():
            yield from span.settle(now, span.seq, span.done)
        for job in self._jobs.values():
            yield from job.close()
        for own in self._own.values():
            yield from own.settle(now, 0)

    # --- jobs ---------------------------------------------------------------------------------

    def _complete(self, record: Record, event: JobCompleted | IterationCompleted) -> Slices:
        if isinstance(event, JobCompleted):
            self._described.forget(event.job)
        job = self._jobs.pop(event.job, None)
        return NOTHING if job is None else job.settle()

    def _kill(self, record: Record, event: JobKilled) -> Slices:
        self._described.forget(event.job)
        job = self._jobs.pop(event.job, None)
        return NOTHING if job is None else job.give_up(record.t)

    # --- runs start and end -------------------------------------------------------------------

    def _start(self, record: Record, event: RunStarted) -> Slices:
        key = event.job, event.run
        self._attempts[key] = record, event
        if event.source is not None:
            self._follow(key, event.source)
        elif event.share != 1:
            self._known(key)
        job, slices = self._jobs.get(event.job), list[Slice]()
        if job is not None:
            if event.job not in self._described.uncloned:
                slices += job.forget(record.t)
            if event.keeps is not None:
                slices += self._unkeep((event.job, event.keeps), record)
        if self._holders.asked:
            self._holders.take(key, event.processors, event.share != 1)
            slices += self._recall(key, record, event.processors)
        return slices

    def _follow(self, key: Key, number: int) -> None:
        """The run that this one begins from matters as long as it does."""
        self._known(key)
        source = key[0], number
        if source in self._attempts:
            self._known(source)
        span = self._jobs[key[0]].runs.get(number)
        if span is not None:
            span.followers += 1

    def _known(self, key: Key) -> RunSpan:
        """This open run, with an account of its own from now on."""
        attempt = self._attempts.pop(key, None)
        if attempt is None:
            return self._spans[key]
        name, number = key
        span = RunSpan.of(*attempt, self._described.verifications.get(name, 0))
        self._spans[key] = span
        self._jobs.setdefault(name, Fate()).runs[number] = span
        return span

    def _end(self, record: Record, event: RunEnded) -> Slices:
        key = event.job, event.run
        attempt = self._attempts.get(key)
        if attempt is not None and event.outcome is not CANCELLED and event.job not in self._jobs:
            del self._attempts[key]
            if self._holders.asked:
                self._holders.give(key, attempt[1].processors)
            verifies = event.job in self._described.verifications
            return attempted(*attempt, record.t, event.outcome, verifies)
        return self._end_span(self._known(key), key, record, event)

    def _end_span(self, span: RunSpan, key: Key, record: Record, end: RunEnded) -> Iterator[Slice]:
        yield from span.settle(record.t, record.seq, end.done)
        span.outcome, span.ended = end.outcome, record.t
        job = self._jobs[end.job]
        job.over.append(span)
        if end.outcome is COMPLETED:
            job.completed = span
        elif end.outcome is CANCELLED and self._described.outlives:
            job.keep(span)
        if end.kept:
            span.kept = True
        else:
            yield from self._give(key, span, record)

    def _give(self, key: Key, span: RunSpan, record: Record) -> Iterator[Slice]:
        del self._spans[key]
        self._holders.give(key, span.processors)
        for worker in span.moves:
            own = self._own.get(worker)
            if own is not None and own.holder == key:
                yield from own.settle(record.t, record.seq)
                own.holder = None

    def _unkeep(self, key: Key, record: Record) -> Slices:
        """Members that were kept begin the next run, or are given back."""
        span = self._spans.get(key)
        if span is None:
            return NOTHING
        return [*span.settle(record.t, record.seq, span.done), *self._give(key, span, record)]

    def _release(self, record: Record, event: MembersReleased) -> Slices:
        return self._unkeep((event.job, event.run), record)

    # --- what runs do -------------------------------------------------------------------------

    def _advance(self, record: Record, event: StageStarted | RateChanged) -> Iterator[Slice]:
        span = self._known((event.job, event.run))
        yield from span.settle(record.t, record.seq, event.done)
        span.rate = event.rate
        if isinstance(event, StageStarted):
            span.stage = event.stage

    def _save(self, record: Record, event: CheckpointTaken) -> Slices:
        self._known((event.job, event.run)).safe = True
        return NOTHING

    def _join(self, record: Record, event: MembersJoined | MembersChanged) -> Iterator[Slice]:
        key = event.job, event.run
        span = self._known(key)
        yield from span.settle(record.t, record.seq, span.done)
        if isinstance(event, MembersChanged):
            self._holders.give(key, span.processors)
            span.moves, span.processors = {}, event.processors
        else:
            span.processors = together(span.processors, event.processors)
        if self._holders.asked:
            self._holders.take(key, event.processors, span.share != 1)
            yield from self._recall(key, record, event.processors)

    # --- what befalls their members -----------------------------------------------------------

    def _turn(self, record: Record, event: WorkerChanged) -> Slices:
        own = self._own.setdefault(event.worker, Own(event.worker))
        own.state = event.state
        return self._review(own, record)

    def _transfer(self, record: Record, event: TransferStarted) -> Slices:
        own = self._own.setdefault(event.worker, Own(event.worker))
        own.transfer = event
        return self._review(own, record)

    def _stop_transfer(
        self, record: Record, event: TransferSuspended | TransferEnded | TransferDropped
    ) -> Slices:
        own = self._own.get(event.worker)
        if own is None or own.transfer is None:
            return NOTHING
        own.transfer = None
        return self._review(own, record)

    def _review(self, own: Own, record: Record) -> Iterator[Slice]:
        yield from own.settle(record.t, record.seq)
        if not own.apart:
            del self._own[own.worker]
        runs = self._moved(own.worker, record.t)
        own.turn(runs[0] if runs else None)

    def _speed(self, record: Record, event: WorkerSpeedChanged) -> Slices:
        worker = event.worker
        if (worker in self._stalled) is (event.speed > 0):
            self._stalled ^= {worker}
            self._moved(worker, record.t)
        return NOTHING

    def _status(self, worker: int) -> Status:
        if worker in self._own:
            return Status.APART
        return Status.STALLED if worker in self._stalled else Status.WITH

    def _moved(self, worker: int, now: float) -> list[Key]:
        """Tell the runs that hold this worker of its status; who they are."""
        if not self._holders.asked:
            attempts = {key: event for key, (_, event) in self._attempts.items()}
            runs: dict[Key, RunStarted | RunSpan] = {**attempts, **self._spans}
            self._holders.keep((k, it.processors, it.share != 1) for k, it in runs.items())
        status, held_by = self._status(worker), list(self._holders.of(worker))
        for run in held_by:
            self._known(run).move(worker, now, status)
        return held_by

    def _recall(self, key: Key, record: Record, processors: str) -> Iterator[Slice]:
        """Members of a run that starts may be doing something of their own already."""
        for worker in self._busy(ranges(processors), count(processors)):
            self._known(key).move(worker, record.t, self._status(worker))
            own = self._own.get(worker)
            if own is not None:
                yield from own.settle(record.t, record.seq)
                own.turn(key)

    def _busy(self, held: tuple[Range, ...], members: int) -> list[int]:
        """Who of these workers does something of its own."""
        busy = self._own.keys() | self._stalled if self._stalled else self._own.keys()
        if members < len(busy):
            return [n for a, b in held for n in range(a, b + 1) if n in busy]
        return [n for n in sorted(busy) if any(a <= n <= b for a, b in held)]
