"""Implements the passive policies: the greedy heuristics IP, IE, IY and IAY, random workers, and a
fixed set of workers (volatile13, section VI.A)."""

from __future__ import annotations

from attrs import field, frozen
from numpy.random import Generator

from policies.enrolment.tree import Criterion, Tree
from policies.interface import Configuration, Enrolment, EnrolmentView, Wake
from policies.maths.markov import workers_of


@frozen
class Incremental:
    """Passive greedy heuristic that gives one task after the other to the UP worker, of those that
    have room for one more, for which the criterion is then best (volatile13, section VI.A). Returns
    None if the UP workers have room for fewer tasks than there are.

    Ties go to the lowest index. What a worker already holds counts: n_q is the communication that
    it would really need.
    """

    wake = Wake.NEVER

    criterion: Criterion

    @property
    def timeless(self) -> bool:
        """Whether the choice depends on the workers alone and not on the time."""
        return self.criterion is not Criterion.Y

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        enrolment, up = view.enrolment, workers_of(view.up)
        if sum(enrolment.bounds[worker] for worker in up) < enrolment.tasks:
            return None
        tree = self.tree(enrolment)
        chosen, elapsed = tree.root(), view.elapsed
        # Each worker's next task with the communication that it would need for it; a worker whose
        # bound is reached leaves the choice.
        loads = {q: (q, view.missing(q, 1)) for q in up if enrolment.bounds[q] > 0}
        for _ in range(enrolment.tasks):
            load = tree.best(chosen, loads.values(), elapsed)
            chosen, worker = tree.add(chosen, load), load[0]
            tasks = chosen.tasks[worker]
            if tasks < enrolment.bounds[worker]:
                loads[worker] = (worker, view.missing(worker, tasks + 1))
            else:
                del loads[worker]
        return chosen.configuration()

    def tree(self, enrolment: Enrolment) -> Tree:
        """Return the tree that remembers the assignments which this heuristic has tried for this
        enrolment, so that they are not valued again. It lives as long as the enrolment's belief."""
        return enrolment.belief.recall(
            (Incremental, self.criterion, enrolment), lambda: Tree(self.criterion, enrolment)
        )


def _sorted(members: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(members))


@frozen
class FixedConfiguration:
    """Passive policy that enrols the same workers with the same tasks each time, as soon as all of
    them are UP; until then it returns None."""

    wake = Wake.NEVER

    members: tuple[tuple[int, int], ...] = field(converter=_sorted)
    """Pairs (worker index, number of tasks), sorted by index."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        ready = all(view.up >> worker & 1 for worker, _ in self.members)
        return Configuration(self.members) if ready else None


@frozen
class Random:
    """Passive policy that gives each task to an UP worker with room for one more, all of them
    equally likely (volatile13, section VI). Returns None if the UP workers have room for fewer
    tasks than there are."""

    wake = Wake.NEVER

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        bounds = view.enrolment.bounds
        room = [worker for worker in workers_of(view.up) if bounds[worker] > 0]
        if sum(bounds[worker] for worker in room) < view.enrolment.tasks:
            return None
        # Members in index order, because a Configuration is sorted.
        tasks = dict.fromkeys(room, 0)
        for _ in range(view.enrolment.tasks):
            worker = room[int(rng.integers(len(room)))]
            tasks[worker] += 1
            if tasks[worker] == bounds[worker]:
                room.remove(worker)
        return Configuration(tuple((worker, x) for worker, x in tasks.items() if x))
