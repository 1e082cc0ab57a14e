"""What volatile workers did when (002)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, evolve, field, frozen

from actors.events import Outcome, RunEnded, ScenarioStarted
from actors.runtime import Event, Record
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from policies.availability import WorkerState
from sims.uses.slices import Slice, Use

STATES = {WorkerState.RECLAIMED: Use.RECLAIMED, WorkerState.DOWN: Use.DOWN}


@frozen
class _Open:
    """What a worker does since when."""

    use: Use = Use.IDLE
    since: float = 0
    seq: int = 0
    job: str | None = None
    run: int | None = None
    note: str = ""


@define
class _Worker:
    """One worker as the log has told it so far."""

    number: str
    state: WorkerState = WorkerState.UP
    job: str | None = None
    run: int | None = None
    transfer: str = ""
    """What it is receiving."""
    open: _Open = _Open()


@define
class VolatileAccountant:
    """An enrolled UP worker transfers, computes, or waits; computing is useful once its run has
    completed, and lost otherwise, so it is told when the run ends."""

    workers: dict[str, _Worker] = field(factory=dict)
    computing: str | None = None
    """Job whose run advances now."""
    _undecided: list[Slice] = field(factory=list)
    """Computation of the current run: useful or lost."""

    def __call__(self, record: Record) -> Iterator[Slice]:
        event = record.event
        match event:
            case ScenarioStarted(workers=names):
                self.workers = {name: _Worker(str(k)) for k, name in enumerate(names)}
            case ComputationStarted(job=job):
                self.computing = job
                yield from self._review_members(job, record)
            case ComputationSuspended(job=job):
                self.computing = None
                yield from self._review_members(job, record)
            case RunEnded(job=job, outcome=outcome):
                self.computing = None
                yield from self._review_members(job, record)
                yield from self._decide(outcome)
            case _ if hasattr(event, "worker"):
                worker = self.workers[event.worker]
                self._turn(worker, event)
                yield from self._review(worker, record)

    @staticmethod
    def _turn(worker: _Worker, event: Event) -> None:
        match event:
            case WorkerChanged(state=state):
                worker.state = state
                if state is WorkerState.DOWN:
                    worker.job, worker.run, worker.transfer = None, None, ""
            case WorkerEnrolled(job=job, run=run):
                worker.job, worker.run = job, run
            case WorkerReleased():
                worker.job = worker.run = None
            case TransferStarted(kind=kind):
                worker.transfer = kind.value
            case TransferSuspended() | TransferEnded():
                worker.transfer = ""

    def close(self, now: float) -> Iterator[Slice]:
        """Open slices end at `now`; computation of an unfinished run is lost."""
        for worker in self.workers.values():
            yield from self._end(worker, now)
        yield from self._decide(Outcome.LOST)

    def _review_members(self, job: str, record: Record) -> Iterator[Slice]:
        for worker in self.workers.values():
            if worker.job == job:
                yield from self._review(worker, record)

    def _review(self, worker: _Worker, record: Record) -> Iterator[Slice]:
        use = self._use(worker)
        now = (use, worker.job, worker.run, worker.transfer)
        was = worker.open
        if now != (was.use, was.job, was.run, was.note):
            yield from self._end(worker, record.t)
            worker.open = _Open(use, record.t, record.seq, *now[1:])

    def _use(self, worker: _Worker) -> Use:
        if worker.state is not WorkerState.UP:
            return STATES[worker.state]
        if worker.job is None:
            return Use.IDLE
        if worker.job == self.computing:
            return Use.USEFUL
        return Use.TRANSFER if worker.transfer else Use.WAITING

    def _end(self, worker: _Worker, now: float) -> Iterator[Slice]:
        it = worker.open
        if it.use is Use.IDLE or it.since == now:
            return
        ended = Slice(worker.number, it.use, it.since, now, it.seq, it.job, it.run, note=it.note)
        if it.use is Use.USEFUL:
            self._undecided.append(ended)
        else:
            yield ended

    def _decide(self, outcome: Outcome) -> Iterator[Slice]:
        use = Use.USEFUL if outcome is Outcome.COMPLETED else Use.LOST
        for ended in self._undecided:
            yield evolve(ended, use=use)
        self._undecided.clear()
