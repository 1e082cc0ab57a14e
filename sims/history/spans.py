"""Writes the spans of processor time, each with its category of the ledger (rules.md, Ledger)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from attrs import define, field

from actors.events import DeciderKind, MemberReplaced, Outcome, ReplicasDropped
from actors.intervals import members, numbers_in, spans_in, text, within, without
from actors.runtime import Event, Record
from sims.history.lineages import Lineage, RunSpan, Status, computes_until
from sims.history.rows import AWAY, SpanRow, Use
from sims.history.states import Job, Run, Worker
from sims.history.writers import Writer


@define(eq=False)
class SpanWriter(Writer):
    """Divides all processor time of a history into spans of one use each, and writes a row for each
    span once its use is known. Time that no span covers is idle.

    Spans of one processor come in order of time, except those of computation: whether it was useful
    is known when the job (or its iteration) is completed. A run that ends as a whole, without other
    runs of its job and without stages (an attempt of rigid21 or moldable21), is written at once,
    and nothing about it is kept.
    """

    row: ClassVar[type] = SpanRow
    _spans: dict[Run, RunSpan] = field(init=False, factory=dict)
    """Maps runs that hold members to their spans, for those with more than a start to remember."""
    _lineages: dict[Job, Lineage] = field(init=False, factory=dict)

    def handlers(self) -> Mapping[type[Event], Callable[[Record, Any], object]]:
        # A worker that is replaced, or drops out, may come back to the same run.
        return {
            MemberReplaced: lambda _, it: self._forget(it, (it.worker,)),
            ReplicasDropped: lambda _, it: self._forget(it, numbers_in(it.processors)),
        }

    def _forget(self, event: MemberReplaced | ReplicasDropped, workers: Iterable[int]) -> None:
        moves = self._known(self.history.runs[event.job, event.run]).moves
        for worker in workers:
            moves.pop(worker, None)

    def _write(self, rows: Iterable[SpanRow]) -> None:
        for it in rows:
            self.over(it)

    def log_ended(self, now: float) -> None:
        """Write the spans of all that is still open where the log ends, at the time `now`:
        computation that is saved or under way counts as lost."""
        for run in self.history.runs.values():
            self._known(run)
        for run, span in self._spans.items():
            self._write(span.settle(now, run.done, run.kept))
        for lineage in self._lineages.values():
            self._write(lineage.close())
        for run in self.history.runs.values():
            if run.aside and now > run.aside_since:
                self.aside_span(run, now)
        self._end_worker_spans(now)

    # --- jobs ---------------------------------------------------------------------------------

    def job_ended(self, job: Job, record: Record) -> None:
        lineage = self._lineages.pop(job, None)
        if lineage is not None:
            self._write(lineage.settle())

    def iteration_ended(self, job: Job, record: Record) -> None:
        self.job_ended(job, record)

    # --- runs ---------------------------------------------------------------------------------

    @property
    def _outlives(self) -> bool:
        """Whether a later run can begin from the state of a cancelled one: the log is of redundant
        copies (redundancy17)."""
        header = self.history.header
        return header is not None and header.decider is DeciderKind.COPIES

    def _uncloned(self, job: Job) -> bool:
        """Return whether a new run of the job can begin from the state of any of its cancelled
        runs: copies keep states of their own. With cloning, a new copy begins only from the
        furthest one."""
        return job.protection is not None and not job.protection.cloning and self._outlives

    def run_started(self, run: Run, record: Record) -> None:
        if run.event.source is not None:
            self._known(run)
            source = self.history.runs.get((run.job.name, run.event.source))
            # The source's computation is useful if this run completes the job: keep its span as
            # long.
            if source is not None:
                self._known(source)
        elif run.event.share != 1:
            self._known(run)
        lineage = self._lineages.get(run.job)
        if lineage is not None and lineage.many and not self._uncloned(run.job):
            self._write(lineage.forget(record.t))

    def _known(self, run: Run) -> RunSpan:
        """Return the entry in which this run's time is accounted; if there is none, make one, also
        among its job's runs."""
        span = self._spans.get(run)
        if span is None:
            span = self._spans[run] = RunSpan(run)
            lineage = self._lineages.get(run.job)
            if lineage is None:
                lineage = self._lineages[run.job] = Lineage()
            lineage.runs[run.number] = span
        return span

    def run_span(self, run: Run, record: Record, done: float) -> None:
        self._write(self._known(run).settle(record.t, done, run.kept))

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        cancelled = run.outcome is Outcome.CANCELLED
        if not cancelled and run.job not in self._lineages:
            self._write(_attempted(run, record.t))
            return
        span = self._known(run)
        self._write(span.settle(record.t, done, False))
        lineage = self._lineages[run.job]
        if run.outcome is Outcome.COMPLETED:
            lineage.completed = span
        elif cancelled and self._outlives:
            before = lineage.furthest
            if before is None or span.done >= before.done:
                lineage.furthest = span

    def run_released(self, run: Run, record: Record) -> None:
        self._spans.pop(run, None)

    def aside_span(self, run: Run, until: float) -> None:
        held = without(spans_in(run.aside), run.aside_away)
        waiting = without(held, numbers_in(run.rest)) if run.rest else held
        dropped = spans_in(run.dropped)
        ready = without(waiting, members(dropped))
        noted = (
            (ready, Use.WAITING, "standby"),
            (without(waiting, members(ready)), Use.WAITING, "dropped"),
            (without(held, members(waiting)), Use.IDLE, "rest of its nodes"),
        )
        for spans, use, note in noted:
            if spans:
                span = text(spans), use, run.aside_since, until, run.aside_seq
                self.over(SpanRow(*span, run.job.name, run.number, note=note))

    # --- their members ------------------------------------------------------------------------

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        status, known = Status.WITH, self.history.workers.get(worker)
        if known is not None:
            # A message beside a run that goes on takes no time of its own.
            status = Status.SENDING if _beside(known, run) else Status.APART
        elif self.history.speeds.get(worker) == 0:
            status = Status.STALLED
        if status or run in self._spans:
            self._known(run).move(worker, record.t, status)

    def worker_span(self, worker: Worker, until: float) -> None:
        # A worker that several runs share is away once: its time goes to one of them.
        run = next(iter(self.history.holders(worker.number)), None)
        if _beside(worker, run):
            return  # spans of the run, or of workers aside of it, cover that time
        use = AWAY.get(worker.state, Use.TRANSFER)
        note = worker.transfer.kind.value if worker.transfer else ""
        span = str(worker.number), use, worker.since, until, worker.seq
        job, number = run.key if run else (None, None)
        if use is Use.DOWN:
            self.over(SpanRow(*span, holder=job))
        else:
            self.over(SpanRow(*span, job, number, note=note))


def _beside(worker: Worker, run: Run | None) -> bool:
    """Return whether a worker's message takes no time of its own in the ledger, since the run that
    holds the worker goes on meanwhile, or pauses, or holds the worker aside, as a standby.

    It is False where no run holds the worker, and for a worker that is not UP.
    """
    if run is None or worker.state in AWAY:
        return False
    aside = bool(run.aside) and within(run.aside, worker.number)
    return run.overlaps or run.paused or aside


def _attempted(run: Run, end: float) -> Iterator[SpanRow]:
    """Yield the spans of a run without stages that ends at `end`: its computation, useful if the
    run completed and else lost, and then, if its job has a detector, its verification."""
    of = run.job.name, run.number
    over = computes_until(run, end)
    use = Use.USEFUL if run.outcome is Outcome.COMPLETED else Use.LOST
    if over > run.start:
        yield SpanRow(run.processors, use, run.start, over, run.seq, *of)
    if end > over:
        yield SpanRow(run.processors, Use.VERIFICATION, over, end, run.seq, *of)
