"""Checks that no job waited while it fitted the free workers, under policies that start every job
that fits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

from attrs import Factory, define

from sims.audit.law import allowed
from sims.audit.limits import LimitChecks, Names


@define(eq=False)
class Unused:
    """Workers that were free after decisions, as no further waiting job fitted them."""

    limits: LimitChecks
    after: dict[Names, list[tuple[int, float]]] = Factory(dict)
    """Instants after whose decisions no further waiting job fitted, by the limits that jobs have:
    sequence number, and number of free workers that these limits leave to them.

    Only instants that later ones do not exceed are kept, so that both columns are sorted.
    """

    def decided(self, seq: int, count: int, waiting: Collection[Names]) -> None:
        """Note that `count` workers are free after the decisions before the line numbered `seq`,
        while jobs with these limits wait."""
        for names in waiting:
            unused = self.after.setdefault(names, [])
            usable = min(count, self.limits.room(names)[0])
            while unused and unused[-1][1] <= usable:
                unused.pop()
            unused.append((seq, usable))

    def check(self, names: Names, width: int, since: int, most: int) -> None:
        """Check that a job with these limits, which has waited since the event numbered `since` and
        starts on `width` workers, did not fit before. `most` is the number of all workers."""
        unused = self.after.get(names, [])
        at = bisect_right(unused, (since, most))
        were = unused[at][1] if at < len(unused) else 0
        allowed(width > were, f"it fits {were} workers, and waited while so many were free")

    def forget(self) -> None:
        """Forget all instants, because it is not known which workers a job could have had."""
        self.after.clear()
