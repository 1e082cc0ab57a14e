"""Keeps who is in which partition of the queue, and which workers partitions share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from attrs import define, field

from actors.events import JobSubmitted, PartitionAssigned
from actors.intervals import Intervals, common, intervals_of, members

if TYPE_CHECKING:
    from sims.scenario.partitions import PartitionSection


@define(eq=False)
class Partitions:
    """The partitions of a queue, and the partition of each job; empty where there are none."""

    known: Mapping[str, PartitionSection] = field(factory=dict)
    """Maps names to partitions, in the order of the scenario."""
    node: int = 1
    """Number of workers of a node."""
    able: int = 0
    """Number of workers on which jobs start."""
    assigned: dict[str, str] = field(factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""
    usual: str = field(init=False)
    """Name of the default partition; empty if there is none."""
    exclusive: frozenset[str] = field(init=False)
    """Names of the partitions whose jobs hold whole nodes."""
    _workers: dict[str, Intervals] = field(init=False)

    def __attrs_post_init__(self) -> None:
        known = self.known
        self.usual = next((it.name for it in known.values() if it.default), "")
        self.exclusive = frozenset(name for name, it in known.items() if it.exclusive)
        self._workers = {name: intervals_of(it.numbers) for name, it in known.items()}

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
        return self._workers[name]

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
