"""Chooses the free workers that a run gets, where workers differ (rules.md, D2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, groupby

import numpy as np
from attrs import define, field, frozen
from numpy.random import Generator

from actors.decisions import answer, items, refusal
from actors.intervals import Intervals, Numbers, intervals_of, members
from actors.records import Record
from actors.runtime import Home
from policies.interface import (
    BatchJob,
    Enrolment,
    EnrolmentPolicy,
    PlacementPolicy,
    Reason,
    RunningView,
)

NO_WORKERS: frozenset[int] = frozenset()


@define(eq=False)
class Programmed:
    """Placement that chooses first the free workers that hold the job's program, then others, in
    both cases those with the lowest numbers."""

    programmed: Mapping[str, Collection[int]]
    """Maps the label of a program to the workers that hold it, kept up to date by the scheduler."""
    labels: Mapping[int, str]
    """Maps a job's index to the label of its program."""

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        held = self.programmed.get(self.labels[index], NO_WORKERS)
        free = members(numbers.intervals())
        return _taken(numbers, sorted(free, key=lambda n: (n not in held, n))[:count])


@frozen
class ByNode:
    """Placement that chooses by number each node whose workers are all free, as long as it has no
    more of them than the job still needs. What is left comes from the node with the fewest free
    workers but enough, its lowest; if none has enough, from free workers by number (rules.md,
    N2)."""

    node: int
    """Number of workers in a node."""
    size: int
    """Number of workers without spares, P."""

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        return _taken(numbers, self.in_order(numbers, count))

    def in_order(self, numbers: Numbers, count: int, index: int = -1) -> list[int]:
        """Return `count` of the free workers in `numbers`, in the order in which the placement
        chooses them, whatever the job."""
        return self.of(members(numbers.intervals()), count)

    def of(self, free: Sequence[int], count: int) -> list[int]:
        """Return the `count` workers that are chosen among the workers `free`, which ascend, in the
        order in which they are chosen."""
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
    """Placement that draws the workers of a start among all free ones, equally likely, once for
    each start (rules.md, R9)."""

    stream: Callable[[], Generator]
    """Makes the stream from which workers are drawn, when it is first needed."""
    _rng: Generator | None = field(init=False, default=None)

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        free = members(numbers.intervals())
        if count == len(free):  # certain: nothing is drawn
            return _taken(numbers, free)
        places = self._stream().choice(len(free), count, replace=False, shuffle=False)
        return _taken(numbers, [free[place] for place in places.tolist()])

    def in_order(self, numbers: Numbers, count: int, index: int = -1) -> list[int]:
        """Return `count` of the free workers, drawn at random, in the order in which they are
        drawn; the caller holds the last ones ready to replace members."""
        free = members(numbers.intervals())
        places = self._stream().choice(len(free), count, replace=False)
        return [free[place] for place in places.tolist()]

    def _stream(self) -> Generator:
        if self._rng is None:
            self._rng = self.stream()
        return self._rng


@frozen
class ByRecord:
    """Placement that chooses the workers with the best records, by a measure such as the number of
    faults blamed on each; of equal ones those with the lowest numbers (rules.md, R9)."""

    badness: Sequence[float]
    """How bad each worker's record is, such as its number of faults, kept up to date by the
    scheduler; the lowest are chosen."""

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        return _taken(numbers, self.in_order(numbers, count))

    def in_order(self, numbers: Numbers, count: int, index: int = -1) -> list[int]:
        """Return the `count` best of the free workers in `numbers`, the best first."""
        return self.of(members(numbers.intervals()), count)

    def of(self, free: Sequence[int], count: int) -> list[int]:
        """Return the `count` best of the workers `free`, which ascend, the best first. Strategies
        ask this before they start a job (M2)."""
        return sorted(free, key=self.badness.__getitem__)[:count]


@define(eq=False)
class ByRecordAtRandom:
    """Placement that chooses the workers with the best records, as `ByRecord` does, but draws among
    equal ones, once for each start (rules.md, R9)."""

    badness: Sequence[float]
    """How bad each worker's record is, as for `ByRecord`."""
    stream: Callable[[], Generator]
    """Makes the stream from which workers are drawn, when it is first needed."""
    _rng: Generator | None = field(init=False, default=None)

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        return _taken(numbers, self.in_order(numbers, count))

    def in_order(self, numbers: Numbers, count: int, index: int = -1) -> list[int]:
        """Return the `count` best of the free workers in `numbers`, the best first."""
        free = members(numbers.intervals())
        if count < len(free):
            if self._rng is None:
                self._rng = self.stream()
            free = tuple(self._rng.permutation(free).tolist())
        return sorted(free, key=self.badness.__getitem__)[:count]


NO_RECORD = Record((), 0, 0.0)
"""Record of a worker on which nothing is recorded."""


