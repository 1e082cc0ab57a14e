"""From a log's records to the state that they tell of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from sys import intern
from types import SimpleNamespace
from typing import Any, TypeVar

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    CopiesPlaced,
    CopiesSettled,
    IterationCompleted,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    ProtectionDescribed,
    RateChanged,
    ReservationDropped,
    ReservationMade,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    StageStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import count_in, joined, spans_in
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.history.holders import Holders
from sims.history.listener import HOOKS, Listener
from sims.history.states import Job, Key, Run, Worker

Handler = Callable[[Record, Any], None]
L = TypeVar("L", bound=Listener)

HOLDING: frozenset[type[Event]] = frozenset(
    (
        *(ScenarioStarted, JobSubmitted, JobDescribed, JobCompleted, JobKilled),
        *(RunStarted, RunEnded, MembersReleased, MembersJoined, MembersChanged),
        *(CopiesPlaced, CopiesSettled, ReservationMade, ReservationDropped, WorkerChanged),
    )
)
"""What tells which jobs wait, who holds which workers, and who is away: enough of a log for those
questions."""
OF_RUNS = ("run_started", "run_span", "run_ended", "run_released", "member_changed")


@define(eq=False)
class History:
    """Fold: `apply` it to each record of a log, in order, or to those of `HOLDING`.

    Raises LookupError where an event contradicts those before.
    """

    processors: int = 0
    """Size of the platform; the log's first record tells it."""
    now: float = 0.0
    """Virtual time of the last record."""
    events: int = 0
    """How many the log has had."""
    header: ScenarioStarted | None = None
    jobs: dict[str, Job] = field(init=False, factory=dict)
    """Those submitted and not over, in that order."""
    workers: dict[int, Worker] = field(init=False, factory=dict)
    """Those that are not UP, or have a message under way."""
    speeds: dict[int, float] = field(init=False, factory=dict)
    """Of those whose speed has been told; 1 elsewhere."""
    waiting: int = field(init=False, default=0)
    """How many jobs hold nothing."""
    _runs: dict[Key, Run] = field(init=False, factory=dict)
    _placed: Record | None = field(init=False, default=None)
    """Copies under way that no one has asked for yet: to make a run of each would take longer than
    simulating them."""
    _holders: Holders = field(init=False, factory=Holders)
    _stalled: set[int] = field(init=False, factory=set)
    """Workers of speed 0."""
    _on: defaultdict[type, list[Handler]] = field(init=False)
    _notify: Any = field(init=False)
    """By hook: the methods that override it."""

    def __attrs_post_init__(self) -> None:
        self._notify = SimpleNamespace(**{hook: [] for hook in HOOKS})
        handlers: dict[type, Handler] = {
            ScenarioStarted: self._begin,
            JobSubmitted: self._submit,
            JobDescribed: self._describe,
            ProtectionDescribed: self._protect,
            JobCompleted: self._leave,
            JobKilled: self._leave,
            IterationCompleted: self._iterate,
            ReservationMade: self._promise,
            ReservationDropped: self._promise,
            RunStarted: self._start,
            RunEnded: self._end,
            CopiesPlaced: self._place,
            CopiesSettled: self._settle,
            StageStarted: self._advance,
            RateChanged: self._advance,
            CheckpointTaken: self._save,
            RestartedFromScratch: self._restart,
            MembersReleased: self._release,
            MembersJoined: self._join,
            MembersChanged: self._exchange,
            WorkerChanged: self._turn,
            WorkerSpeedChanged: self._pace,
            TransferStarted: self._transfer,
            TransferSuspended: self._stop_transfer,
            TransferEnded: self._stop_transfer,
            TransferDropped: self._stop_transfer,
        }
        self._on = defaultdict(list, {kind: [handler] for kind, handler in handlers.items()})

    @classmethod
    def of(cls, records: Iterable[Record], *listeners: Listener) -> History:
        """The history of whole records, once all of them have been applied."""
        history = cls()
        for listener in listeners:
            history.listen(listener)
        for record in records:
            history.apply(record)
        history.close()
        return history

    # --- to be told ---------------------------------------------------------------------------

    def listen(self, listener: L) -> L:
        """Notify `listener` of all from now on, after those that listen already."""
        for hook in HOOKS:
            if getattr(type(listener), hook) is not getattr(Listener, hook):
                getattr(self._notify, hook).append(getattr(listener, hook))
        return listener

    def on(self, kind: type[Event], handler: Handler) -> None:
        """Call `handler(record, event)` with each event of this class, once the state knows of it.
        It is not called with what a `Compound` stands for."""
        self._on[kind].append(handler)

    @property
    def wants(self) -> frozenset[type]:
        """The events that change anything."""
        return frozenset(self._on)

    def apply(self, record: Record) -> None:
        """The log goes on with this record."""
        if record.t > self.now:
            for notify in self._notify.time_passed:
                notify(record.t)
            self.now = record.t
        self.events = record.seq + 1
        handlers = self._on.get(type(record.event))
        if handlers is not None:
            for handler in handlers:
                handler(record, record.event)

    def close(self) -> None:
        """The log ends here."""
        for notify in self._notify.log_ended:
            notify(self.now)

    # --- to be asked --------------------------------------------------------------------------

    @property
    def runs(self) -> dict[Key, Run]:
        """Runs under way, and those that have ended and whose members are kept."""
        placed, self._placed = self._placed, None
        if placed is not None:
            assert isinstance(placed.event, CopiesPlaced)
            for part in placed.event.parts():
                self._enter(placed, part)
        return self._runs

    @property
    def running(self) -> int:
        """How many jobs hold workers, for a run or between two."""
        return len(self.jobs) - self.waiting

    @property
    def queue(self) -> list[Job]:
        """The jobs that wait, in order of submission."""
        return [job for job in self.jobs.values() if not job.holdings]

    def holders(self, worker: int) -> list[Run]:
        """The runs that hold this worker: one, none, or several that share it."""
        return self._index().of(worker)

    @property
    def free(self) -> int:
        """How many workers are UP and held by no run."""
        away = [it.number for it in self.workers.values() if it.state is not WorkerState.UP]
        return self._index().free(away)

    def _index(self) -> Holders:
        if not self._holders.kept:
            self._holders.keep(self.processors, self.runs.values())
        return self._holders

    # --- jobs ---------------------------------------------------------------------------------

    def _begin(self, record: Record, event: ScenarioStarted) -> None:
        self.header, self.processors = event, event.processors

    def _submit(self, record: Record, event: JobSubmitted) -> None:
        job = self.jobs[event.job] = Job(event.job, record.t, record.seq, event, record.t)
        self._count(1, record.t)
        for notify in self._notify.job_submitted:
            notify(job, record)

    def _describe(self, record: Record, event: JobDescribed) -> None:
        job = self.jobs[event.job]
        # A log has each job's name, and the word for its kind, in memory once for each line.
        times = event.work, event.verification, event.failures, event.estimate, event.limit
        job.described = JobDescribed(job.name, intern(event.kind), *times)

    def _protect(self, record: Record, event: ProtectionDescribed) -> None:
        self.jobs[event.job].protection = event

    def _leave(self, record: Record, event: JobCompleted | JobKilled) -> None:
        job = self.jobs.pop(event.job)
        job.end, job.killed = record.t, isinstance(event, JobKilled)
        for notify in self._notify.job_ended:
            notify(job, record)
        self._count(-1 if not job.holdings else 0, record.t)

    def _iterate(self, record: Record, event: IterationCompleted) -> None:
        job = self.jobs[event.job]
        job.saved = None
        for notify in self._notify.iteration_ended:
            notify(job, record)

    def _promise(self, record: Record, event: ReservationMade | ReservationDropped) -> None:
        start = event.start if isinstance(event, ReservationMade) else None
        self.jobs[event.job].promised = start

    def _hold(self, job: Job, runs: int, now: float) -> None:
        """So many runs more (or less, below 0) hold workers for the job."""
        waited = not job.holdings
        job.holdings += runs
        waits = not job.holdings
        if waits is not waited:
            job.since, job.promised = now, None
            if job.end is None:
                self._count(1 if waits else -1, now)

    def _count(self, more: int, now: float) -> None:
        self.waiting += more
        for notify in self._notify.queue_changed:
            notify(now)

    # --- runs ---------------------------------------------------------------------------------

    def _start(self, record: Record, event: RunStarted) -> None:
        kept = None
        if event.keeps is None:
            self._hold(self.jobs[event.job], 1, record.t)
        else:
            kept = self._runs.pop((event.job, event.keeps))
            self._holders.give(kept)
        run = self._enter(record, event)
        for notify in self._notify.run_started:
            notify(run, record)
        if kept is not None:
            self._part(kept, record)
        self._meet(run, event.processors, record)

    def _enter(self, record: Record, event: RunStarted) -> Run:
        job, key = self.jobs[event.job], (event.job, event.run)
        run = Run(job, event, record, event.processors, record.t, record.seq, event.begun)
        self._runs[key] = run
        self._holders.take(run, event.processors)
        return run

    def _end(self, record: Record, event: RunEnded) -> None:
        run = self._runs[event.job, event.run]
        run.outcome, run.end, run.kept = event.outcome, record.t, event.kept
        for notify in self._notify.run_ended:
            notify(run, record, event.done)
        run.since, run.seq, run.done = record.t, record.seq, event.done
        if not event.kept:
            self._let_go(run, record)

    def _release(self, record: Record, event: MembersReleased) -> None:
        self._let_go(self._runs[event.job, event.run], record)

    def _let_go(self, run: Run, record: Record) -> None:
        del self._runs[run.key]
        self._holders.give(run)
        self._part(run, record)
        self._hold(run.job, -1, record.t)

    def _part(self, run: Run, record: Record) -> None:
        """The run's members are not its any more."""
        if run.kept:
            self._span(run, record, run.done)
        self._forsake(run, record)
        for notify in self._notify.run_released:
            notify(run, record)

    def _place(self, record: Record, event: CopiesPlaced) -> None:
        if any(getattr(self._notify, hook) for hook in OF_RUNS):
            for part in event.parts():
                self._start(record, part)
            return
        self._placed = record
        for job, copies in zip(event.jobs, event.copies, strict=True):
            self._hold(self.jobs[job], copies, record.t)

    def _settle(self, record: Record, event: CopiesSettled) -> None:
        if self._placed is None:
            for part in event.parts():
                self._end(record, part)
            return
        self._placed = None
        for job, copies in zip(event.jobs, event.copies, strict=True):
            if job in self.jobs:
                self._hold(self.jobs[job], -copies, record.t)

    # --- what runs do -------------------------------------------------------------------------

    def _advance(self, record: Record, event: StageStarted | RateChanged) -> None:
        run = self._runs[event.job, event.run]
        self._span(run, record, event.done)
        run.rate = event.rate
        if isinstance(event, StageStarted):
            run.stage = event.stage

    def _span(self, run: Run, record: Record, done: float) -> None:
        for notify in self._notify.run_span:
            notify(run, record, done)
        run.since, run.seq, run.done = record.t, record.seq, done

    def _save(self, record: Record, event: CheckpointTaken) -> None:
        run = self._runs[event.job, event.run]
        run.checkpoint, run.job.saved = event.done, (event.run, event.done)

    def _restart(self, record: Record, event: RestartedFromScratch) -> None:
        self.jobs[event.job].saved = None

    def _join(self, record: Record, event: MembersJoined) -> None:
        run = self._runs[event.job, event.run]
        self._span(run, record, run.done)
        run.processors = joined(run.processors, event.processors)
        self._holders.take(run, event.processors)
        self._meet(run, event.processors, record)

    def _exchange(self, record: Record, event: MembersChanged) -> None:
        run = self._runs[event.job, event.run]
        self._span(run, record, run.done)
        self._holders.give(run)
        self._forsake(run, record)
        run.processors = event.processors
        self._holders.take(run, event.processors)
        self._meet(run, event.processors, record)

    # --- workers ------------------------------------------------------------------------------

    def _turn(self, record: Record, event: WorkerChanged) -> None:
        worker = self._known(event.worker, record)
        worker.state, worker.until = event.state, event.until
        self._review(worker, record)

    def _transfer(self, record: Record, event: TransferStarted) -> None:
        worker = self._known(event.worker, record)
        worker.transfer = event
        self._review(worker, record)

    def _stop_transfer(
        self, record: Record, event: TransferSuspended | TransferEnded | TransferDropped
    ) -> None:
        worker = self.workers.get(event.worker)
        if worker is not None and worker.transfer is not None:
            self._cut(worker, record)
            worker.transfer = None
            self._review(worker, record)

    def _pace(self, record: Record, event: WorkerSpeedChanged) -> None:
        self.speeds[event.worker] = event.speed
        (self._stalled.discard if event.speed else self._stalled.add)(event.worker)
        self._move(event.worker, record)

    def _known(self, number: int, record: Record) -> Worker:
        """This worker, about to change."""
        worker = self.workers.get(number)
        if worker is None:
            worker = self.workers[number] = Worker(number, record.t, record.seq)
        else:
            self._cut(worker, record)
        return worker

    def _cut(self, worker: Worker, record: Record) -> None:
        if record.t > worker.since:
            for notify in self._notify.worker_span:
                notify(worker, record.t)
        worker.since, worker.seq = record.t, record.seq

    def _review(self, worker: Worker, record: Record) -> None:
        if not worker.apart:
            del self.workers[worker.number]
        runs = self._move(worker.number, record)
        worker.serve(runs[0] if runs else None)
        for notify in self._notify.worker_changed:
            notify(worker, record)

    def _move(self, worker: int, record: Record) -> list[Run]:
        """Notify of a member that has changed; the runs that hold it."""
        runs = self.holders(worker)
        apart = worker in self.workers or worker in self._stalled
        for run in runs:
            if apart:
                run.apart[worker] = None
            else:
                run.apart.pop(worker, None)
            for notify in self._notify.member_changed:
                notify(run, worker, record)
        return runs

    def _meet(self, run: Run, processors: str, record: Record) -> None:
        """Members of a run that starts, or that join it, may be apart already."""
        for number in self._apart_in(processors):
            run.apart[number] = None
            for notify in self._notify.member_changed:
                notify(run, number, record)
            worker = self.workers.get(number)
            if worker is not None:
                self._cut(worker, record)
                worker.serve(run)

    def _forsake(self, run: Run, record: Record) -> None:
        """What members that are apart do is not for the run any more."""
        for number in run.apart:
            worker = self.workers.get(number)
            if worker is not None and worker.holder is run:
                self._cut(worker, record)
                worker.serve(None)
        run.apart = {}

    def _apart_in(self, processors: str) -> Iterator[int]:
        apart = self.workers.keys() | self._stalled if self._stalled else self.workers.keys()
        if not apart:
            return iter(())
        spans = spans_in(processors)
        if count_in(processors) < len(apart):
            return iter([n for a, b in spans for n in range(a, b + 1) if n in apart])
        return iter([n for n in sorted(apart) if any(a <= n <= b for a, b in spans)])
