"""Events of a queue: reservations, shelves and batches."""

from __future__ import annotations

from typing import Annotated

from actors.events.quantities import JobCount, JobName, Quantity, RunCount, Time, WorkerCount
from actors.runtime import Event, fact


@fact
class ReservationMade(Event):
    """A waiting job gets a reservation, or its reservation changes; each change is logged once. A
    start that is overdue because a run outlives its estimate counts as unchanged."""

    job: JobName
    start: Time
    """Time at which the job is promised to start."""
    processors: WorkerCount


@fact
class ReservationDropped(Event):
    """A job that continues to wait loses its reservation, because another one is ahead of it or
    because the return of workers is not known."""

    job: JobName


@fact
class ShelfOpened(Event):
    """A shelf opens: the jobs that start at this instant form a group, and others start only once
    it is over."""

    end: Time
    """Time T_i at which the shelf's longest attempt is expected to end."""
    jobs: JobCount


@fact
class BatchOpened(Event):
    """A batch opens: all pending jobs are allotted processors for the attempts that they may make
    in it; the next batch opens once this one is over (moldable21, section 4.4)."""

    batch: Annotated[int, Quantity()]
    """Number of the batch, from 1."""
    jobs: JobCount
    attempts: RunCount
    """Largest number of attempts that one of the batch's jobs may make in it."""
