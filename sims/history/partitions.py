"""Keeps what a log's head says of partitions: who is in which, and which workers they share."""

from __future__ import annotations

from attrs import define, field

from actors.events import JobSubmitted, PartitionAssigned, PartitionDescribed
from actors.intervals import Intervals, common, spans_in


@define(eq=False)
class Partitions:
    """The partitions of a log, and the partition of each job; empty where the log has none."""

    known: dict[str, PartitionDescribed] = field(factory=dict)
    """Maps names to partitions, in the order of the log's head."""
    assigned: dict[str, str] = field(factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""
    usual: str = ""
    """Name of the default partition; empty if there is none."""

    def describe(self, event: PartitionDescribed) -> None:
        """Add a partition."""
        self.known[event.partition] = event
        if event.default:
            self.usual = event.partition

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
