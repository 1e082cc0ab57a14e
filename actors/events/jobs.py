"""Events of a job's life: submission, iterations, completion or kill, its parameters, and what its
enrolment policy believes (volatile13)."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar

from actors.events.quantities import (
    CopyCount,
    IterationNumber,
    JobCount,
    JobName,
    Quantity,
    RunCount,
    TaskCount,
    Time,
    Work,
    WorkerSet,
)
from actors.runtime import Event, fact
from policies.interface.kinds import JobKind


@fact
class JobSubmitted(Event):
    """A job's time of submission has come: the job asks for workers from now on."""

    job: JobName
    user: str = ""
    """Name of the user who submitted the job; empty if it is not known."""
    group: str = ""
    """Name of the user's group; empty if it is not known."""
    queue: str = ""
    """Name of the site's queue into which the job was submitted; empty if it is not known."""
    priority: Annotated[float, Quantity()] = 0.0
    """Priority that the site or the user gave the job; larger is more urgent."""
    recorded_wait: Time | None = None
    """Time that the job waited where the log that is replayed was recorded; left out if it is not
    known."""

    # Few scenarios replay a log: the key would be null in nearly every line.
    optional: ClassVar[str] = "recorded_wait"


@fact
class JobDescribed(Event):
    """Records a job's parameters, against which its other events are checked; once for each job, at
    its submission."""

    job: JobName
    kind: JobKind
    """Kind of the job."""
    work: Work
    """The job's work: the time of one run on one processor of speed 1 (moldable), the area (rigid),
    or 0 where it depends on the workers."""
    verification: Time
    """Time v that the detector takes at the end of each run."""
    failures: Annotated[int, Quantity("verifications")] | None
    """Number of verifications f_j that find an error before one does not; None if errors are drawn
    as they come."""
    estimate: Time | None
    """The user's estimate of the run time, which reservations and shelves use in place of t(p);
    None if they use t(p)."""
    limit: Time | None
    """Longest time that a run may last before its job is killed, verification included; None for no
    limit."""


class ProtectionKind(enum.Enum):
    """Says where a job's checkpoints are kept."""

    NONE = "none"
    """No checkpoints are taken: a job that fails is executed again."""
    BUDDIES = "buddies"
    """Checkpoints are kept in the memory of other members."""
    IMAGES = "images"
    """Checkpoints are kept as images on shared storage at the master, so that a lost run can
    continue on other workers."""


@fact
class ProtectionDescribed(Event):
    """Records how a job is protected, where that is more than re-execution."""

    job: JobName
    kind: ProtectionKind
    """Place where the job's checkpoints are kept."""
    period: Work | None
    """Work between two checkpoints; 0 if the state is always saved, at no cost and without events;
    None if no checkpoint is taken, or if it depends on the run's members."""
    cost: Time | None
    """Time of a checkpoint without a master; None if it depends on the run's members."""
    recovery: Time | None
    """Time of a recovery without a master; None if it depends on the run's members."""
    verified: bool
    """Whether a verification precedes each checkpoint."""
    copies: CopyCount
    """Largest number of runs of the job at once."""
    cloning: bool
    """Whether a copy begins from the state of the furthest copy."""
    delay: Time
    """Time to fetch a clone's state without a master."""


@fact
class JobCompleted(Event):
    """A job has completed all its work."""

    job: JobName


@fact
class JobKilled(Event):
    """A job ends without being completed. One of its runs has lasted longer than the user's
    estimate allows, in a scenario that kills such jobs; or the agent that submitted the job has
    cancelled it: then the cause is AgentCancelledJob, or the end of a run that this has caused."""

    job: JobName


@fact
class IterationStarted(Event):
    """An iteration of an iterative job (tasks that run in lockstep) begins, and needs workers."""

    job: JobName
    iteration: IterationNumber


@fact
class IterationCompleted(Event):
    """All tasks of an iteration of an iterative job are completed; its members are released, and
    its saved states are discarded."""

    job: JobName
    iteration: IterationNumber


@fact
class JobsLeftOut(Event):
    """Counts the jobs of the workload that were left out for one reason."""

    reason: str
    """Reason why the jobs cannot take part."""
    jobs: JobCount


@fact
class JobsChanged(Event):
    """Counts the jobs of the workload that were changed in one way before the run."""

    how: str
    """Change that was made to the jobs."""
    jobs: JobCount


@fact
class LogDoubted(Event):
    """Records a sign that the log of jobs, or what the scenario says of its machine, is not what it
    seems."""

    doubt: str
    """Description of the sign."""


@fact
class LogReplayed(Event):
    """Records that the jobs come from a recorded log of jobs whose beginning in real time is
    known."""

    begins: Annotated[float, Quantity("s since 1970")]
    """Instant, in Universal Time, that is time 0 of this run."""
    zone: Annotated[str, Quantity()] = "UTC"
    """Time zone of the recorded log, as an IANA name."""


@fact
class WorkloadEnded(Event):
    """Every job has completed or been killed; the time of this event is the makespan."""

    completed: JobCount
    """Number of jobs that completed."""
    killed: JobCount
    """Number of jobs that were killed, or cancelled by the agent that had submitted them."""
    runs: RunCount
    """Number of copies that have ended; runs that follow each other on kept members are one
    copy."""


TaskTime = Annotated[float, Quantity("time per task")]
Probability = Annotated[float, Quantity("probability")]
Row = tuple[Probability, Probability, Probability]
Chain = tuple[Row, Row, Row]


@fact
class TasksDescribed(Event):
    """Records an iterative job's tasks and iterations, and the time of a task on each worker."""

    job: JobName
    tasks: TaskCount
    """Number of tasks of an iteration, m."""
    iterations: Annotated[int, Quantity("iterations")]
    """Number of iterations of the job."""
    times: tuple[tuple[WorkerSet, TaskTime], ...]
    """Pairs (workers, w_q): the time that a task takes each of these workers at speed 1."""


@fact
class ChainsBelieved(Event):
    """Records the Markov chains by which the enrolment policy, which chooses the workers of
    iterative jobs, predicts the workers' availability, whether they are true or not; once, at the
    start."""

    chains: tuple[tuple[WorkerSet, Chain], ...]
    """Pairs (workers, P_q): transition probabilities from slot to slot, with rows and columns in
    the order UP, RECLAIMED, DOWN."""
