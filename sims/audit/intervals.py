"""Sets of worker numbers as intervals, and which workers are free."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from operator import lt, sub

from attrs import define, field

Spans = tuple[int, ...]
"""First number of each interval and the one after its last, ascending. To add workers to such a
set, or to take some away, is the symmetric difference: hundreds of intervals cost little."""


@lru_cache(maxsize=1 << 14)
def _span_of(text: str) -> Spans:
    first, _, last = text.partition("-")
    span = int(first), int(last or first) + 1
    if written(span) != text:
        raise ValueError(text)
    return span


@lru_cache(maxsize=1024)
def spans_of(text: str) -> Spans:
    """Intervals as logs write them, such as `0-3 5`. Raises ValueError for another text."""
    spans = tuple(chain.from_iterable(map(_span_of, text.split(" "))))
    if not all(map(lt, spans, spans[1:])):
        raise ValueError(text)
    return spans


def written(spans: Spans) -> str:
    """As logs write them."""
    each = zip(spans[::2], spans[1::2], strict=True)
    return " ".join(f"{first}-{end - 1}" if end > first + 1 else str(first) for first, end in each)


def numbers(spans: Spans) -> tuple[int, ...]:
    """Every one of them."""
    return tuple(chain.from_iterable(map(range, spans[::2], spans[1::2])))


def joined(workers: Iterable[int]) -> Spans:
    """These numbers as intervals."""
    each = set(workers)
    return tuple(sorted(each ^ {n + 1 for n in each}))


def extent(spans: Sequence[int]) -> int:
    """How many workers these are."""
    return sum(spans[1::2]) - sum(spans[::2])


def meet(one: Spans, other: Spans) -> bool:
    """Whether a worker is in both."""
    return extent(sorted({*one} ^ {*other})) < extent(one) + extent(other)


@define(eq=False)
class Free:
    """Workers that are UP and that nobody holds."""

    bounds: set[int]
    """Of `spans`."""
    count: int = field(init=False)
    _spans: Spans | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.count = extent(self.spans)

    @property
    def spans(self) -> Spans:
        """Who they are."""
        if self._spans is None:
            self._spans = tuple(sorted(self.bounds))
        return self._spans

    def has(self, spans: Spans) -> bool:
        """Whether all of these are."""
        return extent(sorted(self.bounds ^ {*spans})) == self.count - extent(spans)

    def take(self, spans: Spans) -> bool:
        """They are no more; whether all of them were."""
        left = self.count - extent(spans)
        self.give(spans)
        self.count = left
        return extent(self.spans) == left

    def give(self, spans: Spans) -> None:
        """They are again."""
        self._spans = None
        self.bounds.symmetric_difference_update(spans)
        self.count += extent(spans)

    def lowest(self, wanted: int) -> Spans:
        """The lowest numbers, or all if there are fewer (WORLD.md, D2)."""
        if wanted >= self.count:
            return self.spans
        sizes = list(accumulate(self._sizes()))
        whole = bisect_left(sizes, wanted)
        end = self.spans[2 * whole + 1] - (sizes[whole] - wanted)
        return (*self.spans[: 2 * whole + 1], end) if wanted else ()

    def _sizes(self) -> Iterable[int]:
        return map(sub, self.spans[1::2], self.spans[::2])

    def fewest_gaps(self, wanted: int) -> Spans:
        """Until one gap holds all that is still wanted, the largest gap (the highest of equals);
        then the head of the smallest that does (the lowest of equals)."""
        taken = list[int]()
        gaps = sorted(zip(self._sizes(), self.spans[::2], strict=True))
        while gaps and gaps[-1][0] < wanted:
            size, first = gaps.pop()
            taken += first, first + size
            wanted -= size
        if gaps and wanted:
            first = gaps[bisect_left(gaps, (wanted, 0))][1]
            taken += first, first + wanted
        return tuple(sorted(taken))
