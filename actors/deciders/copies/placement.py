"""Which worker runs which copy, once the policy has said how many, from which state, and the events
of that; copies are logged as runs, numbered job by job."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.deciders.copies.running import ROUNDING, RunningPlacement
from policies.interface.copies import CopyAllocation, Counts, Numbers, Sharing


class PlacementRule(enum.Enum):
    """Where copies go at a checkpoint."""

    UNIFORM = "uniform"
    """Uniformly at random: a fresh permutation of the workers, one per M copies, so that the
    copies of a job are on different workers (redundancy17, Algorithms 1 and 2)."""
    LOWEST = "lowest"
    """The s-th copy, in order of priority, on worker s mod M."""


@define(eq=False)
class Placer:
    """Assigns workers to the copies of one checkpoint after the other."""

    workers: Counts
    """Those that may be given copies: all, or who is UP; ascending."""
    rule: PlacementRule
    rng: Generator
    held: dict[str, int] = field(init=False, factory=dict)
    """Job -> its worker, while a policy lets jobs stay."""

    def place(self, allocation: CopyAllocation, names: Sequence[str]) -> Counts:
        """The worker of each copy, job after job in the allocation's order."""
        if allocation.stay:
            return self._stay(names)
        self.held.clear()
        copies = sum(allocation.copies.tolist())
        if self.rule is PlacementRule.LOWEST:
            lowest: Counts = self.workers[np.arange(copies) % len(self.workers)]
            return lowest
        if copies <= len(self.workers):
            return self.rng.permutation(self.workers)[:copies]
        return self._layers(allocation.copies, copies)

    def _layers(self, counts: Counts, copies: int) -> Counts:
        """One permutation per layer of M copies; one for all where a job's copies reach from one
        layer into the next, which two permutations could put on one worker."""
        many = len(self.workers)
        layers = -(-copies // many)
        ends = counts.cumsum()
        if ((ends - 1) // many != (ends - counts) // many).any():
            return np.tile(self.rng.permutation(self.workers), layers)[:copies]
        permutations = [self.rng.permutation(self.workers) for _ in range(layers)]
        return np.concatenate(permutations)[:copies]

    def _stay(self, names: Sequence[str]) -> Counts:
        known = set(self.workers.tolist())
        held = {name: self.held[name] for name in names if self.held.get(name) in known}
        taken = set(held.values())
        free = iter([worker for worker in self.order() if worker not in taken])
        self.held = {name: held[name] if name in held else next(free) for name in names}
        return np.fromiter(self.held.values(), dtype=np.intp, count=len(names))

    def order(self) -> list[int]:
        """All workers, in the order in which they are given out one by one."""
        if self.rule is PlacementRule.LOWEST:
            return [int(worker) for worker in self.workers]
        return [int(worker) for worker in self.rng.permutation(self.workers)]


@define(eq=False)
class Placed:
    """All copies between two checkpoints."""

    allocation: CopyAllocation
    names: Sequence[str]
    """Of the jobs that are served."""
    sizes: Numbers
    """Their p_j."""
    workers: Counts
    """Worker of each copy, job after job."""
    first: Counts
    """Number of each job's first copy."""
    running: RunningPlacement
    runs: tuple[int, ...] | None = field(init=False, default=None)
    """Run of each job's first copy, computed when first needed."""
    best: tuple[int, ...] = field(init=False, default=())
    """Run of each job's furthest copy, computed at their end if it is logged."""

    @property
    def rotating(self) -> bool:
        """Whether every copy has a share of all workers."""
        return self.allocation.sharing is Sharing.ROTATION

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Each job, and how many copies it has."""
        return zip(self.names, self.allocation.copies.tolist(), strict=True)

    def left(self, lefts: Numbers, exact: bool) -> Numbers:
        """Work that each job's furthest copy lacks, of what each copy lacks; 0 for jobs that have
        ended, or lack no more than rounding."""
        left: Numbers = np.minimum.reduceat(lefts, self.first)
        rounding = self.sizes * (0 if exact else ROUNDING)
        left[self.running.ended | (left <= rounding)] = 0
        return left


Ints = tuple[int, ...]
Floats = tuple[float, ...]
Sources = tuple[int | None, ...]
Placement = tuple[tuple[str, ...], Ints, Ints, Floats, Ints, int, float, Floats, Sources]
"""Values of a CopiesPlaced."""
Settlement = tuple[tuple[str, ...], Ints, Ints, Floats, Sources]
"""Values of a CopiesSettled."""


@define(eq=False)
class RunLog:
    """Each job's next run number and its furthest run; computed only if a sink wants them."""

    workers: int
    next_run: dict[str, int] = field(init=False, factory=dict)
    furthest: dict[str, int] = field(init=False, factory=dict)
    """Job -> the run whose state is the job's."""

    def placement(self, placed: Placed, now: float, states: OwnStates) -> Placement:
        """All copies begin, from the furthest state or from `states`, where each has its own."""
        allocation = placed.allocation
        begun = _floats((_sizes(placed) - placed.running.lefts(now)).tolist())
        runs = self._furthest_of(placed) if allocation.cloning else states.sources(placed)
        pairs = zip(begun, runs, strict=True)
        return (
            tuple(placed.names),
            self.runs(placed),
            tuple(allocation.copies.tolist()),
            _floats(placed.sizes.tolist()),
            tuple(placed.workers.tolist()),
            self.workers if placed.rotating else 1,
            float(allocation.share),
            begun,
            tuple(run if done else None for done, run in pairs),
        )

    def note(self, placed: Placed, lefts: Numbers) -> None:
        """All copies end: the first of those that lack least of their job is its furthest."""
        rows = zip(self.runs(placed), placed.first.tolist(), _furthest(placed, lefts), strict=True)
        placed.best = tuple(run + best - first for run, first, best in rows)
        self.furthest.update(zip(placed.names, placed.best, strict=True))

    def settlement(self, placed: Placed, lefts: Numbers, left: Numbers) -> Settlement:
        """They have ended; the furthest copy of a job that is over completes it."""
        done = (_sizes(placed) - lefts).tolist()
        completed = list[int | None]()
        for job, (lacks, first) in enumerate(
            zip(left.tolist(), placed.first.tolist(), strict=True)
        ):
            completed.append(None if lacks else placed.best[job])
            if not lacks:
                done[first + placed.best[job] - self.runs(placed)[job]] = placed.sizes.item(job)
        copies = tuple(placed.allocation.copies.tolist())
        return tuple(placed.names), self.runs(placed), copies, _floats(done), tuple(completed)

    def forget(self, name: str) -> None:
        """The job is over."""
        self.next_run.pop(name, None)
        self.furthest.pop(name, None)

    def runs(self, placed: Placed) -> Ints:
        """Run of each job's first copy."""
        if placed.runs is None:
            placed.runs = tuple(self._number(name, count) for name, count in placed.pairs())
        return placed.runs

    def _number(self, name: str, count: int) -> int:
        run = self.next_run.get(name, 0)
        self.next_run[name] = run + count
        return run

    def _furthest_of(self, placed: Placed) -> list[int]:
        return [self.furthest.get(name, -1) for name, count in placed.pairs() for _ in range(count)]


def _sizes(placed: Placed) -> Numbers:
    """p_j of each copy's job."""
    return placed.sizes.repeat(placed.allocation.copies)


def _floats(values: list[float]) -> Floats:
    """Without the fractions of exact runs."""
    return tuple(map(float, values))


def _furthest(placed: Placed, lefts: Numbers) -> list[int]:
    """Number of each job's (first) furthest copy."""
    lacks, bounds = lefts.tolist(), [*placed.first.tolist(), len(lefts)]
    return [lacks.index(min(lacks[start:end]), start, end) for start, end in pairwise(bounds)]


Reached = tuple[float, int]
"""Work left, and the run that came so far; -1: nothing is done."""


@define(eq=False)
class OwnStates:
    """For each job the states that its copies have reached, furthest first.

    A job's r copies go on from its r furthest states; a copy for which there is none starts from
    nothing. States that no copy runs are kept: a later checkpoint may run them again.
    """

    states: dict[str, list[Reached]] = field(init=False, factory=dict)

    def starts(self, names: Sequence[str], sizes: Numbers, copies: Counts) -> Numbers:
        """Work that each copy lacks as it starts, job after job."""
        left: list[float] = []
        for name, size, count in zip(names, sizes.tolist(), copies.tolist(), strict=True):
            known = self.states.setdefault(name, [])
            known.extend([(size, -1)] * (count - len(known)))
            left += [lacks for lacks, _ in known[:count]]
        return np.array(left, dtype=sizes.dtype)

    def sources(self, placed: Placed) -> list[int]:
        """The runs that computed those states, likewise."""
        return [run for name, count in placed.pairs() for _, run in self.states[name][:count]]

    def keep(self, placed: Placed, left: Numbers, runs: Sequence[int]) -> None:
        """Store how far each copy came; `runs`: of each job's first copy."""
        values, first = left.tolist(), 0
        for (name, count), run in zip(placed.pairs(), runs, strict=True):
            reached = zip(values[first : first + count], range(run, run + count), strict=True)
            known = self.states[name]
            self.states[name] = sorted([*reached, *known[count:]])
            first += count

    def forget(self, name: str) -> None:
        """The job is over."""
        self.states.pop(name, None)
