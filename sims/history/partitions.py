"""Follows in which partition of the queue each job is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define, field

from actors.events import JobSubmitted, PartitionAssigned
from actors.intervals import intervals_of
from sims.history.states import Partition

if TYPE_CHECKING:
    from sims.history.head import Head


@define(eq=False)
class Partitions:
    """The partitions of a queue, and the partition of each job; empty where there are none."""

    known: Mapping[str, Partition]
    """Maps names to partitions, in the order of the scenario."""
    usual: str
    """Name of the default partition; empty if there is none."""
    assigned: dict[str, str] = field(init=False, factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""

    @classmethod
    def of(cls, head: Head, processors: int) -> Partitions:
        """Return the partitions that the head of a log on so many processors describes."""
        platform = None if head.scenario is None else head.scenario.platform
        sections, able = () if platform is None else platform.partitions, processors - head.spares
        known = {
            it.name: Partition(
                *(k, it.name, intervals_of(it.numbers), it.tier),
                *(it.exclusive, head.node, able),
            )
            for k, it in enumerate(sections)
        }
        return cls(known, next((it.name for it in sections if it.default), ""))

    def assign(self, event: PartitionAssigned) -> None:
        """Note the partition of a job."""
        self.assigned[event.job] = event.partition

    def of_job(self, event: JobSubmitted) -> Partition | None:
        """Return the partition of a job that is submitted; None if there is none."""
        if not self.known:
            return None
        name = self.assigned.pop(event.job, event.queue) or self.usual
        return self.known.get(name) or self.known[name.partition(",")[0]]
