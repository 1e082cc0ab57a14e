"""Sets of worker numbers as intervals, and which workers are free."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache

from attrs import define, field

Spans = tuple[tuple[int, int], ...]
"""First and last number of each interval, ascending."""


@lru_cache(maxsize=16_384)
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


def numbers(spans: Spans) -> tuple[int, ...]:
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


def extent(spans: Spans) -> int:
    """How many workers these are."""
    return sum(last - first + 1 for first, last in spans)


@define(eq=False)
class Free:
    """Workers that are UP and that nobody holds: gaps that do not touch."""

    firsts: list[int]
    lasts: list[int]
    count: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.count = sum(b - a + 1 for a, b in zip(self.firsts, self.lasts, strict=True))

    @property
    def spans(self) -> Spans:
        """The gaps."""
        return tuple(zip(self.firsts, self.lasts, strict=True))

    def below(self, limit: int) -> Free:
        """Those with lower numbers."""
        kept = [(a, min(b, limit - 1)) for a, b in self.spans if a < limit]
        return Free([a for a, _ in kept], [b for _, b in kept])

    def has(self, first: int, last: int) -> bool:
        """Whether all of these are."""
        at = bisect_right(self.firsts, first) - 1
        return at >= 0 and self.lasts[at] >= last

    def take(self, first: int, last: int) -> None:
        """They are no more."""
        firsts, lasts = self.firsts, self.lasts
        at = bisect_right(firsts, first) - 1
        self.count -= last - first + 1
        begin, end = firsts[at], lasts[at]
        if begin == first:
            if end == last:
                del firsts[at], lasts[at]
            else:
                firsts[at] = last + 1
        else:
            lasts[at] = first - 1
            if end > last:
                firsts.insert(at + 1, last + 1)
                lasts.insert(at + 1, end)

    def give(self, first: int, last: int) -> None:
        """They are again."""
        self.count += last - first + 1
        at = bisect_left(self.firsts, first)
        end = at
        if at and self.lasts[at - 1] == first - 1:
            at -= 1
            first = self.firsts[at]
        if end < len(self.firsts) and self.firsts[end] == last + 1:
            last = self.lasts[end]
            end += 1
        self.firsts[at:end] = [first]
        self.lasts[at:end] = [last]

    def lowest(self, wanted: int) -> Spans:
        """The lowest numbers (WORLD.md, D2)."""
        taken = list[tuple[int, int]]()
        for first, last in zip(self.firsts, self.lasts, strict=True):
            if not wanted:
                break
            taken.append((first, min(last, first + wanted - 1)))
            wanted -= taken[-1][1] - first + 1
        return tuple(taken)

    def fewest_gaps(self, wanted: int) -> Spans:
        """Until one gap holds all that is still wanted, the largest gap (the highest of equals);
        then the head of the smallest that does (the lowest of equals)."""
        gaps = list(zip(self.firsts, self.lasts, strict=True))
        gaps.sort(key=lambda gap: gap[1] - gap[0])
        taken = list[tuple[int, int]]()
        while gaps and gaps[-1][1] - gaps[-1][0] + 1 < wanted:
            taken.append(gaps.pop())
            wanted -= taken[-1][1] - taken[-1][0] + 1
        if gaps:
            at = bisect_left(gaps, wanted - 1, key=lambda gap: gap[1] - gap[0])
            taken.append((gaps[at][0], gaps[at][0] + wanted - 1))
        return tuple(sorted(taken))
