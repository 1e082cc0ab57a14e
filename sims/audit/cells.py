"""Derives which workers a job may have, and in which order a start takes them from cells: workers
that are in the same partitions and windows (rules.md, G2, G4, G5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import combinations
from math import inf
from typing import Any, TypeVar

from attrs import define, frozen

from sims.audit.facts import ExpectedJob
from sims.audit.law import allowed
from sims.audit.workers import Free, Spans, extent, joined, numbers
from sims.audit.world import World

Choice = Callable[[Free, int, Spans], Spans]
"""Placement rule: chooses so many of the free workers; the third argument are those that the job
had a moment ago."""
CellKey = tuple[tuple[int, ...], tuple[int, ...], int]
"""The partitions and windows of a cell, by their places in the log's head, and the node, if it is
one of an exclusive partition and counted apart, else -1."""
GREEDY = "R-LIST-0", "greedy"
PLANLESS = "FCFS", "R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB"
"""Policies that make no reservation, so that a start takes what is free now."""


def node_of(w: World, node: int) -> range:
    """Return the workers of a node on which jobs start, which excludes spares."""
    size = w.platform.node
    return range(node * size, min((node + 1) * size, w.able))


def is_exclusive(job: ExpectedJob) -> bool:
    """Return whether the job holds whole nodes."""
    return job.partition is not None and job.partition.exclusive


def occupied(w: World, job: ExpectedJob, size: int) -> int:
    """Return how many workers a copy of the job with `size` members keeps from others, before it is
    known which: a smaller last node counts as a whole one."""
    return -(-size // w.platform.node) * w.platform.node if is_exclusive(job) else size


def in_whole_nodes(w: World, workers: Iterable[int]) -> dict[int, range]:
    """Return the nodes of which all workers are among these, by number."""
    these = set(workers)
    nodes = {n // w.platform.node for n in these}
    return {it: node_of(w, it) for it in sorted(nodes) if these.issuperset(node_of(w, it))}


def divided(w: World) -> bool:
    """Return whether partitions make workers differ: there are several, or one that does not have
    all workers, or deals in whole nodes."""
    its = of_log(w).partitions
    return len(its) > 1 or any(it.exclusive or len(it.workers) < w.able for it in its)


def exclusive(w: World) -> frozenset[int]:
    """Return the numbers of the partitions whose jobs hold whole nodes."""
    return frozenset(it.number for it in of_log(w).partitions if it.exclusive)


Key = TypeVar("Key")


@define(eq=False, slots=False)
class CellsOfLog:
    """Workers by the partitions and windows that they are in, as places in the log's head."""

    w: World
    partitions: Sequence[Any] = ()
    """Partitions of the queue, by number; none where all workers form one pool."""

    @cached_property
    def keys(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Partitions and windows of each worker, by their places among those of the head."""
        w = self.w
        spans = [(start, end) for start, end, _ in w.windows]
        within: list[list[int]] = [[] for _ in range(w.able)]
        down: list[set[int]] = [set() for _ in range(w.able)]
        for it in self.partitions:
            for worker in it.workers:
                within[worker].append(it.number)
        for start, end, them in w.windows:
            for worker in numbers(them):
                if worker < w.able:
                    down[worker].add(spans.index((start, end)))
        rows = zip(within, down, strict=True)
        return [(tuple(its), tuple(sorted(windows))) for its, windows in rows]

    @cached_property
    def by_node(self) -> list[CellKey]:
        """Partitions and windows of each worker, and its node, if that is one of an exclusive
        partition and counted apart, else -1."""
        w, size = self.w, self.w.platform.node
        shared = exclusive(w)
        found = []
        for n, (its, windows) in enumerate(self.keys):
            node = n // size
            apart = not shared.isdisjoint(its) and _is_apart(w, node_of(w, node))
            found.append((its, windows, node if apart else -1))
        return found

    def split_by_node(self, workers: Iterable[int]) -> dict[tuple[Any, ...], Spans]:
        """Return these workers by cell, and by node where nodes are counted apart."""
        return self._split(workers, self.by_node)

    def split(self, workers: Iterable[int]) -> dict[tuple[tuple[int, ...], tuple[int, ...]], Spans]:
        """Return these workers by cell."""
        return self._split(workers, self.keys)

    def _split(self, workers: Iterable[int], keys: Sequence[Key]) -> dict[Key, Spans]:
        found: dict[Key, list[int]] = {}
        for worker in workers:
            if worker < self.w.able:
                found.setdefault(keys[worker], []).append(worker)
        return {key: joined(them) for key, them in found.items()}

    def soonest(self, key: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[int, float, object]:
        """Return what sorts a cell for a start now: how many partitions contain it, when its next
        window begins, and its place in the head."""
        begins = (self.w.windows[place][0] for place in key[1])
        return len(key[0]) or 1, min((it for it in begins if it > self.w.now), default=inf), key


def of_log(w: World) -> CellsOfLog:
    """Return the workers of the log by partitions and windows."""
    if w.cells is None:
        w.cells = CellsOfLog(w)
    found: CellsOfLog = w.cells
    return found


def share(one: ExpectedJob, other: ExpectedJob) -> bool:
    """Return whether the partitions of two jobs share workers; without partitions all do."""
    return one.partition is None or not one.partition.workers.isdisjoint(other.partition.workers)


def cells_of(w: World) -> list[CellKey]:
    """Return the cell of each worker: its partitions and windows, by their places in the log's
    head, and its node, if that is one of an exclusive partition and counted apart, else -1."""
    return of_log(w).by_node


def has(job: ExpectedJob, worker: int) -> bool:
    """Return whether the worker is one of the job's partition."""
    return job.partition is None or worker in job.partition.workers


def may_have(w: World, job: ExpectedJob, shut: Spans) -> list[int]:
    """Return the free workers of the job's partition that are not in `shut`."""
    closed = set(numbers(shut))
    return [n for n in numbers(w.free.spans) if n not in closed and has(job, n)]


def of_one_choice(w: World, job: ExpectedJob, shut: Spans, free_choice: bool) -> Free | None:
    """Return the free workers of the job's partition, if the placement chooses members and those
    held ready among them alike: no window takes one, as `shut` says, and there is one cell, or with
    `free_choice` the placement chooses among all cells."""
    own = may_have(w, job, ())
    cells = of_log(w)
    alike = free_choice or len(cells.split_by_node(own)) == 1
    if is_exclusive(job) or not alike or may_have(w, job, shut) != own:
        return None
    return Free(joined(own), len(own))


def apart(w: World, jobs: Sequence[ExpectedJob]) -> list[list[ExpectedJob]]:
    """Return the jobs in groups that have nothing to do with each other: no partition of one shares
    workers with a partition of another, directly or by way of others."""
    partitions = of_log(w).partitions
    if not partitions:
        return [list(jobs)] if jobs else []
    group: dict[int, int] = {it.number: it.number for it in partitions}
    for one, other in combinations(partitions, 2):
        if one.workers & other.workers:
            into, gone = group[one.number], group[other.number]
            group = {number: into if it == gone else it for number, it in group.items()}
    found: dict[int, list[ExpectedJob]] = {}
    for job in jobs:
        found.setdefault(group[job.partition.number], []).append(job)
    return list(found.values())


def most_of(w: World, job: ExpectedJob, but: Collection[int]) -> int:
    """Return the number of workers on which the job may ever run, without those in `but`."""
    if job.partition is None:
        return w.able - sum(n < w.able for n in but)
    left = [n for n in job.partition.workers if n not in but]
    return sum(map(len, in_whole_nodes(w, left).values())) if is_exclusive(job) else len(left)


def check_choice(
    w: World,
    job: ExpectedJob,
    taken: Spans,
    shut: Spans | None,
    rule: Choice | None,
    former: Spans,
    free_choice: bool,
) -> None:
    """Check the members `taken` of a start: they are of the job's partition and stay UP, the
    placement `rule` chose them within each cell (None: it cannot be said), and the cells came in
    their order, where the policy has no reservation that could have changed it. With `free_choice`
    the rule chose among all workers that the job may have. `shut` are those that windows take; None
    where the log does not say."""
    cells = of_log(w)
    may = may_have(w, job, shut or ())
    if is_exclusive(job):
        _check_whole(w, job, _check_nodes(w, job, taken, may), shut, rule, free_choice)
        return
    inside = set(may)
    outside = [n for n in numbers(taken) if n not in inside]
    allowed(not outside, "workers {} are not for {}", outside, job.name)
    if free_choice:
        if rule is not None:
            due = _chosen(rule, joined(may), extent(taken), former)
            allowed(due == taken, "{} gets {}, not {}", job.name, due, taken)
        return
    if rule is not None:
        inside_of, had = cells.split_by_node(may), cells.split_by_node(numbers(former))
        for key, some in cells.split_by_node(numbers(taken)).items():
            due = _chosen(rule, inside_of[key], extent(some), had.get(key, ()))
            allowed(due == some, "{} gets {}, not {}", job.name, due, some)
    if _in_order(w, job):
        free, mine = cells.split(may), cells.split(numbers(taken))
        left = extent(taken)
        for key in sorted(free, key=cells.soonest):
            count = min(left, extent(free[key]))
            left -= count
            right = extent(mine.get(key, ())) == count
            allowed(right, "{} takes {} of {} first", job.name, count, free[key])


@frozen
class TakenNodes:
    """The nodes of a start in an exclusive partition."""

    whole: dict[int, range]
    """Maps numbers of nodes to their workers, for the nodes that are wholly free."""
    members: frozenset[int]
    touched: frozenset[int]
    """Numbers of the nodes with members."""
    partial: tuple[int, ...]
    """Number of the node that has other workers too, if there is one."""

    def first(self, in_order: Iterable[int]) -> frozenset[int]:
        """Return the first nodes that have as many workers as there are members."""
        left, due = len(self.members), set[int]()
        for node in in_order:
            if left > 0:
                due.add(node)
                left -= len(self.whole[node])
        return frozenset(due)


def _check_nodes(w: World, job: ExpectedJob, taken: Spans, may: list[int]) -> TakenNodes:
    """Check that the members `taken` of a start in an exclusive partition fill nodes whose workers
    are all among the free ones `may`; one of these nodes may have workers left over. Return the
    nodes."""
    whole, members = in_whole_nodes(w, may), frozenset(numbers(taken))
    touched = frozenset(n // w.platform.node for n in members)
    allowed(touched <= whole.keys(), "{} gets a part of nodes that are not free", job.name)
    partial = tuple(it for it in touched if not members.issuperset(whole[it]))
    allowed(len(partial) <= 1, "{} holds more nodes than it needs", job.name)
    return TakenNodes(whole, members, touched, partial)


def _check_whole(
    w: World,
    job: ExpectedJob,
    its: TakenNodes,
    shut: Spans | None,
    rule: Choice | None,
    free_choice: bool,
) -> None:
    """Check which nodes a start in an exclusive partition takes, and which of their workers are
    members; the arguments are those of `check_choice`."""
    known = shut is not None
    if free_choice:
        _check_by_number(w, job, its, rule, known)
    else:
        _check_by_cell(w, job, its, rule, known and _in_order(w, job))


def _check_by_number(
    w: World, job: ExpectedJob, its: TakenNodes, rule: Choice | None, known: bool
) -> None:
    """Check that the nodes of a start are the first by number, if it is `known` which it may have,
    and that the placement `rule` chose among the workers of the last one."""
    due = its.first(sorted(its.whole))
    allowed(not known or due == its.touched, "{} gets nodes {}", job.name, sorted(due))
    for node in its.partial if rule is not None else ():
        mine = joined(its.members.intersection(its.whole[node]))
        due_of = _chosen(rule, joined(its.whole[node]), extent(mine), ())
        allowed(due_of == mine, "{} gets {} of node {}", job.name, due_of, node)


def _check_by_cell(
    w: World, job: ExpectedJob, its: TakenNodes, rule: Choice | None, ordered: bool
) -> None:
    """Check that the nodes of a start are the first in the order of their cells, if they are
    `ordered`: each in the place of its first cell, and of equals those last that are cells of their
    own. In each cell of the last node the placement `rule` chose."""
    cells = of_log(w)

    def place(node: int) -> tuple[Any, ...]:
        apart = _is_apart(w, its.whole[node])
        return min((*cells.soonest(key), apart, node) for key in cells.split(its.whole[node]))

    due = its.first(sorted(its.whole, key=place)) if ordered else its.touched
    allowed(due == its.touched, "{} gets nodes {}", job.name, sorted(due))
    for node in its.partial if rule is not None else ():
        members = its.members.intersection(its.whole[node])
        left, mine = len(members), cells.split(members)
        for key, some in sorted(cells.split(its.whole[node]).items()):
            count = min(left, extent(some))
            left -= count
            due_of = _chosen(rule, some, count, ()) if count else ()
            right = due_of == mine.get(key, ())
            allowed(right, "{} gets {} of node {}", job.name, due_of, node)


def _is_apart(w: World, node: range) -> bool:
    """Return whether a node of an exclusive partition is counted apart from others: jobs that hold
    single workers have it too, windows divide it, or it is smaller."""
    cells = of_log(w)
    keys = {cells.keys[n] for n in node}
    smaller = len(node) < w.platform.node
    return len(keys) > 1 or smaller or not exclusive(w).issuperset(min(keys)[0])


def _in_order(w: World, job: ExpectedJob) -> bool:
    """Return whether a start takes the first cells whole: nothing is reserved that could keep some
    of their workers."""
    policy = w.head.policy
    if policy in PLANLESS:
        return True
    reserved = [it for name, it in w.decider.promises.items() if name != job.name]
    plain = policy == "EASY" or (policy.startswith("R-LIST-") and policy != "R-LIST-Q")
    return plain and not reserved


def _chosen(rule: Choice | None, free: Spans, wanted: int, former: Spans) -> Spans:
    common = set(numbers(free))
    assert rule is not None
    return rule(Free(free, extent(free)), wanted, joined(n for n in numbers(former) if n in common))
