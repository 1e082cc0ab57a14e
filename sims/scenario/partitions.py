"""Partitions of a queue: which workers and which jobs belong to each (rules.md, G1, G2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated

from attrs import evolve, frozen

from actors.intervals import members
from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking
from sims.errors import InputError, unfit
from sims.scenario.units import Units, intervals_in
from sims.tables import Section
from sims.tables.fields import Accepts, Count, Duration

Name = Annotated[
    str,
    Accepts(
        "a name without blanks, dots or control characters",
        check=lambda it: it.isprintable() and bool(it) and not set(it) & set(" ."),
    ),
]
NOWHERE, UNKNOWN = -1, -2
"""Numbers in place of that of a partition: of a job that names none, where none is the default, and
of a job that names a partition which does not exist."""


class PartitionSection(Section):
    """`[[platform.partitions]]`: workers that only the jobs of this partition may use, besides
    those of other partitions that have the same workers."""

    name: Name
    """Name of the partition, which the `queue` of its jobs says."""
    units: Units
    """Numbers of its workers, such as `"0-63, 70"`; partitions may overlap."""
    tier: int = 1
    """Jobs of a partition with a higher tier come first in the queue, whatever its order."""
    longest: Duration | None = None
    """Largest estimate of one of its jobs, time units; a job without an estimate has its time for
    one. Default: any."""
    widest: Count | None = None
    """Largest number of processors of one of its jobs; default: any."""
    default: bool = False
    """Whether jobs that name no partition are in this one; of at most one."""
    exclusive: bool = False
    """Whether each of its jobs holds whole nodes (`platform.node`), as many as its processors need;
    no other job uses the rest of them."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of its workers, ascending."""
        return members(intervals_in(self.units))

    def workers(self, able: int) -> tuple[int, ...]:
        """Return the numbers of its workers, ascending. Raises InputError for one that is not among
        the first `able` workers, on which jobs start."""
        found = self.numbers
        if found[-1] >= able:
            key = f"platform.partitions.{self.name}.units"
            raise unfit(key, f"{self.units!r} is not accepted", f"workers 0 to {able - 1}")
        return found


def check_partitions(sections: Sequence[PartitionSection], node: int) -> None:
    """Raise InputError where two partitions have the same name, two are the default, or one is
    exclusive and a node has one worker only."""
    twice = [name for name, n in Counter(it.name for it in sections).items() if n > 1]
    if twice:
        problem = f"two partitions are called {twice[0]!r}"
        raise InputError("", "partitions", problem, "a name each")
    usual = [it.name for it in sections if it.default]
    if len(usual) > 1:
        problem = f"{usual[0]!r} and {usual[1]!r} are both the default"
        raise InputError("", "partitions", problem, "`default = true` for at most one")
    for it in sections:
        if it.exclusive and node == 1:
            problem = f"{it.name!r} is exclusive: jobs hold nodes, and a node is one worker"
            accepted = "`platform.node`, the number of workers of a node, or no such partition"
            raise InputError("", "partitions", problem, accepted)


@frozen(slots=False)
class Partitions:
    """The partitions of a platform, in the order of the file."""

    sections: tuple[PartitionSection, ...]
    able: int
    """Number of workers on which jobs can start."""
    node: int
    """Number of workers of a node."""

    def __bool__(self) -> bool:
        return bool(self.sections)

    @property
    def exclusive(self) -> frozenset[str]:
        """Names of the partitions whose jobs hold whole nodes."""
        return frozenset(it.name for it in self.sections if it.exclusive)

    @cached_property
    def workers(self) -> dict[str, tuple[int, ...]]:
        """Maps each partition's name to the numbers of its workers.

        Raises InputError where one whose jobs hold whole nodes has only some workers of a node.
        """
        found = {it.name: it.workers(self.able) for it in self.sections}
        for it in self.sections:
            own = set(found[it.name]) if it.exclusive else set[int]()
            for node in {worker // self.node for worker in own}:
                whole = range(node * self.node, min((node + 1) * self.node, self.able))
                if not own.issuperset(whole):
                    problem = f"{it.units!r} has some workers of node {node}, not all"
                    accepted = f"whole nodes, as its jobs hold them: {whole[0]}-{whole[-1]}, say"
                    raise unfit(f"platform.partitions.{it.name}.units", problem, accepted)
        return found

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Largest number of processors that a job of each partition can have."""
        return tuple(
            min(len(self.workers[it.name]), it.widest or self.able) for it in self.sections
        )

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """Tier of each partition; empty if all have the same."""
        found = tuple(it.tier for it in self.sections)
        return found if len(set(found)) > 1 else ()

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Maps names to numbers of partitions; the empty name stands for the default one."""
        found = {it.name: number for number, it in enumerate(self.sections)}
        usual = (number for number, it in enumerate(self.sections) if it.default)
        return {**found, "": next(usual, NOWHERE)}

    def number(self, name: str) -> int:
        """Return the number of the partition of this name (empty: that of the jobs that name none);
        NOWHERE or UNKNOWN where there is none."""
        numbers = self._numbers
        # A job that has not run names several, of which the first counts.
        return numbers.get(name, numbers.get(name.partition(",")[0] or name, UNKNOWN))

    def fitting(
        self, jobs: Iterable[BatchJob], names: Mapping[str, str], listed: Mapping[int, object]
    ) -> tuple[tuple[BatchJob, ...], tuple[tuple[str, int], ...]]:
        """Return the jobs that fit in their partitions, with the number of the partition, and pairs
        of a reason and the number of jobs of a log that do not. A job's partition is that of its
        name in `names` or, if it has none there, that of its queue.

        Raises InputError where one of the `listed` jobs (by index) fits in none.
        """
        kept, left_out = list[BatchJob](), Counter[str]()
        for job in jobs:
            name = names.get(job.name, job.queue)
            number = self.number(name)
            whole = number >= 0 and self.sections[number].exclusive
            placed = job
            if number or whole:
                placed = evolve(job, partition=number, node=self.node if whole else 0)
            why = self.misfit(placed, name)
            if why is None:
                kept.append(placed)
                continue
            key, reason, accepted = why
            if job.index in listed:
                raise unfit(f"job.jobs.{job.index}.{key}", f"{job.name}: {reason}", accepted)
            left_out[reason] += 1
        return tuple(kept), tuple(left_out.items())

    def misfit(self, job: BatchJob, name: str) -> tuple[str, str, str] | None:
        """Return why a job, which names this partition, fits in none: the key that says so, the
        reason, and what would be accepted; None if it fits."""
        known = ", ".join(it.name for it in self.sections)
        if job.partition == NOWHERE:
            return "queue", "names no partition, and none is the default", known
        if job.partition == UNKNOWN:
            return "queue", f"there is no partition {name!r}", known
        section, size = self.sections[job.partition], self.sizes[job.partition]
        asked = job.profile.processors if isinstance(job.profile, Asking) else 1
        if asked > size:
            few = f"partition {section.name} gives a job {size} processors at most"
            return "processors", few, f"1 to {size}"
        longest = section.longest
        if longest is not None and job.believed(asked) > longest:
            key = "time" if job.estimate is None else "estimate"
            return key, f"partition {section.name} lets no job run above {longest:g}", "less"
        return None
