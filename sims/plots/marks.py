"""Failures as points: when, on which processor, of which kind."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from attrs import define, field, frozen

from actors.batch.events import ProcessorFailed
from actors.events import Outcome, RunEnded, RunStarted, ScenarioStarted
from actors.malleable.events import BothCopiesLost, FaultIgnored, FaultStruck
from actors.redundant.events import ServerWentDown
from actors.runtime import Record
from actors.volatile.events import WorkerChanged
from policies.availability import WorkerState
from sims.uses.slices import ranges


class Failure(enum.Enum):
    """What went wrong; the value is what a legend says."""

    ERROR = "silent error found"
    CRASH = "DOWN, run lost"
    FAULT = "fault"
    IGNORED = "fault without effect"
    FATAL = "both copies lost"


FAULTS = {
    FaultStruck: Failure.FAULT,
    FaultIgnored: Failure.IGNORED,
    BothCopiesLost: Failure.FATAL,
}


@frozen
class Mark:
    """One failure."""

    t: float
    processor: int
    """Where; the middle one of the largest interval where a whole run failed."""
    kind: Failure
    job: str | None
    seq: int


@define
class Marks:
    """Fold: yields failures."""

    _numbers: dict[str, int] = field(factory=dict)
    _held: dict[tuple[str, int], str] = field(factory=dict)
    _struck: tuple[float, list[int]] = (0, [])
    """What went DOWN at one instant: it is what a run lost then was lost to."""

    def __call__(self, record: Record) -> Iterator[Mark]:
        t, seq = record.t, record.seq
        match record.event:
            case ScenarioStarted(workers=names):
                self._numbers = {name: k for k, name in enumerate(names)}
            case RunStarted(job=job, run=run, processors=processors):
                self._held[job, run] = processors
            case RunEnded(job=job, run=run, outcome=outcome):
                yield from self._ended(record, self._held.pop((job, run)), outcome)
            case WorkerChanged(worker=worker, state=WorkerState.DOWN):
                self._strike(t, self._numbers[worker])
            case ProcessorFailed(processor=processor):
                self._strike(t, processor)
            case ServerWentDown(server=server):
                yield Mark(t, server, Failure.FAULT, None, seq)
            case FaultStruck() | FaultIgnored() | BothCopiesLost() as fault:
                yield Mark(t, fault.processor, FAULTS[type(fault)], fault.job, seq)

    def _strike(self, t: float, number: int) -> None:
        if self._struck[0] != t:
            self._struck = (t, [])
        self._struck[1].append(number)

    def _ended(self, record: Record, processors: str, outcome: Outcome) -> Iterator[Mark]:
        assert isinstance(record.event, RunEnded)
        job, t = record.event.job, record.t
        if outcome is Outcome.FAILED:
            yield Mark(t, middle(processors), Failure.ERROR, job, record.seq)
        if outcome is Outcome.LOST and self._struck[0] == t:
            held = tuple(ranges(processors))
            for number in self._struck[1]:
                if any(first <= number <= last for first, last in held):
                    yield Mark(t, number, Failure.CRASH, job, record.seq)


def middle(processors: str) -> int:
    """The middle of the largest interval of an interval set."""
    first, last = max(ranges(processors), key=lambda it: it[1] - it[0])
    return (first + last) // 2
