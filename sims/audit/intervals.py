"""Sets of worker numbers as intervals, and which workers are free."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from math import inf

from attrs import define, field

Spans = tuple[tuple[int, int], ...]
"""First and last number of each interval, ascending."""


@lru_cache(maxsize=1024)
def spans_of(text: str) -> Spans:
    """Intervals as logs write them, such as `0-3 5`. Raises ValueError for another text."""
    parts = [part.partition("-") for part in text.split(" ")]
    spans = tuple((int(first), int(last) if dash else int(first)) for first, dash, last in parts)
    if written(spans) != text or any(b < a for a, b in spans):
        raise ValueError(text)
    if any(later[0] <= before[1] for before, later in itertools.pairwise(spans)):
        raise ValueError(text)
    return spans


def written(spans: Spans) -> str:
    """As logs write them."""
    return " ".join(f"{a}-{b}" if b > a else str(a) for a, b in spans)


def numbers(spans: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Every one of them."""
    return tuple(n for first, last in spans for n in range(first, last + 1))


def joined(workers: Iterable[int]) -> Spans:
    """These numbers as intervals."""
    spans: list[tuple[int, int]] = []
    for n in sorted(workers):
        if spans and spans[-1][1] == n - 1:
            spans[-1] = spans[-1][0], n
        else:
            spans.append((n, n))
    return tuple(spans)


def extent(spans: Iterable[tuple[int, int]]) -> int:
    """How many workers these are."""
    return sum(last - first + 1 for first, last in spans)


@define(eq=False)
class Free:
    """Workers that are UP and that nobody holds."""

    gaps: list[tuple[int, int]]
    """First and last number of each interval, ascending; they do not touch."""
    count: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.count = extent(self.gaps)

    def _at(self, number: int) -> int:
        return bisect_right(self.gaps, (number, inf)) - 1

    def has(self, first: int, last: int) -> bool:
        """Whether all of these are."""
        at = self._at(first)
        return at >= 0 and self.gaps[at][1] >= last

    def take(self, first: int, last: int) -> bool:
        """They are no more; whether all of them were."""
        at = bisect_right(self.gaps, (first, inf)) - 1
        begin, end = self.gaps[at] if at >= 0 else (0, -1)
        if end < last:
            return False
        if begin == first and end == last:
            del self.gaps[at]
        else:
            left = (begin, first - 1), (last + 1, end)
            self.gaps[at : at + 1] = [(a, b) for a, b in left if a <= b]
        self.count -= last - first + 1
        return True

    def give(self, first: int, last: int) -> None:
        """They are again."""
        self.count += last - first + 1
        at = self._at(first) + 1
        end = at
        if at and self.gaps[at - 1][1] == first - 1:
            at -= 1
            first = self.gaps[at][0]
        if end < len(self.gaps) and self.gaps[end][0] == last + 1:
            last = self.gaps[end][1]
            end += 1
        self.gaps[at:end] = [(first, last)]

    def lowest(self, wanted: int) -> Spans:
        """The lowest numbers (WORLD.md, D2)."""
        taken = list[tuple[int, int]]()
        for first, last in self.gaps:
            if not wanted:
                break
            taken.append((first, min(last, first + wanted - 1)))
            wanted -= taken[-1][1] - first + 1
        return tuple(taken)

    def fewest_gaps(self, wanted: int) -> Spans:
        """Until one gap holds all that is still wanted, the largest gap (the highest of equals);
        then the head of the smallest that does (the lowest of equals)."""
        taken, gaps = list[tuple[int, int]](), sorted(self.gaps, key=_length)
        while gaps and _length(gaps[-1]) < wanted:
            taken.append(gaps.pop())
            wanted -= _length(taken[-1])
        if gaps:
            first = gaps[bisect_left(gaps, wanted, key=_length)][0]
            taken.append((first, first + wanted - 1))
        return tuple(sorted(taken))


def _length(gap: tuple[int, int]) -> int:
    return gap[1] - gap[0] + 1
