"""Events of partitions: which workers a queue's jobs may use."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

from actors.events.quantities import JobName, Quantity, Time, WorkerCount, WorkerSet
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
class PartitionAssigned(Event):
    """Names the partition of a job, where it is not the one that the job's `queue` names."""

    job: JobName
    partition: Partition
