"""Builds the life of one job: a tree of spans that grows with the log, and its flowtime account."""

from __future__ import annotations

import re
from functools import cached_property, singledispatchmethod
from math import inf

import orjson
from attrs import define, field

from actors.events import (
    AgentCancelledJob,
    AgentSubmittedJob,
    BandwidthShared,
    Compound,
    DependenciesDescribed,
    FaultBlamed,
    IterationStarted,
    NoticeGiven,
    Outcome,
    RateChanged,
    RedistributionDecided,
    ScenarioStarted,
    StageStarted,
    TasksDealt,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.intervals import count_in, meet, spans_in
from actors.runtime import Event, Record
from sims.history.reader import History, Job, Listener, Run
from sims.telling import Clock, amount_of, counted, in_units, worker_of
from sims.trace import Span, agents
from sims.trace.account import FlowAccount, Head, Part
from sims.trace.dependencies import submission
from sims.trace.parts.about import About
from sims.trace.parts.storage import shared
from sims.trace.run import Messages, RunStory
from sims.trace.words import TITLES, Described, described

WORKER = re.compile(rb'"worker":(\d+)')


@define
class JobStory(Listener):
    """The life of one job, built by calling it with the records whose lines it `concerns`.

    `root` is None while the log has not mentioned the job.
    """

    job: str
    root: Span | None = None
    account: FlowAccount = field(factory=FlowAccount)
    waits: list[Span] = field(factory=list)
    """Spans of the times for which the job waited."""
    cancelled: list[tuple[Record, Span]] = field(factory=list)
    """Events that cancelled runs, and the spans that say so."""
    completions: dict[float, int] = field(factory=dict)
    """Maps times to the number of the run that completed then."""
    history: History = field(factory=History)
    """History of this job alone."""
    follows: DependenciesDescribed | None = None
    """Description of the jobs that this one follows; None if it follows none."""
    agent: str = ""
    """Name of the agent that submits the job; empty if none does."""
    ended_as: str = "killed at the user's estimate"
    """Words that say why the job ended, if it is not completed."""
    _messages: Messages = field(factory=Messages)
    _runs: dict[int, RunStory] = field(factory=dict)
    _top: Span = field(init=False)
    """Span below which runs are added: the root, or the present iteration."""
    _lost: list[tuple[float, RunStory]] = field(factory=list)
    """Runs that were lost lately, and when."""
    _completed: Head | None = None
    _waiting: Span | None = None

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)

    def concerns(self, line: bytes) -> bool:
        """Return whether a line of the log, given as undecoded JSON, can concern the job; others
        need not be decoded."""
        if self.named in line or b'"event":"WorkerSpeedChanged"' in line:
            return True
        if not self.history.jobs:
            return b'"event":"LogReplayed"' in line
        if b'"event":"FaultBlamed"' in line:
            return True
        found = WORKER.search(line)
        worker = int(found[1]) if found else -1
        # Events of workers name no job: they matter if the worker is a member now or was away when
        # it was.
        mine = worker in self.history.workers or worker in self._messages.spans
        return mine or (worker >= 0 and bool(self.history.holders(worker)))

    @cached_property
    def named(self) -> bytes:
        """The job's name as it appears in the log's lines."""
        return orjson.dumps(self.job)

    def __call__(self, record: Record) -> None:
        whole = record.event
        for event in whole.parts() if isinstance(whole, Compound) else (whole,):
            subject = getattr(event, "job", self.job)
            if subject == self.job or isinstance(event, RedistributionDecided):
                part = Record(record.seq, record.t, record.cause, event)
                self.history.apply(part)
                self.hear(event, part)

    def stop(self, now: float) -> None:
        """Settle the account at the end of the log."""
        for job in self.history.jobs.values():
            self._settle(job, now)

    @property
    def started(self) -> ScenarioStarted:
        """The first event of the log."""
        assert self.history.header is not None
        return self.history.header

    @property
    def clock(self) -> Clock:
        """The clock that formats times of this log."""
        return Clock(self.started.unit, self.history.begins)

    @singledispatchmethod
    def hear(self, event: Event, record: Record) -> None:
        """Describe an event that starts or ends no run, wait or job; the history has applied it
        already."""
        tell = TITLES.get(type(event))
        if tell is None or not self.history.jobs:
            return
        description = self._runs.get(getattr(event, "run", -1))
        if description is not None:
            description.review(record.t)
        title = tell(
            event,
            About(self.job, self.started, self.clock, description.run if description else None),
        )
        if title is not None:
            (description.place if description else self._top).happened(title, record)

    # --- from submission to completion --------------------------------------------------------

    def job_submitted(self, job: Job, record: Record) -> None:
        dated = "" if self.history.begins is None else " (dates are UTC)"
        came = "submitted"
        if self.agent:
            came = agents.submission(self.agent)
        elif self.follows is not None:
            came = submission(self.follows, record.cause != 0, self.started.unit)
        self.root = self._top = Span.of(f"{self.job} {came}{dated}", record)
        self.account.since = record.t
        needs = self.history.head.messages(job.name)
        if needs is not None:
            self._messages.describe(needs)
        self._wait(record)

    @hear.register
    def _follow(self, event: DependenciesDescribed, record: Record) -> None:
        self.follows = event

    @hear.register
    def _submit(self, event: AgentSubmittedJob, record: Record) -> None:
        self.agent = event.agent

    @hear.register
    def _cancel(self, event: AgentCancelledJob, record: Record) -> None:
        self.ended_as = agents.cancellation(event.agent)

    @hear.register
    def _act(self, event: agents.OnWorker, record: Record) -> None:
        """Describe what an agent does to a worker in each run that holds it."""
        title = f"the agent {event.agent} {agents.act(event, self.started)}"
        for run in self.history.holders(event.worker):
            self._runs[run.number].place.happened(title, record)

    @hear.register
    def _describe(self, event: Described, record: Record) -> None:
        self._top.title += described(event, self.started.unit)

    @hear.register
    def _iterate(self, event: IterationStarted, record: Record) -> None:
        """Open a span for an iteration, and settle the time before it: no state outlives its
        iteration."""
        assert self.root is not None
        iteration = self.root.below(f"iteration {event.iteration}", record)
        self._settle(self.history.jobs[self.job], record.t)
        self._top = iteration
        self._wait(record)

    def iteration_ended(self, job: Job, record: Record) -> None:
        if self._top is not self.root:
            self._top.close(record.t)

    def job_ended(self, job: Job, record: Record) -> None:
        assert self.root is not None
        self._settle(job, record.t)
        self._messages.leave(record.t)
        for _, number in self.history.runs:
            # Where one line ends a job and its runs, the job's end is reported first.
            self._runs[number].span.close(record.t)
        self.root.happened(self.ended_as if job.killed else "completed", record)
        self.root.close(record.t)

    def _settle(self, job: Job, now: float) -> None:
        """Enter the job's time until `now` into the account of its flowtime.

        Computation is useful if the state that completed the job or iteration contains it. If none
        completed, computation in the furthest state is unsettled, or lost if the job was killed.
        """
        head, fate = self._completed, Part.USEFUL
        if head is None:
            fate = Part.UNSETTLED
            head = None if job.killed else self._furthest() or job.saved
        self.account.settle(now, head, fate)
        self._completed = None
        self._stop_waiting(now)

    def _furthest(self) -> Head | None:
        """Return the state from which the job would go on if the log ended here: that of the run
        under way that has done the largest share of its work, or None if none is under way."""
        under_way = [self._runs[it.number] for it in self.history.runs.values() if it.end is None]
        best = max(under_way, key=_progress, default=None)
        return None if best is None else (best.run.number, inf)

    def _wait(self, record: Record) -> None:
        """Open a span of waiting if no run is under way and no member is kept."""
        if not self.history.runs and self._waiting is None:
            self._waiting = self._top.below("waits for workers", record)
            self.waits.append(self._waiting)

    def _stop_waiting(self, now: float) -> None:
        if self._waiting is not None:
            self._waiting.close_within(self._top, now)
            self._waiting = None

    # --- runs ---------------------------------------------------------------------------------

    def run_started(self, run: Run, record: Record) -> None:
        self._stop_waiting(record.t)
        span = self._top.below(self._title(run), record)
        description = RunStory(run, self.history, self.started, span)
        self._runs[run.number] = description
        self.account.runs.append(description)

    def _title(self, run: Run) -> str:
        """Return the title of a run's span: its workers, work, origin, and the runs beside it."""
        event = run.event
        where = "workers that others have promised"
        if event.processors:
            where = f"{counted(count_in(event.processors), 'worker')}: {event.processors}"
        kept = "the same " if event.keeps is not None else ""
        share = f", share {event.share:g}" if event.share < 1 else ""
        work = in_units(event.work, self.started.unit)
        title = f"run {event.run} on {kept}{where}{share}; {work} of work"
        if event.source is not None:
            own = "" if event.begun == event.saved else f", {amount_of(event.begun)} here"
            title += f", from {amount_of(event.saved)} done by run {event.source}{own}"
        others = [it for it in self.history.runs.values() if it.end is None and it is not run]
        numbers = ", ".join(str(it.number) for it in others)
        return f"{title}; beside run{'s' * (len(others) > 1)} {numbers}" if others else title

    @hear.register
    def _deal(self, event: TasksDealt, record: Record) -> None:
        """Put the number of tasks that each worker of an iterative job's run has into the run's
        title, in place of the set of workers."""
        members = ", ".join(f"{worker_of(self.started, it)} x{tasks}" for it, tasks in event.tasks)
        reason = f" ({event.reason})" if event.reason else ""
        span = self._runs[event.run].span
        span.title = f"run {event.run}{reason}: {members}; {span.title.partition('; ')[2]}"

    @hear.register
    def _advance(self, event: StageStarted | RateChanged, record: Record) -> None:
        """Describe a new stage or rate of a run, with the messages that go on in it."""
        run = self._runs[event.run]
        run.advance(record)
        self._messages.go_on(run, record)

    @hear.register
    def _share(self, event: BandwidthShared, record: Record) -> None:
        """Describe the bandwidth to shared storage with which a run, or a checkpoint beside it,
        goes on."""
        run, storage = self._runs[event.run], self.history.head.storage
        assert storage is not None
        run.review(record.t)
        title = shared(event, run.run, storage, self.started.unit)
        if run.run.passing:
            run.place.happened(title, record)
        else:
            run.advance(record)
            run.describe(title)

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        description = self._runs[run.number]
        if run.job.end is not None:
            return
        description.end(done, record)
        if run.outcome is Outcome.CANCELLED:
            self.cancelled.append((record, description.ended))
        if run.outcome is Outcome.LOST:
            self._lost.append((record.t, description))
        if run.outcome is Outcome.COMPLETED:
            self._completed = run.number, inf
            self.completions[record.t] = run.number
        if run.kept:
            description.keep(self._top, record)

    def run_released(self, run: Run, record: Record) -> None:
        if run.job.end is not None:
            return
        if run.kept and run.end is not None:
            self._runs[run.number].release(self._top, record.t)
        self._wait(record)

    # --- what befalls them --------------------------------------------------------------------

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        if run.job.end is None:
            self._runs[run.number].befall(worker, record)

    @hear.register
    def _notice(self, event: NoticeGiven, record: Record) -> None:
        """Describe an owner's notice in each run that holds the worker."""
        name = worker_of(self.started, event.worker)
        when = "soon" if event.time is None else f"at {self.clock(event.time)}"
        title = f"notice: {name} will go DOWN {when}"
        for run in self.history.holders(event.worker):
            self._runs[run.number].place.happened(title, record)

    @hear.register
    def _blame(self, event: FaultBlamed, record: Record) -> None:
        """Describe what a fault is blamed on, in each run that was lost at this instant and had a
        worker that the fault struck."""
        struck = spans_in(event.workers)
        self._lost = [it for it in self._lost if it[0] == record.t]
        for _, run in self._lost:
            if meet(struck, spans_in(run.run.processors)):
                blamed = "nobody" if event.blamed is None else self._units(event.blamed)
                title = f"the fault of {self._units(event.workers)} is blamed on {blamed}"
                run.span.happened(title, record)

    def _units(self, workers: str) -> str:
        """Return the name of a worker, or, for several, text such as `workers 0-3`."""
        if count_in(workers) == 1:
            return worker_of(self.started, int(workers))
        return f"workers {workers}"

    @hear.register
    def _transfer(self, event: TransferStarted, record: Record) -> None:
        number = event.run
        # For a standby the event has the run in which it became one, which may be over.
        if (self.job, number) not in self.history.runs:
            number = self.history.holders(event.worker)[0].number
        self._messages.start(event, self._runs[number], record)

    @hear.register
    def _stop_transfer(
        self, event: TransferSuspended | TransferEnded | TransferDropped, record: Record
    ) -> None:
        self._messages.stop(event, self.started.unit, record.t)


def _progress(run: RunStory) -> float:
    return run.pieces[-1].done / (run.run.event.work or 1)
