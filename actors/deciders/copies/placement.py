"""Chooses the worker of each copy, once the policy has said how many there are, and keeps the
copies' states and events; in the log copies are runs, numbered job by job."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.deciders.copies.running import RunningPlacement
from policies.interface.copies import CopyAllocation, Counts, Numbers, Sharing
from policies.maths.tolerance import ROUNDING


class PlacementRule(enum.Enum):
    """Says on which workers copies are placed at a decision epoch, an instant at which all copies
    are placed afresh."""

    UNIFORM = "uniform"
    """Uniformly at random: a fresh permutation of the workers, one for each M copies, so that the
    copies of a job are on different workers (redundancy17, Algorithms 1 and 2)."""
    LOWEST = "lowest"
    """The s-th copy, in order of priority, is on worker s mod M."""


@define(eq=False)
class Placer:
    """Chooses the worker of each copy at a decision epoch (an instant at which all copies are
    placed afresh), by the placement rule `rule`."""

    workers: Counts
    """Workers that may be given copies, all of them or those that are UP, ascending."""
    rule: PlacementRule
    rng: Generator
    held: dict[str, int] = field(init=False, factory=dict)
    """Maps a job to its worker, while a policy lets jobs stay."""

    def place(self, allocation: CopyAllocation, names: Sequence[str]) -> Counts:
        """Return an array with the worker of each copy, job after job in the allocation's order.
        `names` has the names of the jobs that the allocation serves. If it lets jobs stay, each has
        one copy, which keeps its worker."""
        if allocation.stay:
            return self._stay(names)
        self.held.clear()
        copies = sum(allocation.copies.tolist())
        if self.rule is PlacementRule.LOWEST:
            lowest: Counts = self.workers[np.arange(copies) % len(self.workers)]
            return lowest
        if copies <= len(self.workers):
            # The whole permutation is drawn for any number of copies, so that the draws do not
            # depend on it.
            return self.rng.permutation(self.workers)[:copies]
        return self._layers(allocation.copies, copies)

    def _layers(self, counts: Counts, copies: int) -> Counts:
        """Return an array with the workers of `copies` copies, more than there are workers, M, by a
        fresh random permutation of the workers for each layer of M copies. `counts` is each job's
        number of copies.

        If the copies of any job reach from one layer into the next, one permutation serves all
        layers, because two could put two of these copies on one worker.
        """
        many = len(self.workers)
        layers = -(-copies // many)
        ends = counts.cumsum()
        if ((ends - 1) // many != (ends - counts) // many).any():
            return np.tile(self.rng.permutation(self.workers), layers)[:copies]
        permutations = [self.rng.permutation(self.workers) for _ in range(layers)]
        return np.concatenate(permutations)[:copies]

    def _stay(self, names: Sequence[str]) -> Counts:
        # A job stays on its worker only while that worker may be given copies.
        known = set(self.workers.tolist())
        held = {name: self.held[name] for name in names if self.held.get(name) in known}
        taken = set(held.values())
        free = iter([worker for worker in self.order() if worker not in taken])
        self.held = {name: held[name] if name in held else next(free) for name in names}
        return np.fromiter(self.held.values(), dtype=np.intp, count=len(names))

    def order(self) -> list[int]:
        """Return all workers that can be given copies, in the order in which they are assigned one
        by one: ascending under the rule LOWEST, else in a fresh random order."""
        if self.rule is PlacementRule.LOWEST:
            return [int(worker) for worker in self.workers]
        return [int(worker) for worker in self.rng.permutation(self.workers)]


@define(eq=False)
class Placed:
    """All copies that run between two decision epochs, the instants at which all copies are placed
    afresh, with their jobs and workers."""

    allocation: CopyAllocation
    names: Sequence[str]
    """Names of the jobs that are served."""
    sizes: Numbers
    """Sizes p_j of the jobs that are served."""
    workers: Counts
    """Worker of each copy, job after job."""
    first: Counts
    """Position of each job's first copy among all copies."""
    running: RunningPlacement
    runs: tuple[int, ...] | None = field(init=False, default=None)
    """Number of the run of each job's first copy, computed when first needed."""
    best: tuple[int, ...] = field(init=False, default=())
    """Number of the run of each job's furthest copy, computed at the copies' end if it is
    logged."""

    @property
    def rotating(self) -> bool:
        """Whether each job has one copy, which runs on an equal share of every worker."""
        return self.allocation.sharing is Sharing.ROTATION

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Yield (name, number of copies) for each job that is served."""
        return zip(self.names, self.allocation.copies.tolist(), strict=True)

    def left(self, lefts: Numbers, exact: bool) -> Numbers:
        """Return an array with the work that each served job's furthest copy still has to do.
        `lefts` has that of each copy, job after job. Jobs that have ended have 0 and so, unless
        `exact`, have those with no more than 1e-12 of their size left."""
        left: Numbers = np.minimum.reduceat(lefts, self.first)
        rounding = self.sizes * (0 if exact else ROUNDING)
        left[self.running.ended | (left <= rounding)] = 0
        return left


Ints = tuple[int, ...]
Floats = tuple[float, ...]
Sources = tuple[int | None, ...]
Placement = tuple[tuple[str, ...], Ints, Ints, Floats, Ints, int, float, Floats, Sources]
"""Values of a CopiesPlaced event."""
Settlement = tuple[tuple[str, ...], Ints, Ints, Floats, Sources]
"""Values of a CopiesSettled event."""


@define(eq=False)
class RunLog:
    """Numbers the runs of each job, a run being a copy between two decision epochs, and remembers
    which run is furthest, for the events that start and end all copies. Both are computed only if a
    sink of the log wants these events. `workers` is the number of workers."""

    workers: int
    next_run: dict[str, int] = field(init=False, factory=dict)
    furthest: dict[str, int] = field(init=False, factory=dict)
    """Maps a job to the number of its run that is furthest, from whose state the job continues."""

    def placement(self, placed: Placed, now: float, states: OwnStates) -> Placement:
        """Return the fields of the event CopiesPlaced, which starts all copies at `now`. With
        cloning each copy begins from the state of its job's furthest run, else from its own in
        `states`."""
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
        """Record each job's furthest run, and store it in `placed.best`, as all copies end. `lefts`
        is the work that each copy has left, job after job. Of copies that are equally far the first
        counts."""
        rows = zip(self.runs(placed), placed.first.tolist(), _furthest(placed, lefts), strict=True)
        placed.best = tuple(run + best - first for run, first, best in rows)
        self.furthest.update(zip(placed.names, placed.best, strict=True))

    def settlement(self, placed: Placed, lefts: Numbers, left: Numbers) -> Settlement:
        """Return the fields of the event CopiesSettled, which ends all copies. `lefts` is the work
        that each copy has left, `left` that of each job; the furthest copy of a job that has none
        left completes it. Call `note` before."""
        done = (_sizes(placed) - lefts).tolist()
        completed = list[int | None]()
        for job, (lacks, first) in enumerate(
            zip(left.tolist(), placed.first.tolist(), strict=True)
        ):
            completed.append(None if lacks else placed.best[job])
            # The completing copy has done all the work, which its sum of rounded parts may miss.
            if not lacks:
                done[first + placed.best[job] - self.runs(placed)[job]] = placed.sizes.item(job)
        copies = tuple(placed.allocation.copies.tolist())
        return tuple(placed.names), self.runs(placed), copies, _floats(done), tuple(completed)

    def forget(self, name: str) -> None:
        """Remove all data of the job called `name`, which has been completed."""
        self.next_run.pop(name, None)
        self.furthest.pop(name, None)

    def runs(self, placed: Placed) -> Ints:
        """Return the run number of each served job's first copy. The first call for these copies
        gives numbers to all of them; later calls return the same."""
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
    """Return an array with the size p_j of each copy's job, job after job."""
    return placed.sizes.repeat(placed.allocation.copies)


