"""RANDOM: the baseline of volatile13, section VI."""

from __future__ import annotations

from attrs import frozen
from numpy.random import Generator

from policies.interface import Configuration, EnrolmentView, Wake
from policies.maths.markov import workers_of


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
