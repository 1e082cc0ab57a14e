"""What the log records of rigid and moldable jobs beside the shared events."""

from __future__ import annotations

from attrs import frozen

from actors.runtime import Event


@frozen
class JobDescribed(Event):
    """What a submitted job will meet: what its laws are measured against."""

    job: str
    failures: int
    """f_j: attempts that fail before one succeeds."""
    estimate: float | None
    """What reservations and shelves believe in place of t(p); None: t(p)."""
    limit: float | None
    """How long an attempt may last before its job is killed, verification included, in the
    scenario's unit; None: as long as it takes."""


@frozen
class AttemptSized(Event):
    """What the attempt that just started will take if nobody kills it.

    A completed attempt's time is useful, a failed one's lost; the detector runs at its end.
    """

    job: str
    run: int
    processors: int
    """How many."""
    time: float
    """t(p), verification excluded, in the scenario's unit."""
    verification: float
    """v: the detector's time, after t(p)."""


@frozen
class JobKilled(Event):
    """A job outlived the user's estimate in a scenario that kills such jobs; it is gone."""

    job: str


@frozen
class ProcessorFailed(Event):
    """A processor went DOWN, and the attempt that ran on it is lost: fail-stop."""

    processor: int
    until: float
    """When it will be back, in the scenario's unit."""


@frozen
class ProcessorRepaired(Event):
    """It is back."""

    processor: int


@frozen
class ReservationMade(Event):
    """A waiting job was promised processors; recorded where promises are kept."""

    job: str
    start: float
    processors: int


@frozen
class ShelfOpened(Event):
    """The jobs that start at this instant form a shelf."""

    end: float
    """T_i: when its longest attempt is expected to end."""
    jobs: int


@frozen
class BatchOpened(Event):
    """All pending jobs have been allotted processors for their next attempts (000, 4.4)."""

    batch: int
    """From 1."""
    jobs: int
    attempts: int
    """The most attempts that one of its jobs may make in it."""


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
    attempts: int


VOCABULARY: tuple[type[Event], ...] = (
    JobDescribed,
    AttemptSized,
    JobKilled,
    ProcessorFailed,
    ProcessorRepaired,
    ReservationMade,
    ShelfOpened,
    BatchOpened,
    JobsLeftOut,
    WorkloadEnded,
)
