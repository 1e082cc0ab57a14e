"""Who holds which workers: intervals, not a worker each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from sims.audit.facts import LoggedCopy
    from sims.ledger.slices import Range

ROUNDING = 1e-9


@define(eq=False)
class CopyHolders:
    """Copies by the workers that they hold, whole or a share each."""

    firsts: list[int] = field(factory=list)
    """Of each interval that is held whole, ascending."""
    whole: dict[int, tuple[int, LoggedCopy]] = field(factory=dict)
    """By these: the interval's last worker, and who holds it."""
    shared: defaultdict[int, dict[LoggedCopy, float]] = field(factory=lambda: defaultdict(dict))
    """Worker -> share of each copy that has one."""

    def on(self, worker: int) -> Iterator[LoggedCopy]:
        """Whoever holds it."""
        holder = self.within(worker, worker)
        if holder is not None:
            yield holder
        if worker in self.shared:
            yield from tuple(self.shared[worker])

    def within(self, first: int, last: int) -> LoggedCopy | None:
        """A copy that holds one of these whole."""
        place = bisect_right(self.firsts, last) - 1
        if place < 0:
            return None
        end, copy = self.whole[self.firsts[place]]
        return copy if end >= first else None

    def take(self, spans: tuple[Range, ...], copy: LoggedCopy) -> None:
        """Free intervals are held whole from now on."""
        for first, last in spans:
            insort(self.firsts, first)
            self.whole[first] = last, copy

    def give(self, copy: LoggedCopy) -> list[Range]:
        """What `copy` holds whole is free again; it is returned."""
        free, whole = [], self.whole
        for span in copy.spans:
            first = span[0]
            if first in whole and whole[first][1] is copy:
                del whole[first], self.firsts[bisect_left(self.firsts, first)]
                free.append(span)
        return free

    def share(self, worker: int, copy: LoggedCopy) -> float:
        """`copy` has its share of this worker; the sum of all."""
        shares = self.shared[worker]
        shares[copy] = copy.share
        return sum(shares.values())

    def unshare(self, copy: LoggedCopy) -> None:
        """`copy` leaves the workers that it had shares of."""
        for worker in copy.members:
            if self.shared.get(worker, {}).pop(copy, None) is not None and not self.shared[worker]:
                del self.shared[worker]
