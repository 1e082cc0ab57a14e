"""What the log records of a volatile platform."""

from __future__ import annotations

import enum

from attrs import frozen

from actors.runtime import Event
from policies.availability import WorkerState
from policies.interface import Reason


class TransferKind(enum.Enum):
    """What the master sends."""

    PROGRAM = "program"
    DATA = "data"


@frozen
class PlatformDescribed(Event):
    """What the scenario's laws are measured against; once, at the start."""

    job: str
    tasks: int
    """m, tasks per iteration."""
    iterations: int
    channels: int
    """n_com."""
    program: int
    """T_prog, slots."""
    data: int
    """T_data, slots per task."""
    speeds: tuple[int, ...]
    """w_q, slots per task, by worker."""
    bounds: tuple[int, ...]
    """mu_q, by worker."""


@frozen
class WorkerChanged(Event):
    """A worker's owner, or a crash, changed its state; at the start, its first state."""

    worker: str
    state: WorkerState
    was: WorkerState | None
    """What it leaves; None at the start."""
    since: float
    """Since when it was so."""


@frozen
class WorkerEnrolled(Event):
    """A worker belongs to a run from now on, with so many tasks; also when it stays enrolled."""

    worker: str
    job: str
    run: int
    tasks: int


@frozen
class WorkerReleased(Event):
    """A worker belongs to no run any more; data and incomplete messages are dropped."""

    worker: str
    job: str
    run: int


@frozen
class TransferStarted(Event):
    """A worker holds one of the master's channels from now on."""

    worker: str
    kind: TransferKind
    left: int
    """Slots of this message still to receive."""


@frozen
class TransferSuspended(Event):
    """A worker holds no channel any more; what it received of the message is kept for now."""

    worker: str
    kind: TransferKind
    left: int


@frozen
class TransferEnded(Event):
    """A message was received whole."""

    worker: str
    kind: TransferKind


@frozen
class IterationStarted(Event):
    """An iteration begins: it needs a configuration."""

    job: str
    iteration: int


@frozen
class IterationCompleted(Event):
    """All tasks of an iteration are done."""

    job: str
    iteration: int


@frozen
class ConfigurationChosen(Event):
    """The scheduler enrolled these workers; (worker, tasks) pairs."""

    job: str
    iteration: int
    run: int
    reason: Reason
    members: tuple[tuple[str, int], ...]
    work: int
    """W = max x_q w_q, slots of simultaneous computation."""


@frozen
class ComputationStarted(Event):
    """All members of a run are UP and have everything: the run advances from now on."""

    job: str
    run: int


@frozen
class ComputationSuspended(Event):
    """A run does not advance any more (until it is started again)."""

    job: str
    run: int
    done: int
    """Slots of computation done so far."""


VOCABULARY: tuple[type[Event], ...] = (
    PlatformDescribed,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
    TransferStarted,
    TransferSuspended,
    TransferEnded,
    IterationStarted,
    IterationCompleted,
    ConfigurationChosen,
    ComputationStarted,
    ComputationSuspended,
)
