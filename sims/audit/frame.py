"""Laws of every log: its frame, its order, the lives of its jobs and runs."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.batch.events import JobKilled
from actors.events import (
    End,
    JobCompleted,
    JobSubmitted,
    Outcome,
    RunEnded,
    RunStarted,
    ScenarioEnded,
    ScenarioStarted,
)
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.parts import parts


@define
class OrderAuditor:
    """Numbers, times, causes; beginning and end."""

    last: Record | None = None
    ended: bool = False

    def __call__(self, record: Record) -> Iterator[Violation]:
        last, self.last = self.last, record
        seq = record.seq
        if last is None:
            if seq != 0 or not isinstance(record.event, ScenarioStarted):
                yield Violation(Law.FRAME, (seq,), "the first event is not ScenarioStarted as #0")
            return
        if seq != last.seq + 1:
            yield Violation(Law.ORDER, (last.seq, seq), f"#{seq} follows #{last.seq}")
        if record.t < last.t:
            yield Violation(Law.ORDER, (last.seq, seq), f"time {record.t} follows {last.t}")
        if record.cause is None or not 0 <= record.cause < seq:
            yield Violation(Law.ORDER, (seq,), f"its cause is {record.cause}")
        if isinstance(record.event, ScenarioStarted) or self.ended:
            yield Violation(Law.FRAME, (seq,), f"{type(record.event).__name__} cannot come here")
        self.ended = self.ended or isinstance(record.event, ScenarioEnded)

    def close(self, last: Record) -> Iterator[Violation]:
        if not self.ended:
            yield Violation(Law.FRAME, (last.seq,), "the log does not end with ScenarioEnded")


@define
class _Job:
    submitted: int
    runs: int = 0
    open: dict[int, int] = field(factory=dict)
    """Run -> seq of its RunStarted."""
    gone: int | None = None
    """seq of the event by which it completed, or was killed."""
    last: Outcome | None = None
    """How its last run ended; with many at once, COMPLETED once one has."""


@define
class LifeAuditor:
    """Jobs and runs: submitted, started, ended, completed; numbered in sequence."""

    many: bool = False
    """Whether a job may have several runs at once (redundant copies)."""
    arriving: bool = True
    """Whether jobs may still come when a run is capped, so that it may end with none in it."""
    jobs: dict[str, _Job] = field(factory=dict)
    now: float = 0
    latest: float = 0
    """When a job was over last."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        self.now = record.t
        for part in parts(record):
            yield from self._live(part)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _live(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case JobSubmitted(job=job):
                if job in self.jobs:
                    why = f"{job} is submitted a second time"
                    yield Violation(Law.LIFE, (self.jobs[job].submitted, record.seq), why)
                self.jobs[job] = _Job(record.seq)
            case RunStarted(job=job, run=run):
                yield from self._start(job, run, record.seq)
            case RunEnded(job=job, run=run, outcome=outcome):
                yield from self._end(job, run, outcome, record.seq)
            case JobCompleted(job=job):
                yield from self._leave(job, Outcome.COMPLETED, record.seq)
            case JobKilled(job=job):
                yield from self._leave(job, Outcome.WITHDRAWN, record.seq)
            case ScenarioEnded(end=end):
                yield from self._finish(end, record)

    def _start(self, name: str, run: int, seq: int) -> Iterator[Violation]:
        job = self.jobs.get(name)
        if job is None or job.gone is not None:
            why = f"{name} runs before it is submitted, or after its end"
            yield Violation(Law.LIFE, (seq,), why)
            return
        if run != job.runs:
            yield Violation(
                Law.SEQUENCE, (seq,), f"run {run} of {name} comes where {job.runs} should"
            )
        if job.open and not self.many:
            others = tuple(job.open.values())
            yield Violation(Law.SEQUENCE, (*others, seq), f"{name} has another run going on")
        job.runs = run + 1
        job.open[run] = seq

    def _end(self, name: str, run: int, outcome: Outcome, seq: int) -> Iterator[Violation]:
        job = self.jobs.get(name)
        if job is None or job.open.pop(run, None) is None:
            yield Violation(Law.SEQUENCE, (seq,), f"run {run} of {name} ends and was not going on")
            return
        if not (self.many and job.last is Outcome.COMPLETED):
            job.last = outcome

    def _leave(self, name: str, after: Outcome, seq: int) -> Iterator[Violation]:
        """The job is gone, after a run that ended so."""
        job = self.jobs.get(name)
        if job is None or job.gone is not None:
            yield Violation(Law.LIFE, (seq,), f"{name} ends and was not under way")
            return
        job.gone, self.latest = seq, self.now
        if job.open:
            others = tuple(job.open.values())
            yield Violation(Law.LIFE, (*others, seq), f"{name} ends with a run going on")
        if job.last is not after:
            how = job.last.value if job.last else "none"
            why = f"{name} ends after a run {how}, not {after.value}"
            yield Violation(Law.LIFE, (seq,), why)

    def _finish(self, end: End, record: Record) -> Iterator[Violation]:
        seq, under_way = record.seq, any(job.gone is None for job in self.jobs.values())
        if end is not End.COMPLETED:
            if not under_way and not self.arriving:
                why = f"the scenario is {end.value} and all its jobs are over"
                yield Violation(Law.LIFE, (seq,), why)
            return
        if record.t != self.latest:
            why = f"its last job was over at {self.latest}, and it ends at {record.t}"
            yield Violation(Law.FRAME, (seq,), why)
        for name, job in self.jobs.items():
            if job.gone is None:
                why = f"the scenario completed and {name} did not"
                yield Violation(Law.LIFE, (job.submitted, seq), why)
