"""Partitions and cells under greedy list scheduling, FCFS and EASY (rules.md, G1 to G5): which jobs
start, with how many workers of each cell, and random partitions.

Readings: whole nodes (G6) come in the order of their first cells; under greedy list scheduling, and
for further copies, by number. In the last of them the placement chooses who computes. What becomes
of the rest of a node is known at once, as of who is free.
A reservation for this very instant, on workers that should be free already and are not,
keeps what is free now, too. Further copies of a job that runs are the placement's choice. Windows
that are over still make cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

from tests.oracle.jobs import Group, Job

if TYPE_CHECKING:
    from tests.oracle.world import World

Cell = tuple[tuple[int, ...], tuple[int, ...], int]
"""The partitions and the windows that workers are in, by their places in the file, and their node
where it is counted apart, else -1."""
Parts = dict[Cell, int]
Moment = tuple[float | Fraction, int]
"""A time, and 0 for what is free then already, 1 for what should be."""


class Cells:
    """Who is in which cell, and the plan of one decision after the other."""

    def __init__(self, world: World, scenario: dict[str, Any]) -> None:
        self.world, self.policy = world, scenario.get("policy", "greedy")
        able = [worker.index for worker in world.startable]
        listed = [set(it["workers"]) for it in scenario.get("partitions", ())]
        self.partitions = listed or [set(able)]
        self.tiers = [it.get("tier", 1) for it in scenario.get("partitions", ())] or [1]
        self.exclusive = {
            k for k, it in enumerate(scenario.get("partitions", ())) if it.get("exclusive")
        }
        spans = [(since, to) for since, to, _ in world.windows]
        self.spans = spans
        self.of: dict[int, Cell] = {}
        for q in able:
            within = tuple(k for k, its in enumerate(self.partitions) if q in its)
            closed = {spans.index((a, b)) for a, b, who in world.windows if q in who}
            self.of[q] = within, tuple(sorted(closed)), -1
        self.size = scenario.get("node", 1)
        self.of |= {q: (*self.of[q][:2], self.apart(q)) for q in able}
        self.believed: dict[Group, Fraction] = {}
        """When groups are believed to be over."""

    def apart(self, q: int) -> int:
        """The node, of an exclusive partition, that counts of free workers alone do not tell of:
        others have it too, windows divide it, or it is smaller."""
        within = self.of[q][0]
        if self.exclusive.isdisjoint(within):
            return -1
        node = [k for k in self.of if k // self.size == q // self.size]
        alike = len(node) == self.size and len({self.of[k][:2] for k in node}) == 1
        return -1 if alike and self.exclusive.issuperset(within) else q // self.size

    # --- jobs ---

    def mine(self, job: Job) -> set[int]:
        return self.partitions[job.partition]

    def tier(self, job: Job) -> int:
        return -self.tiers[job.partition]

    def share(self, one: Job, other: Job) -> bool:
        return not self.mine(one).isdisjoint(self.mine(other))

    def held(self, job: Job) -> Fraction:
        if job.iterative:
            return Fraction(0)  # beside no windows, and nothing is planned for it
        return job.select + job.startup + job.time + job.verification

    def started(self, group: Group) -> None:
        """Note when it is believed to end: then, or when a window takes a member."""
        if self.policy != "EASY":
            return
        now, end = self.world.now, self.world.now + self.held(group.job)
        begins = [a for a, _, who in self.world.windows if who & set(group.members) and a > now]
        self.believed[group] = min([end, *begins])

    # --- which start ---

    def decide(self, waiting: list[Job]) -> Iterator[tuple[Job, Parts | None]]:
        """Which start, in order, with how many of each cell; None: whoever the placement takes. The
        world starts each before it asks for the next."""
        blocked: list[Job] = []
        reserved: list[tuple[Fraction, Fraction, Parts]] = []
        for job in waiting:
            if self.policy == "greedy":
                yield job, None
                continue
            if self.policy == "FCFS" and any(self.share(job, it) for it in blocked):
                continue
            parts = self.parts(job, (self.world.now, 0), reserved)
            if parts:
                yield job, parts
            elif not any(self.share(job, it) for it in blocked):
                blocked.append(job)
                if self.policy == "EASY":
                    reserved.append(self.reservation(job, reserved))

    def reservation(self, job: Job, reserved: list[Any]) -> tuple[Fraction, Fraction, Parts]:
        """Its earliest place behind those that are reserved."""
        for time in self.times(reserved):
            if parts := self.parts(job, (time, 1), reserved):
                return time, time + self.held(job), parts
        raise AssertionError(f"{job.index} can never start")

    def times(self, reserved: list[Any]) -> list[Fraction]:
        """When it may be able to begin, from now on."""
        now = self.world.now
        groups = [group for job in self.world.jobs for group in job.copies_held]
        times = {max(self.believed[group], now) for group in groups}
        times |= {b for _, b in self.spans} | {end for _, end, _ in reserved} | {now}
        return sorted(time for time in times if time >= now)

    def parts(self, job: Job, start: Moment, reserved: list[Any]) -> Parts:
        """So many of each cell; none where they are too few."""
        end = start[0] + self.held(job)
        left, found = job.processors, {}
        cells = {self.of[q] for q in self.mine(job) if q in self.of}
        if job.partition in self.exclusive:
            return self.nodes(job, start, end, reserved)
        for cell in sorted(cells, key=lambda it: self.place(it, start)):
            some = min(left, self.least(cell, start, end, reserved))
            if some > 0:
                found[cell], left = some, left - some
        return {} if left else found

    def nodes(self, job: Job, start: Moment, end: Any, reserved: list[Any]) -> Parts:
        """All of so many nodes as the job needs, each free whole to the end."""
        left, found = job.processors, dict[Cell, int]()
        size = Counter(self.of.values())
        mine = {self.of[q] for q in self.mine(job)}
        for first in sorted(mine, key=lambda it: self.place(it, start)):
            its = sorted(cell for cell in mine if cell[2] == first[2] >= 0) or [first]
            free = {cell: self.least(cell, start, end, reserved) for cell in its}
            if first[2] < 0:
                found[first] = max(0, min(free[first], -(-left // self.size) * self.size))
            elif all(free[cell] == size[cell] for cell in its):
                found |= free
            left = job.processors - sum(found.values())
            if left <= 0:
                return {cell: some for cell, some in found.items() if some}
        return {}

    def place(self, cell: Cell, start: Moment) -> tuple[Any, ...]:
        """What sorts cells (G5)."""
        windows = [self.spans[k] for k in cell[1]]
        over = -max([b for _, b in windows if b <= start[0]], default=-inf) if start[1] else 0
        return over, len(cell[0]), min([a for a, _ in windows if a > start[0]], default=inf), cell

    def least(self, cell: Cell, start: Moment, end: Any, reserved: list[Any]) -> int:
        """The fewest that are free from then to the end; none where a window closes it."""
        if any(a < end and b > start[0] for a, b in (self.spans[k] for k in cell[1])):
            return 0
        moments: set[Moment] = {start, (start[0], 1)}
        ends = [*self.believed.values(), *(t for a, b, _ in reserved for t in (a, b))]
        moments |= {(time, 1) for time in ends if start[0] <= time < end}
        return min(self.count(cell, moment, reserved) for moment in moments)

    def count(self, cell: Cell, moment: Moment, reserved: list[Any]) -> int:
        time, after = moment
        own = [q for q, it in self.of.items() if it == cell]
        free = {q for q in own if self.is_free(q, moment)}
        if cell[2] < 0 and self.exclusive.intersection(cell[0]):
            nodes = Counter(q // self.size for q in free)
            free = {q for q in free if nodes[q // self.size] == self.size}
        taken = (its.get(cell, 0) for a, b, its in reserved if after and a <= time < b)
        return len(free) - sum(taken)

    def is_free(self, q: int, moment: Moment) -> bool:
        time, after = moment
        worker = self.world.workers[q]
        holder = worker.group or worker.rest_of
        if holder is None:
            # Who is away for a window is back as it ends, and closed before.
            return self.world.state[q] == "u" or bool(after and self.of[q][1])
        return bool(after and self.believed.get(holder, inf) <= time)

    def choose(self, clear: list[int], parts: Parts, count: int) -> list[int]:
        """So many of each cell, by the placement within each; `count` in all."""
        chosen: list[int] = []
        for cell, some in parts.items():
            least = min(some, count - len(chosen))
            own = [it for it in clear if self.of[it] == cell]
            if cell[2] < 0 and self.exclusive.intersection(cell[0]):
                chosen += self.fill(self.whole(own), least)
            else:
                chosen += self.world.in_order(own, least)
        return chosen

    def fill(self, free: list[int], count: int) -> list[int]:
        """So many of whole nodes, by number; in the last one the placement chooses."""
        chosen: list[int] = []
        for node in sorted({q // self.size for q in free}):
            own = [q for q in free if q // self.size == node]
            chosen += self.world.in_order(own, min(len(own), count - len(chosen)))
        return chosen

    def whole(self, workers: list[int]) -> list[int]:
        """Those of nodes of which all are among these."""
        nodes, sizes = (Counter(q // self.size for q in its) for its in (workers, self.of))
        return [q for q in workers if nodes[q // self.size] == sizes[q // self.size]]

    def rest(self, chosen: list[int]) -> list[int]:
        """Who else is of their nodes."""
        nodes = {q // self.size for q in chosen}
        return [q for q in self.of if q // self.size in nodes and q not in chosen]


def draw_partitions(rng: Random, scenario: dict[str, Any], plain: bool, alone: bool) -> None:
    """Some, who is in which, windows and a policy. Without `plain` workers come and go as nobody
    can know, which EASY cannot be told; without `alone` fleets bring their own windows, and are
    under greedy list scheduling."""
    jobs, last = scenario["jobs"], scenario["workers"] - scenario.get("spares", 0)
    iterative = any(job["kind"] == "iterative" for job in jobs)
    if alone and not iterative and rng.random() < 0.5:
        _close(rng, scenario)
    if rng.random() < 0.7:
        _divide(rng, scenario, range(last))
    if alone and not iterative:
        scenario["policy"] = rng.choice(["greedy", "FCFS", *(["EASY"] * 3 if plain else [])])
        if scenario["policy"] != "EASY" and "windows" not in scenario:
            draw_reserve(rng, scenario)


def draw_reserve(rng: Random, scenario: dict[str, Any]) -> bool:
    """Keep some workers for calls, now and then; whether that is so."""
    rigid = all(job["kind"] == "rigid" for job in scenario["jobs"])
    most = scenario["workers"] - scenario.get("spares", 0) - 1
    if not (rigid and most) or rng.random() >= 0.4:
        return False
    scenario["reserve"] = rng.randint(1, min(most, 2))
    scenario["reserve_delay"] = rng.choice([1, 2, 5])
    return True


def leave_nodes_whole(scenario: dict[str, Any]) -> None:
    """Single workers take no places where jobs hold whole nodes: no standbys, no replacement."""
    partitions = scenario.get("partitions", ())
    for job in scenario["jobs"] if partitions else ():
        if partitions[job["partition"]].get("exclusive"):
            job.pop("standbys", None)
            job.pop("replace_after", None)


def _divide(rng: Random, scenario: dict[str, Any], workers: range) -> None:
    jobs, partitions = scenario["jobs"], []
    for name in ("p", "q", "r")[: rng.randint(1, 3)]:
        own = rng.sample(workers, rng.randint(1, len(workers)))
        partitions.append({"name": name, "workers": sorted(own), "tier": rng.choice([1, 1, 2])})
    if rng.random() < 0.5 and len(partitions) > 1:  # disjoint
        first = set(partitions[0]["workers"])
        rest = [q for q in workers if q not in first]
        if rest:
            partitions = [partitions[0], partitions[1] | {"workers": rest}]
    if rng.random() < 0.5:
        _close_nodes(rng, scenario, partitions, len(workers))
    names = [it["name"] for it in partitions]
    for job in jobs:
        if job.get("queue") not in names:
            job["queue"] = rng.choice(names)
        job["partition"] = names.index(job["queue"])
        most = len(partitions[job["partition"]]["workers"])
        job["p"] = min(job["p"], most)
    scenario["partitions"] = partitions
    leave_nodes_whole(scenario)


def _close_nodes(
    rng: Random, scenario: dict[str, Any], partitions: list[dict[str, Any]], able: int
) -> None:
    """Some deal in whole nodes of several workers."""
    if scenario.get("node", 1) == 1:
        scenario["node"] = rng.choice([2, 2, 3])
    size = scenario["node"]
    for it in partitions:
        if rng.random() < 0.6:
            nodes = {q // size for q in it["workers"]}
            it["exclusive"], it["workers"] = True, [q for q in range(able) if q // size in nodes]


def _close(rng: Random, scenario: dict[str, Any]) -> None:
    workers = range(scenario["workers"])
    if scenario["owner"] is None and "notice" in scenario:
        scenario["owner"] = [""] * len(workers)
    scenario["windows"] = []
    for _ in range(rng.randint(1, 3)):
        since, who = rng.randint(0, 30), rng.sample(workers, rng.randint(1, len(workers)))
        scenario["windows"].append([since, since + rng.randint(1, 12), sorted(who)])
