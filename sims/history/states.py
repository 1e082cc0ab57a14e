"""What a history keeps: jobs in the system, runs under way, workers that are not simply UP."""

from __future__ import annotations

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
    end: float | None = None
    """When it completed or was killed."""
    killed: bool = False

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
    """A worker that is not UP, or has a message under way: since `since`, and for `holder`."""

    number: int
    since: float
    seq: int
    """The event of `since`."""
    state: WorkerState = WorkerState.UP
    until: float | None = None
    """When it will be back, where that is known."""
    transfer: TransferStarted | None = None
    """Of the message that is under way."""
    holder: Run | None = None
    """The run that it is reclaimed from, or has its message for (of several, one); None while it is
    DOWN: that is the platform's loss."""

    @property
    def apart(self) -> bool:
        """Whether it is worth keeping."""
        return self.state is not WorkerState.UP or self.transfer is not None

    def serve(self, run: Run | None) -> None:
        """`run` holds it from now on; None: no run does."""
        self.holder = None if self.state is WorkerState.DOWN else run
