"""What runs between two checkpoints under sample-path semantics: copies, or rotating shares."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.deciders.copies.work_account import NEVER, WorkAccount
from policies.interface.copies import Counts, Numbers


class RunningPlacement(Protocol):
    """The copies of one placement; jobs are numbered in the order of the allocation."""

    ended: NDArray[np.bool_]
    """Per job: whether a copy has ended."""

    def earliest(self) -> float:
        """When the first copy ends, as things stand; NEVER: never."""

    def change(self, worker: int, now: float) -> None:
        """A worker's account or rate has changed."""

    def mark_ended(self, due_by: float) -> None:
        """Note the jobs that have a copy that ends by then."""

    def lefts(self, now: float) -> Numbers:
        """Work that each copy lacks, job after job."""


@define(eq=False)
class RunningCopies:
    """Each copy progresses by what its own worker delivers; a job ends with its first copy."""

    service: WorkAccount
    workers: Counts
    """Server of each copy, job after job."""
    first: Counts
    """Number of each job's first copy."""
    left: Numbers
    """Work that each copy lacks at the checkpoint."""
    factor: float
    """Share: work per unit of a worker's service."""
    ended: NDArray[np.bool_] = field(init=False)
    need: Numbers = field(init=False)
    """Service that each copy needs of its worker."""
    needs: Numbers = field(init=False)
    """The smallest such need per worker."""
    ends: Numbers = field(init=False)
    """When each worker will have met it."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.first), dtype=bool)
        self.need = self.left / self.factor
        self.needs = self.service.never.copy()
        for start in range(0, len(self.workers), self.service.workers):
            layer = slice(start, start + self.service.workers)
            on, need = self.workers[layer], self.need[layer]
            self.needs[on] = np.minimum(self.needs[on], need) if start else need
        self.ends = self.service.ends(self.needs)

    def earliest(self) -> float:
        end: float = self.ends.item(self.ends.argmin())
        return end

    def change(self, worker: int, now: float) -> None:
        self.ends[worker] = self.service.end(worker, self.needs.item(worker))

    def mark_ended(self, due_by: float) -> None:
        on = self.workers
        ending = (self.ends[on] <= due_by) & (self.need <= self.needs[on])
        self.ended |= np.logical_or.reduceat(ending, self.first)

    def lefts(self, now: float) -> Numbers:
        left: Numbers = self.left - self.factor * self.service.at(now)[self.workers]
        return left


@define(eq=False)
class Rotation:
    """One copy per job, which gets a share of every worker: their service adds up."""

    service: WorkAccount
    left: Numbers
    factor: float
    ended: NDArray[np.bool_] = field(init=False)
    need: Numbers = field(init=False)
    """Service of all workers together that each job needs."""
    end: float = field(init=False)
    """When the first of them will have it."""

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.left), dtype=bool)
        self.need = self.left / self.factor
        self.end = self._end(self.service.since.item(0))

    def earliest(self) -> float:
        return self.end

    def change(self, worker: int, now: float) -> None:
        self.end = self._end(now)

    def mark_ended(self, due_by: float) -> None:
        if self.end <= due_by:
            self.ended |= self.need <= self.need.min()

    def lefts(self, now: float) -> Numbers:
        left: Numbers = self.left - self.factor * self.service.total(now)
        return left

    def _end(self, now: float) -> float:
        rate = self.service.total_rate()
        left = self.need.min() - self.service.total(now)
        return now + max(left, 0) / rate if rate else NEVER
