"""Numbers of a run of rigid or moldable jobs, folded from its events."""

from __future__ import annotations

from attrs import define, field, frozen

from actors.batch.events import AttemptSized, JobKilled, JobsLeftOut, WorkloadEnded
from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.runtime import Event, Record


@define
class Makespan:
    """The end of the last job: all that a comparison of makespans needs (one event a run)."""

    wants: frozenset[type] = frozenset((WorkloadEnded,))
    value: float = 0.0
    attempts: int = 0

    def __call__(self, record: Record) -> None:
        event = record.event
        assert isinstance(event, WorkloadEnded)
        self.value, self.attempts = record.t, event.attempts


@frozen
class BatchLedger:
    """Where the processor-seconds went; they sum to processors x makespan."""

    useful: float
    """Attempts that succeeded, verification excluded."""
    lost: float
    """Attempts that failed or were killed, verification excluded."""
    verification: float
    idle: float


@frozen
class BatchResult:
    """One run; times in the scenario's unit."""

    makespan: float
    jobs: int
    completed: int
    killed: int
    left_out: int
    attempts: int
    failures: int
    mean_flowtime: float
    """Submission to completion, over the jobs that completed."""
    mean_wait: float
    """Submission to first start, over the jobs that started."""
    mean_stretch: float
    """Flowtime over the time of the attempt that succeeded."""
    ledger: BatchLedger

    @property
    def utilisation(self) -> float:
        """Share of all processor-seconds that ran attempts."""
        spent = self.ledger.useful + self.ledger.lost + self.ledger.verification
        return spent / (spent + self.ledger.idle) if spent else 0.0


@define
class _Life:
    """One job."""

    submitted: float
    first: float | None = None
    ended: float | None = None
    length: float = 0.0


@define
class BatchFold:
    """Sink: folds the events of one run, from memory or from a log."""

    processors: int
    """P."""
    wants: frozenset[type] = frozenset(
        (
            *(JobSubmitted, JobCompleted, RunStarted, RunEnded),
            *(AttemptSized, JobKilled, JobsLeftOut),
        )
    )
    _jobs: dict[str, _Life] = field(factory=dict)
    _running: dict[str, tuple[float, AttemptSized]] = field(factory=dict)
    _counts: dict[Outcome, int] = field(factory=lambda: dict.fromkeys(Outcome, 0))
    _useful: float = 0.0
    _lost: float = 0.0
    _verification: float = 0.0
    _left_out: int = 0
    _now: float = 0.0

    def __call__(self, record: Record) -> None:
        event: Event = record.event
        self._now = record.t
        if isinstance(event, RunEnded):
            self._end(event, record.t)
        elif isinstance(event, AttemptSized):
            self._running[event.job] = record.t, event
        elif isinstance(event, JobSubmitted):
            self._jobs[event.job] = _Life(record.t)
        elif isinstance(event, JobsLeftOut):
            self._left_out += event.jobs
        else:
            self._note(event, record.t)

    def _note(self, event: Event, now: float) -> None:
        if isinstance(event, RunStarted):
            life = self._jobs[event.job]
            life.first = now if life.first is None else life.first
        elif isinstance(event, JobCompleted):
            self._jobs[event.job].ended = now

    def _end(self, event: RunEnded, now: float) -> None:
        start, sized = self._running.pop(event.job)
        computed, verified = sized.time, sized.verification
        if event.outcome is Outcome.WITHDRAWN:
            computed = min(sized.time, now - start)
            verified = now - start - computed
        self._counts[event.outcome] += 1
        self._verification += sized.processors * verified
        if event.outcome is Outcome.COMPLETED:
            self._useful += sized.processors * computed
            self._jobs[event.job].length = now - start
        else:
            self._lost += sized.processors * computed

    def result(self) -> BatchResult:
        """The numbers so far."""
        ended = [(life, life.ended) for life in self._jobs.values() if life.ended is not None]
        flows = [end - life.submitted for life, end in ended]
        waits = [
            life.first - life.submitted for life in self._jobs.values() if life.first is not None
        ]
        stretches = [(end - life.submitted) / life.length for life, end in ended]
        return BatchResult(
            makespan=self._now,
            jobs=len(self._jobs),
            completed=len(ended),
            killed=self._counts[Outcome.WITHDRAWN],
            left_out=self._left_out,
            attempts=sum(self._counts.values()),
            failures=self._counts[Outcome.FAILED],
            mean_flowtime=_mean(flows),
            mean_wait=_mean(waits),
            mean_stretch=_mean(stretches),
            ledger=self._ledger(),
        )

    def _ledger(self) -> BatchLedger:
        spent = self._useful + self._lost + self._verification
        idle = self.processors * self._now - spent
        return BatchLedger(self._useful, self._lost, self._verification, idle)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
