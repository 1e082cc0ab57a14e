"""What happened at one instant, as points: when, on which worker, of which kind."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from attrs import define, field, frozen

from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    MembersJoined,
    MembersReleased,
    Outcome,
    RunEnded,
    RunStarted,
    WorkerChanged,
)
from actors.events.pack import FaultIgnored, MembersChanged
from actors.intervals import within
from actors.runtime import Record
from policies.availability import WorkerState
from sims.ledger.slices import ranges


class Sign(enum.Enum):
    """What is marked; the value is what a legend says."""

    ERROR = "silent error found"
    CRASH = "DOWN, run lost"
    FAULT = "fault"
    """DOWN by a fault, or while held, and no run was lost by it."""
    IGNORED = "fault without effect"
    FATAL = "checkpoint lost"
    CHECKPOINT = "checkpoint"


@frozen
class Mark:
    """One of them."""

    t: float
    processor: int
    """Where; the middle one of the largest interval where it concerns a whole run."""
    kind: Sign
    job: str | None
    run: int | None
    seq: int


@frozen
class _Down:
    """A worker went DOWN."""

    record: Record
    worker: int
    by_fault: bool
    """Whether its return is known, as only a fault's is."""


@define
class Marks:
    """Fold: yields marks; `close` yields those of the last instant."""

    _held: dict[tuple[str, int], str] = field(factory=dict)
    """Who holds which workers, for a run or between two."""
    _downs: list[_Down] = field(factory=list)
    """At this instant; a run lost now was lost to one of them."""

    def __call__(self, record: Record) -> Iterator[Mark]:
        if self._downs and self._downs[0].record.t < record.t:
            yield from self.close()
        match record.event:
            case RunEnded():
                yield from self._ended(record, record.event)
            case WorkerChanged(worker=worker, state=WorkerState.DOWN, until=until):
                self._downs.append(_Down(record, worker, until is not None))
            case RunStarted() | MembersReleased() | MembersJoined() | MembersChanged():
                self._hold(record.event)
            case CheckpointTaken() | CheckpointLost() | FaultIgnored():
                yield from self._told(record, record.event)

    def _told(
        self, record: Record, event: CheckpointTaken | CheckpointLost | FaultIgnored
    ) -> Iterator[Mark]:
        """What has an event of its own."""
        match event:
            case CheckpointTaken(job=job, run=run):
                where = middle(self._held[job, run])
                yield Mark(record.t, where, Sign.CHECKPOINT, job, run, record.seq)
            case CheckpointLost(job=job, run=run, workers=workers):
                for worker in workers:
                    yield Mark(record.t, worker, Sign.FATAL, job, run, record.seq)
            case FaultIgnored(worker=worker):
                yield Mark(record.t, worker, Sign.IGNORED, None, None, record.seq)

    def close(self) -> Iterator[Mark]:
        """Who went DOWN at the last instant, and cost no run."""
        for down in self._downs:
            if down.by_fault or any(within(it, down.worker) for it in self._held.values()):
                yield Mark(down.record.t, down.worker, Sign.FAULT, None, None, down.record.seq)
        self._downs.clear()

    def _hold(self, event: RunStarted | MembersReleased | MembersJoined | MembersChanged) -> None:
        held, key = self._held, (event.job, event.run)
        match event:
            case MembersReleased():
                held.pop(key, None)
            case MembersJoined(processors=more):
                held[key] = f"{held[key]} {more}"
            case MembersChanged(processors=processors):
                held[key] = processors
            case RunStarted(processors=processors, keeps=keeps):
                held.pop((event.job, -1 if keeps is None else keeps), None)
                held[key] = processors

    def _ended(self, record: Record, event: RunEnded) -> Iterator[Mark]:
        key = event.job, event.run
        processors = self._held[key] if event.kept else self._held.pop(key)
        if event.outcome is Outcome.FAILED:
            yield Mark(record.t, middle(processors), Sign.ERROR, *key, record.seq)
        if event.outcome is Outcome.LOST:
            guilty = [it for it in self._downs if within(processors, it.worker)]
            for down in guilty:
                yield Mark(record.t, down.worker, Sign.CRASH, *key, record.seq)
            self._downs = [it for it in self._downs if it not in guilty]


def middle(processors: str) -> int:
    """The middle of the largest interval of an interval set."""
    first, last = max(ranges(processors), key=lambda it: it[1] - it[0])
    return (first + last) // 2
