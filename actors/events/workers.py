"""Events of workers: their nodes, states, speeds and prices (rules.md, W1, N1, O1, F1), and the
messages on the master's channels (rules.md, L1 to L4)."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar

from actors.events.quantities import (
    JobName,
    Quantity,
    RunNumber,
    Speed,
    Time,
    WorkerCount,
    WorkerNumber,
    WorkerSet,
)
from actors.runtime import Event, fact
from policies.availability import WorkerState


@fact
class WorkerChanged(Event):
    """A worker changes from one state to another, whatever the reason; at the start, its first
    state where that is not UP. With a downtime of 0 it goes DOWN and returns at one instant."""

    worker: WorkerNumber
    state: WorkerState
    """State of the worker from now on."""
    was: WorkerState | None
    """State of the worker before; None at the start."""
    until: Time | None
    """Time at which the worker will return, where a fault took it DOWN and the time is known; None
    if it is not known. Where faults are detected late, every fault has this time, even one without
    a downtime."""
    detection: Time | None = None
    """Delay after which this fault is detected if a job holds the worker; left out unless kinds of
    faults differ in it."""

    optional: ClassVar[str] = "detection"


@fact
class FaultsFitted(Event):
    """Records the law of faults that was fitted to a log of failures; once for each such law, at
    the start."""

    law: Annotated[int, Quantity(meaning="Number of the law among the scenario's laws, from 0.")]
    mtbf: Time
    """Mean time between the faults of one worker, or of one node."""
    shape: Annotated[float, Quantity(meaning="Shape of the Weibull law; 1 is exponential.")]
    gaps: Annotated[int, Quantity("times")]
    """Number of times between two failures in the log."""
    nodes: Annotated[int, Quantity("nodes")]
    """Number of nodes of the log that fail; the time after the last failure of each is observed
    only in part."""
    log_mtbf: Time | None = None
    """Mean time between the failures of a node as the log counts them: the time for which all of
    its nodes are observed, divided by the number of their failures."""

    optional: ClassVar[str] = "log_mtbf"


@fact
class FaultsDescribed(Event):
    """Records which units a law of faults strikes, if these were drawn; logged once for each such
    law, at the start."""

    law: Annotated[int, Quantity(meaning="Number of the law among the scenario's laws, from 0.")]
    units: Annotated[int, Quantity("units")]
    """Number of all workers, nodes or racks, of which the law strikes some."""
    struck: WorkerSet
    """Numbers of the workers, nodes or racks that the law strikes."""


@fact
class UnitsWornOut(Event):
    """Units come under a law of faults: from now on it strikes them, too. Nobody in the simulated
    world knows that."""

    law: Annotated[int, Quantity(meaning="Number of the law among the scenario's laws, from 0.")]
    units: WorkerSet
    """Numbers of the workers, nodes or racks."""


@fact
class MaintenancePlanned(Event):
    """Records a window of maintenance, which everybody knows from the start: the owner takes these
    workers DOWN; once for each window, at the start."""

    start: Time
    """Time at which the workers go DOWN."""
    end: Time | None
    """Time from which their owner has them UP again; None: never."""
    workers: WorkerSet
    """Numbers of the workers."""


@fact
class ReserveCalled(Event):
    """Records the call of a worker that its owner has kept RECLAIMED until then, because the first
    job of the queue lacks workers."""

    worker: WorkerNumber
    job: JobName


@fact
class FaultsReplayed(Event):
    """Faults are replayed from one window of a log of failures; once for each such law, at the
    start."""

    law: Annotated[int, Quantity(meaning="Number of the law among the scenario's laws, from 0.")]
    begin: Time
    """Begin of the window, as time since the log's first failure."""
    nodes: tuple[str, ...]
    """Node of the log, as `platform_id/node_id`, whose record each worker, or node, gets."""


