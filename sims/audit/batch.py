"""Laws of rigid and moldable jobs under silent errors (001, section 3; 000, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from attrs import define, field

from actors.batch.events import AttemptSized, JobDescribed, JobKilled, WorkloadEnded
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
from sims.telling import counted
from sims.uses.slices import count

GONE: dict[Outcome, type] = {Outcome.COMPLETED: JobCompleted, Outcome.WITHDRAWN: JobKilled}
"""What follows at once where an attempt ended so."""


@define
class _Job:
    """A job as its laws say it must be."""

    submitted: Record
    described: JobDescribed | None = None
    started: Record | None = None
    """RunStarted of its last attempt."""
    sized: AttemptSized | None = None
    """Of the attempt that is going on."""
    ended: int = 0
    """Attempts that have ended, those not counted that were lost with a processor."""
    times: dict[int, float] = field(factory=dict)
    """Processors -> how long an attempt computes on them."""


@define
class BatchAuditor:
    """Attempts last as long as they must, and are as many as the job has failures, and one."""

    rigid: bool = False
    jobs: dict[str, _Job] = field(factory=dict)
    verification: float | None = None
    attempts: int = 0
    completed: int = 0
    killed: int = 0
    over: int | None = None
    """seq of WorkloadEnded."""
    _incomplete: tuple[Record, type] | None = None
    """What the record before was, and the kind of event that must follow it at once."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        yield from self._follow(record)
        match record.event:
            case ScenarioStarted(kind=kind):
                self.rigid = kind == "rigid"
            case JobSubmitted(job=job):
                self.jobs[job] = _Job(record)
                self._incomplete = (record, JobDescribed)
            case JobDescribed(job=job):
                yield from self._describe(record.event, record)
            case WorkloadEnded() | ScenarioEnded():
                yield from self._end_workload(record)
            case _:
                yield from self._life(record)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _life(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case RunStarted(job=name) if name in self.jobs:
                self.jobs[name].started, self.jobs[name].sized = record, None
                self._incomplete = (record, AttemptSized)
            case AttemptSized(job=name) if name in self.jobs:
                yield from self._size(self.jobs[name], record.event, record)
            case RunEnded(job=name, outcome=outcome) if name in self.jobs:
                self.attempts += 1
                if outcome in GONE:
                    self._incomplete = (record, GONE[outcome])
                yield from self._end(self.jobs[name], record.event, record)
            case JobCompleted(job=name) if name in self.jobs:
                self.completed += 1
                yield from self._complete(name, record)
            case JobKilled(job=name) if name in self.jobs:
                self.killed += 1

    def _follow(self, record: Record) -> Iterator[Violation]:
        """What belongs together stands together."""
        if self._incomplete is None:
            return
        before, kind = self._incomplete
        self._incomplete = None
        about, event = getattr(before.event, "job", None), record.event
        same = getattr(event, "job", None) == about and record.t == before.t
        if not (isinstance(event, kind) and same):
            why = f"{kind.__name__} of {about} does not follow at once"
            yield Violation(Law.FRAME, (before.seq, record.seq), why)

    def _describe(self, event: JobDescribed, record: Record) -> Iterator[Violation]:
        job = self.jobs.get(event.job)
        if job is None or job.described is not None or job.submitted.seq != record.seq - 1:
            why = f"{event.job} is described when it is not just being submitted"
            yield Violation(Law.FRAME, (record.seq,), why)
        if event.estimate is not None and not self.rigid:
            yield Violation(Law.FRAME, (record.seq,), "moldable jobs have no estimates")
        if job is not None:
            job.described = event

    # --- attempts -----------------------------------------------------------------------------

    def _size(self, job: _Job, event: AttemptSized, record: Record) -> Iterator[Violation]:
        start, seq = job.started, record.seq
        if start is None or start.seq != seq - 1 or not isinstance(start.event, RunStarted):
            yield Violation(Law.FRAME, (seq,), f"no attempt of {event.job} has just started")
            return
        job.sized = event
        held = count(start.event.processors)
        if event.run != start.event.run or event.processors != held:
            on = counted(event.processors, "processor")
            why = f"run {event.run} on {on}, where {held} are held"
            yield Violation(Law.DURATION, (start.seq, seq), why)
        yield from self._keep_size(job, event, seq)

    def _keep_size(self, job: _Job, event: AttemptSized, seq: int) -> Iterator[Violation]:
        time = job.times.setdefault(event.processors, event.time)
        if time != event.time or (self.rigid and len(job.times) > 1):
            why = f"{event.job} takes {event.time} on {event.processors}, before {job.times}"
            yield Violation(Law.DURATION, (seq,), why)
        if self.verification is None:
            self.verification = event.verification
        if event.verification != self.verification:
            why = f"verification takes {event.verification}, before {self.verification}"
            yield Violation(Law.DURATION, (seq,), why)

    def _end(self, job: _Job, event: RunEnded, record: Record) -> Iterator[Violation]:
        sized, start, described = job.sized, job.started, job.described
        job.sized, run = None, job.ended
        job.ended += event.outcome is not Outcome.LOST
        if sized is None or start is None or described is None:
            return  # said already
        due = sized.time + sized.verification
        if event.outcome is Outcome.LOST:
            yield from self._lose(min(due, described.limit or due), start, record)
            return
        yield from self._outcome(described, event, run, due, (start.seq, record.seq))
        if event.outcome is Outcome.WITHDRAWN:
            due = min(due, described.limit or due)
        if not isclose(start.t + due, record.t, rel_tol=1e-12):
            why = f"{event.job} should take {due:g} and takes {record.t - start.t:g}"
            yield Violation(Law.DURATION, (start.seq, record.seq), why)

    def _lose(self, due: float, start: Record, record: Record) -> Iterator[Violation]:
        """Lost before its end: whether a processor failed is FailStopAuditor's affair."""
        if record.t >= start.t + due:
            why = f"it is lost at {record.t}, and was over at {start.t + due}"
            yield Violation(Law.DURATION, (start.seq, record.seq), why)

    def _outcome(
        self, job: JobDescribed, event: RunEnded, run: int, held: float, events: tuple[int, ...]
    ) -> Iterator[Violation]:
        expected = Outcome.FAILED if run < job.failures else Outcome.COMPLETED
        if job.limit is not None and job.limit < held:
            expected = Outcome.WITHDRAWN
        if event.outcome is not expected:
            why = f"attempt {run} of {job.job} is {event.outcome.value}; f_j = {job.failures}"
            yield Violation(Law.ATTEMPTS, events, why)

    def _complete(self, name: str, record: Record) -> Iterator[Violation]:
        job = self.jobs[name]
        if job.described is not None and job.ended != job.described.failures + 1:
            why = f"{name} made {counted(job.ended, 'attempt')}; f_j = {job.described.failures}"
            yield Violation(Law.ATTEMPTS, (job.submitted.seq, record.seq), why)

    # --- the workload -------------------------------------------------------------------------

    def _end_workload(self, record: Record) -> Iterator[Violation]:
        event = record.event
        if isinstance(event, ScenarioEnded):
            if (self.over is not None) != (event.end is End.COMPLETED):
                over = "has not ended" if self.over is None else "has ended"
                why = f"the scenario is {event.end.value} and the workload {over}"
                yield Violation(Law.FRAME, (record.seq,), why)
            return
        assert isinstance(event, WorkloadEnded)
        if self.over is not None:
            yield Violation(Law.FRAME, (self.over, record.seq), "the workload ends twice")
        self.over = record.seq
        found = (self.completed, self.killed, self.attempts)
        if found != (event.completed, event.killed, event.attempts):
            why = f"{found} jobs completed, killed, and attempts by the log; it says {event}"
            yield Violation(Law.ATTEMPTS, (record.seq,), why)
