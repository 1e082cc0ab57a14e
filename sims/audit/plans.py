"""Finds out whether a policy may have planned the jobs of a queue as a log says: one after the
other, each at the earliest place that the jobs planned before it leave (rigid21, algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

from attrs import define, frozen

from sims.audit.law import ROUNDING, same

MOST_SETS = 400
"""Largest number of sets of planned jobs that are tried; a log for which more would be needed
counts as correct."""
NEAR = ROUNDING / 4
"""Part of a time by which a claim may begin or end earlier or later, because of rounding."""
Changes = list[tuple[float, int]]
"""Pairs of a time and the number of workers that become free then; negative where workers are
taken."""


@frozen
class Claim:
    """Workers that a plan gives to a job from a time on, for a time that is known within bounds."""

    size: int
    start: float
    least: float
    """Shortest time for which the job may be believed to hold them."""
    most: float
    """Longest time for which the job may be believed to hold them; inf where the log does not imply
    one."""
    ready: int = 0
    """Further workers that the job has taken, if it starts now; they are no part of the plan."""
    again: bool = False
    """Whether this is one more copy of a job that runs: it starts after all that was planned."""


def earliest(now: float, free: int, changes: Changes, size: int, held: float) -> float:
    """Return the earliest time, from `now` on, from which `size` workers stay free for the time
    `held`; inf if there is none.

    `free` workers are free now, and `changes` has pairs (time, number of workers that become free
    then, negative where they are taken), in any order.
    """
    found = now if free >= size else inf
    for time, more in sorted((max(time, now), more) for time, more in changes):
        if time >= found + held and time > found:
            return found
        free += more
        if free < size:
            found = inf
        elif found == inf:
            found = time
    return found


@define
class FreeProfile:
    """Profile of the free workers from now on, within two bounds, as the log implies of each change
    only the earliest and the latest time."""

    now: float
    free: int
    """Number of workers that are free now."""
    frees: Sequence[tuple[float, float, int]]
    """Earliest and latest time at which so many workers are believed to become free."""

    firm: Sequence[Claim] = ()
    """Reservations that are kept whatever is planned."""

    def place(
        self, claim: Claim, started: Sequence[Claim] = (), promised: Iterable[Claim] = ()
    ) -> tuple[float, float, int]:
        """Return (earliest start, latest start, number of workers free now) of a claim that is
        planned after the claims `started`, which start now, and `promised`, which have
        reservations."""
        free = self.free - sum(it.size + it.ready for it in started)
        soon: Changes = [(first, size) for first, _, size in self.frees]
        late: Changes = [(last, size) for _, last, size in self.frees]
        for it in started:
            size = it.size + it.ready
            soon.append((it.start + it.least, size))
            late.append((it.start + it.most, size))
        for it in (*self.firm, *promised):
            begin = it.start * (1 + NEAR)
            soon += (begin, -it.size), (max((it.start + it.least) * (1 - NEAR), begin), it.size)
            late.append((it.start * (1 - NEAR), -it.size))
            late.append(((it.start + it.most) * (1 + NEAR), it.size))
        shortest, longest = claim.least * (1 - ROUNDING), claim.most * (1 + ROUNDING)
        first = earliest(self.now, free, soon, claim.size, shortest)
        return first, earliest(self.now, free, late, claim.size, longest), free

    def allows(self, starts: Sequence[Claim], promised: Mapping[str, Claim], most: float) -> bool:
        """Return whether a policy that plans one job after the other, each at the earliest place
        left, may have planned so: `starts` at once, in this order among each other, and the others
        as `promised`, in any order. The last of these must be planned as one of the first `most`
        jobs.

        If more than `MOST_SETS` sets of planned jobs would have to be tried, the result is true.
        """
        begun = 0, frozenset(promised)
        tried, seen = [begun], {begun}
        while tried:
            if len(seen) > MOST_SETS:
                return True
            at, left = tried.pop()
            if at == len(starts) and not left:
                return True
            planned = starts[:at], [it for name, it in promised.items() if name not in left]
            after = []
            if at < len(starts) and self._starts(starts[at], *planned):
                after.append((at + 1, left))
            if at + len(promised) - len(left) < most:
                due = (it for it in promised if it in left and self._waits(promised[it], *planned))
                after += [(at, left - {name}) for name in due]
            tried += [it for it in after if it not in seen]
            seen.update(after)
        return False

    def _starts(self, claim: Claim, *planned: Sequence[Claim]) -> bool:
        """Return whether a job that starts at once can be planned so after `planned`: (claims that
        start, claims that are promised)."""
        if claim.again:
            return True
        first, _, free = self.place(claim, *planned)
        return free >= claim.size and first <= self.now

    def _waits(self, claim: Claim, *planned: Sequence[Claim]) -> bool:
        """Return whether a job that waits can be planned at its claim's start after `planned`:
        (claims that start, claims that are promised)."""
        first, last, free = self.place(claim, *planned)
        if last <= self.now and free >= claim.size:
            return False  # a job that fits now does not wait
        start = max(claim.start, self.now)
        return (first <= start or same(first, start)) and (start <= last or same(start, last))
