"""Defines the rows that a history writes: the facts of a log, one class for each kind of fact.

Metrics, the ledger, exports and pictures read these rows, and match on no event for themselves.
Waits, flowtimes, slowdowns, sizes and processor-time are defined here alone. Times are in the log's
unit; sets of workers are text such as `0-3 5`.
"""

from __future__ import annotations

import enum
from fractions import Fraction
from math import isnan, nan
from typing import Annotated, Any, TypeVar, dataclass_transform

import numpy as np
from attrs import define, frozen

from actors.events import JobDescribed, JobSubmitted, Outcome, RunStarted
from actors.events.quantities import (
    JobCount,
    JobName,
    Quantity,
    RunCount,
    RunNumber,
    Share,
    Time,
    Work,
    WorkerCount,
    WorkerNumber,
    WorkerSet,
)
from policies.availability import WorkerState
from policies.interface.kinds import JobKind

C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True)
def row(cls: C) -> C:
    """Turn a class with annotated fields into a class of rows, whose instances have slots and are
    equal only to themselves. They are frozen for the type checker alone, not at run time.

    Really frozen instances take twice as long to make: an export of a log of copies, with twenty
    runs for each line, would take a tenth longer.
    """
    return define(cls, eq=False)


Ratio = Annotated[float, Quantity()]
ProcessorTime = Annotated[float, Quantity("workers x time")]
Seq = Annotated[int, Quantity(meaning="Number of the event that began it.")]
Told = Annotated[int, Quantity(meaning="Number of the event that tells of it.")]
Start = Annotated[float, Quantity("time", "Time at which it began.")]
On = Annotated[float, Quantity("time", "Time from which on this holds, until the next row.")]


@frozen(eq=False)
class JobRow:
    """The facts of one job of a log, from its submission until it is over or the log ends."""

    event: JobSubmitted
    """Event of the job's submission; it names the job, its user, group and queue."""
    described: JobDescribed | None
    """Description of the job in the log's head; None in logs that do not describe jobs."""
    seq: int
    """Sequence number of the submission, by which jobs are ordered."""
    submitted: Time
    """Time of the submission."""
    started: Time | None
    """Time of the first start; None if the job never started."""
    ended: Time | None
    """Time at which the job was completed or killed; None if the log ends before."""
    killed: bool
    """Whether the job was killed at its limit, or cancelled by the agent that submitted it."""
    outcomes: dict[Outcome, int]
    """Number of the job's runs that ended in each way."""
    runs: RunCount
    """Number of runs that the job began."""
    processors: WorkerCount
    """Largest number of workers held at one time, over all of the job's copies."""
    processor_time: ProcessorTime
    """Integral of the number of workers held, those kept between two runs included."""
    work: float
    """Work of the completed job, or of its iterations, as time at speed 1 on the workers that
    computed it."""
    own: float
    """Error-free time of the job by itself; nan where the job has none."""
    ended_by: int | None = None
    """Number of the event that completed or killed it; None if the log ends before."""
    partition: str = ""
    """Name of the partition whose workers the job may have; empty if there are none."""

    @property
    def name(self) -> JobName:
        """The job's name."""
        return self.event.job

    @property
    def completed(self) -> bool:
        """Whether the job completed its work."""
        return self.ended is not None and not self.killed

    @property
    def wait(self) -> Time | None:
        """Time from the submission to the first start; None if the job never started."""
        return None if self.started is None else self.started - self.submitted

    @property
    def flowtime(self) -> Time | None:
        """Time from the submission to the end, also called response time; None before the end."""
        return None if self.ended is None else self.ended - self.submitted

    @property
    def stretch(self) -> Ratio | None:
        """Flowtime over the job's own error-free time, also called slowdown; None before the job's
        end, and where that time is unknown or 0."""
        flowtime = self.flowtime
        return flowtime / self.own if flowtime is not None and self.own > 0 else None

    def bounded_slowdown(self, bound: float) -> Ratio | None:
        """Return the flowtime over the job's own time or over `bound` (10 s, or the scenario's),
        whichever is longer; at least 1; None where `stretch` is."""
        return None if self.stretch is None else float(bounded(self.flowtime, self.own, bound))


def bounded(flowtime: Any, own: Any, bound: float) -> Any:
    """Return the bounded slowdown of one job or of an array of jobs: max(1, flowtime / max(own,
    bound)), where `own` is the error-free time of the job by itself."""
    return np.maximum(1.0, flowtime / np.maximum(own, bound))


def own_time(described: JobDescribed | None, run: RunStarted, before: float) -> float:
    """Return a job's own error-free time once `run` has started, in time at speed 1; `before` is
    the value from earlier runs, or nan.

    The own time is that of one run from scratch at speed 1, with verification and without
    checkpoints, on the workers of the job's last run, or of its first run if the job is malleable,
    since it changes their number while it runs. It is nan without a description of the job, and for
    iterative jobs: it would depend on which workers stay UP.
    """
    if described is None or described.kind is JobKind.ITERATIVE:
        return nan
    if described.kind is JobKind.MALLEABLE and not isnan(before):
        return before
    return run.work + described.verification


# --- runs ----------------------------------------------------------------------------------------


