"""The account of what each server has delivered since the last checkpoint: exact, vectorised.

Jobs come and go twice per arrival, and each time all M copies are settled and placed afresh: one
numpy operation on M numbers costs as much as one message, M messages would cost the budget.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.redundancy import Numbers

NEVER = math.inf
ROUNDING = 1e-12
"""Relative: less of a copy's need than this is rounding, and the copy has ended. Else a copy that
ends as its server stops would wait for the server's return to do 1e-17 of its work."""


def _zeros(count: int, exact: bool) -> Numbers:
    if exact:
        return np.full(count, Fraction(0), dtype=object)
    return np.zeros(count)


@define(eq=False)
class Service:
    """Per server: service delivered until `since`, and the rate since then."""

    servers: int
    exact: bool = False
    """Rational numbers in object arrays: to check results, a hundred times slower."""
    delivered: Numbers = field(init=False)
    rate: Numbers = field(init=False)
    since: Numbers = field(init=False)
    delayed: bool = field(init=False, default=False)
    """Whether servers may begin to serve later than at the checkpoint."""
    never: Numbers = field(init=False)
    """NEVER for each server, to copy: three times as fast as filling a new array."""
    moving: NDArray[np.bool_] = field(init=False)
    """Where the rate is above 0."""

    def __attrs_post_init__(self) -> None:
        self.delivered = _zeros(self.servers, self.exact)
        self.rate = _zeros(self.servers, self.exact)
        self.since = _zeros(self.servers, self.exact)
        self.never = np.full(self.servers, NEVER, dtype=self.rate.dtype)
        self.moving = np.zeros(self.servers, dtype=bool)

    def at(self, now: float) -> Numbers:
        """Service of each server since the checkpoint, work units; 0 before it begins to serve."""
        elapsed = now - self.since
        if self.delayed:
            elapsed = np.maximum(elapsed, 0)
        served: Numbers = self.delivered + self.rate * elapsed
        return served

    def total(self, now: float) -> float:
        """Service of all servers together."""
        total: float = self.at(now).sum()
        return total

    def total_rate(self) -> float:
        """Rate of all servers together."""
        total: float = self.rate.sum()
        return total

    def restart(self, start: float | Numbers, delayed: bool) -> None:
        """A new checkpoint: nothing is delivered until `start`, a time for all or one for each;
        `delayed`: it may lie ahead."""
        self.delayed = delayed
        self.delivered[:] = 0
        self.since[:] = start

    def settle(self, server: int, now: float) -> None:
        """Move one server's account to `now`."""
        since = self.since.item(server)
        if now > since:
            done = self.delivered.item(server) + self.rate.item(server) * (now - since)
            self.delivered[server] = done
            self.since[server] = now

    def change(self, server: int, now: float, rate: float) -> None:
        """From `now` on (or from its start, if that is later) the server has this rate."""
        self.settle(server, now)
        self.rate[server] = rate
        self.moving[server] = rate > 0

    def lose(self, server: int, now: float, kept: float) -> None:
        """Of what the server has delivered since the checkpoint only the part `kept` counts."""
        self.settle(server, now)
        self.delivered[server] *= kept

    def end(self, server: int, need: float) -> float:
        """When the server will have delivered `need`, which it has not yet; NEVER: never."""
        rate = self.rate.item(server)
        if need == NEVER:
            return NEVER
        since: float = self.since.item(server)
        left = need - self.delivered.item(server)
        if left <= need * ROUNDING and not self.exact:
            return since
        return since + left / rate if rate else NEVER

    def ends(self, needs: Numbers) -> Numbers:
        """When each server will have delivered its part of `needs`, just after `restart`."""
        ends = self.never.copy()
        np.divide(needs, self.rate, out=ends, where=self.moving)
        return ends + self.since
