"""Describes the windows of maintenance, in which owners take workers DOWN, and which everybody
knows from the start (rules.md, M2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from attrs import field, frozen

from policies.maths.tolerance import ROUNDING

Window = tuple[float, float]
"""A span [from, to) of time; `to` may be inf."""
Group = tuple[Window, ...]
"""Windows that some workers share, sorted."""


def closed(group: Group, start: float, end: float) -> bool:
    """Return whether one of these windows of maintenance overlaps [start, end): it covers `start`,
    or begins after `start` and before `end`. A window that ends at `start` or begins at `end`,
    within rounding, does not."""
    first, last = start * (1 + ROUNDING), end * (1 - ROUNDING)
    return any(begin < last and over > first for begin, over in group)


@frozen(eq=False)
class Maintenance:
    """The windows of maintenance of all workers. Workers with the same windows form one group, and
    groups are numbered from 0."""

    groups: tuple[Group, ...]
    group_of: Sequence[int]
    """Number of the group of each worker, by worker, spares excluded."""
    sizes: tuple[int, ...] = field(init=False)
    """Number of workers of each group."""

    def __attrs_post_init__(self) -> None:
        counts = [0] * len(self.groups)
        for group in self.group_of:
            counts[group] += 1
        object.__setattr__(self, "sizes", tuple(counts))

    @classmethod
    def of(cls, windows: Sequence[Sequence[Window]]) -> Maintenance:
        """Build it from the windows of each worker: windows[q] has those of worker q, in any
        order."""
        known: dict[Group, int] = {}
        own = [known.setdefault(tuple(sorted(them)), len(known)) for them in windows]
        return cls(tuple(known), own)

    def left(self, now: float) -> bool:
        """Return whether any window of any worker is under way at `now` or still to come."""
        return any(over > now for group in self.groups for _, over in group)

    def never_fits(self, processors: int, held: float) -> bool:
        """Return whether no start at any time would let a job hold `processors` workers for `held`
        time units without a window on one of them: `held` is infinite, or fewer workers than that
        are without a window that never ends. Such a job then starts as if there were no windows."""
        pairs = zip(self.groups, self.sizes, strict=True)
        lasting = sum(size for group, size in pairs if not any(over == inf for _, over in group))
        return held == inf or processors > lasting

    def open_to(self, processors: int, held: float, start: float) -> list[bool]:
        """Return, for each group of workers (those with the same windows), whether a job that
        starts at `start` and holds its workers for `held` time units may use the group's: no window
        overlaps that time.

        All groups are open to a job of more `processors` than can ever be had for so long
        (`never_fits`).
        """
        if self.never_fits(processors, held):
            return [True] * len(self.groups)
        return [not closed(group, start, start + held) for group in self.groups]

    def next_from(self, workers: Iterable[int], start: float) -> float:
        """Return the first time after `start` at which a window takes one of these workers DOWN;
        inf if none does. Spares, whose numbers come after all others, have no windows."""
        groups = {self.group_of[worker] for worker in workers if worker < len(self.group_of)}
        times = (begin for group in groups for begin, _ in self.groups[group] if begin > start)
        return min(times, default=inf)

    def back(self, worker: int, now: float, otherwise: float) -> float:
        """Return the time at which a worker that is not UP is expected back: the end of its window
        that covers `now`, the latest end if several do, else `otherwise`."""
        group = self.groups[self.group_of[worker]]
        return max((over for begin, over in group if begin <= now < over), default=otherwise)
