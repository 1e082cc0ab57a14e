"""Defines the state that a history keeps (jobs, runs, workers) and the hooks of its listeners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import nan
from typing import Any

from attrs import define, field, frozen

from actors.events import (
    CopiesPlaced,
    JobDescribed,
    JobSubmitted,
    Outcome,
    ProtectionDescribed,
    ProtectionKind,
    RunStarted,
    Stage,
    TransferStarted,
)
from actors.intervals import Intervals, among, common, count_in, members
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history.head import Head
from sims.history.rows import JobRow

Key = tuple[str, int]
"""Key of a run: its job's name and its number within the job."""


@frozen(eq=False)
class Partition:
    """A partition of the queue: workers for the jobs that name it. Another partition may contain
    some of these workers, too."""

    number: int
    """Place of the partition in the scenario, from 0."""
    name: str
    workers: Intervals
    tier: int
    """Tier: jobs of a partition with a higher tier come first in the queue."""
    exclusive: bool
    """Whether its jobs hold whole nodes."""
    node: int
    """Number of workers of a node."""
    able: int
    """Number of workers on which any job starts."""

    def shared(self, other: Partition) -> Intervals:
        """Return the workers that are in both."""
        return common(self.workers, other.workers)

    def usable(self, free: Collection[int]) -> int:
        """Return how many of the free workers its jobs can use; if it is exclusive, those of nodes
        that are free whole."""
        own = set(members(self.workers)).intersection(free)
        if not self.exclusive:
            return len(own)
        of = Counter(worker // self.node for worker in own)
        sizes = ((node, min(self.able - node * self.node, self.node)) for node in of)
        return sum(size for node, size in sizes if of[node] == size)


@define(eq=False, weakref_slot=False)
class Job:
    """A job that is in the system, with what the log has told of it since its submission."""

    name: str
    submitted: float
    seq: int
    """Sequence number of the job's submission, by which jobs are ordered."""
    event: JobSubmitted
    since: float
    """Time at which the job began to wait, or to hold workers."""
    described: JobDescribed | None = None
    partition: Partition | None = None
    """The partition whose workers the job may have; None if all workers form one pool."""
    head: Head = field(factory=Head)
    """The log's scenario, from which the job's own settings are read."""
    protection: ProtectionDescribed | None = None
    """Description of the job's protection; None stands for re-execution from scratch."""
    holdings: int = 0
    """Number of runs that hold workers for the job, under way or ended with their members kept; 0
    while the job waits."""
    promised: float | None = None
    """Start that the job's reservation promises; None without a reservation."""
    saved: tuple[int, float] | None = None
    """Number of the run whose checkpoint was completed last, and the work that the checkpoint
    saves."""
    left: tuple[float, str, int, float] | None = None
    """The last run of the job that released its workers: time, workers, run number, and since when
    the job had held the workers.

    There is no reference to the run itself: job and run would keep each other in memory.
    """
    end: float | None = None
    """Time at which the job was completed or killed; None before that."""
    ended_by: int | None = None
    """Sequence number of the event that completed or killed the job."""
    killed: bool = False
    started: float | None = None
    """Time of the job's first start."""
    runs: int = 0
    """Number of runs that the job has begun."""
    outcomes: Counter[Outcome] = field(factory=Counter)
    """Number of the job's runs that have ended in each way."""
    held: int = 0
    """Number of processors that the job holds, over all of its runs."""
    held_since: float = 0
    """Time since which the job has held this number."""
    processors: int = 0
    """Largest number of processors that the job has held at one time."""
    processor_time: float = 0
    """Integral of the number of processors held over time, up to `held_since`."""
    work: float = 0
    """Work of the completed job, or of its iterations, as time at speed 1 on the workers that
    computed it."""
    rescaled: dict[int, float] = field(factory=dict)
    """Maps runs of a malleable job to what the work that they begin from took on the workers that
    computed it, less what it takes on their own ones; runs for which that is 0 are left out."""
    own: float = nan
    """Error-free time of the job by itself (`rows.own_time`)."""

    def hold(self, more: int, now: float) -> None:
        """Record that the job holds `more` processors from now on, or fewer, if negative."""
        self.processor_time += self.held * (now - self.held_since)
        self.held += more
        self.held_since = now
        self.processors = max(self.processors, self.held)

    def row(self, end: float) -> JobRow:
        """Return the facts of the job as a row; `end` is the time at which the job, or the log,
        ends."""
        time = self.processor_time + self.held * (end - self.held_since)
        times = self.submitted, self.started, self.end
        return JobRow(
            *(self.event, self.described, self.seq, *times, self.killed, dict(self.outcomes)),
            *(self.runs, self.processors, time, self.work, self.own),
            *(self.ended_by, self.partition.name if self.partition else ""),
        )

    def meets(self, other: Job) -> bool:
        """Return whether there are workers that both jobs may have."""
        mine, its = self.partition, other.partition
        return mine is None or its is None or bool(mine.shared(its))

    def may_have(self, worker: int) -> bool:
        """Return whether the worker, or a spare that may replace it, is one of the job's
        partition."""
        mine = self.partition
        return mine is None or worker >= mine.able or bool(among(mine.workers, (worker,)))

    def before(self, first: bool) -> float:
        """Return the time that passes before the members of a run of the job fetch anything.
        `first`: the run takes over no kept members."""
        return self.head.before(self.name, first)

    @property
    def stored(self) -> float | None:
        """Bytes of a checkpoint on shared storage; None if there are none there."""
        return self.head.stored(self.name)

    @property
    def estimate(self) -> float | None:
        """Time for which the job's user believes that it runs; None if the user gave none."""
        return self.described.estimate if self.described else None

    @property
    def verification(self) -> float:
        """Time that the job's detector takes at the end of each run."""
        return self.described.verification if self.described else 0


@define(eq=False, weakref_slot=False)
class Run:
    """A run, from its start until its members are released.

    Since `since` the run has done one thing: it has been in `stage` at `rate`, with members
    `processors`; or, after its end, its members have been kept.
    """

    job: Job
    event: RunStarted
    record: Record
    """Record of the run's start; where one line starts many runs, the record of that line."""
    processors: str
    """Members of the run, as a set of intervals such as `0-3 5`."""
    since: float
    seq: int
    """Sequence number of the event that set `since`."""
    done: float
    """Amount of work done at `since`."""
    holding: float
    """Time since which the job has held these workers without a gap, which may span several
    runs."""
    follows: int | None = None
    """Number of the run whose workers this one took over without a gap; None if there is none."""
    clones: bool = False
    """Whether the run began from the state of a run that was under way."""
    stage: Stage | None = None
    """Stage of the run; None if the log has no stages: the run computes at its members' speed times
    its share, and then verifies."""
    rate: float = 1
    """Work done per unit of time; without meaning while `stage` is None."""
    checkpoint: float | None = None
    """Work that the run's last complete checkpoint saves."""
    second_level: bool = False
    """Whether the run's last checkpoint to begin is on its second level: shared storage, or the
    master, saves what members have saved for each other before."""
    aside: str = ""
    """Workers that the job holds and the run does not compute on, as a set of intervals: those
    held ready, members of groups that dropped out, and the rest of nodes that it holds whole."""
    aside_away: set[int] = field(factory=set)
    """Numbers of the workers in `aside` that are not UP."""
    aside_since: float = 0
    """Time at which `aside`, or the state of one of its workers, last changed."""
    aside_seq: int = -1
    """Sequence number of the event that set `aside_since`."""
    dropped: str = ""
    """Members of groups that have dropped out, as a set of intervals."""
    rest: str = ""
    """Workers of its members' nodes that are idle because the job holds whole nodes, as a set of
    intervals."""
    paused: bool = False
    """Whether the run stands still as groups of its members drop out or rejoin."""
    hung: int | None = None
    """The member that hangs, so that the run does not advance; None: none does."""
    outcome: Outcome | None = None
    """Outcome of the run; None while the run is under way."""
    end: float | None = None
    kept: bool = False
    """Whether the run has ended and its job keeps its members."""
    taken_over: bool = False
    """Whether the job's next run has taken the kept members over."""
    overlaps: bool = False
    """Whether the run goes on while its checkpoints are under way."""
    passing: bool = False
    """Whether the time of a checkpoint passes beside the run; only if `overlaps`."""
    bandwidth: float = 0
    """Bandwidth with which the run, or a checkpoint beside it, saves to shared storage or loads
    from it; 0 while it does neither."""
    away: set[int] = field(factory=set)
    """Numbers of the members that are not UP."""
    apart: dict[int, None] = field(factory=dict)
    """Numbers of the members that are not UP, have a message under way, or have speed 0, in
    order."""

    @property
    def number(self) -> int:
        """Number of the run within its job."""
        return self.event.run

    @property
    def copied(self) -> bool:
        """Whether one line of the log starts this run and other copies."""
        return isinstance(self.record.event, CopiesPlaced)

    @property
    def asked(self) -> int:
        """Number of processors that the job asked for while it waited; copies that start together
        all count."""
        placed, processors = self.record.event, count_in(self.event.processors)
        if isinstance(placed, CopiesPlaced):
            return placed.copies[placed.jobs.index(self.job.name)] * processors
        return processors

    def done_at(self, now: float) -> float:
        """Return the work done in the run at `now`, if its stage and rate have not changed since
        `since`.

        Work grows only in a stage that the log calls COMPUTING; for a run without logged stages the
        result is the work at `since`.
        """
        computes = self.stage is Stage.COMPUTING and self.rate and self.outcome is None
        return self.done + self.rate * (now - self.since) if computes else self.done

    @property
    def saves_in_memory(self) -> bool:
        """Whether the run's last checkpoint to begin is one that members keep for each other in
        memory (buddies), on its first level."""
        kept = self.job.protection
        buddies = kept is not None and kept.kind is ProtectionKind.BUDDIES
        return buddies and not self.second_level

    @property
    def key(self) -> Key:
        """Key of the run in `History.runs`."""
        return self.event.job, self.event.run

    @property
    def start(self) -> float:
        """Time at which the run started."""
        return self.record.t


@define(eq=False)
class Worker:
    """Entry of a worker that is not UP or has a message under way; its state has not changed since
    `since`."""

    number: int
    since: float
    seq: int
    """Sequence number of the event that set `since`."""
    state: WorkerState = WorkerState.UP
    until: float | None = None
    """Time at which the worker will be UP again, where the log knows it."""
    transfer: TransferStarted | None = None
    """Start of the message that is under way; None if there is none."""


class Listener:
    """Visits a history: base class of objects that a history notifies of changes. A listener
    overrides the methods (hooks) for the changes that it needs; a history calls no others.

    The first hooks say what happens, with the record that says so: traces, which explain a job's
    life, visit a log by these alone, and ask the history for the state as it is then. The others
    say what is over: rows are written from them.

    `record` is the record that made the change; where one line stands for many runs, all of their
    hooks get that line's record.
    """

    history: Any
    """The History that the listener listens to, once `History.listen` has been called."""

    # --- what happens ---------------------------------------------------------------------------

    def job_submitted(self, job: Job, record: Record) -> None:
        """Note that a job has been submitted, and waits."""

    def iteration_ended(self, job: Job, record: Record) -> None:
        """Note that an iteration of a job is completed."""

    def job_ended(self, job: Job, record: Record) -> None:
        """Note that a job is completed or killed; runs of the job may end after it, at the same
        instant."""

    def run_started(self, run: Run, record: Record) -> None:
        """Note that a run holds its members from now on."""

    def run_widened(self, run: Run, record: Record) -> None:
        """Note that a run that has just started holds the workers `run.aside` besides its
        members."""

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        """Note that a run has ended, with `done` work done, and with it the run's last span.

        `outcome`, `end` and `kept` are set; all other values of `run` still describe the last span.
        """

    def run_released(self, run: Run, record: Record) -> None:
        """Note that a run that has ended holds its members no longer: they are free, or the next
        run of the job, for which they were kept, has taken them over."""

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        """Note that something has changed for a worker among the run's members: its state, its
        message or its speed.

        Also called for a worker that joins the run and is not UP, has a message under way or has
        speed 0.
        """

    def worker_changed(self, worker: Worker, record: Record) -> None:
        """Note that a worker's state or message has changed."""

    # --- what is over, for writers of rows ------------------------------------------------------

    def time_passed(self, until: float) -> None:
        """Take note that time passes: nothing changes over [history.now, until). Called before the
        first record at `until` is applied."""

    def job_over(self, row: JobRow) -> None:
        """Take the facts of a job that is over, or that is still in the system where the log ends.

        Called once for every job, after the last event of the instant at which the job ended:
        copies of a job end after it, at the same instant.
        """

    def queue_changed(self, now: float) -> None:
        """Note that, at `now`, the number of waiting jobs (`history.waiting`) or of running ones
        (`history.running`) has changed."""

    def storage_changed(self, now: float) -> None:
        """Note that the bandwidth of one run to the shared storage has changed at `now`, perhaps
        from or to 0.

        `history.sharing` has all runs whose bandwidth is above 0.
        """

    def run_span(self, run: Run, record: Record, done: float) -> None:
        """Note what a run did over [run.since, record.t): it was in one stage, at one rate, with
        the same members; `done` is the work done at the end.

        `run` is still as it was over that time. The last span before the run's end is reported by
        `run_ended` alone; where the members are kept, one more span follows the end.
        """

    def run_over(self, run: Run, end: float) -> None:
        """Note that a run has ended, at `end`, or is still under way (its `outcome` is None) where
        the log ends, at `end`.

        Called once for every run.
        """

    def aside_span(self, run: Run, until: float) -> None:
        """Note what workers did over [run.aside_since, until) that `run` held aside: ready to
        replace members, or as members of groups that have dropped out.

        Over that time they were the workers `run.aside`, of which `run.aside_away` were not UP.
        """

    def worker_span(self, worker: Worker, until: float) -> None:
        """Note what a worker did apart from its runs over [worker.since, until): it was RECLAIMED
        or DOWN, or had one message under way.

        The runs that held the worker over that time still hold it (`history.holders`).
        """

    def log_ended(self, now: float) -> None:
        """Note that the log ends at `now`; spans that are open are not reported."""

    def _end_worker_spans(self, now: float) -> None:
        """Have `worker_span` called for each worker whose span is still open as the log ends at
        `now`, for a listener that counts these too."""
        for worker in self.history.workers.values():
            if now > worker.since:
                self.worker_span(worker, now)


HOOKS = tuple(name for name in vars(Listener) if not name.startswith("_"))
