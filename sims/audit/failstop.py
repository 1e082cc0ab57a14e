"""Laws of processors that fail under rigid and moldable jobs: what runs on them is lost at once."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from attrs import define, field

from actors.batch.events import ProcessorFailed, ProcessorRepaired
from actors.events import Outcome, RunEnded, RunStarted, ScenarioStarted
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.uses.slices import ranges


@define
class FailStopAuditor:
    """A processor is UP or DOWN, DOWN for as long as every other; an attempt on one that fails is
    lost at that instant, and no other is."""

    processors: int = 0
    down: dict[int, Record] = field(factory=dict)
    """Processor -> by which event."""
    due: float = float("inf")
    """When the next one must be back."""
    downtime: float | None = None
    running: dict[str, str] = field(factory=dict)
    """Job -> its processors."""
    struck: dict[str, Record] = field(factory=dict)
    """Job that must be lost at this instant -> why."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        yield from self._overdue(record)
        match record.event:
            case ScenarioStarted(processors=processors):
                self.processors = processors
            case RunStarted(job=job, processors=processors):
                self.running[job] = processors
            case RunEnded(job=job, outcome=outcome):
                self.running.pop(job, None)
                yield from self._end(job, outcome, record)
            case ProcessorFailed():
                yield from self._fail(record.event, record)
            case ProcessorRepaired(processor=processor):
                yield from self._repair(processor, record)

    def close(self, last: Record) -> Iterator[Violation]:
        yield from self._spared(last)

    def _overdue(self, record: Record) -> Iterator[Violation]:
        if self.struck and record.t > next(iter(self.struck.values())).t:
            yield from self._spared(record)
        if record.t > self.due:
            late = [it for it in self.down.values() if _until(it) < record.t]
            why = f"{len(late)} processors should be back since {self.due}"
            yield Violation(Law.STATE, (*(it.seq for it in late), record.seq), why)
            for it in late:
                del self.down[_number(it)]
            self._look_ahead()

    def _spared(self, record: Record) -> Iterator[Violation]:
        for job, failed in self.struck.items():
            why = f"{job} keeps an attempt on processor {_number(failed)}, which is DOWN"
            yield Violation(Law.MEMORY, (failed.seq, record.seq), why)
        self.struck.clear()

    def _end(self, job: str, outcome: Outcome, record: Record) -> Iterator[Violation]:
        failed = self.struck.pop(job, None)
        if (outcome is Outcome.LOST) != (failed is not None):
            about = f"processor {_number(failed)} failed" if failed else "none of its failed"
            why = f"an attempt of {job} ended {outcome.value} and {about}"
            events = (failed.seq, record.seq) if failed else (record.seq,)
            yield Violation(Law.MEMORY, events, why)

    def _fail(self, event: ProcessorFailed, record: Record) -> Iterator[Violation]:
        number, before = event.processor, self.down.get(event.processor)
        if not 0 <= number < self.processors:
            why = f"processor {number} of {self.processors}"
            yield Violation(Law.CAPACITY, (record.seq,), why)
        if before is not None:
            why = f"processor {number} fails and is DOWN"
            yield Violation(Law.STATE, (before.seq, record.seq), why)
        if self.downtime is None:
            self.downtime = event.until - record.t
        if event.until < record.t or not isclose(
            event.until, record.t + self.downtime, rel_tol=1e-12
        ):
            why = f"it is DOWN until {event.until}, where a repair takes {self.downtime:g}"
            yield Violation(Law.DURATION, (record.seq,), why)
        self.down[number] = record
        self._look_ahead()
        for job, processors in self.running.items():
            if any(first <= number <= last for first, last in ranges(processors)):
                self.struck.setdefault(job, record)

    def _repair(self, number: int, record: Record) -> Iterator[Violation]:
        failed = self.down.pop(number, None)
        self._look_ahead()
        if failed is None:
            yield Violation(Law.STATE, (record.seq,), f"processor {number} is back and was UP")
        elif record.t != _until(failed):
            why = f"processor {number} is back at {record.t}, not at {_until(failed)}"
            yield Violation(Law.STATE, (failed.seq, record.seq), why)

    def _look_ahead(self) -> None:
        self.due = min(map(_until, self.down.values()), default=float("inf"))


def _until(failed: Record) -> float:
    assert isinstance(failed.event, ProcessorFailed)
    return failed.event.until


def _number(failed: Record) -> int:
    assert isinstance(failed.event, ProcessorFailed)
    return failed.event.processor
