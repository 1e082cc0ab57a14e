"""Implements a policy that spreads the tasks evenly over a fixed number of workers; it serves to
study how many workers are worthwhile."""

from __future__ import annotations

from heapq import heapreplace

from attrs import frozen
from numpy.random import Generator

from policies.interface import Configuration, EnrolmentView, Wake


@frozen
class Spread:
    """Passive policy that enrols the `workers` fastest UP workers (ties to the lowest index) and
    shares the tasks so that the slowest of them finishes as early as possible, each with at least
    one task. It returns None, to wait, while too few workers are UP or they have too little
    room."""

    wake = Wake.NEVER

    workers: int
    """Number of workers to enrol, at most m."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        enrolment = view.enrolment
        speeds, bounds = enrolment.speeds, enrolment.bounds
        able = [q for q in range(len(speeds)) if view.up >> q & 1 and bounds[q]]
        chosen = sorted(able, key=lambda q: (speeds[q], q))[: self.workers]
        room = sum(bounds[q] for q in chosen)
        if len(chosen) < self.workers or room < enrolment.tasks:
            return None
        loads = dict.fromkeys(chosen, 1)
        # Each further task goes where the load after it is least; in order, they are a heap.
        queue: list[tuple[float, int]] = [(2 * speeds[q], q) for q in chosen]
        for _ in range(enrolment.tasks - len(chosen)):
            while loads[queue[0][1]] == bounds[queue[0][1]]:
                # A worker at its bound gets an infinite key, so that it is never chosen again.
                heapreplace(queue, (float("inf"), queue[0][1]))
            _, q = queue[0]
            loads[q] += 1
            heapreplace(queue, ((loads[q] + 1) * speeds[q], q))
        return Configuration(tuple(sorted(loads.items())))
