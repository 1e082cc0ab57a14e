"""Which server runs which copy: the world's choice, once the policy has said how many."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
from attrs import define, field
from numpy.random import Generator

from policies.interface.redundancy import CopyAllocation, Counts


class PlacementRule(enum.Enum):
    """Where copies go at a checkpoint."""

    UNIFORM = "uniform"
    """Uniformly at random: a fresh permutation of the servers, one per M copies, so that the
    copies of a job are on different servers (004, Algorithms 1 and 2)."""
    LOWEST = "lowest"
    """The s-th copy, in order of priority, on server s mod M."""


@define(eq=False)
class Placer:
    """Assigns servers to the copies of one checkpoint after the other."""

    servers: int
    rule: PlacementRule
    rng: Generator
    held: dict[str, int] = field(init=False, factory=dict)
    """Job -> its server, while a policy lets jobs stay."""

    def place(self, allocation: CopyAllocation, names: Sequence[str]) -> Counts:
        """The server of each copy, job after job in the allocation's order."""
        if allocation.stay:
            return self._stay(names)
        self.held.clear()
        copies = sum(allocation.copies.tolist())
        if self.rule is PlacementRule.LOWEST:
            return np.arange(copies) % self.servers
        if copies <= self.servers:
            return self.rng.permutation(self.servers)[:copies]
        return self._layers(allocation.copies, copies)

    def _layers(self, counts: Counts, copies: int) -> Counts:
        """One permutation per layer of M copies; one for all where a job's copies reach from one
        layer into the next, which two permutations could put on one server."""
        layers = -(-copies // self.servers)
        ends = counts.cumsum()
        if ((ends - 1) // self.servers != (ends - counts) // self.servers).any():
            return np.tile(self.rng.permutation(self.servers), layers)[:copies]
        permutations = [self.rng.permutation(self.servers) for _ in range(layers)]
        return np.concatenate(permutations)[:copies]

    def _stay(self, names: Sequence[str]) -> Counts:
        held = {name: self.held[name] for name in names if name in self.held}
        taken = set(held.values())
        free = iter([server for server in self._order() if server not in taken])
        self.held = {name: held[name] if name in held else next(free) for name in names}
        return np.fromiter(self.held.values(), dtype=np.intp, count=len(names))

    def _order(self) -> list[int]:
        if self.rule is PlacementRule.LOWEST:
            return list(range(self.servers))
        return [int(server) for server in self.rng.permutation(self.servers)]
