"""The life of an iterative application: iterations, configurations, transfers, suspensions."""

from __future__ import annotations

from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, RunEnded, ScenarioEnded
from actors.runtime import Record
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    ConfigurationChosen,
    IterationCompleted,
    IterationStarted,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from policies.availability import WorkerState
from sims.trace.span import Span


@define
class IterativeTrace:
    """Fold: the spans of one job; `root` is None while the log has not mentioned it."""

    job: str
    root: Span | None = None
    _iteration: Span | None = None
    _run: Span | None = None
    _computing: Span | None = None
    _transfers: dict[str, Span] = field(factory=dict)
    _members: set[str] = field(factory=set)

    def __call__(self, record: Record) -> None:
        event = record.event
        if getattr(event, "job", self.job) != self.job:
            return
        match event:
            case JobSubmitted():
                self.root = self._span(f"{self.job} submitted", record)
            case IterationStarted(iteration=iteration):
                self._iteration = self._below(self.root, f"iteration {iteration}", record)
            case ConfigurationChosen():
                self._configure(event, record)
            case WorkerEnrolled(worker=worker):
                self._members.add(worker)
            case WorkerReleased(worker=worker):
                self._members.discard(worker)
            case ComputationStarted():
                self._computing = self._below(self._run, "computes", record)
            case ComputationSuspended():
                self._suspend(event, record)
            case RunEnded(outcome=outcome):
                self._end_run(f"ended: {outcome.value}", record)
            case IterationCompleted():
                self._close(self._iteration, record.t)
            case JobCompleted() | ScenarioEnded():
                self._close(self.root, record.t)
            case _:
                self._of_worker(record)

    def _of_worker(self, record: Record) -> None:
        event = record.event
        if getattr(event, "worker", None) not in self._members:
            return
        match event:
            case WorkerChanged(worker=worker, state=state):
                self._happened(f"{worker} is {state.name} now", record)
                if state is WorkerState.DOWN:
                    self._members.discard(worker)
            case TransferStarted(worker=worker, kind=kind):
                title = f"{worker} receives {kind.value}"
                self._transfers[worker] = self._below(self._run, title, record)
            case TransferSuspended(worker=worker, left=left):
                self._end_transfer(worker, f", {left} slots of it left", record.t)
            case TransferEnded(worker=worker):
                self._end_transfer(worker, "", record.t)

    def _configure(self, event: ConfigurationChosen, record: Record) -> None:
        members = ", ".join(f"{worker} x{tasks}" for worker, tasks in event.members)
        title = f"run {event.run} ({event.reason.value}): {members}; {event.work} slots of work"
        self._run = self._below(self._iteration, title, record)

    def _suspend(self, event: ComputationSuspended, record: Record) -> None:
        if self._computing is not None:
            self._computing.title += f", {event.done} slots done by then"
        self._close(self._computing, record.t)
        self._computing = None

    def _end_run(self, title: str, record: Record) -> None:
        self._close(self._computing, record.t)
        self._computing = None
        self._happened(title, record)
        self._close(self._run, record.t)

    def _end_transfer(self, worker: str, note: str, t: float) -> None:
        span = self._transfers.pop(worker, None)
        if span is not None:
            span.title += note
            span.end = t

    def _happened(self, title: str, record: Record) -> None:
        self._close(self._below(self._run, title, record), record.t)

    def _below(self, parent: Span | None, title: str, record: Record) -> Span:
        span = self._span(title, record)
        return parent.add(span) if parent is not None else span

    @staticmethod
    def _span(title: str, record: Record) -> Span:
        return Span(title, record.t, seq=record.seq, cause=record.cause)

    @staticmethod
    def _close(span: Span | None, t: float) -> None:
        if span is not None:
            span.end = t
