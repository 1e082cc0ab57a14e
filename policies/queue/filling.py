"""Reservations for many jobs in a row, fast where many jobs have the same size.

A log's queue is long where somebody submitted hundreds of equal jobs: UniLu-Gaia-2014-2 on half of
its machine has 440 jobs waiting at a decision, of 18 kinds, in 83 runs of twins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from attrs import define, field

from policies.queue.free_profile import FreeProfile

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
    """Makes reservations in a profile of free processors, job by job."""

    free_profile: FreeProfile
    _since: dict[Kind, float] = field(factory=dict)
    """No job of this kind fits earlier: there is never more room than there was."""

    def reserve(self, kind: Kind, now: int, later: int) -> tuple[int, int]:
        """Room for one of this kind at the first step from which there is some, and for as many
        more as fit beside it; at most so many now, or later: (step, how many)."""
        free_profile, (processors, held) = self.free_profile, kind
        step, room = free_profile.earliest(processors, held, self._since.get(kind))
        self._since[kind] = free_profile.times[step]
        count = min(later if step else now, room // processors)
        free_profile.take(step, count * processors, held)
        return step, count

    def squeeze(self, kind: Kind, most: int) -> int:
        """Room now for as many of this kind as fit, `most` at most: how many."""
        processors, held = kind
        count = min(most, self.free_profile.room(0, held) // processors)
        if count:
            self.free_profile.take(0, count * processors, held)
        return count


@define(eq=False)
class Horizon:
    """The last place of the queue from which a job could start now: behind it, reservations that
    are not kept need not be made."""

    free_profile: FreeProfile
    _last: dict[Kind, int]
    """Kinds that fit now -> the last place of one."""
    end: int = 0
    _rest: int = 0
    """So many calls later it is looked up again: looking must not cost more than it saves."""

    @classmethod
    def of(cls, free_profile: FreeProfile, kinds: Sequence[Kind]) -> Horizon:
        """Of all the queue."""
        horizon = cls(free_profile, {kind: at for at, kind in enumerate(kinds)})
        horizon.review()
        return horizon

    def review(self) -> None:
        """Reservations have been made."""
        self._rest -= 1
        if self._rest >= 0:
            return
        times, lowest = self.free_profile.times, self.free_profile.lowest()
        now, free = times[0], lowest[0]
        self._last = {
            (processors, held): at
            for (processors, held), at in self._last.items()
            if processors <= free and processors <= lowest[bisect_left(times, now + held, 1) - 1]
        }
        self.end = max(self._last.values(), default=-1) + 1
        self._rest = 4 + len(self._last) // 8
