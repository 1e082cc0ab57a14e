"""Workers: their states, speeds and prices (WORLD.md, W1)."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

from actors.events.quantities import Quantity, Speed, Time, WorkerNumber
from actors.runtime import Event
from policies.availability import WorkerState


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
    """When it will be back, where a fault took it DOWN and that is known; None: not known."""


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


VOCABULARY: tuple[type[Event], ...] = (
    WorkerChanged,
    WorkerSpeedChanged,
    WorkerPriced,
    WorkerRented,
)
