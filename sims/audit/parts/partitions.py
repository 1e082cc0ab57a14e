"""Derives in which partition of a queue each job is (rules.md, G2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from attrs import define, field, frozen

from actors.events import LogReplayed, PartitionAssigned
from sims.audit.cells import CellsOfLog, node_of
from sims.audit.facts import ExpectedJob, HeadLine
from sims.audit.law import possible
from sims.audit.scenario import amount, spans_in, tables
from sims.audit.world import PartRules, World


@frozen
class ExpectedPartition:
    """A partition of the queue, as the scenario describes it."""

    number: int
    name: str
    workers: frozenset[int]
    """Numbers of its workers."""
    longest: float | None
    """Longest time for which one of its jobs may be believed to run; None: any."""
    default: bool
    """Whether it is the partition of the jobs that name none."""
    exclusive: bool
    """Whether its jobs hold whole nodes."""
    tier: int
    """Jobs of a partition with a higher tier come first in the queue."""
    highest: int | None
    """Highest tier of all partitions; None where all tiers are alike, or none is above 0."""


@define(eq=False)
class PartitionRules(PartRules):
    """The rules of partitions."""

    head: ClassVar = HeadLine(PartitionAssigned, after=LogReplayed, once=False)
    by_name: dict[str, ExpectedPartition] = field(factory=dict)
    assigned: dict[str, str] = field(factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""

    def prepare(self) -> None:
        w = self.w
        for it in self._given():
            possible(it.workers and max(it.workers) < w.able, "there are no such workers")
            possible(it.name not in self.by_name, "two partitions are called {}", it.name)
            self.by_name[it.name] = it
            if it.exclusive:
                _check_exclusive(w, it)
        if self.by_name:
            usual = sum(it.default for it in self.by_name.values())
            possible(usual <= 1, "two partitions are the default")
            w.cells = CellsOfLog(w, list(self.by_name.values()))
            w.decider.windows_described()

    def _given(self) -> Iterator[ExpectedPartition]:
        """Yield the partitions that the scenario describes."""
        given, size = self.w.given, self.w.given.platform.size
        sections = tables(given.section("platform"), "partitions")
        tiers = [it.get("tier", 1) for it in sections]
        for tier in tiers:
            possible(isinstance(tier, int), "its scenario has tier = {}", tier)
        highest = max(tiers) if len({*tiers}) > 1 and max(tiers) > 0 else None
        for number, it in enumerate(sections):
            longest = amount(it, "longest") if "longest" in it else None
            about = longest, bool(it.get("default")), bool(it.get("exclusive"))
            workers = spans_in(it.get("units", ""), size)
            name = str(it.get("name"))
            yield ExpectedPartition(number, name, workers, *about, tiers[number], highest)

    def describe(self, event: Any) -> None:
        """Keep what the log's head says of a job's partition, where its queue does not say it."""
        possible(self.by_name, "there are no partitions")
        possible(event.job not in self.assigned, "{} is assigned twice", event.job)
        self.assigned[event.job] = event.partition

    def admit(self, job: ExpectedJob) -> None:
        """Find a submitted job's partition, and check that it may be in it by its estimate."""
        if not self.by_name:
            return
        job.partition = found = self._of(job.name, job.whose.queue)
        longest, estimate = found.longest, job.described.estimate
        if longest is not None and estimate is not None:
            possible(estimate <= longest, "partition {} lets none run so long", found.name)

    def _of(self, job: str, queue: str) -> ExpectedPartition:
        """Return the partition of a job. Raises Broken where it is in none."""
        usual = (it for it in self.by_name.values() if it.default)
        name = self.assigned.get(job, queue)
        found = next(usual, None) if name == "" else self.by_name.get(name)
        if found is None and "," in name:
            found = self.by_name.get(name.split(",")[0])
        possible(found is not None, "{} is in no partition", job)
        assert found is not None
        return found


def _check_exclusive(w: World, partition: ExpectedPartition) -> None:
    """Check that the jobs of a partition can hold whole nodes. Raises Broken where it has only a
    part of one."""
    possible(w.platform.node > 1, "a node is one worker")
    nodes = {n // w.platform.node for n in partition.workers}
    whole = all(partition.workers.issuperset(node_of(w, node)) for node in nodes)
    possible(whole, "partition {} has a part of a node", partition.name)
