"""Measure how long the runs of a search take, and end the search in the time that there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf

from attrs import define, field

USED = 0.9
"""Part of the time that a search uses: to start and to draw a picture takes time, too."""
BATCHES = 40
"""Batches, one after the other, into which the time is divided at least."""
LEAST = 2
"""Smallest number of runs that a point needs before the search judges it."""


class OutOfTime(Exception):
    """Raised where a search has no time for what it would run next."""


@define
class Pace:
    """Knows how long runs take on average, and how many of them fit into the time that is left."""

    within: float = inf
    """Seconds of real time in which the search has to end."""
    reserved: int = 0
    """Runs of the answer, whose time is kept for them."""
    ran: int = 0
    """Runs whose time is known."""
    spent: float = 0.0
    """Seconds of real time that these runs took, several at a time."""
    out: bool = False
    """Whether no further runs of the search fit."""
    answering: bool = False
    """Whether the runs are those of the answer, which are not cut short."""
    _end: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._end = time.monotonic() + USED * self.within

    @property
    def each(self) -> float:
        """Seconds of real time that a run takes, as far as known; 0 before the first one."""
        return self.spent / self.ran if self.ran else 0.0

    @contextmanager
    def timing(self, ran: Callable[[], int]) -> Iterator[None]:
        """Return a context that notes how long it took, for as many runs as `ran` then returns."""
        begun = time.monotonic()
        yield
        if runs := ran():  # what was known takes time that says nothing of runs
            self.note(runs, time.monotonic() - begun)

    def note(self, runs: int, seconds: float) -> None:
        """Note that so many runs took this time."""
        self.ran, self.spent = self.ran + runs, self.spent + seconds

    def longest(self, usual: float) -> float:
        """Return how long a batch of runs should take at most, seconds: `usual`, or a small part of
        the time that there is, as a batch is not cut short."""
        return min(usual, self.within / BATCHES)

    def fitting(self) -> float:
        """Return how many runs of the search fit into the time that is left, beside those of the
        answer."""
        left = self._end - time.monotonic()
        return max(left / self.each - self.reserved, 0) if self.each else inf

    def check(self) -> None:
        """Raise OutOfTime where the time that is left is needed for the answer."""
        if not self.answering and self.within < inf and not self.fitting():
            self.out = True
            raise OutOfTime

    def affordable(self, had: Sequence[int], count: int) -> int:
        """Return how many runs points can have that already have `had` runs each: `count`, or as
        many as fit into the time that is left.

        Raises OutOfTime where no more runs of each, or fewer than LEAST, fit.
        """
        fitting = self.fitting()
        if _lacking(had, count) <= fitting:
            return count
        self.out = True
        found = max((it for it in range(count) if _lacking(had, it) <= fitting), default=0)
        if found < LEAST or not _lacking(had, found):
            raise OutOfTime
        return found

    def answered(self, runs: int) -> int:
        """Begin with the answer, and return how many of these runs of it fit, at least LEAST."""
        self.answering = True
        if self.within == inf or not self.each:
            return runs
        left = self._end - time.monotonic()
        return max(min(runs, int(left / self.each)), min(LEAST, runs))


def _lacking(had: Sequence[int], count: int) -> int:
    return sum(max(count - it, 0) for it in had)
