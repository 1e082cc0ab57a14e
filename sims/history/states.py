"""What a history keeps, jobs in the system, runs under way and workers that are not simply UP; and
what it notifies its listeners of."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from actors.events import (
    JobDescribed,
    JobSubmitted,
    Outcome,
    ProtectionDescribed,
    RunStarted,
    Stage,
    TransferStarted,
)
from actors.runtime import Record
from policies.availability import WorkerState

Key = tuple[str, int]
"""A run: its job's name, its number."""


@define(eq=False, weakref_slot=False)
class Job:
    """A job, from its submission on."""

    name: str
    submitted: float
    seq: int
    """Of its submission: orders jobs."""
    event: JobSubmitted
    since: float
    """When it began to wait, or to hold workers."""
    described: JobDescribed | None = None
    protection: ProtectionDescribed | None = None
    """None: re-execution."""
    holdings: int = 0
    """Runs under way, and runs that have ended and whose members it keeps; 0: it waits."""
    promised: float | None = None
    """Start of its reservation."""
    saved: tuple[int, float] | None = None
    """Run whose checkpoint was completed last, and the work that it saves."""
    left: tuple[float, str, int, float] | None = None
    """Its last run that gave its workers back: when, which, its number, and since when the job had
    held them. No reference to the run: the two would keep each other in memory."""
    end: float | None = None
    """When it completed or was killed."""
    killed: bool = False

    @property
    def estimate(self) -> float | None:
        """How long its user believes that it runs."""
        return self.described.estimate if self.described else None

    @property
    def verification(self) -> float:
        """Its detector's time at the end of each run."""
        return self.described.verification if self.described else 0


@define(eq=False, weakref_slot=False)
class Run:
    """A run, from its start until its members are released.

    It has done the same thing since `since`: been in `stage` at `rate`, with members `processors`;
    or, once it has ended with its members kept, waited.
    """

    job: Job
    event: RunStarted
    record: Record
    """Of its start; where one line tells of many runs, that line."""
    processors: str
    """Interval set of its members."""
    since: float
    seq: int
    """The event of `since`."""
    done: float
    """Work done at `since`."""
    holding: float
    """Since when its job has held these workers without a gap, over several runs perhaps."""
    follows: int | None = None
    """Number of the run whose workers it took over without a gap."""
    stage: Stage | None = None
    """None: none is told; it computes at its members' speed times its share, then verifies."""
    rate: float = 1
    """Without meaning while `stage` is None."""
    checkpoint: float | None = None
    """Work that its last complete checkpoint saves."""
    outcome: Outcome | None = None
    """None: it is under way."""
    end: float | None = None
    kept: bool = False
    """Whether it has ended and its job keeps its members."""
    overlaps: bool = False
    """Whether it goes on while its checkpoints are under way."""
    passing: bool = False
    """Whether one of them is."""
    away: set[int] = field(factory=set)
    """Members that are not UP."""
    apart: dict[int, None] = field(factory=dict)
    """Members that are not UP, have a message under way, or are of speed 0."""

    @property
    def number(self) -> int:
        """Its number within its job."""
        return self.event.run

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.event.job, self.event.run

    @property
    def start(self) -> float:
        """When it started."""
        return self.record.t


@define(eq=False)
class Worker:
    """A worker that is not UP, or has a message under way, since `since`."""

    number: int
    since: float
    seq: int
    """The event of `since`."""
    state: WorkerState = WorkerState.UP
    until: float | None = None
    """When it will be back, where that is known."""
    transfer: TransferStarted | None = None
    """Of the message that is under way."""


class Listener:
    """Override what you want to be notified of; a history calls nothing else.

    `record` is what made the change; where one line tells of many runs, it is that line.
    """

    history: Any
    """The History that it listens to, once it does."""

    def time_passed(self, until: float) -> None:
        """Nothing changes over [history.now, until): called before the first record at `until`."""

    def job_submitted(self, job: Job, record: Record) -> None:
        """A job asks to be scheduled, and waits."""

    def job_ended(self, job: Job, record: Record) -> None:
        """A job is completed, or killed; runs of it may end after it, at the same instant."""

    def job_over(self, job: Job, end: float) -> None:
        """A job is over, or was still in the system (no `end`) where the log ends: every job is
        told of once."""

    def iteration_ended(self, job: Job, record: Record) -> None:
        """An iteration of a job is completed."""

    def queue_changed(self, now: float) -> None:
        """`history.waiting` or `history.running` has changed."""

    def run_started(self, run: Run, record: Record) -> None:
        """A run holds its members from now on."""

    def run_span(self, run: Run, record: Record, done: float) -> None:
        """What the run did over [run.since, record.t) is over, with `done` work done; `run` is as
        it was over that time. Its end is told by `run_ended` alone; after that there is one span
        more where its members are kept."""

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        """A run has ended (`outcome`, `end`, `kept`), and so has its last span, which the run's
        other values still describe."""

    def run_over(self, run: Run, end: float) -> None:
        """A run has ended, or was still under way (no `outcome`) where the log ends: every run is
        told of once."""

    def run_released(self, run: Run, record: Record) -> None:
        """A run's members are released, or begin the run that they were kept for."""

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        """A member's state, message or speed has changed, or a member joined that is `apart`."""

    def worker_span(self, worker: Worker, until: float) -> None:
        """What a worker did of its own over [worker.since, until) is over; those that held it over
        that time still do (`history.holders`)."""

    def worker_changed(self, worker: Worker, record: Record) -> None:
        """A worker's state or message is another one from now on."""

    def log_ended(self, now: float) -> None:
        """The log ends here: spans that are open stay so."""


HOOKS = tuple(name for name in vars(Listener) if not name.startswith("_"))
