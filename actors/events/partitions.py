"""Events of partitions: which workers a queue's jobs may use."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

from actors.events.quantities import (
    JobName,
    Quantity,
    RunNumber,
    Time,
    WorkerCount,
    WorkerSet,
)
from actors.runtime import Event

Partition = Annotated[str, Quantity(meaning="Name of the partition.")]


@frozen
class PartitionDescribed(Event):
    """Records a partition: workers that its jobs may use, and who may be one of these; once for
    each partition, at the start. A job's `queue` names its partition."""

    partition: Partition
    workers: WorkerSet
    """Numbers of its workers."""
    tier: Annotated[int, Quantity()]
    """Jobs of a partition with a higher tier come first in the queue."""
    longest: Time | None
    """Longest time for which one of its jobs may be believed to run; None: any."""
    widest: WorkerCount | None
    """Largest number of processors of one of its jobs; None: any."""
    default: bool
    """Whether it is the partition of the jobs that name none."""


@frozen
class ExclusiveDescribed(Event):
    """Records that the jobs of a partition hold whole nodes, as many as their processors need; at
    the start, after the partition itself."""

    partition: Partition


@frozen
class PartitionAssigned(Event):
    """Names the partition of a job, where it is not the one that the job's `queue` names."""

    job: JobName
    partition: Partition


@frozen
class NodesHeld(Event):
    """A copy of a job in an exclusive partition holds these workers, the rest of its members'
    nodes, from the start of `run` on, until it releases its members. No other job can use them, and
    they are idle."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """The workers of these nodes that are no members."""
