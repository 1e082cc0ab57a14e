"""Checkpoints: begun, taken, stored, lost and given up (WORLD.md, P)."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

from actors.events.quantities import JobName, Quantity, RunNumber, Time, Work, WorkerNumber
from actors.runtime import Event


@frozen
class CheckpointingDescribed(Event):
    """How a job takes its checkpoints and replaces members, where that is more than
    `ProtectionDescribed` says."""

    job: JobName
    on_notice: bool
    """Whether a run checkpoints when an owner announces that it takes a member away."""
    blocking: bool
    """Whether a checkpoint takes the run's time; if not, work goes on meanwhile."""
    slowdown: Annotated[float, Quantity("part of the rate")]
    """What work and the final verification lose of their rate while a checkpoint that does not
    block is under way."""
    images_every: Annotated[int, Quantity("checkpoints")] | None
    """k: each k-th checkpoint of a copy among buddies is stored as images too; None: none is."""
    image_cost: Time
    """Time of that without a master, all members together."""
    replace_after: Time | None
    """How long after it went DOWN a kept member is replaced; None: never."""


@frozen
class CheckpointStarted(Event):
    """A checkpoint that does not block its run begins, or of one that buddies have the images begin
    to be sent: work goes on until that is complete."""

    job: JobName
    run: RunNumber
    done: Work
    """Work that it will save."""


@frozen
class CheckpointTaken(Event):
    """A checkpoint of a run is complete: with its buddies, or at the master."""

    job: JobName
    run: RunNumber
    done: Work
    """Work that it saves."""


@frozen
class CheckpointStored(Event):
    """A checkpoint that buddies keep is complete on shared storage too, as images."""

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


VOCABULARY: tuple[type[Event], ...] = (
    CheckpointingDescribed,
    CheckpointStarted,
    CheckpointTaken,
    CheckpointStored,
    CheckpointLost,
    RestartedFromScratch,
)
