"""Events of a queue: reservations, shelves and batches."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

from actors.events.quantities import JobCount, JobName, Quantity, RunCount, Time, WorkerCount
from actors.runtime import Event


@frozen
class ReservationMade(Event):
    """A waiting job gets a reservation, or its reservation changes: logged once for each change. A
    start that is overdue, as a run outlives its estimate, has not changed."""

    job: JobName
    start: Time
    """When it is promised to start."""
    processors: WorkerCount


@frozen
class ReservationDropped(Event):
    """A job that goes on waiting loses its reservation: another one is ahead of it, or it is not
    known when workers will be back."""

    job: JobName


@frozen
class ShelfOpened(Event):
    """The jobs that start at this instant form a shelf."""

    end: Time
    """T_i: when its longest attempt is expected to end."""
    jobs: JobCount


@frozen
class BatchOpened(Event):
    """All pending jobs have been allotted processors for their next attempts (moldable21,
    section 4.4)."""

    batch: Annotated[int, Quantity()]
    """From 1."""
    jobs: JobCount
    attempts: RunCount
    """The most attempts that one of its jobs may make in it."""
