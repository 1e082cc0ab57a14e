"""Enrolment without a criterion: always the same workers, or workers drawn at random."""

from __future__ import annotations

from attrs import field, frozen
from numpy.random import Generator

from policies.interface import Configuration, EnrolmentView, Wake
from policies.maths.markov import workers_of


def _sorted(members: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(members))


@frozen
class FixedConfiguration:
    """Enrols the same workers each time, as soon as they are all UP; passive."""

    members: tuple[tuple[int, int], ...] = field(converter=_sorted)
    """(worker index, tasks)."""

    @property
    def wake(self) -> Wake:
        """Passive."""
        return Wake.NEVER

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        ready = all(view.up >> worker & 1 for worker, _ in self.members)
        return Configuration(self.members) if ready else None


@frozen
class Random:
    """Gives each task to an UP worker with room, all equally likely; passive (volatile13,
    section VI)."""

    @property
    def wake(self) -> Wake:
        """Passive."""
        return Wake.NEVER

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        bounds = view.enrolment.bounds
        room = [worker for worker in workers_of(view.up) if bounds[worker] > 0]
        if sum(bounds[worker] for worker in room) < view.enrolment.tasks:
            return None
        tasks = dict.fromkeys(room, 0)
        for _ in range(view.enrolment.tasks):
            worker = room[int(rng.integers(len(room)))]
            tasks[worker] += 1
            if tasks[worker] == bounds[worker]:
                room.remove(worker)
        return Configuration(tuple((worker, x) for worker, x in tasks.items() if x))
