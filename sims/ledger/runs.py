"""All runs of a log: which job's, on which processors, from when to when, with what outcome."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field, frozen

from actors.events import JobSubmitted, Outcome, RunEnded, RunStarted
from actors.runtime import Record


@frozen
class EndedRun:
    """One run, ended."""

    job: str
    number: int
    processors: str
    """Interval set."""
    submitted: float
    """When its job was."""
    start: float
    end: float
    outcome: Outcome | None
    """None: it was still going on where the log ends."""
    seq: int
    """Of the event that started it."""
    cause: int | None
    """Of that event."""


@define
class RunFold:
    """Fold: yields each run when it ends."""

    submitted: dict[str, float] = field(factory=dict)
    _open: dict[tuple[str, int], tuple[Record, str]] = field(factory=dict)

    def __call__(self, record: Record) -> Iterator[EndedRun]:
        match record.event:
            case JobSubmitted(job=job):
                self.submitted[job] = record.t
            case RunStarted(job=job, run=number, processors=processors):
                self._open[job, number] = (record, processors)
            case RunEnded(job=job, run=number, outcome=outcome):
                yield self._run(job, number, record.t, outcome)

    def close(self, now: float) -> Iterator[EndedRun]:
        """The runs that the log leaves open."""
        for job, number in list(self._open):
            yield self._run(job, number, now, None)

    def _run(self, job: str, number: int, end: float, outcome: Outcome | None) -> EndedRun:
        start, processors = self._open.pop((job, number))
        submitted = self.submitted.get(job, start.t)
        return EndedRun(
            job, number, processors, submitted, start.t, end, outcome, start.seq, start.cause
        )
