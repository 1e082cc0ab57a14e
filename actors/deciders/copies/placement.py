"""Which worker runs which copy: the world's choice, once the policy has said how many."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
from attrs import define, field
from numpy.random import Generator

from policies.interface.copies import CopyAllocation, Counts


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
