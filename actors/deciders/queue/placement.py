"""Chooses the free workers that a run gets, where workers differ (rules.md, D2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING

from attrs import define, field, frozen
from numpy.random import Generator

from actors.intervals import Intervals, Numbers, intervals_of, members
from policies.interface import Enrolment, EnrolmentPolicy, Reason, RunningView

if TYPE_CHECKING:
    from actors.scheduler import Scheduler

NO_WORKERS: frozenset[int] = frozenset()


@define(eq=False)
class Programmed:
    """Chooses workers that hold the job's program first, then those with the lowest numbers."""

    scheduler: Scheduler
    labels: Mapping[int, str]
    """Maps a job's index to the label of its program."""

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        held = self.scheduler.programmed.get(self.labels[index], NO_WORKERS)
        free = members(numbers.intervals())
        return _taken(numbers, sorted(free, key=lambda n: (n not in held, n))[:count])


@frozen
class ByNode:
    """Chooses whole nodes as far as the job fills them; the rest is placed on the node where it
    leaves the fewest workers free (rules.md, N2)."""

    node: int
    """Number of workers of a node."""
    size: int
    """Number of workers without spares, P."""

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        return _taken(numbers, self.in_order(numbers, count))

    def in_order(self, numbers: Numbers, count: int) -> list[int]:
        """Return the workers in the order in which they are chosen."""
        return self.of(members(numbers.intervals()), count)

    def of(self, free: Sequence[int], count: int) -> list[int]:
        """Return the chosen ones of these workers."""
        taken: list[int] = []
        parts: list[list[int]] = []
        for node, workers in groupby(free, lambda n: n // self.node):
            free = list(workers)
            # The last node may be smaller than the others.
            whole = min(self.node, self.size - node * self.node)
            if len(free) == whole <= count - len(taken):
                taken += free
            else:
                parts.append(free)
        left = count - len(taken)
        enough = [part for part in parts if len(part) >= left]
        rest = min(enough, key=len, default=list(chain.from_iterable(parts)))
        return [*taken, *rest[:left]]


@define(eq=False)
class AtRandom:
    """Draws the workers from the free ones, all alike, once for each start (rules.md, R9)."""

    scheduler: Scheduler
    _rng: Generator | None = field(init=False, default=None)

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        free = members(numbers.intervals())
        if count == len(free):  # certain: nothing is drawn
            return _taken(numbers, free)
        places = self._stream().choice(len(free), count, replace=False, shuffle=False)
        return _taken(numbers, [free[place] for place in places.tolist()])

    def in_order(self, numbers: Numbers, count: int) -> list[int]:
        """Return the workers in the order in which they are drawn, the last of which are
        standbys."""
        free = members(numbers.intervals())
        places = self._stream().choice(len(free), count, replace=False)
        return [free[place] for place in places.tolist()]

    def _stream(self) -> Generator:
        if self._rng is None:
            self._rng = self.scheduler.system.stream("placement")
        return self._rng


@frozen
class ByRecord:
    """Chooses the workers with the best records; of equal ones those with the lowest numbers
    (rules.md, R9)."""

    badness: Callable[[int], float]
    """Returns a number for a worker, the lower the better: its faults, say."""

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        return _taken(numbers, self.in_order(numbers, count))

    def in_order(self, numbers: Numbers, count: int) -> list[int]:
        """Return the workers in the order in which they are chosen."""
        return sorted(members(numbers.intervals()), key=self.badness)[:count]


@frozen
class PlacementView:
    """Shows a criterion of volatile13 one job as an iteration (satisfies
    policies.interface.EnrolmentView)."""

    enrolment: Enrolment
    elapsed: int
    """Time since the job was submitted."""
    up: int
    programmed: int
    """Bit mask of the workers that hold the job's program."""
    reason: Reason = Reason.START
    running: RunningView | None = None

    def missing(self, worker: int, tasks: int) -> float:
        """Return the channel time to send the program, unless the worker has it, and the data of
        the worker's share of the job."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + tasks * self.enrolment.data


@define(eq=False)
class ByCriterion:
    """Chooses the members one by one so that a criterion of volatile13 is best (volatile13, section
    VI.A), as if each member had one task that takes as long as the run."""

    scheduler: Scheduler
    policy: EnrolmentPolicy
    labels: Mapping[int, str]
    size: Callable[[int, int], Enrolment]
    """Function that returns, for a job's index and a number of members, the enrolment with one task
    for each member."""
    known: dict[tuple[int, int], Enrolment] = field(init=False, factory=dict)

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        # The generator is never used: a passive criterion decides by what it sees.
        rng = self.scheduler.system.stream("placement")
        chosen = self.policy(self._view(numbers, count, index), rng)
        assert chosen is not None, "the scheduler knows that enough workers are free"
        return _taken(numbers, [worker for worker, _ in chosen.members])

    def _view(self, numbers: Numbers, count: int, index: int) -> PlacementView:
        scheduler = self.scheduler
        held = scheduler.programmed.get(self.labels[index], NO_WORKERS)
        elapsed = scheduler.now - scheduler.described[index].submitted
        free = members(numbers.intervals())
        return PlacementView(self._enrolment(index, count), int(elapsed), _mask(free), _mask(held))

    def _enrolment(self, index: int, count: int) -> Enrolment:
        found = self.known.get((index, count))
        if found is None:
            found = self.known[index, count] = self.size(index, count)
        return found


def _mask(workers: Sequence[int] | frozenset[int] | set[int]) -> int:
    return sum(1 << worker for worker in workers)


def _taken(numbers: Numbers, chosen: Sequence[int]) -> Intervals:
    taken = intervals_of(sorted(chosen))
    numbers.remove(taken)
    return taken
