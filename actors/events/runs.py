"""Events of runs and of their checkpoints. A run executes a job's work, or a part of it, on the
members that it holds (rules.md, R); checkpoints are begun, taken, stored, lost and discarded
(rules.md, P).

A run is identified by (job, run), with runs counted from 0 within their job in the order of their
starts.
"""

from __future__ import annotations

import enum
from typing import Annotated

from actors.events.quantities import (
    Bandwidth,
    Bytes,
    GroupCount,
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
from actors.runtime import Event, fact


class Outcome(enum.Enum):
    """Says how a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    """A verification found a silent error."""
    LOST = "lost"
    """A member went DOWN, or a member's hang was detected."""
    CANCELLED = "cancelled"
    """The scheduler cancelled the run, another copy completed first, or the job was killed or
    cancelled."""


class Stage(enum.Enum):
    """Says what a run is doing."""

    STARTING_UP = "starting_up"
    """Workers are chosen and processes start, before members fetch anything."""
    STAGING_IN = "staging_in"
    """Members fetch the messages that they still need: program, data, image."""
    RECOVERING = "recovering"
    """A saved state is restored, or a clone's state fetched, without a master."""
    REDISTRIBUTING = "redistributing"
    """Data moves to another number of members (malleable17)."""
    COMPUTING = "computing"
    VERIFYING = "verifying"
    """The detector checks the state before a checkpoint, or at the run's end."""
    CHECKPOINTING = "checkpointing"
    """A checkpoint is taken among the members."""
    SAVING = "saving"
    """Every member sends its image to the master."""


BY_MESSAGES = Stage.STAGING_IN, Stage.SAVING
"""Stages that end when the messages of all members have passed, at a time not known beforehand."""


@fact
class RunStarted(Event):
    """A run of `job` holds its members from now on. A run without any `StageStarted` computes at
    once, at its members' speed times its share, then verifies."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Numbers of the workers that the run holds, as an interval set such as `0-3 5`."""
    work: Work
    """Whole work of the run on these members, as time at speed 1."""
    begun: Work = 0
    """Work done in the state that the run begins from."""
    source: RunNumber | None = None
    """Run whose state, saved or cloned while under way, the run begins from; None if it begins from
    scratch."""
    saved: Work = 0
    """Work done in that state, in the units of the run `source`, whose members may have
    differed."""
    keeps: RunNumber | None = None
    """Last run on these members, which the job has kept since its end; None: the job held none of
    them."""
    share: Share = 1
    """Part x of each of its workers that the run gets; below 1 only where workers multitask
    (redundancy17)."""
    rotates: bool = False
    """Whether the workers serve the run in turn, so that their speeds add up (redundancy17)."""


@fact
class StageStarted(Event):
    """A run enters another stage, which ends the stage before."""

    job: JobName
    run: RunNumber
    stage: Stage
    """The stage that the run enters."""
    rate: Rate
    """Rate of the run's progress per unit of time; 0 while it waits."""
    done: Work
    """Work done so far."""


@fact
class RateChanged(Event):
    """A run changes its rate within its stage; at rate 0 it waits."""

    job: JobName
    run: RunNumber
    rate: Rate
    done: Work
    """Work done so far."""


@fact
class PartMeasured(Event):
    """A real process has completed a part of a run, or a message; what follows from that comes
    next. Only runs whose processes take as long as they take, without a nominal time to keep, have
    such lines (`ProcessesDescribed`)."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber | None
    """Worker whose message has passed; None where a part of the run is complete."""
    length: Time
    """Time that the part or message took, since it began or its rate last changed."""
    busy: Time
    """Longest time for which one of the processes was busy with it, by that process's own clock."""
    beside: bool = False
    """Whether the part is a checkpoint that the run takes while it computes on."""


@fact
class RunHung(Event):
    """A member of a run hangs: it stays UP, and the run advances no more, though members' messages
    go on."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber
    detection: Time
    """Time after which the hang is detected; the run is then lost, or goes on without the member's
    group, unless it has ended before."""


@fact
class HangDetected(Event):
    """The hang of a run's member is detected. The run is lost or, if groups of members hold its
    whole state each, goes on without the member's group."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber


@fact
class VerificationEnded(Event):
    """A verification ends in a run whose silent errors are drawn. No event has it as its cause."""

    job: JobName
    run: RunNumber
    exposure: Annotated[float, Quantity("workers x time")]
    """Computing time since the last verified point, times the number of workers; the probability of
    an error depends on it."""
    error: bool
    """Whether the verification found an error."""


@fact
class RunEnded(Event):
    """A run ends and releases its members, unless the job keeps them."""

    job: JobName
    run: RunNumber
    outcome: Outcome
    """How the run ended."""
    done: Work
    """Work done: the whole work if the run completed."""
    kept: bool = False
    """Whether the job keeps the members for its next run, which starts once all of them are UP."""


@fact
class MembersReleased(Event):
    """Members that a copy had kept after `run` are released before another run, because another
    copy has completed the job, the copy is cancelled, the job is killed, or too few workers are
    left."""

    job: JobName
    run: RunNumber


@fact
class StandbysHeld(Event):
    """A copy holds these workers ready to replace members, from the start of `run` on. They are no
    members: the run goes on whatever becomes of them."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """The workers, as an interval set."""


@fact
class StandbyJoined(Event):
    """A worker whose downtime or repair is over becomes a standby, ready to replace a member, of
    the copy of `run`, which has fewer than its job asks for."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber


@fact
class StandbyLost(Event):
    """A standby, a worker held ready to replace a member, goes DOWN, and the copy of `run` holds it
    no longer."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber


@fact
class MemberReplaced(Event):
    """A worker, a standby or another, takes the place of a member that went DOWN, with the member's
    tasks and its place among the buddies. `run` is the present or last run of the copy."""

    job: JobName
    run: RunNumber
    worker: WorkerNumber
    """Number of the worker that leaves."""
    replacement: WorkerNumber
    """Number of the worker that joins."""


@fact
class ReplicasDropped(Event):
    """Groups of members that hold the whole state each drop out of a run, because faults or hangs
    of members in them are known; the run goes on without them."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Members of the groups that drop out, as an interval set."""
    left: GroupCount
    """Number of groups that are left."""


@fact
class RunPaused(Event):
    """A run pauses as groups drop out or rejoin. It stands still until `PauseEnded`; the time of a
    pause passes while the members of the groups that are left are UP."""

    job: JobName
    run: RunNumber
    length: Time
    """Length of the pause."""
    rejoining: WorkerSet | None = None
    """Members of the groups that rejoin at the pause's end, as an interval set; None: the run
    pauses because groups drop out."""


@fact
class PauseEnded(Event):
    """The pause of a run is over."""

    job: JobName
    run: RunNumber


@fact
class ReplicasRejoined(Event):
    """Groups of members that hold the whole state each, and that had dropped out of their run,
    count in it again."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Members of the groups that rejoin, as an interval set."""
    left: GroupCount
    """Number of groups that count from now on."""


@fact
class ReplicaLoads(Event):
    """A group of members that has dropped out of its run loads the present state from shared
    storage, from now on at this bandwidth; at 0 it waits."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Members of the group, as an interval set."""
    bandwidth: Bandwidth
    """The group's share of the storage's bandwidth."""
    left: Bytes
    """Bytes that the group has still to load."""


@fact
class MembersJoined(Event):
    """Members on which another run, which had promised them, still computed until now join a run,
    or the members kept after it (malleable17, section 5)."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """The members that join, as an interval set."""


@fact
class TasksDealt(Event):
    """Records how many tasks of its iteration each member of the run that starts now has
    (volatile13)."""

    job: JobName
    iteration: IterationNumber
    run: RunNumber
    tasks: tuple[tuple[WorkerNumber, TaskCount], ...]
    """Pairs (worker, number of tasks)."""
    reason: str | None = None
    """Reason for which the enrolment policy was called; None where a queue dealt the tasks in
    turn."""


@fact
class BandwidthShared(Event):
    """A run saves to the shared storage, or loads from it, at another bandwidth than before; at 0
    it waits."""

    job: JobName
    run: RunNumber
    bandwidth: Bandwidth
    """The run's share of the storage's bandwidth."""
    left: Bytes
    """Bytes that the run has still to save or load."""


@fact
class CheckpointStarted(Event):
    """A checkpoint that does not block its run begins, or a complete checkpoint among buddies
    begins to be sent to the master too; the run computes on until it is complete."""

    job: JobName
    run: RunNumber
    done: Work
    """Work that the checkpoint will save."""


@fact
class CheckpointTaken(Event):
    """A checkpoint of a run is complete: in its buddies' memory, at the master or on shared
    storage."""

    job: JobName
    run: RunNumber
    done: Work
    """Work that the checkpoint saves."""


@fact
class CheckpointStored(Event):
    """A checkpoint among buddies is complete at the master or on shared storage too, as images."""

    job: JobName
    run: RunNumber
    done: Work
    """Work that the checkpoint saves."""


@fact
class CheckpointLost(Event):
    """The checkpoint that the members of a copy keep in memory is lost: two buddies, who keep each
    other's, went DOWN before a recovery was over, or a member that has no buddy did."""

    job: JobName
    run: RunNumber
    """The run that is, or was last, on these members."""
    workers: tuple[WorkerNumber, ...]
    """Members that went DOWN since the last recovery ended."""


@fact
class RestartedFromScratch(Event):
    """All saved work of a job (under buddies, of one copy) is given up, because it is lost or may
    be corrupt: a new run starts from scratch."""

    job: JobName
    run: RunNumber
    lost: Work
    """Work that had been saved, in the units of the run that saved it."""