def _floats(values: list[float]) -> Floats:
    """Return the values as floats: in exact computations they are fractions, which a log cannot
    hold."""
    return tuple(map(float, values))


def _furthest(placed: Placed, lefts: Numbers) -> list[int]:
    """Return, for each job, the position among all copies of its copy with the least work left
    (`lefts`); of equal ones the first."""
    lacks, bounds = lefts.tolist(), [*placed.first.tolist(), len(lefts)]
    return [lacks.index(min(lacks[start:end]), start, end) for start, end in pairwise(bounds)]


Reached = tuple[float, int]
"""A state of a job: the work left, and the number of the run that reached it; -1 if nothing is
done."""


@define(eq=False)
class OwnStates:
    """Keeps, for each job, the states that its copies have reached, the furthest first, for
    policies without cloning.

    A job's r copies continue from its r furthest states; a copy for which there is none starts from
    scratch. States that no copy runs are kept, because copies may run them again after a later
    decision.
    """

    states: dict[str, list[Reached]] = field(init=False, factory=dict)

    def starts(self, names: Sequence[str], sizes: Numbers, copies: Counts) -> Numbers:
        """Return an array with the work that each copy has left as it starts, job after job: that
        of the job's states, the furthest first, then the job's whole size. The lists are parallel:
        names, sizes and numbers of copies of the served jobs."""
        left: list[float] = []
        for name, size, count in zip(names, sizes.tolist(), copies.tolist(), strict=True):
            known = self.states.setdefault(name, [])
            known.extend([(size, -1)] * (count - len(known)))
            left += [lacks for lacks, _ in known[:count]]
        return np.array(left, dtype=sizes.dtype)

    def sources(self, placed: Placed) -> list[int]:
        """Return, for each copy, job after job, the number of the run that computed the state that
        the copy begins from; -1 for a copy that begins from scratch."""
        return [run for name, count in placed.pairs() for _, run in self.states[name][:count]]

    def keep(self, placed: Placed, left: Numbers, runs: Sequence[int]) -> None:
        """Store the states that the copies have reached, as they end, in place of those with which
        they began. `left` is the work that each copy has left, job after job; `runs` has the run
        number of each job's first copy, whose other copies have the following numbers."""
        values, first = left.tolist(), 0
        for (name, count), run in zip(placed.pairs(), runs, strict=True):
            reached = zip(values[first : first + count], range(run, run + count), strict=True)
            known = self.states[name]
            self.states[name] = sorted([*reached, *known[count:]])
            first += count

    def forget(self, name: str) -> None:
        """Remove the states of the job called `name`, which has been completed."""
        self.states.pop(name, None)
