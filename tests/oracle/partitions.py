"""Partitions and cells under greedy list scheduling, FCFS and EASY (rules.md, G1 to G5): which jobs
start, with how many workers of each cell, and random partitions.

Readings: a reservation for this very instant, on workers that should be free already and are not,
keeps what is free now, too. Further copies of a job that runs are the placement's choice. Windows
that are over still make cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

from tests.oracle.jobs import Group, Job

if TYPE_CHECKING:
    from tests.oracle.world import World

Cell = tuple[tuple[int, ...], tuple[int, ...]]
"""The partitions and the windows that workers are in, by their places in the file."""
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
        self.divided = bool(listed)
        self.tiers = [it.get("tier", 1) for it in scenario.get("partitions", ())] or [1]
        spans = [(since, to) for since, to, _ in world.windows]
        self.spans = spans
        self.of: dict[int, Cell] = {}
        for q in able:
            within = tuple(k for k, its in enumerate(self.partitions) if q in its)
            closed = {spans.index((a, b)) for a, b, who in world.windows if q in who}
            self.of[q] = within, tuple(sorted(closed))
        self.believed: dict[Group, Fraction] = {}
        """When groups are believed to be over."""

    # --- jobs ---

    def mine(self, job: Job) -> set[int]:
        return self.partitions[job.partition]

    def tier(self, job: Job) -> int:
        return -self.tiers[job.partition]

    def share(self, one: Job, other: Job) -> bool:
        return not self.mine(one).isdisjoint(self.mine(other))

    def held(self, job: Job) -> Fraction:
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
        for cell in sorted(cells, key=lambda it: self.place(it, start)):
            some = min(left, self.least(cell, start, end, reserved))
            if some > 0:
                found[cell], left = some, left - some
        return {} if left else found

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
        free = 0
        for q, own in self.of.items():
            worker = self.world.workers[q]
            if own != cell:
                continue
            if worker.group is None:
                # Who is away for a window is back as it ends, and closed before.
                free += self.world.state[q] == "u" or bool(after and own[1])
            else:
                free += bool(after and self.believed.get(worker.group, inf) <= time)
        taken = (its.get(cell, 0) for a, b, its in reserved if after and a <= time < b)
        return free - sum(taken)

    def choose(self, clear: list[int], parts: Parts) -> list[int]:
        """So many of each cell, by the placement within each."""
        return [
            q
            for cell, some in parts.items()
            for q in self.world.in_order([it for it in clear if self.of[it] == cell], some)
        ]


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
    names = [it["name"] for it in partitions]
    for job in jobs:
        if job.get("queue") not in names:
            job["queue"] = rng.choice(names)
        job["partition"] = names.index(job["queue"])
        most = len(partitions[job["partition"]]["workers"])
        job["p"] = min(job["p"], most)
    scenario["partitions"] = partitions


def _close(rng: Random, scenario: dict[str, Any]) -> None:
    workers = range(scenario["workers"])
    if scenario["owner"] is None and "notice" in scenario:
        scenario["owner"] = [""] * len(workers)
    scenario["windows"] = []
    for _ in range(rng.randint(1, 3)):
        since, who = rng.randint(0, 30), rng.sample(workers, rng.randint(1, len(workers)))
        scenario["windows"].append([since, since + rng.randint(1, 12), sorted(who)])
