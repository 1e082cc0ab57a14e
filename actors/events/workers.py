"""Workers: their nodes, states, speeds and prices (WORLD.md, W1, N1, O1, F1), and what the master's
channels carry to them (WORLD.md, L1 to L4)."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar

from attrs import frozen

from actors.events.quantities import (
    JobName,
    Quantity,
    RunNumber,
    Speed,
    Time,
    WorkerCount,
    WorkerNumber,
)
from actors.runtime import Event
from policies.availability import WorkerState


@frozen
class PlatformDescribed(Event):
    """Nodes, spares and what is known of failures and when, where that is more than workers that
    fail one by one and are missed at once; once, at the start."""

    node: WorkerCount
    """k: workers 0 to k - 1 are node 0, and so on."""
    spares: WorkerCount
    """The last so many workers start no job; they replace members that are DOWN."""
    detections: tuple[Time, ...]
    """After which times faults of held workers are detected, one for each kind of faults."""


@frozen
class WorkerChanged(Event):
    """A worker goes from one state to another, whatever the reason; at the start, its first state
    where that is not UP. With a downtime of 0 it goes DOWN and is back at one instant."""

    worker: WorkerNumber
    state: WorkerState
    """What it is from now on."""
    was: WorkerState | None
    """Its state before; None at the start."""
    until: Time | None
    """When it will be back, where a fault took it DOWN and that is known; None: not known. Where
    faults are detected late, every fault has it, also one without a downtime."""
    detection: Time | None = None
    """After which time this fault is detected where a job holds the worker; left out but where
    kinds of faults differ in it."""

    optional: ClassVar[str] = "detection"


@frozen
class FaultsFitted(Event):
    """The law of faults was fitted to a log of failures; once for each such law, at the start."""

    law: Annotated[int, Quantity(meaning="Its number among the scenario's laws, from 0.")]
    mtbf: Time
    """Mean time between the faults of one worker, or node."""
    shape: Annotated[float, Quantity(meaning="Of a Weibull law; 1: exponential.")]
    gaps: Annotated[int, Quantity("times")]
    """Times from failure to failure that the log has."""
    nodes: Annotated[int, Quantity("nodes")]
    """Nodes of the log that fail, each with a time after its last failure that is seen in part."""
    log_mtbf: Time | None = None
    """Mean time between the failures of a node as the log counts them: the time that all of its
    nodes are seen, over their failures."""

    optional: ClassVar[str] = "log_mtbf"


@frozen
class FaultsReplayed(Event):
    """Faults are replayed from one window of a log of failures; once for each such law, at the
    start."""

    law: Annotated[int, Quantity(meaning="Its number among the scenario's laws, from 0.")]
    begin: Time
    """Where in the log the window begins, from the log's first failure on."""
    nodes: tuple[str, ...]
    """`platform_id/node_id` of the node whose record each worker, or node, gets."""


class Age(enum.Enum):
    """The age of workers, or nodes, at the start of a run."""

    NEW = "new"
    """All workers have just failed: the first fault is drawn like all others."""
    STATIONARY = "stationary"
    """All workers are in the middle of their lives: the first fault is drawn from the law of the
    time that is left at an arbitrary moment."""


@frozen
class FaultsExpected(Event):
    """The number of faults to be expected of a law follows from this event; once for each law, at
    the start, where a law states its age, is fitted to a log or replays one."""

    law: Annotated[int, Quantity(meaning="Its number among the scenario's laws, from 0.")]
    workers: WorkerCount
    """The number of workers that the law strikes; a fault of a node counts once for each of its
    workers."""
    mtbf: Time | None
    """Mean time between the faults of one worker; None: all faults of the law are listed."""
    shape: Annotated[float, Quantity(meaning="Of a Weibull law; 1: exponential, or no law.")]
    age: Age
    """The age of the workers at the start."""
    down: Annotated[float, Quantity("probability")]
    """Probability that a failure keeps a worker DOWN at the start."""
    listed: tuple[Time, ...]
    """The times of the faults that the scenario lists besides, once for each worker struck."""


@frozen
class NoticeGiven(Event):
    """A worker's owner announces that it takes the worker DOWN."""

    worker: WorkerNumber
    time: Time
    """When it will."""


@frozen
class FaultDetected(Event):
    """A fault that struck a member some time ago is noticed; until then its run only waits."""

    job: JobName
    run: RunNumber
    """The run that is, or was last, on its copy's members."""
    worker: WorkerNumber


@frozen
class WorkerSpeedChanged(Event):
    """A worker's speed from now on: work per unit of time while it is UP; 1 where no such event
    names the worker."""

    worker: WorkerNumber
    speed: Speed


@frozen
class WorkerPriced(Event):
    """What a worker costs while it is UP, where its availability's trace has prices."""

    worker: WorkerNumber
    times: tuple[Time, ...]
    """From when on each price holds; the first is 0."""
    prices: tuple[Annotated[float, Quantity("per time")], ...]
    """Of a unit of time."""
    period: Time | None
    """After which they repeat; None: the last one lasts."""


@frozen
class WorkerRented(Event):
    """What a worker costs while a run holds it, and only then, where its scenario says so."""

    worker: WorkerNumber
    price: Annotated[float, Quantity("per time")]
    """Of a unit of time."""


class TransferKind(enum.Enum):
    """What a message carries."""

    PROGRAM = "program"
    DATA = "data"
    """One unit of it."""
    IMAGE = "image"
    """A saved state, or a clone's state, fetched from the master."""
    SAVE = "save"
    """A checkpoint, sent to the master."""


@frozen
class LinkDescribed(Event):
    """The master's bounded multi-port link; once, at the start."""

    channels: Annotated[int, Quantity("channels")]
    """n_com: messages under way at once, in both directions together."""
    order: str = "started-first"
    """Who is served first: `started-first`, `longest-first`, as a `timetable` says, by which a
    channel may stay free, or by `module:Name` of a program's own."""


@frozen
class TransferStarted(Event):
    """A worker holds one of the master's channels from now on."""

    worker: WorkerNumber
    job: JobName
    run: RunNumber
    kind: TransferKind
    """What the message is."""
    left: Time
    """Time that this message still takes."""


@frozen
class TransferSuspended(Event):
    """A worker holds no channel any more; what has passed of the message is kept."""

    worker: WorkerNumber
    kind: TransferKind
    """What the message is."""
    left: Time
    """Time of a channel that the message still takes."""


@frozen
class TransferEnded(Event):
    """A message has passed whole."""

    worker: WorkerNumber
    kind: TransferKind
    """What the message is."""


@frozen
class TransferDropped(Event):
    """What has passed of a message is lost: its run ended first, or its worker went DOWN."""

    worker: WorkerNumber
    kind: TransferKind
    """What the message is."""
