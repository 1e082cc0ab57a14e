"""Reservations for many jobs one after the other: what their likeness saves.

A log's queue is long where somebody submitted hundreds of equal jobs: UniLu-Gaia-2014-2 on half of
its machine has 440 jobs waiting at a decision, of 18 kinds, in 83 runs of twins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from attrs import define, field

from policies.queue.outlook import Outlook

Kind = tuple[int, float]
"""(processors, held): what a reservation depends on."""


def run_of_twins(kinds: Sequence[Kind], first: int, limit: int) -> int:
    """The end, at most `limit`, of the run of jobs of one kind that begins at `first`."""
    kind, end = kinds[first], first + 1
    while end < limit and kinds[end] == kind:
        end += 1
    return end


@define(eq=False)
class Filling:
    """Fills an outlook, job by job."""

    outlook: Outlook
    _since: dict[Kind, float] = field(factory=dict)
    """No job of this kind fits earlier: there is never more room than there was."""

    def reserve(self, kind: Kind, now: int, later: int) -> tuple[int, int]:
        """Room for one of this kind at the first step from which there is some, and for as many
        more as fit beside it; at most so many now, or later: (step, how many)."""
        outlook, (processors, held) = self.outlook, kind
        step, room = outlook.earliest(processors, held, self._since.get(kind))
        self._since[kind] = outlook.times[step]
        count = min(later if step else now, room // processors)
        outlook.take(step, count * processors, held)
        return step, count

    def squeeze(self, kind: Kind, most: int) -> int:
        """Room now for as many of this kind as fit, `most` at most: how many."""
        processors, held = kind
        count = min(most, self.outlook.room(0, held) // processors)
        if count:
            self.outlook.take(0, count * processors, held)
        return count


@define(eq=False)
class Horizon:
    """Up to which place of the queue somebody could start now: reservations that are forgotten
    need not be made behind it."""

    outlook: Outlook
    _last: dict[Kind, int]
    """Kinds that fit now -> the last place of one."""
    end: int = 0
    _rest: int = 0
    """So many calls later it is looked up again: looking must not cost more than it saves."""

    @classmethod
    def of(cls, outlook: Outlook, kinds: Sequence[Kind]) -> Horizon:
        """Of all the queue."""
        horizon = cls(outlook, {kind: at for at, kind in enumerate(kinds)})
        horizon.review()
        return horizon

    def review(self) -> None:
        """Reservations have been made."""
        self._rest -= 1
        if self._rest >= 0:
            return
        times, lowest = self.outlook.times, self.outlook.lowest()
        now, free = times[0], lowest[0]
        self._last = {
            (processors, held): at
            for (processors, held), at in self._last.items()
            if processors <= free and processors <= lowest[bisect_left(times, now + held, 1) - 1]
        }
        self.end = max(self._last.values(), default=-1) + 1
        self._rest = 4 + len(self._last) // 8