@row
class RunRow:
    """A run of a job, from its start until it ends or the log does."""

    job: JobName
    run: RunNumber
    seq: Seq
    cause: Annotated[int | None, Quantity()]
    """Number of the event that caused its start."""
    submitted: Time
    """Time of the job's submission."""
    estimate: Time | None
    """The user's estimate of the job's run time; None if there is none."""
    start: Start
    processors: WorkerSet
    """Members at the start."""
    share: Share
    """Part of each of its members that the run gets; below 1 only where workers multitask."""
    work: Work
    """Whole work of the run on these members."""
    begun: Work
    """Work done in the state from which the run begins."""
    source: RunNumber | None
    """Run of the job from whose state this one begins; None if it begins from scratch."""
    keeps: RunNumber | None
    """Last run on these members, which the job has kept since; None if it held none of them."""
    end: Time | None = None
    """Time at which the run ends; None if the log ends before."""
    ended_by: Annotated[int | None, Quantity()] = None
    """Number of the event that ended it; None if the log ends before."""
    outcome: Outcome | None = None
    """How the run ended; None if the log ends before."""
    done: Work | None = None
    """Work done at the end; None if the log ends before."""
    members: WorkerSet | None = None
    """Members at the end; None if the log ends before."""

    @property
    def key(self) -> tuple[str, int]:
        """Key of the run: its job's name and its number."""
        return self.job, self.run


# --- spans: the ledger's categories ---------------------------------------------------------------


class Use(enum.Enum):
    """The use of a processor-second; each processor-second has exactly one."""

    USEFUL = "useful"
    """Computation whose result is in the state that completed the job (or its iteration).

    That is all computation of the completing run, that of the run from whose state it began up to
    `saved`, and so on back.
    """
    LOST = "lost"
    """Computation that has to be done again, of a run that was not cancelled.

    A member went DOWN, or a verification failed; at the log's end, computation that is saved or
    under way counts as lost too.
    """
    CHECKPOINT = "checkpoint"
    """The run spends a checkpoint's `cost`."""
    STARTUP = "startup"
    """Workers are chosen for the run, and its processes start."""
    RECOVERY = "recovery"
    """The run spends `recovery`, a clone's `delay`, or a changeover to other workers."""
    REDISTRIBUTION = "redistribution"
    """The run moves its data to another number of members."""
    TRANSFER = "transfer"
    """The worker is UP and held and sends or receives a message of any kind, while its run does
    nothing else."""
    WAITING = "waiting"
    """The run does not advance: it waits for the link, for other members, or for a speed above 0,
    or its members are kept and not all UP."""
    REDUNDANT = "redundant"
    """Computation of a cancelled run, as far as it is not useful: another copy was first, the job
    was preempted, or its policy moved it to other workers."""
    VERIFICATION = "verification"
    """The run's detector verifies the result."""
    IDLE = "idle"
    """The worker is UP and no run holds it."""
    RECLAIMED = "reclaimed"
    """The worker's owner uses it, whether a run holds it or not."""
    DOWN = "down"
    """The worker is DOWN."""


AWAY = {WorkerState.DOWN: Use.DOWN, WorkerState.RECLAIMED: Use.RECLAIMED}
"""Maps the states in which a worker computes nothing to the uses of its time then."""


@frozen
class SpanRow:
    """An interval [start, end) over which a set of processors has one use. Time that no span covers
    is idle."""

    processors: WorkerSet
    """Processors, as a set of numbers."""
    use: Use
    """The ledger's category of that time."""
    start: Start
    end: Time
    """Time at which it ended."""
    seq: Seq
    job: JobName | None = None
    """Job that has the processors; None if none has, or if they are DOWN."""
    run: RunNumber | None = None
    """Run of that job."""
    share: Annotated[Fraction | float, Quantity("part of a worker")] = 1
    """Part of each processor that this use had; below 1 only where workers multitask."""
    note: str = ""
    """Detail: the run's stage, what a message carries, `standby` or `dropped`."""
    holder: JobName | None = None
    """Job that holds a worker that is DOWN; that time is a loss of the platform, not of the job."""

    def part(self, processors: str, use: Use, start: float, end: float) -> SpanRow:
        """Return the span of some of these processors over some of this time; all but the use is as
        here.

        `attrs.evolve`, which looks at each field, takes more than twice as long.
        """
        of = self.seq, self.job, self.run, self.share, self.note, self.holder
        return SpanRow(processors, use, start, end, *of)


# --- workers -------------------------------------------------------------------------------------


@frozen
class StateRow:
    """A time for which a worker was RECLAIMED or DOWN; it is UP at all others."""

    worker: WorkerNumber
    state: WorkerState
    """State of the worker: `reclaimed` or `down`."""
    seq: Seq
    start: Start
    until: Time | None
    """Time at which the worker was expected to be UP again; None if that was not known."""
    end: Time | None = None
    """Time at which the state changed; None if the log ends before."""


# --- the queue -----------------------------------------------------------------------------------


@frozen
class QueueRow:
    """The numbers of jobs that wait and that run from a time on, until the next row."""

    t: On
    waiting: JobCount
    """Number of jobs that hold no workers."""
    running: JobCount
    """Number of jobs that hold workers."""
