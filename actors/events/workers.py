"""What befalls workers: their states and speeds (WORLD.md, W1)."""

from __future__ import annotations

from attrs import frozen

from actors.runtime import Event
from policies.availability import WorkerState


@frozen
class WorkerChanged(Event):
    """A worker goes from one state to another, whoever took it there; at the start, its first
    state where that is not UP. With a downtime of 0 it goes DOWN and is back at one instant."""

    worker: int
    state: WorkerState
    was: WorkerState | None
    """What it leaves; None at the start."""
    until: float | None
    """When it will be back, where a fault took it DOWN and that is known; None: nobody knows."""


@frozen
class WorkerSpeedChanged(Event):
    """A worker's speed from now on: work per unit of time while it is UP; 1 where none is told."""

    worker: int
    speed: float


VOCABULARY: tuple[type[Event], ...] = (WorkerChanged, WorkerSpeedChanged)
