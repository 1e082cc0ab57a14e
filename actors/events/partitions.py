"""Events of partitions: which workers a queue's jobs may use."""

from __future__ import annotations

from typing import Annotated

from actors.events.quantities import JobName, Quantity, RunNumber, WorkerSet
from actors.runtime import Event, fact

Partition = Annotated[str, Quantity(meaning="Name of the partition.")]


@fact
class PartitionAssigned(Event):
    """Names the partition of a job, where it is not the one that the job's `queue` names."""

    job: JobName
    partition: Partition


@fact
class NodesHeld(Event):
    """A copy of a job in an exclusive partition holds these workers, the rest of its members'
    nodes, from the start of `run` on, until it releases its members. No other job can use them, and
    they are idle."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """The workers of these nodes that are no members."""
