"""Follows in which partition of the queue each job is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import ClassVar

from attrs import field, frozen

from actors.events import PartitionAssigned
from actors.intervals import intervals_of
from actors.runtime import Event
from sims.history.runs import Part
from sims.history.states import Job, Partition
from sims.history.workers import Handler


@frozen(eq=False)
class Partitions(Part):
    """The part of a history that knows the partitions of a queue, and the partition of each job;
    empty where there are none."""

    holds: ClassVar[frozenset[type[Event]]] = frozenset((PartitionAssigned,))
    assigned: dict[str, str] = field(init=False, factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {PartitionAssigned: self._assign}

    def _assign(self, _: object, event: PartitionAssigned) -> None:
        self.assigned[event.job] = event.partition

    def submitted(self, job: Job) -> None:
        if self._known:
            name = self.assigned.pop(job.name, job.event.queue) or self._usual
            job.partition = self._known.get(name) or self._known[name.partition(",")[0]]

    def pools(self) -> Iterable[Partition]:
        return self._known.values()

    @cached_property
    def _known(self) -> Mapping[str, Partition]:
        """Maps names to partitions, in the order of the scenario."""
        head = self.history.head
        platform = None if head.scenario is None else head.scenario.platform
        sections = () if platform is None else platform.partitions
        able = self.history.processors - head.spares
        return {
            it.name: Partition(
                *(k, it.name, intervals_of(it.numbers), it.tier),
                *(it.exclusive, head.node, able),
            )
            for k, it in enumerate(sections)
        }

    @cached_property
    def _usual(self) -> str:
        """Name of the default partition; empty if there is none."""
        head = self.history.head
        assert head.scenario is not None and head.scenario.platform is not None
        sections = head.scenario.platform.partitions
        return next((it.name for it in sections if it.default), "")
