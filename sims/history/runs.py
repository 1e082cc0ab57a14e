"""Keeps the jobs in the system and the runs that hold members.

What a mechanism, such as checkpoints, does to runs is followed in the module of its name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from attrs import define, field, frozen

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    IterationCompleted,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    LogReplayed,
    MaintenancePlanned,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    Outcome,
    ProtectionDescribed,
    RateChanged,
    ReservationDropped,
    ReservationMade,
    RunEnded,
    RunHung,
    RunStarted,
    ScenarioStarted,
    Stage,
    StageStarted,
    WorkerChanged,
)
from actors.intervals import (
    joined,
    merged,
    numbers_in,
    spans_in,
    text,
    without,
)
from actors.runtime import Event, Record
from sims.history.rows import own_time
from sims.history.states import Job, Key, Partition, Run
from sims.history.workers import Handler, Workers, has_all

HELD: frozenset[type[Event]] = frozenset(
    (
        *(ScenarioStarted, LogReplayed, JobSubmitted, JobDescribed, JobCompleted, JobKilled),
        *(RunStarted, RunEnded, MembersReleased, MembersJoined, MembersChanged),
        *(CopiesPlaced, CopiesSettled, ReservationMade, ReservationDropped, WorkerChanged),
        MaintenancePlanned,
    )
)
"""Event classes that determine which jobs wait, which runs hold which workers, and which workers
are away, or will be, without those of the parts (`Part.holds`)."""
DECISIONS = (RunStarted, CopiesPlaced, CopiesSettled, ReservationMade, ReservationDropped)
"""Event classes of the scheduler's decisions: when the first of an instant comes, all else of that
instant has happened."""
NEED_RUNS = frozenset(
    (
        *("run_started", "run_span", "run_ended", "run_over", "run_released", "member_changed"),
        "job_over",
    )
)
"""Hooks that need a run for each copy that one line of the log places."""


@define(eq=False)
class Runs(Workers):
    """The part of a history that keeps the jobs in the system and their runs."""

    jobs: dict[str, Job] = field(init=False, factory=dict)
    """Maps names to the jobs that are submitted and not over, in order of submission."""
    sharing: dict[Key, Run] = field(init=False, factory=dict)
    """Maps keys to the runs that hold a share of the storage's bandwidth."""
    parts: Sequence[Part] = field(init=False, default=())
    """The mechanisms of runs, each of which follows events of its own."""
    completing: Sequence[Part] = field(init=False, default=())
    """Mechanisms that know more of a job than its submission says."""
    waiting: int = field(init=False, default=0)
    """Number of jobs that hold no workers."""
    _runs: dict[Key, Run] = field(init=False, factory=dict)
    _gone: list[Job] = field(init=False, factory=list)
    """Jobs that left the system at this instant, and are reported when it is over: copies of a job
    end after it."""
    _placed: Record | None = field(init=False, default=None)
    """The record of copies under way for which no run has been made yet: making a run of each copy
    would take longer than simulating the copies."""

    def handlers(self) -> dict[type[Event], Handler]:
        return super().handlers() | {
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
            RunHung: self._hang,
            MembersReleased: self._release,
            MembersJoined: self._join,
            MembersChanged: self._exchange,
        }

    @property
    def pools(self) -> list[Partition]:
        """Sets of workers to which jobs of the queue are kept, in the order of the scenario; not to
        be asked before the log begins."""
        return [pool for part in self.parts for pool in part.pools()]

    @property
    def tiers(self) -> list[int]:
        """The tiers that jobs of the queue can have; empty if they have none."""
        return [it.tier for it in self.pools]

    @property
    def runs(self) -> dict[Key, Run]:
        """Maps keys to the runs that are under way, or have ended with their members kept."""
        placed, self._placed = self._placed, None
        if placed is not None:
            assert isinstance(placed.event, CopiesPlaced)
            for part in placed.event.parts():
                self._take(self._enter(placed, part), part.processors, placed)
        return self._runs

    @property
    def running(self) -> int:
        """Number of jobs that hold workers, for a run or between two runs."""
        return len(self.jobs) - self.waiting

    @property
    def queue(self) -> list[Job]:
        """The jobs that wait, in order of submission."""
        return [job for job in self.jobs.values() if not job.holdings]

    # --- jobs ---------------------------------------------------------------------------------

    def _submit(self, record: Record, event: JobSubmitted) -> None:
        about = event.job, record.t, record.seq, event, record.t
        job = self.jobs[event.job] = Job(*about, head=self.head)
        for part in self.completing:
            part.submitted(job)
        self._count(1, record.t)
        self._notify.job_submitted(job, record)

    def _describe(self, record: Record, event: JobDescribed) -> None:
        job = self.jobs[event.job]
        # A log has each job's name, and the word for its kind, in memory once for each line.
        times = event.work, event.verification, event.failures, event.estimate, event.limit
        job.described = JobDescribed(job.name, event.kind, *times)

    def _protect(self, record: Record, event: ProtectionDescribed) -> None:
        self.jobs[event.job].protection = event

    def _leave(self, record: Record, event: JobCompleted | JobKilled) -> None:
        job = self.jobs.pop(event.job)
        job.end, job.ended_by = record.t, record.seq
        job.killed = isinstance(event, JobKilled)
        self._notify.job_ended(job, record)
        if "job_over" in vars(self._notify):
            self._gone.append(job)
        # The number of running jobs changes even if that of waiting jobs does not: 0 still
        # notifies.
        self._count(-1 if not job.holdings else 0, record.t)

    def _report_gone(self, now: float) -> None:
        """Notify listeners of the jobs that left the system at the last instant, which is over."""
        for job in self._gone:
            self._notify.job_over(job.row(now))
        self._gone.clear()

    def _iterate(self, record: Record, event: IterationCompleted) -> None:
        job = self.jobs[event.job]
        job.saved = None
        self._notify.iteration_ended(job, record)

    def _promise(self, record: Record, event: ReservationMade | ReservationDropped) -> None:
        start = event.start if isinstance(event, ReservationMade) else None
        self.jobs[event.job].promised = start

    def _hold(self, job: Job, runs: int, now: float) -> None:
        """Record that `runs` more runs (fewer, if negative) hold workers for the job, which may end
        or begin its wait."""
        waited = not job.holdings
        job.holdings += runs
        waits = not job.holdings
        if waits is not waited:
            job.since, job.promised = now, None
            if job.end is None:
                self._count(1 if waits else -1, now)

    def _count(self, more: int, now: float) -> None:
        self.waiting += more
        self._notify.queue_changed(now)

    # --- runs ---------------------------------------------------------------------------------

    def run_of(self, event: Any) -> Run:
        """Return the run that an event names by its job and number."""
        return self._runs[event.job, event.run]

    def _start(self, record: Record, event: RunStarted) -> None:
        """Add a run that starts on free workers, or on those that its job has kept from the run
        `event.keeps`."""
        kept = None
        if event.keeps is None:
            self._hold(self.jobs[event.job], 1, record.t)
        else:
            kept = self._runs.pop((event.job, event.keeps))
            # The kept run gives its members up before the new run takes them, so that no worker has
            # two holders.
            self._give(kept, record)
        run = self._enter(record, event)
        if kept is not None:
            run.holding, run.follows, kept.taken_over = kept.holding, kept.number, True
            run.rest = kept.rest
            self.ready(run, kept.aside, record)
        apart = self._take(run, event.processors, record)
        self._notify.run_started(run, record)
        if kept is not None:
            self._part(kept, record)
        self._meet(run, apart, record)

    def _enter(self, record: Record, event: RunStarted) -> Run:
        """Create the entry of a run that starts, add it to the runs, and count it among its
        job's."""
        job, key = self.jobs[event.job], (event.job, event.run)
        now = record.t
        run = Run(job, event, record, event.processors, now, record.seq, event.begun, now)
        if event.source is not None:
            source = self._runs.get((event.job, event.source))
            run.clones = source is not None and source.end is None
            took = event.saved + job.rescaled.get(event.source, 0)
            if took != event.begun:
                job.rescaled[event.run] = took - event.begun
        job.runs += 1
        job.own = own_time(job.described, event, job.own)
        if job.started is None:
            job.started = now
        # A run that starts at the instant of the last one's end, on at least the same workers,
        # continues the time for which the job holds them.
        if job.left is not None and job.left[0] == now and has_all(event.processors, job.left[1]):
            _, _, run.follows, run.holding = job.left
        self._runs[key] = run
        return run

    def _end(self, record: Record, event: RunEnded) -> None:
        run = self.run_of(event)
        run.outcome, run.end, run.kept = event.outcome, record.t, event.kept
        run.job.outcomes[event.outcome] += 1
        if event.outcome is Outcome.COMPLETED:
            run.job.work += event.done + run.job.rescaled.get(event.run, 0)
        self.set_bandwidth(run, 0, record.t)
        self._notify.run_ended(run, record, event.done)
        self._notify.run_over(run, record.t)
        run.since, run.seq, run.done = record.t, record.seq, event.done
        if run.paused:
            # What its members sent in the pause takes no time of its own: report it as of a pause.
            self.cut_all(run.apart, record)
        run.paused, run.hung = False, None
        if run.dropped:
            self.let_in(run, record, run.dropped)
        if not event.kept:
            self._let_go(run, record)

    def _release(self, record: Record, event: MembersReleased) -> None:
        self._let_go(self.run_of(event), record)

    def _let_go(self, run: Run, record: Record) -> None:
        """Remove a run that is over and whose workers its job does not keep; they are free from now
        on."""
        del self._runs[run.key]
        run.job.left = record.t, run.processors, run.number, run.holding
        self._give(run, record)
        self._part(run, record)
        self._hold(run.job, -1, record.t)

    def _part(self, run: Run, record: Record) -> None:
        """Notify listeners that the run's members are released, after what they did since the run's
        end if they were kept."""
        if run.kept:
            self.close_span(run, record, run.done)
        run.apart = {}
        self._notify.run_released(run, record)

    def _place(self, record: Record, event: CopiesPlaced) -> None:
        """Add the runs of all copies that this one record starts. If no listener needs runs, only
        count them."""
        if not NEED_RUNS.isdisjoint(vars(self._notify)):
            for part in event.parts():
                self._start(record, part)
            return
        self._placed = record
        for job, copies in zip(event.jobs, event.copies, strict=True):
            self._hold(self.jobs[job], copies, record.t)

    def _settle(self, record: Record, event: CopiesSettled) -> None:
        """End the runs of all copies that this one record ends. If no entries were made for them,
        only count them out."""
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
        run = self.run_of(event)
        self.close_span(run, record, event.done)
        run.rate = event.rate
        if isinstance(event, StageStarted):
            self.set_bandwidth(run, 0, record.t)
            run.stage = event.stage
            if event.stage is Stage.CHECKPOINTING:
                run.second_level = event.done == run.checkpoint

    def set_bandwidth(self, run: Run, bandwidth: float, now: float) -> None:
        """Record the bandwidth of a run to the shared storage, from `now` on."""
        if bandwidth == run.bandwidth:
            return
        run.bandwidth = bandwidth
        if bandwidth:
            self.sharing[run.key] = run
        else:
            del self.sharing[run.key]
        self._notify.storage_changed(now)

    def _hang(self, record: Record, event: RunHung) -> None:
        """Record that a member hangs, so that neither the run nor a checkpoint beside it
        advances."""
        run = self.run_of(event)
        self.stop_passing(run, record)
        run.passing, run.hung = False, event.worker

    def close_span(self, run: Run, record: Record, done: float) -> None:
        """Report what a run did since `run.since`, and begin a new span; `done` is the work done by
        now."""
        self._notify.run_span(run, record, done)
        run.since, run.seq, run.done = record.t, record.seq, done

    def stop_passing(self, run: Run, record: Record) -> None:
        # While a run that stands still takes a checkpoint, or pauses, its time counts as that; a
        # change of its members or of the checkpoint ends that span.
        if (run.passing or run.paused) and not run.rate:
            self.close_span(run, record, run.done)

    def _join(self, record: Record, event: MembersJoined) -> None:
        run = self.run_of(event)
        self.close_span(run, record, run.done_at(record.t))
        run.processors = joined(run.processors, event.processors)
        self._meet(run, self._take(run, event.processors, record), record)

    def let_in(self, run: Run, record: Record, processors: str) -> None:
        """Make the workers `processors`, which the run holds aside as members of dropped groups,
        its members again."""
        numbers = numbers_in(processors)
        run.dropped = text(without(spans_in(run.dropped), numbers))
        aside = text(without(spans_in(run.aside), numbers))
        counting = merged(spans_in(run.processors), spans_in(processors))
        self.regroup(run, record, text(counting), aside)

    def _exchange(self, record: Record, event: MembersChanged) -> None:
        self.regroup(self.run_of(event), record, event.processors)

    def widen(self, run: Run, aside: str, record: Record) -> None:
        """Let a run that has just started hold the workers of the set `aside`, which were free,
        besides its members."""
        self.ready(run, aside, record)
        self._notify.run_widened(run, record)

    def regroup(self, run: Run, record: Record, processors: str, aside: str = "") -> None:
        """Replace the members of a run by the set `processors`, and the workers that it holds aside
        by the set `aside`.

        What the run did until now, with those that it had, is reported first.
        """
        self.close_span(run, record, run.done_at(record.t))
        self._give(run, record)
        run.processors, run.apart, run.away = processors, {}, set()
        self.ready(run, aside, record)
        self._meet(run, self._take(run, processors, record), record)


@frozen(eq=False)
class Part:
    """Base class of the mechanisms of runs, each of which follows events of its own."""

    holds: ClassVar[frozenset[type[Event]]] = frozenset()
    """Event classes of the part that determine which runs hold which workers."""

    history: Runs

    @abstractmethod
    def handlers(self) -> Mapping[type[Event], Handler]:
        """Map each event class to the method that brings the state up to date with it."""

    def submitted(self, job: Job) -> None:
        """Add the part's own knowledge to a job that has just been submitted."""

    def pools(self) -> Iterable[Partition]:
        """Return the sets of workers to which jobs of the queue are kept."""
        return ()