@frozen
class Start:
    """Shows a placement policy a start (satisfies policies.interface.placement.StartView)."""

    now: float
    job: BatchJob
    count: int
    free: Sequence[int]
    records: Sequence[Record]
    """Record of each worker; empty where none are kept."""

    def record(self, worker: int) -> Record:
        """Return what is recorded of this worker."""
        return self.records[worker] if self.records else NO_RECORD


def places(policy: PlacementPolicy, view: Start) -> list[int]:
    """Ask a placement policy for the workers of a start, and return them in the order in which they
    are chosen. Raises BadDecision unless they are as many as asked for, free, and all different."""
    answered = answer(policy.places, view)
    found, free = items(policy, answered), set(view.free)
    whole = found is not None and all(isinstance(it, int | np.integer) for it in found)
    chosen = [int(it) for it in found] if whole and found else []  # type: ignore[call-overload]
    if len(chosen) != view.count or len(set(chosen)) != len(chosen) or not free.issuperset(chosen):
        problem = f"{view.count} different free workers are accepted"
        seen = f"free={list(view.free)}, count={view.count}, {view.job.name} at {view.now!r}"
        raise refusal(policy, repr(answered), problem, seen)
    return chosen


@frozen
class ByPolicy:
    """Placement that a policy of the user's chooses, which sees the records of all free workers
    (rules.md, R9)."""

    policy: PlacementPolicy
    records: Sequence[Record]
    """Record of each worker, kept up to date by the scheduler; empty where nothing is repaired."""
    jobs: Mapping[int, BatchJob]
    """Maps a job's index to its description."""
    now: Callable[[], float]

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        return _taken(numbers, self.in_order(numbers, count, index))

    def in_order(self, numbers: Numbers, count: int, index: int = -1) -> list[int]:
        """Return `count` of the free workers in `numbers`, in the order in which the policy chooses
        them for the job with this index."""
        free = members(numbers.intervals())
        return places(self.policy, Start(self.now(), self.jobs[index], count, free, self.records))


@frozen
class PlacementView:
    """Shows one job to a criterion of volatile13 as if it were an iteration in which each member
    has one task (satisfies policies.interface.EnrolmentView)."""

    enrolment: Enrolment
    elapsed: int
    """Time since the job was submitted."""
    up: int
    programmed: int
    """Bit mask of the workers that hold the job's program."""
    reason: Reason = Reason.START
    running: RunningView | None = None

    def missing(self, worker: int, tasks: int) -> float:
        """Return the channel time that `worker` lacks as a member: that of the program, unless the
        worker holds it, and that of the data of `tasks` tasks."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + tasks * self.enrolment.data


@define(eq=False)
class ByCriterion:
    """Placement that chooses the members one by one so that a criterion of volatile13 (probability
    of success, expected time, or a yield) is best, as its greedy heuristics do (section VI.A). The
    job counts as an iteration in which each member has one task that takes as long as the run."""

    system: Home
    programmed: Mapping[str, Collection[int]]
    """Maps the label of a program to the workers that hold it, kept up to date by the scheduler."""
    policy: EnrolmentPolicy
    jobs: dict[int, tuple[str, float]]
    """Maps a job's index to the label of its program and the time of its submission, which is that
    in the scenario until the job is submitted."""
    size: Callable[[int, int], Enrolment]
    """Function that returns, for a job's index and a number of members, the enrolment with one task
    for each member."""
    known: dict[tuple[int, int], Enrolment] = field(init=False, factory=dict)

    def __call__(self, numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
        # The generator is never used: a passive criterion decides by what it sees.
        rng = self.system.stream("placement")
        chosen = self.policy(self._view(numbers, count, index), rng)
        assert chosen is not None, "the scheduler knows that enough workers are free"
        return _taken(numbers, [worker for worker, _ in chosen.members])

    def submitted(self, job: BatchJob) -> None:
        """Record the time at which a job is submitted, for jobs that an agent or the ends of other
        jobs submit."""
        self.jobs[job.index] = self.jobs[job.index][0], job.submitted

    def _view(self, numbers: Numbers, count: int, index: int) -> PlacementView:
        label, submitted = self.jobs[index]
        held = self.programmed.get(label, NO_WORKERS)
        elapsed = self.system.loop.now - submitted
        free = members(numbers.intervals())
        return PlacementView(self._enrolment(index, count), int(elapsed), _mask(free), _mask(held))

    def _enrolment(self, index: int, count: int) -> Enrolment:
        found = self.known.get((index, count))
        if found is None:
            found = self.known[index, count] = self.size(index, count)
        return found


def _mask(workers: Collection[int]) -> int:
    return sum(1 << worker for worker in workers)


def _taken(numbers: Numbers, chosen: Sequence[int]) -> Intervals:
    taken = intervals_of(sorted(chosen))
    numbers.remove(taken)
    return taken
