"""A job's life: submitted, its iterations, completed or killed; what it is, and what its enrolment
policy believes (volatile13)."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar

from attrs import frozen

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
from actors.runtime import Event


@frozen
class JobSubmitted(Event):
    """A job asks to be scheduled."""

    job: JobName
    user: str = ""
    """Whose it is; empty: not known."""
    group: str = ""
    """Its user's; empty: not known."""
    queue: str = ""
    """The site's, into which it was submitted; empty: not known."""
    priority: Annotated[float, Quantity()] = 0.0
    """The site's or the user's: larger is more urgent."""
    recorded_wait: Time | None = None
    """How long it waited where the log that is replayed was kept; left out where that is not
    known."""

    optional: ClassVar[str] = "recorded_wait"


@frozen
class JobDescribed(Event):
    """A job's parameters, against which its other events are checked."""

    job: JobName
    kind: str
    """rigid, moldable, malleable, iterative."""
    work: Work
    """Time of one run on one processor of speed 1 (moldable), its area (rigid), 0 where that
    depends on the workers."""
    verification: Time
    """v: the detector's time at the end of each run."""
    failures: Annotated[int, Quantity("verifications")] | None
    """f_j: verifications that find an error before one does not; None: drawn as they come."""
    estimate: Time | None
    """The user's estimate, which reservations and shelves use in place of t(p); None: they use
    t(p)."""
    limit: Time | None
    """How long a run may last before its job is killed, verification included; None: for ever."""


@frozen
class DeadlineDescribed(Event):
    """When a job is to be completed, where its scenario says so."""

    job: JobName
    deadline: Time
    """From its submission."""


class ProtectionKind(enum.Enum):
    """Where checkpoints are kept."""

    NONE = "none"
    """Nowhere: re-execution."""
    BUDDIES = "buddies"
    """In the memory of other members."""
    IMAGES = "images"
    """On shared storage at the master, as images: a lost run continues on other workers."""


@frozen
class ProtectionDescribed(Event):
    """How a job is protected, where that is more than re-execution."""

    job: JobName
    kind: ProtectionKind
    """Where checkpoints are kept."""
    period: Work | None
    """Work between two checkpoints; None: none is taken, or it depends on the run's members."""
    cost: Time | None
    """Time of a checkpoint without a master; None: it depends on the run's members."""
    recovery: Time | None
    """Likewise."""
    verified: bool
    """Whether a verification precedes each checkpoint."""
    copies: CopyCount
    """The most runs at once."""
    cloning: bool
    """Whether a copy begins from the state of the furthest."""
    delay: Time
    """Time to fetch a clone without a master."""


@frozen
class MessagesDescribed(Event):
    """What each member of a job's runs fetches from the master, in time units of a channel."""

    job: JobName
    program: Time
    """Of its program."""
    data: Time
    """Of each unit: one a task for iterative jobs, one in all for others."""
    image: Time
    """Of one worker's saved state."""
    label: str
    """What the program is known by: jobs with one label share it."""


@frozen
class JobCompleted(Event):
    """A job has done all its work."""

    job: JobName


@frozen
class JobKilled(Event):
    """A job outlived the user's estimate in a scenario that kills such jobs; it is gone."""

    job: JobName


@frozen
class IterationStarted(Event):
    """An iteration begins: it needs workers."""

    job: JobName
    iteration: IterationNumber


@frozen
class IterationCompleted(Event):
    """All tasks of an iteration are done; its members leave and what was saved is forgotten."""

    job: JobName
    iteration: IterationNumber


@frozen
class JobsLeftOut(Event):
    """Jobs of the workload that were left out, and why."""

    reason: str
    """Why they cannot take part."""
    jobs: JobCount


@frozen
class JobsChanged(Event):
    """Jobs of the workload that were changed before the run, and how."""

    how: str
    """What was done to them."""
    jobs: JobCount


@frozen
class LogReplayed(Event):
    """The jobs are those of a log that tells when it begins."""

    begins: Annotated[float, Quantity("s since 1970")]
    """The instant, in Universal Time, that is time 0 of this run."""


@frozen
class WorkloadEnded(Event):
    """Every job has completed or been killed: now is the makespan."""

    completed: JobCount
    """Jobs that completed."""
    killed: JobCount
    """Jobs that were killed."""
    runs: RunCount


TaskTime = Annotated[float, Quantity("time per task")]
Probability = Annotated[float, Quantity("probability")]
Row = tuple[Probability, Probability, Probability]
Chain = tuple[Row, Row, Row]


@frozen
class TasksDescribed(Event):
    """An iterative job: its iterations, and the time of a task on each worker."""

    job: JobName
    tasks: TaskCount
    """m: tasks of an iteration."""
    iterations: Annotated[int, Quantity("iterations")]
    """How many it has."""
    times: tuple[tuple[WorkerSet, TaskTime], ...]
    """(workers, w_q): the time that a task takes each of them at speed 1."""


@frozen
class BoundsDescribed(Event):
    """How many tasks of a job an enrolment may give its workers."""

    job: JobName
    bounds: tuple[tuple[WorkerSet, TaskCount], ...]
    """(workers, mu_q): the most tasks that each of them holds at once."""


@frozen
class ChainsBelieved(Event):
    """What the enrolment policy believes of workers' availability, true or not; once."""

    chains: tuple[tuple[WorkerSet, Chain], ...]
    """(workers, P_q): transition probabilities from slot to slot, rows and columns UP, RECLAIMED,
    DOWN."""