class Age(enum.Enum):
    """Says how old workers, or nodes, are at the start of a run."""

    NEW = "new"
    """All workers have just failed: the first fault is drawn like all others."""
    STATIONARY = "stationary"
    """All workers are in the middle of their lives: the first fault is drawn from the law of the
    time that is left at an arbitrary moment."""


@fact
class FaultsExpected(Event):
    """Records what determines the number of faults to be expected of a law; once for each law, at
    the start, where a law states its age, is fitted to a log or replays one."""

    law: Annotated[int, Quantity(meaning="Number of the law among the scenario's laws, from 0.")]
    workers: WorkerCount
    """Number of workers that the law's faults can hit; a fault of a node counts once for each of
    its workers."""
    mtbf: Time | None
    """Mean time between the faults of one worker; None if all faults of the law are listed."""
    shape: Annotated[
        float, Quantity(meaning="Shape of the Weibull law; 1 is exponential, or no law.")
    ]
    age: Age
    """Age of the workers at the start."""
    down: Annotated[float, Quantity("probability")]
    """Probability that a failure of the replayed log keeps a worker DOWN at the start; 0 where no
    log is replayed."""
    listed: tuple[Time, ...]
    """Times of the faults that the scenario lists in addition, once for each worker that they
    hit."""
    spread: Annotated[float | None, Quantity("workers")] = None
    """Mean number of other workers to which the law's faults spread, for each worker that they hit;
    left out where they spread to none."""


@fact
class NoticeGiven(Event):
    """A worker's owner announces that it will take the worker DOWN."""

    worker: WorkerNumber
    time: Time | None
    """Time at which the owner will take the worker; None where a real process was told to end
    (SIGTERM), which does not say when."""


@fact
class FaultDetected(Event):
    """A fault by which a member went DOWN some time ago is detected; until then the run on it has
    only waited."""

    job: JobName
    run: RunNumber
    """The run that is, or was last, on the members of the faulty copy."""
    worker: WorkerNumber


@fact
class WorkerSpeedChanged(Event):
    """A worker changes its speed, the work per unit of time while it is UP; it is 1 for workers
    that no such event names."""

    worker: WorkerNumber
    speed: Speed


@fact
class WorkerPriced(Event):
    """Records the prices of a worker while it is UP, where the trace of its availability has
    prices."""

    worker: WorkerNumber
    times: tuple[Time, ...]
    """Times from which on each price holds; the first is 0."""
    prices: tuple[Annotated[float, Quantity("per time")], ...]
    """Price of a unit of time, from each of `times` on."""
    period: Time | None
    """Time after which the prices repeat; None if the last one lasts."""


class TransferKind(enum.Enum):
    """Says what a message carries."""

    PROGRAM = "program"
    DATA = "data"
    """One unit of a job's data."""
    IMAGE = "image"
    """A saved state, or a clone's state, that is fetched from the master."""
    SAVE = "save"
    """A checkpoint that is sent to the master."""


@fact
class TransferStarted(Event):
    """A worker gets one of the master's channels, and its message begins to pass or, if it was
    suspended, goes on."""

    worker: WorkerNumber
    job: JobName
    run: RunNumber
    """Number of the run that needs the message; for a standby that of the run in which it became
    one."""
    kind: TransferKind
    """Kind of the message."""
    left: Time
    """Channel time that the message still takes."""


@fact
class TransferSuspended(Event):
    """A worker gives up its channel, or loses it to another worker, before its message has passed;
    the part that it has received or sent is kept."""

    worker: WorkerNumber
    kind: TransferKind
    """Kind of the message."""
    left: Time
    """Channel time that the message still takes."""


@fact
class TransferEnded(Event):
    """A message between the master and a worker has passed completely."""

    worker: WorkerNumber
    kind: TransferKind
    """Kind of the message."""


@fact
class TransferDropped(Event):
    """The part of a message that has passed is lost, because its run ended first or its worker went
    DOWN."""

    worker: WorkerNumber
    kind: TransferKind
    """Kind of the message."""
