"""Checkpoints: taken, lost and given up (WORLD.md, P)."""

from __future__ import annotations

from attrs import frozen

from actors.events.quantities import JobName, RunNumber, Work, WorkerNumber
from actors.runtime import Event


@frozen
class CheckpointTaken(Event):
    """A checkpoint of a run is complete: with its buddies, or at the master."""

    job: JobName
    run: RunNumber
    done: Work
    """Work that it saves."""


@frozen
class CheckpointLost(Event):
    """Two members of one group of buddies went DOWN before a recovery was over, or one that has no
    buddy: what the copy had saved is gone."""

    job: JobName
    run: RunNumber
    """The run that is, or was last, on these members."""
    workers: tuple[WorkerNumber, ...]
    """Members that went DOWN since the last recovery ended."""


@frozen
class RestartedFromScratch(Event):
    """All saved work of a job (or of one copy under buddies) is given up."""

    job: JobName
    run: RunNumber
    lost: Work
    """Work that had been saved, in the count of the run that saved it."""


VOCABULARY: tuple[type[Event], ...] = (CheckpointTaken, CheckpointLost, RestartedFromScratch)
