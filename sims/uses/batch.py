"""What the processors of rigid and moldable jobs did (001, 000)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.batch.events import AttemptSized, ProcessorFailed, ProcessorRepaired
from actors.events import Outcome, RunEnded, RunStarted
from actors.runtime import Record
from sims.uses.slices import Slice, Use


@define
class _Attempt:
    """One that is going on."""

    job: str
    run: int
    processors: str
    start: float
    seq: int
    time: float = 0


@define
class BatchAccountant:
    """An attempt computes for t(p) and verifies for the rest of its time, whatever comes of it.

    A completed attempt's time is useful, any other's lost: a silent error leaves nothing (001,
    section 3.2), nor does a fault. So is that of an attempt whose end the log does not tell.
    """

    _open: dict[str, _Attempt] = field(factory=dict)
    _down: dict[int, Record] = field(factory=dict)
    """Processors that are DOWN -> since which event."""

    def __call__(self, record: Record) -> Iterator[Slice]:
        match record.event:
            case RunStarted(job=job, run=run, processors=processors):
                self._open[job] = _Attempt(job, run, processors, record.t, record.seq)
            case AttemptSized(job=job, time=time):
                self._open[job].time = time
            case RunEnded(job=job, outcome=outcome):
                yield from _slices(self._open.pop(job), record.t, outcome)
            case ProcessorFailed(processor=processor):
                self._down[processor] = record
            case ProcessorRepaired(processor=processor):
                yield from _downtime(processor, self._down.pop(processor), record.t)

    def close(self, now: float) -> Iterator[Slice]:
        """Open attempts end at `now`; what is DOWN has been so until then."""
        for attempt in self._open.values():
            yield from _slices(attempt, now, Outcome.LOST)
        self._open.clear()
        for processor, failed in self._down.items():
            yield from _downtime(processor, failed, now)
        self._down.clear()


def _downtime(processor: int, failed: Record, end: float) -> Iterator[Slice]:
    if end > failed.t:
        yield Slice(str(processor), Use.DOWN, failed.t, end, failed.seq)


def _slices(it: _Attempt, end: float, outcome: Outcome) -> Iterator[Slice]:
    computed = min(it.start + it.time, end)
    use = Use.USEFUL if outcome is Outcome.COMPLETED else Use.LOST
    if computed > it.start:
        yield Slice(it.processors, use, it.start, computed, it.seq, it.job, it.run)
    if end > computed:
        yield Slice(it.processors, Use.VERIFICATION, computed, end, it.seq, it.job, it.run)
