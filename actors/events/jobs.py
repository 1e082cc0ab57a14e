"""A job's life: submitted, its iterations, completed or killed."""

from __future__ import annotations

from attrs import frozen

from actors.runtime import Event


@frozen
class JobSubmitted(Event):
    """A job asks to be scheduled."""

    job: str


@frozen
class JobDescribed(Event):
    """What its laws are measured against: what the job is, and how it is protected."""

    job: str
    kind: str
    """rigid, moldable, malleable, iterative."""
    work: float
    """Time of one run on one processor of speed 1 (moldable), its area (rigid), 0 where that
    depends on the workers."""
    verification: float
    """v: the detector's time at the end of each run."""
    failures: int | None
    """f_j: verifications that find an error before one does not; None: drawn as they come."""
    estimate: float | None
    """What reservations and shelves believe in place of t(p); None: t(p)."""
    limit: float | None
    """How long a run may last before its job is killed, verification included; None: for ever."""


@frozen
class ProtectionDescribed(Event):
    """How a job is protected, where that is more than re-execution."""

    job: str
    kind: str
    """none, buddies, images."""
    period: float | None
    """Work between two checkpoints; None: none is taken, or it hangs on the run's members."""
    cost: float | None
    """Time of a checkpoint without a master; None: it hangs on the run's members."""
    recovery: float | None
    """Likewise."""
    verified: bool
    """Whether a verification precedes each checkpoint."""
    copies: int
    """The most runs at once."""
    cloning: bool
    delay: float
    """Time to fetch a clone without a master."""


@frozen
class MessagesDescribed(Event):
    """What each member of a job's runs fetches from the master, in time units of a channel."""

    job: str
    program: float
    data: float
    """Of each unit: one a task for iterative jobs, one in all for others."""
    image: float
    label: str
    """What the program is known by: jobs with one label share it."""


@frozen
class JobCompleted(Event):
    """A job has done all its work."""

    job: str


@frozen
class JobKilled(Event):
    """A job outlived the user's estimate in a scenario that kills such jobs; it is gone."""

    job: str


@frozen
class IterationStarted(Event):
    """An iteration begins: it needs workers."""

    job: str
    iteration: int


@frozen
class IterationCompleted(Event):
    """All tasks of an iteration are done; its members leave and what was saved is forgotten."""

    job: str
    iteration: int


@frozen
class JobsLeftOut(Event):
    """Jobs of the workload that cannot take part, and why."""

    reason: str
    jobs: int


@frozen
class WorkloadEnded(Event):
    """Every job has completed or been killed: now is the makespan."""

    completed: int
    killed: int
    runs: int


VOCABULARY: tuple[type[Event], ...] = (
    JobSubmitted,
    JobDescribed,
    ProtectionDescribed,
    MessagesDescribed,
    JobCompleted,
    JobKilled,
    IterationStarted,
    IterationCompleted,
    JobsLeftOut,
    WorkloadEnded,
)
