"""Who holds which workers: intervals, not a worker each."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from sims.audit.facts import Copy
    from sims.ledger.slices import Range

ROUNDING = 1e-9


@define(eq=False)
class Holders:
    """Copies by the workers that they hold, whole or a share each."""

    firsts: list[int] = field(factory=list)
    lasts: list[int] = field(factory=list)
    copies: list[Copy] = field(factory=list)
    """Of each interval that is held whole."""
    shared: defaultdict[int, dict[Copy, float]] = field(factory=lambda: defaultdict(dict))
    """Worker -> share of each copy that has one."""

    def on(self, worker: int) -> Iterator[Copy]:
        """Whoever holds it."""
        place = bisect_right(self.firsts, worker) - 1
        if place >= 0 and worker <= self.lasts[place]:
            yield self.copies[place]
        if worker in self.shared:
            yield from tuple(self.shared[worker])

    def within(self, first: int, last: int) -> Copy | None:
        """A copy that holds one of these whole."""
        place = bisect_right(self.firsts, last) - 1
        return self.copies[place] if place >= 0 and self.lasts[place] >= first else None

    def take(self, spans: tuple[Range, ...], copy: Copy) -> None:
        """Free intervals are held whole from now on."""
        for first, last in spans:
            place = bisect_right(self.firsts, first)
            self.firsts.insert(place, first)
            self.lasts.insert(place, last)
            self.copies.insert(place, copy)

    def give(self, copy: Copy) -> list[Range]:
        """What `copy` holds whole is free again; it is returned."""
        free = []
        for first, last in copy.spans:
            place = bisect_right(self.firsts, first) - 1
            if place >= 0 and self.copies[place] is copy and self.firsts[place] == first:
                del self.firsts[place], self.lasts[place], self.copies[place]
                free.append((first, last))
        return free

    def share(self, worker: int, copy: Copy) -> float:
        """`copy` has its share of this worker; the sum of all."""
        shares = self.shared[worker]
        shares[copy] = copy.share
        return sum(shares.values())

    def unshare(self, copy: Copy) -> None:
        """`copy` leaves the workers that it had shares of."""
        for worker in copy.members:
            if self.shared.get(worker, {}).pop(copy, None) is not None and not self.shared[worker]:
                del self.shared[worker]
