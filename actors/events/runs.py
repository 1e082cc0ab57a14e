"""Runs: one execution each of (part of) a job's work on the members that it holds (WORLD.md, R),
and their checkpoints: begun, taken, stored, lost and given up (WORLD.md, P).

A run's identity is (job, run), runs counting from 0 within their job in the order of their starts.
"""

from __future__ import annotations

import enum
from typing import Annotated

from attrs import frozen

from actors.events.quantities import (
    IterationNumber,
    JobName,
    Quantity,
    Rate,
    RunNumber,
    Share,
    TaskCount,
    Time,
    Work,
    WorkerNumber,
    WorkerSet,
)
from actors.runtime import Event


class Outcome(enum.Enum):
    """How a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    """A verification found a silent error."""
    LOST = "lost"
    """A member went DOWN."""
    CANCELLED = "cancelled"
    """The scheduler changed its mind, another copy was first, or the job was killed."""


class Stage(enum.Enum):
    """What a run is doing."""

    STAGING_IN = "staging_in"
    """Members fetch what they lack: program, data, image."""
    RECOVERING = "recovering"
    """A saved state is restored, or a clone fetched, without a master."""
    REDISTRIBUTING = "redistributing"
    """Data moves to another number of members (malleable17)."""
    COMPUTING = "computing"
    VERIFYING = "verifying"
    """The detector looks before a checkpoint, or at the run's end."""
    CHECKPOINTING = "checkpointing"
    """A checkpoint is taken among the members."""
    SAVING = "saving"
    """Every member sends its image to the master."""


@frozen
class RunStarted(Event):
    """A run of `job` holds its members from now on. A run without any `StageStarted` computes at
    once, at its members' speed times its share, then verifies."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Interval set of worker numbers, such as `0-3 5`."""
    work: Work
    """Its whole work on these members, in time at speed 1."""
    begun: Work = 0
    """Work done in the state that it begins from."""
    source: RunNumber | None = None
    """The run whose state that is: saved, or cloned while under way; None: from scratch."""
    saved: Work = 0
    """Work done in that state, in the source's own count: its members may have differed."""
    keeps: RunNumber | None = None
    """The run that ended before on these members, which the job kept."""
    share: Share = 1
    """x: part of each of its workers that it gets; below 1 only where workers multitask
    (redundancy17)."""
    rotates: bool = False
    """Whether its workers serve it in turn, so that their speeds add up (redundancy17)."""


@frozen
class StageStarted(Event):
    """A run enters another stage; the one before has ended."""

    job: JobName
    run: RunNumber
    stage: Stage
    """The stage that it enters."""
    rate: Rate
    """What it advances by per unit of time; 0: it waits."""
    done: Work
    """Work done."""


@frozen
class RateChanged(Event):
    """A run advances at another rate within its stage; 0: it waits."""

    job: JobName
    run: RunNumber
    rate: Rate
    done: Work
    """Work done."""


@frozen
class VerificationEnded(Event):
    """A verification of a run whose silent errors are drawn has ended; it is the cause of
    nothing."""

    job: JobName
    run: RunNumber
    exposure: Annotated[float, Quantity("workers x time")]
    """Computing time since the last verified point, times workers: by it an error is drawn."""
    error: bool
    """Whether it found one."""


@frozen
class RunEnded(Event):
    """A run ends and releases its members, unless the job keeps them."""

    job: JobName
    run: RunNumber
    outcome: Outcome
    """How it ended."""
    done: Work
    """Work done; all of it where it completed."""
    kept: bool = False
    """Whether the job keeps the members, for the run that will start once all of them are UP."""


@frozen
class MembersReleased(Event):
    """Members that were kept after `run` are released: another copy completed the job first."""

    job: JobName
    run: RunNumber


@frozen
class MemberReplaced(Event):
    """Another worker takes the place of a member that has been away for long, in a copy whose
    members are kept after `run`: its tasks, and its place among the buddies."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber
    """The one that leaves."""
    replacement: WorkerNumber
    """The one that joins."""


@frozen
class MembersJoined(Event):
    """Members that had been promised to a run, or to the members kept after it, join it
    (malleable17, section 5)."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Interval set of those that join."""


@frozen
class TasksDealt(Event):
    """How many tasks of its iteration each member of the run that starts now has (volatile13)."""

    job: JobName
    iteration: IterationNumber
    run: RunNumber
    tasks: tuple[tuple[WorkerNumber, TaskCount], ...]
    """(worker, tasks)."""
    reason: str | None = None
    """Why the enrolment policy was asked; None where a queue dealt them round."""


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
