"""Keeps the jobs in the system and the runs that hold members."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from actors.events import (
    BandwidthShared,
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    CopiesPlaced,
    CopiesSettled,
    IterationCompleted,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    LinkDescribed,
    LogReplayed,
    MaintenancePlanned,
    MeasuresDescribed,
    MemberReplaced,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    Outcome,
    PauseEnded,
    PlatformDescribed,
    ProtectionDescribed,
    RateChanged,
    ReplicasDropped,
    ReplicasRejoined,
    ReservationDropped,
    ReservationMade,
    RestartedFromScratch,
    RunEnded,
    RunHung,
    RunPaused,
    RunStarted,
    ScenarioStarted,
    Stage,
    StageStarted,
    StandbyJoined,
    StandbyLost,
    StandbysHeld,
    StartupDescribed,
    StorageDescribed,
    StoredSizeDescribed,
    WorkerChanged,
)
from actors.intervals import (
    added,
    joined,
    members,
    merged,
    numbers_in,
    spans_in,
    text,
    within,
    without,
)
from actors.runtime import Event, Record
from sims.history.rows import own_time
from sims.history.states import Job, Key, Run
from sims.history.workers import Handler, Workers, has_all

HOLDING: frozenset[type[Event]] = frozenset(
    (
        *(ScenarioStarted, LogReplayed, JobSubmitted, JobDescribed, JobCompleted, JobKilled),
        *(RunStarted, RunEnded, MembersReleased, MembersJoined, MembersChanged, MemberReplaced),
        *(StandbysHeld, StandbyJoined, StandbyLost, ReplicasDropped, ReplicasRejoined),
        *(CopiesPlaced, CopiesSettled, ReservationMade, ReservationDropped, WorkerChanged),
        *(MaintenancePlanned, PlatformDescribed, StartupDescribed),
    )
)
"""Event classes that determine which jobs wait, which runs hold which workers, and which workers
are away, or will be; a log's other events are not needed for these questions."""
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
    link: LinkDescribed | None = field(init=False, default=None)
    """Description of the master's link; None if there is no master."""
    storage: StorageDescribed | None = field(init=False, default=None)
    """Description of the shared storage; None if there is none."""
    measures: MeasuresDescribed | None = field(init=False, default=None)
    """How the scenario measures its runs; None: as is usual."""
    sharing: dict[Key, Run] = field(init=False, factory=dict)
    """Maps keys to the runs that hold a share of the storage's bandwidth."""
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
            StartupDescribed: self._start_up,
            LinkDescribed: self._link,
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
            MeasuresDescribed: self._measure,
            StorageDescribed: self._storage,
            StoredSizeDescribed: self._size,
            BandwidthShared: self._share,
            StageStarted: self._advance,
            RateChanged: self._advance,
            RunHung: self._hang,
            CheckpointStarted: self._begin_checkpoint,
            CheckpointTaken: self._save,
            CheckpointStored: self._end_checkpoint,
            RestartedFromScratch: self._restart,
            MembersReleased: self._release,
            MembersJoined: self._join,
            MembersChanged: self._exchange,
            MemberReplaced: self._replace,
            StandbysHeld: self._hold_standbys,
            StandbyJoined: self._gain_standby,
            StandbyLost: self._lose_standby,
            ReplicasDropped: self._drop,
            ReplicasRejoined: self._rejoin,
            RunPaused: self._pause,
            PauseEnded: self._pause,
        }

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
        job = self.jobs[event.job] = Job(event.job, record.t, record.seq, event, record.t)
        self._count(1, record.t)
        self._notify.job_submitted(job, record)

    def _describe(self, record: Record, event: JobDescribed) -> None:
        job = self.jobs[event.job]
        # A log has each job's name, and the word for its kind, in memory once for each line.
        times = event.work, event.verification, event.failures, event.estimate, event.limit
        job.described = JobDescribed(job.name, event.kind, *times)

    def _start_up(self, record: Record, event: StartupDescribed) -> None:
        job = self.jobs[event.job]
        job.startup, job.select = event.startup, event.select

    def _link(self, record: Record, event: LinkDescribed) -> None:
        self.link = event

    def _protect(self, record: Record, event: ProtectionDescribed) -> None:
        self.jobs[event.job].protection = event

    def _measure(self, record: Record, event: MeasuresDescribed) -> None:
        self.measures = event

    def _storage(self, record: Record, event: StorageDescribed) -> None:
        self.storage = event

    def _size(self, record: Record, event: StoredSizeDescribed) -> None:
        self.jobs[event.job].stored = event.bytes

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

    def _run_of(self, event: Any) -> Run:
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
            run.holding, run.follows = kept.holding, kept.number
            self._ready(run, kept.aside, record)
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
        run = self._run_of(event)
        run.outcome, run.end, run.kept = event.outcome, record.t, event.kept
        run.job.outcomes[event.outcome] += 1
        if event.outcome is Outcome.COMPLETED:
            run.job.work += event.done + run.job.rescaled.get(event.run, 0)
        self._set_bandwidth(run, 0, record.t)
        self._notify.run_ended(run, record, event.done)
        self._notify.run_over(run, record.t)
        run.since, run.seq, run.done = record.t, record.seq, event.done
        if run.paused:
            # What its members sent in the pause takes no time of its own: report it as of a pause.
            self._cut_all(run.apart, record)
        run.paused, run.hung = False, None
        if run.dropped:
            self._let_in(run, record, run.dropped)
        if not event.kept:
            self._let_go(run, record)

    def _release(self, record: Record, event: MembersReleased) -> None:
        self._let_go(self._run_of(event), record)

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
            self._span(run, record, run.done)
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
        run = self._run_of(event)
        self._span(run, record, event.done)
        run.rate = event.rate
        if isinstance(event, StageStarted):
            self._set_bandwidth(run, 0, record.t)
            run.stage = event.stage
            if event.stage is Stage.CHECKPOINTING:
                run.second_level = event.done == run.checkpoint

    def _share(self, record: Record, event: BandwidthShared) -> None:
        """Record the bandwidth with which a run, or a checkpoint beside it, saves to shared storage
        or loads from it."""
        run = self._run_of(event)
        if run.passing:
            self._stop_passing(run, record)
        elif run.hung is None or not run.overlaps:  # a hang stops the checkpoint beside the run
            self._span(run, record, run.done)
            run.rate = event.bandwidth
        self._set_bandwidth(run, event.bandwidth, record.t)

    def _set_bandwidth(self, run: Run, bandwidth: float, now: float) -> None:
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
        run = self._run_of(event)
        self._stop_passing(run, record)
        run.passing, run.hung = False, event.worker

    def _span(self, run: Run, record: Record, done: float) -> None:
        self._notify.run_span(run, record, done)
        run.since, run.seq, run.done = record.t, record.seq, done

    def _stop_passing(self, run: Run, record: Record) -> None:
        # While a run that stands still takes a checkpoint, or pauses, its time counts as that; a
        # change of its members or of the checkpoint ends that span.
        if (run.passing or run.paused) and not run.rate:
            self._span(run, record, run.done)

    def _begin_checkpoint(self, record: Record, event: CheckpointStarted) -> None:
        """Record that a checkpoint begins while its run goes on computing."""
        run = self._run_of(event)
        if not run.rate:
            self._span(run, record, run.done)
        run.overlaps, run.second_level = True, event.done == run.checkpoint
        # Through a master a checkpoint consists of messages, and no time of its own passes.
        run.passing = self.link is None or run.job.stored is not None or run.saves_in_memory

    def _end_checkpoint(self, record: Record, event: CheckpointStored | CheckpointTaken) -> None:
        run = self._run_of(event)
        self._stop_passing(run, record)
        self._set_bandwidth(run, 0, record.t)
        run.passing = False

    def _save(self, record: Record, event: CheckpointTaken) -> None:
        self._end_checkpoint(record, event)
        run = self._run_of(event)
        run.checkpoint, run.job.saved = event.done, (event.run, event.done)

    def _restart(self, record: Record, event: RestartedFromScratch) -> None:
        self.jobs[event.job].saved = None

    def _join(self, record: Record, event: MembersJoined) -> None:
        run = self._run_of(event)
        self._span(run, record, run.done_at(record.t))
        run.processors = joined(run.processors, event.processors)
        self._meet(run, self._take(run, event.processors, record), record)

    def _replace(self, record: Record, event: MemberReplaced) -> None:
        run, gone, came = self._run_of(event), event.worker, event.replacement
        aside = spans_in(run.aside)
        if run.dropped and within(run.dropped, gone):
            run.dropped = text(added(without(spans_in(run.dropped), (gone,)), came))
            aside = added(without(aside, (gone, came)), came)
            self._regroup(run, record, run.processors, text(aside))
        else:
            left = added(without(spans_in(run.processors), (gone,)), came)
            self._regroup(run, record, text(left), text(without(aside, (came,))))

    def _drop(self, record: Record, event: ReplicasDropped) -> None:
        """Move the members of replicas that drop out from the run's members to the workers that it
        holds aside.

        Those that are aside already, because a pause after which they would have rejoined is broken
        off, stay there. If the member that hangs is among those that drop out, the run hangs no
        longer.
        """
        run, gone = self._run_of(event), event.processors
        fresh = without(spans_in(gone), numbers_in(run.dropped))
        if fresh:
            run.dropped = text(merged(spans_in(run.dropped), fresh))
            left = without(spans_in(run.processors), members(fresh))
            aside = text(merged(spans_in(run.aside), fresh))
            self._regroup(run, record, text(left), aside)
        if run.hung is not None and within(gone, run.hung):
            run.hung = None

    def _rejoin(self, record: Record, event: ReplicasRejoined) -> None:
        self._let_in(self._run_of(event), record, event.processors)

    def _let_in(self, run: Run, record: Record, processors: str) -> None:
        """Make the workers `processors`, which the run holds aside as members of dropped replicas,
        its members again."""
        numbers = numbers_in(processors)
        run.dropped = text(without(spans_in(run.dropped), numbers))
        aside = text(without(spans_in(run.aside), numbers))
        counting = merged(spans_in(run.processors), spans_in(processors))
        self._regroup(run, record, text(counting), aside)

    def _pause(self, record: Record, event: RunPaused | PauseEnded) -> None:
        """Record that a run pauses, or goes on. While it pauses, messages of its members are not
        counted as time of their own."""
        run = self._run_of(event)
        self._span(run, record, run.done)
        self._cut_all(run.apart, record)
        run.paused = isinstance(event, RunPaused)
        for worker in list(run.apart):
            self._note(run, worker, record)

    def _hold_standbys(self, record: Record, event: StandbysHeld) -> None:
        self._ready(self._run_of(event), event.processors, record)

    def _gain_standby(self, record: Record, event: StandbyJoined) -> None:
        run = self._run_of(event)
        self._regroup(run, record, run.processors, text(added(spans_in(run.aside), event.worker)))

    def _lose_standby(self, record: Record, event: StandbyLost) -> None:
        run = self._run_of(event)
        left = text(without(spans_in(run.aside), (event.worker,)))
        self._regroup(run, record, run.processors, left)

    def _exchange(self, record: Record, event: MembersChanged) -> None:
        self._regroup(self._run_of(event), record, event.processors)

    def _regroup(self, run: Run, record: Record, processors: str, aside: str = "") -> None:
        """Replace the members of a run by the set `processors`, and the workers that it holds aside
        by the set `aside`.

        What the run did until now, with those that it had, is reported first.
        """
        self._span(run, record, run.done_at(record.t))
        self._give(run, record)
        run.processors, run.apart, run.away = processors, {}, set()
        self._ready(run, aside, record)
        self._meet(run, self._take(run, processors, record), record)
