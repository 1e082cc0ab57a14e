"""Keeps what a log's head says of partitions: who is in which, and which workers they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from attrs import define, field

from actors.events import (
    ExclusiveDescribed,
    JobSubmitted,
    PartitionAssigned,
    PartitionDescribed,
)
from actors.intervals import Intervals, common, members, spans_in


@define(eq=False)
class Partitions:
    """The partitions of a log, and the partition of each job; empty where the log has none."""

    known: dict[str, PartitionDescribed] = field(factory=dict)
    """Maps names to partitions, in the order of the log's head."""
    assigned: dict[str, str] = field(factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""
    usual: str = ""
    """Name of the default partition; empty if there is none."""
    exclusive: set[str] = field(factory=set)
    """Names of the partitions whose jobs hold whole nodes."""
    node: int = 1
    """Number of workers of a node."""
    able: int = 0
    """Number of workers on which jobs start."""

    def describe(self, event: PartitionDescribed) -> None:
        """Add a partition."""
        self.known[event.partition] = event
        if event.default:
            self.usual = event.partition

    def close(self, event: ExclusiveDescribed) -> None:
        """Note that the jobs of a partition hold whole nodes."""
        self.exclusive.add(event.partition)

    def assign(self, event: PartitionAssigned) -> None:
        """Note the partition of a job."""
        self.assigned[event.job] = event.partition

    def of(self, event: JobSubmitted) -> str:
        """Return the name of the partition of a job that is submitted; empty if there is none."""
        if not self.known:
            return ""
        name = self.assigned.pop(event.job, event.queue) or self.usual
        return name if name in self.known else name.partition(",")[0]

    def workers(self, name: str) -> Intervals:
        """Return the workers of the partition of this name."""
        return spans_in(self.known[name].workers)

    def tier(self, name: str) -> int:
        """Return the tier of the partition of this name; 0 if there is none."""
        return self.known[name].tier if name in self.known else 0

    def shared(self, one: str, other: str) -> Intervals:
        """Return the workers that are in both partitions."""
        if one not in self.known or other not in self.known:
            return ()
        return common(self.workers(one), self.workers(other))

    def usable(self, name: str, free: Collection[int]) -> int:
        """Return how many of the free workers jobs of the partition of this name can use; of an
        exclusive one, those of nodes that are free whole."""
        own = set(members(self.workers(name))).intersection(free)
        if name not in self.exclusive:
            return len(own)
        of = Counter(worker // self.node for worker in own)
        sizes = ((node, min(self.able - node * self.node, self.node)) for node in of)
        return sum(size for node, size in sizes if of[node] == size)
