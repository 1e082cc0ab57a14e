"""A run's plan (its stages) and the saved states from which a run can continue (WORLD.md, P)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from attrs import frozen

from actors.events import Stage
from actors.progress import NEGLIGIBLE


@frozen
class State:
    """A state from which a run can go on: saved, or a copy's that is under way."""

    run: int
    """The run that computed it."""
    done: float
    """Work done, in that run's count."""
    work: float
    """All the work, likewise: another configuration continues with the same fraction of its own."""
    exposed: float = 0
    """Workers x computing time since the last verified point (R3)."""

    @property
    def fraction(self) -> float:
        """Of the work that is done."""
        return self.done / self.work

    def beyond(self, other: State) -> bool:
        """Whether it is further."""
        return self.fraction - other.fraction > NEGLIGIBLE

    def of(self, work: float) -> float:
        """Work done in the count of a run whose whole work is `work`."""
        return self.done if work == self.work else self.done * work / self.work


def furthest(states: Iterable[State]) -> State | None:
    """Of equals the first."""
    best: State | None = None
    for state in states:
        if best is None or state.beyond(best):
            best = state
    return best


@frozen
class Plan:
    """What one run is to do, as its job's protection says."""

    begins: State | None = None
    """The state that it continues from; None: from scratch."""
    image: bool = False
    """Whether each member fetches that state from the master."""
    before: tuple[tuple[Stage, float], ...] = ()
    """Parts between staging in and computing, each with its time: recovery, a clone's delay."""
    period: float = math.inf
    """Work between checkpoints."""
    cost: float | None = None
    """Time of a checkpoint; None: every member sends its image to the master."""
    verification: float = 0
    verified: bool = False
    """Whether a verification precedes each checkpoint."""
    blocking: bool = True
    """Whether a checkpoint takes the run's time; if not, work goes on meanwhile."""
    slowdown: float = 0
    """What the rate loses meanwhile."""
    stores: int = 0
    """k: each k-th checkpoint of the copy is sent to the master too; 0: none is."""
    store_cost: float | None = None
    """Time of that, as `cost`."""
    on_notice: bool = False
    """Whether a checkpoint is due when an owner announces that it takes a member away."""
    closes: bool = False
    """Whether a checkpoint closes what comes before computing: the saved state is spread among
    other members (malleable17, section 3.3.2)."""

    def ahead(self, passed: int = 0) -> tuple[float, ...]:
        """Times of the parts before computing, but for staging in and so many that are over."""
        times = [length for _, length in self.before[passed:]]
        if self.closes:
            closing = (self.verification, self.cost or 0)
            times.extend(closing if self.verified else closing[1:])
        return tuple(times)
