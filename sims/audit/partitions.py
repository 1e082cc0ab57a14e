"""Derives which workers a job may have that is in a partition, and in which order a start takes
them from cells: workers that are in the same partitions and windows (rules.md, G2, G4, G5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from math import inf

from attrs import define, field

from actors.events import PartitionAssigned, PartitionDescribed
from actors.runtime import Event
from sims.audit.facts import ExpectedJob
from sims.audit.law import allowed, possible
from sims.audit.workers import Free, Spans, extent, joined, numbers, parse_spans
from sims.audit.world import World

Choice = Callable[[Free, int, Spans], Spans]
"""Placement rule: chooses so many of the free workers; the third argument are those that the job
had a moment ago."""
GREEDY = "R-LIST-0", "greedy"
PLANLESS = "FCFS", "R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB"
"""Policies that reserve nothing, so that a start takes what is free now."""


@define(eq=False)
class ExpectedPartition:
    """A partition, as the log's head describes it."""

    number: int
    described: PartitionDescribed
    workers: frozenset[int]


@define(eq=False, slots=False)
class Grouped:
    """The partitions of a log, and which job is in which."""

    w: World
    known: dict[str, ExpectedPartition] = field(factory=dict)
    assigned: dict[str, str] = field(factory=dict)
    """Maps jobs to their partitions, where their queue does not say it."""

    @cached_property
    def divide(self) -> bool:
        """Whether they make workers differ: there are several, or one that does not have all. It is
        asked once the head is over."""
        its = list(self.known.values())
        return len(its) > 1 or any(len(it.workers) < self.w.able for it in its)

    def of(self, job: str, queue: str) -> ExpectedPartition:
        """Return the partition of a job. Raises Broken where it is in none."""
        usual = (it for it in self.known.values() if it.described.default)
        name = self.assigned.get(job, queue)
        found = next(usual, None) if name == "" else self.known.get(name)
        if found is None and "," in name:
            found = self.known.get(name.split(",")[0])
        possible(found is not None, "{} is in no partition", job)
        assert found is not None
        return found


def describe(w: World, event: Event) -> None:
    """Keep what the log's head says of partitions and of who is in them."""
    if w.partitions is None:
        w.partitions = Grouped(w)
    its: Grouped = w.partitions
    if isinstance(event, PartitionAssigned):
        possible(event.job not in its.assigned, "{} is assigned twice", event.job)
        its.assigned[event.job] = event.partition
        return
    assert isinstance(event, PartitionDescribed)
    workers = frozenset(numbers(parse_spans(event.workers)))
    possible(workers and max(workers) < w.able, "there are no such workers")
    possible(event.partition not in its.known, "it is described twice")
    usual = sum(it.described.default for it in its.known.values()) + event.default
    possible(usual <= 1, "there is another default")
    its.known[event.partition] = ExpectedPartition(len(its.known), event, workers)
    w.decider.windows_described()


def divided(w: World) -> bool:
    """Return whether partitions make workers differ."""
    return w.partitions is not None and w.partitions.divide


def admit(w: World, job: ExpectedJob, queue: str) -> None:
    """Find a submitted job's partition, and check that it may be in it: its width and its estimate
    (without one, the time of a run on as many workers as it asks for)."""
    if w.partitions is None:
        return
    job.partition = found = w.partitions.of(job.name, queue)
    longest, estimate = found.described.longest, job.described.estimate
    if longest is not None and estimate is not None:
        possible(
            estimate <= longest, "partition {} lets none run so long", found.described.partition
        )


@define(eq=False, slots=False)
class CellsOfLog:
    """Workers by the partitions and windows that they are in, as places in the log's head."""

    w: World

    @cached_property
    def keys(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Partitions and windows of each worker, by their places among those of the head."""
        w, parts = self.w, self.w.partitions
        known = list(parts.known.values()) if parts else []
        spans = [(start, end) for start, end, _ in w.windows]
        within: list[list[int]] = [[] for _ in range(w.able)]
        down: list[set[int]] = [set() for _ in range(w.able)]
        for it in known:
            for worker in it.workers:
                within[worker].append(it.number)
        for start, end, them in w.windows:
            for worker in numbers(them):
                if worker < w.able:
                    down[worker].add(spans.index((start, end)))
        rows = zip(within, down, strict=True)
        return [(tuple(its), tuple(sorted(windows))) for its, windows in rows]

    def split(self, workers: Iterable[int]) -> dict[tuple[tuple[int, ...], tuple[int, ...]], Spans]:
        """Return these workers by cell."""
        found: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for worker in workers:
            if worker < self.w.able:
                found.setdefault(self.keys[worker], []).append(worker)
        return {key: joined(them) for key, them in found.items()}

    def soonest(self, key: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[int, float, object]:
        """Return what sorts a cell for a start now: how many partitions contain it, when its next
        window begins, and its place in the head."""
        begins = (self.w.windows[place][0] for place in key[1])
        return len(key[0]) or 1, min((it for it in begins if it > self.w.now), default=inf), key


def may_have(w: World, job: ExpectedJob, shut: Spans) -> list[int]:
    """Return the free workers of the job's partition that are not in `shut`."""
    closed = set(numbers(shut))
    own = job.partition.workers if job.partition is not None else None
    free = (n for n in numbers(w.free.spans) if n not in closed)
    return [n for n in free if own is None or n in own]


def check_choice(
    w: World,
    job: ExpectedJob,
    taken: Spans,
    shut: Spans,
    rule: Choice | None,
    former: Spans,
    free_choice: bool,
) -> None:
    """Check the members `taken` of a start: they are of the job's partition and stay UP, the
    placement `rule` chose them within each cell (None: it cannot be said), and the cells came in
    their order, where the policy has no reservation that could have changed it. With `free_choice`
    the rule chose among all workers that the job may have. `shut` are those that windows take."""
    cells: CellsOfLog = w.cells
    may = may_have(w, job, shut)
    inside = set(may)
    outside = [n for n in numbers(taken) if n not in inside]
    allowed(not outside, "workers {} are not for {}", outside, job.name)
    if free_choice:
        if rule is not None:
            due = _chosen(rule, joined(may), extent(taken), former)
            allowed(due == taken, "{} gets {}, not {}", job.name, due, taken)
        return
    free, mine = cells.split(may), cells.split(numbers(taken))
    if rule is not None:
        had = cells.split(numbers(former))
        for key, some in mine.items():
            due = _chosen(rule, free[key], extent(some), had.get(key, ()))
            allowed(due == some, "{} gets {}, not {}", job.name, due, some)
    if _in_order(w, job):
        left = extent(taken)
        for key in sorted(free, key=cells.soonest):
            count = min(left, extent(free[key]))
            left -= count
            right = extent(mine.get(key, ())) == count
            allowed(right, "{} takes {} of {} first", job.name, count, free[key])


def _in_order(w: World, job: ExpectedJob) -> bool:
    """Return whether a start takes the first cells whole: nothing is reserved that could keep some
    of their workers."""
    policy = w.head.policy
    if policy in PLANLESS:
        return True
    reserved = [it for name, it in w.decider.promises.items() if name != job.name]
    plain = policy == "EASY" or (policy.startswith("R-LIST-") and policy != "R-LIST-Q")
    return plain and not reserved


def _chosen(rule: Choice, free: Spans, wanted: int, former: Spans) -> Spans:
    common = set(numbers(free))
    return rule(Free(free, extent(free)), wanted, joined(n for n in numbers(former) if n in common))
