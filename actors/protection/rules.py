"""The rules of one job's protection, from the scenario's section `[protection]` to each of its
runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

from attrs import frozen

from actors.events import ProtectionKind

MANY = 1 << 30
"""A number of members beyond that of any pack. A smaller one would not show that a value depends on
it: the time for a pair may be that for one worker."""
BySize = Callable[[int], float]
"""Function that returns a time, or an amount of work, for a number of members."""


def never(members: int) -> float:
    """Return an infinite period, for any number of members: no checkpoint is taken."""
    return math.inf


def on(value: float | BySize, members: int) -> float:
    """Return `value` for this number of members: `value` itself, or what it returns for the number
    if it is a function."""
    return value(members) if callable(value) else value


def alike(value: float | BySize) -> float | None:
    """Return the value if it is finite and the same for any number of members, else None."""
    one = on(value, 1)
    return one if one < math.inf and one == on(value, MANY) else None


@frozen(kw_only=True)
class Rules:
    """One job's protection, as its scenario gives it, with the names of the section's keys. All
    times are in the scenario's unit."""

    kind: ProtectionKind = ProtectionKind.NONE
    """Place where checkpoints are kept (P1, P2, P3)."""
    period: BySize = never
    """Work between two checkpoints; 0: the state is always saved."""
    cost: float | BySize = 0
    """Time of a checkpoint, all members together."""
    recovery: float | BySize = 0
    """Time to restore a checkpoint."""
    changeover: float = 0
    """Time before a run computes, or recovers, on workers that its job did not hold."""
    group: int = 2
    """Number of members that are each other's buddies, in a ring."""
    fatal: bool = True
    """Whether a state that two buddies have lost is gone. If False, faults never meet, as in
    malleable17, section 6.1."""
    verification: float = 0
    """v: time that the detector takes."""
    verified: bool = False
    """Whether a verification precedes each checkpoint (P4)."""
    copies: int = 1
    """r: largest number of runs at once (P5)."""
    cloning: bool = False
    """Whether a new copy begins from the state of the furthest one (P5)."""
    delay: float = 0
    """Time to fetch a copy's state for cloning without a master."""
    image: float | None = None
    """Channel time of one member's image; None: there is no master."""
    blocking: bool = True
    """Whether a checkpoint takes the run's time; if not, work goes on meanwhile (P8)."""
    slowdown: float = 0
    """Fraction of its rate that work loses while a checkpoint is taken beside it."""
    images_every: int | None = None
    """k: under buddies every k-th checkpoint is also sent to the master (P9); None: none is."""
    image_cost: float = 0
    """Time in which a checkpoint of buddies gets to shared storage without a master."""
    bytes: float | None = None
    """Size of a checkpoint on shared storage, of all members together (S1); None: none is kept
    there."""
    worker_bandwidth: float = math.inf
    """Largest bandwidth between one worker and shared storage, bytes per time unit."""
    on_notice: bool = False
    """Whether a run takes a checkpoint at once when an owner gives notice (O1)."""
    replace_after: float | None = None
    """Time for which a kept member is DOWN before it is replaced (P10); None: it never is."""
    node: int = 1
    """Number of workers in a node; buddies are on different nodes where possible (N1)."""
    period_of: Callable[[Sequence[int]], float] | None = None
    """Returns the work between two checkpoints for given members, in place of `period`, where it
    depends on which of them fail together (N1); None: it does not."""

    @property
    def time_to_store(self) -> float | None:
        """Time in which a checkpoint of buddies gets to the master as well, its second level (P9);
        None if each member sends an image."""
        return self.time_of_images(self.image_cost)

    def time_of_images(self, alone: float) -> float | None:
        """Return the time in which the images of all members get to the master. Without a master it
        is `alone`; with one it is 0 for images of size 0, else None, as each member sends its image
        as a message of its own."""
        if self.image is None:
            return alone
        return None if self.image else 0

    @cached_property
    def described(
        self,
    ) -> tuple[ProtectionKind, float | None, float | None, float | None, bool, int, bool, float]:
        """The fields of the event ProtectionDescribed, in their order, but for the job's name. A
        period, cost or recovery that depends on the number of members, or is infinite, is None.

        They are found once for all jobs that share these rules: there may be a million.
        """
        times = alike(self.period), alike(self.cost), alike(self.recovery)
        return self.kind, *times, self.verified, self.copies, self.cloning, self.delay
