"""What a checkpoint costs before copies compute again; nothing in 004."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define, field, frozen
from attrs.validators import ge, le

from policies.interface.redundancy import Counts, Numbers


@frozen
class Costs:
    """What checkpoints, clones and failures cost; all 0 in 004."""

    checkpoint: float = field(default=0.0, validator=ge(0))
    """Time that each copy of a job with progress needs, at every checkpoint, before it computes."""
    clone: float = field(default=0.0, validator=ge(0))
    """Further time where the copy's server did not hold the job's furthest state."""
    lost: float = field(default=0.0, validator=[ge(0), le(1)])
    """Part of a server's service since the last checkpoint that its failure undoes."""

    @property
    def delay(self) -> bool:
        """Whether a checkpoint costs time."""
        return self.checkpoint > 0 or self.clone > 0


@define(eq=False)
class Starts:
    """When the copies of each placement start to compute, and which server holds which state."""

    costs: Costs
    servers: int
    holders: dict[str, int] = field(init=False, factory=dict)
    """Job -> the server of its furthest state."""

    def held(self, names: Sequence[str], servers: Counts, first: Counts, left: Numbers) -> None:
        """Note which copy of each job came furthest."""
        bounds = [*first.tolist(), len(left)]
        for k, name in enumerate(names):
            copies = slice(bounds[k], bounds[k + 1])
            self.holders[name] = int(servers[copies][left[copies].argmin()])

    def forget(self, name: str) -> None:
        """The job is over."""
        self.holders.pop(name, None)

    def per_server(
        self, now: float, names: Sequence[str], servers: Counts, copies: Counts
    ) -> Numbers:
        """When each server computes: it pays for the most costly of its copies."""
        starts = np.full(self.servers, now, dtype=float)
        owners = np.repeat(np.arange(len(names)), copies).tolist()
        for server, job in zip(servers.tolist(), owners, strict=True):
            starts[server] = max(starts[server], now + self._cost(names[job], server))
        return starts

    def together(self, now: float, begun: bool) -> float:
        """When a placement without servers of its own computes: `begun`: it has a state to load."""
        if not (begun and self.costs.delay):
            return now
        return now + self.costs.checkpoint + self.costs.clone

    def _cost(self, name: str, server: int) -> float:
        holder = self.holders.get(name)
        if holder is None:
            return 0.0
        return self.costs.checkpoint + (self.costs.clone if holder != server else 0.0)
