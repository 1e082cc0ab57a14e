"""The accountant: from a history's spans to slices of processor time (WORLD.md, Ledger)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import define, field

from actors.events import DeciderKind, MemberReplaced, Outcome
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history import History, Job, Listener, Run, Worker
from sims.ledger.slices import Slice, Use
from sims.ledger.spans import Fate, RunSpan, Status

AWAY = {WorkerState.DOWN: Use.DOWN, WorkerState.RECLAIMED: Use.RECLAIMED}


@define(eq=False)
class Slices(Listener):
    """Calls `tell` with each slice that ends, or becomes known; idle time is what none covers.

    Slices of one processor come in order of time, but for computing: what it was for is known when
    the job (the iteration) is completed. A run that ends whole, alone and without stages (an
    attempt of rigid21 or moldable21) is told at once, and nothing is kept of it.
    """

    history: History
    """Which it listens to from now on."""
    tell: Callable[[Slice], object]
    _spans: dict[Run, RunSpan] = field(init=False, factory=dict)
    """Runs under way, or whose members are kept, of which more is known than their start."""
    _fates: dict[Job, Fate] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        self.history.on(MemberReplaced, self._replaced)

    def _replaced(self, record: Record, event: MemberReplaced) -> None:
        """It may come back to the same run."""
        run = self.history.runs[event.job, event.run]
        self._known(run).moves.pop(event.worker, None)

    def _tell(self, slices: Iterable[Slice]) -> None:
        for it in slices:
            self.tell(it)

    def log_ended(self, now: float) -> None:
        """What is saved or under way is lost."""
        for run in self.history.runs.values():
            self._known(run)
        for run, span in self._spans.items():
            self._tell(span.settle(now, run.done, run.kept))
        for fate in self._fates.values():
            self._tell(fate.close())
        for worker in self.history.workers.values():
            if now > worker.since:
                self.worker_span(worker, now)

    # --- jobs ---------------------------------------------------------------------------------

    def job_ended(self, job: Job, record: Record) -> None:
        fate = self._fates.pop(job, None)
        if fate is not None:
            self._tell(fate.give_up(record.t) if job.killed else fate.settle())

    def iteration_ended(self, job: Job, record: Record) -> None:
        self.job_ended(job, record)

    # --- runs ---------------------------------------------------------------------------------

    @property
    def _outlives(self) -> bool:
        """Whether states of runs that are cancelled outlive them (redundancy17)."""
        header = self.history.header
        return header is not None and header.decider is DeciderKind.COPIES

    def _uncloned(self, job: Job) -> bool:
        """Whether any of its cancelled states may be gone on from, not the furthest alone."""
        return job.protection is not None and not job.protection.cloning and self._outlives

    def run_started(self, run: Run, record: Record) -> None:
        if run.event.source is not None:
            self._follow(run, run.event.source)
        elif run.event.share != 1:
            self._known(run)
        fate = self._fates.get(run.job)
        if fate is not None and not self._uncloned(run.job):
            self._tell(fate.forget(record.t))

    def _follow(self, run: Run, number: int) -> None:
        """The run that this one begins from matters as long as it does."""
        self._known(run)
        source = self.history.runs.get((run.job.name, number))
        if source is not None:
            self._known(source)
        span = self._fates[run.job].runs.get(number)
        if span is not None:
            span.followers += 1

    def _known(self, run: Run) -> RunSpan:
        """This run, with an account of its own from now on."""
        span = self._spans.get(run)
        if span is None:
            span = self._spans[run] = RunSpan(run)
            self._fates.setdefault(run.job, Fate()).runs[run.number] = span
        return span

    def run_span(self, run: Run, record: Record, done: float) -> None:
        self._tell(self._known(run).settle(record.t, done, run.kept))

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        cancelled = run.outcome is Outcome.CANCELLED
        if run not in self._spans and not cancelled and run.job not in self._fates:
            self._tell(_attempted(run, record.t))
            return
        span = self._known(run)
        self._tell(span.settle(record.t, done, False))
        fate = self._fates[run.job]
        fate.over.append(span)
        if run.outcome is Outcome.COMPLETED:
            fate.completed = span
        elif cancelled and self._outlives:
            fate.keep(span)

    def run_released(self, run: Run, record: Record) -> None:
        self._spans.pop(run, None)

    # --- their members ------------------------------------------------------------------------

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        status, known = Status.WITH, self.history.workers.get(worker)
        if known is not None:
            status = Status.SENDING if _beside(known, run) else Status.APART
        elif self.history.speeds.get(worker) == 0:
            status = Status.STALLED
        if status or run in self._spans:
            self._known(run).move(worker, record.t, status)

    def worker_span(self, worker: Worker, until: float) -> None:
        if _beside(worker, worker.holder):
            return  # the run tells of it
        use = AWAY.get(worker.state, Use.TRANSFER)
        note = worker.transfer.kind.value if worker.transfer else ""
        job, run = worker.holder.key if worker.holder else (None, None)
        number = str(worker.number)
        self.tell(Slice(number, use, worker.since, until, worker.seq, job, run, note=note))


def _beside(worker: Worker, run: Run | None) -> bool:
    """Whether its message is one of a run that goes on meanwhile."""
    return run is not None and run.overlaps and worker.state not in AWAY


def _attempted(run: Run, end: float) -> Iterator[Slice]:
    """A whole attempt: it computes for its work, and verifies for the rest of its time."""
    of = run.job.name, run.number
    over = min(run.start + run.event.work, end) if run.job.verification else end
    use = Use.USEFUL if run.outcome is Outcome.COMPLETED else Use.LOST
    if over > run.start:
        yield Slice(run.processors, use, run.start, over, run.seq, *of)
    if end > over:
        yield Slice(run.processors, Use.VERIFICATION, over, end, run.seq, *of)
