"""Sets of worker numbers as intervals."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import sub
from typing import TypeVar, overload

from attrs import define, field

V = TypeVar("V")
Intervals = tuple[tuple[int, int], ...]
"""(first, last) of disjoint, ascending intervals, ends included."""


def text(intervals: Intervals) -> str:
    """Return intervals as logs write them: `0-3 5` for ((0, 3), (5, 5))."""
    return " ".join([str(a) if a == b else f"{a}-{b}" for a, b in intervals])


# A reader of a log needs the same set again and again while a run goes on, and parsing takes a
# microsecond per interval.
@lru_cache(maxsize=2_048)
def spans_in(text: str) -> Intervals:
    """Return the intervals that a log writes as this text: ((0, 3), (5, 5)) for `0-3 5`."""
    parts = (part.partition("-") for part in text.split())
    return tuple((int(first), int(last if dash else first)) for first, dash, last in parts)


def numbers_in(text: str) -> tuple[int, ...]:
    """Return every number, ascending, of the intervals that a log writes as this text: 0, 1, 2, 3,
    5 for `0-3 5`."""
    return members(spans_in(text))


def within(text: str, number: int) -> bool:
    """Return whether the number is in the intervals that a log writes as this text."""
    return any(first <= number <= last for first, last in spans_in(text))


@lru_cache(maxsize=2_048)
def count_in(text: str) -> int:
    """Return how many numbers are in the intervals that a log writes as this text."""
    return size_of(spans_in(text))


def joined(ours: str, theirs: str) -> str:
    """Return the union of two sets of numbers that have none in common. All three are texts as logs
    write them, such as `0-3 5`. Adjoining intervals are not merged."""
    return text(tuple(sorted((*spans_in(ours), *spans_in(theirs)))))


def members(intervals: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return every number of the intervals, ascending."""
    return tuple(chain.from_iterable(range(first, last + 1) for first, last in intervals))


REMEMBERED = 10_000
"""Largest number of exchanges of members that are remembered."""


@define(eq=False)
class Members(Sequence[int]):
    """The numbers of some intervals as an ascending sequence, which are listed only when they are
    needed one by one.

    Most runs need only to know how many there are, and listing 16,384 takes longer than all else
    that a fault costs. The sequence is read only, but not frozen at run time: one is made for each
    fault that a standby makes good, and freezing doubles its cost. For the same reason a set that
    came to be by exchanges has no intervals of its own until somebody asks for them.
    """

    _spans: Intervals
    """Intervals of the set that the first `_made` of the exchanges have made."""
    _exchanges: list[tuple[int, int]] | None = None
    """Exchanges of numbers for others, as pairs (number, other), by which this set was made and
    further sets were made from it; all of these sets share the list. None: there were none."""
    _place: int = 0
    """Number of `_exchanges` by which this set came to be."""
    _size: int = -1
    """Number of the workers; -1 until it is known."""
    _made: int = 0
    _listed: tuple[int, ...] | None = field(init=False, default=None)
    """All numbers of the set, listed; None until they have been asked for."""

    @property
    def intervals(self) -> Intervals:
        """The intervals of these numbers."""
        if self._made < self._place and self._exchanges is not None:
            spans = list(self._spans)
            for number, other in self._exchanges[self._made : self._place]:
                _swap(spans, number, other)
            self._spans, self._made = tuple(spans), self._place
        return self._spans

    def __len__(self) -> int:
        if self._size < 0:
            self._size = size_of(self.intervals)
        return self._size

    def __iter__(self) -> Iterator[int]:
        return iter(self._all())

    def __contains__(self, number: object) -> bool:
        spans = self.intervals
        place = bisect_right(spans, (number, math.inf))
        return place > 0 and number <= spans[place - 1][1]  # type: ignore[operator]

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...

    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        return self._all()[place]

    def exchanged(self, number: int, other: int) -> Members:
        """Return these numbers with `other`, which is none of them, in place of `number`, which is
        one."""
        done, spans, made = self._exchanges, self._spans, self._made
        if done is None:
            done = self._exchanges = []
        elif self._place != len(done) or self._place == REMEMBERED:
            done, spans, made = [], self.intervals, 0
        done.append((number, other))
        return Members(spans, done, len(done), len(self), made)

    def since(self, before: Members) -> Sequence[tuple[int, int]] | None:
        """Return the exchanges (number, other), in order, by which this set came to be from the set
        `before`; None if that is not known."""
        if self is before:
            return ()
        done = self._exchanges
        if done is None or done is not before._exchanges or self._place < before._place:
            return None
        return done[before._place : self._place]

    def _all(self) -> tuple[int, ...]:
        if self._listed is None:
            self._listed = members(self.intervals)
        return self._listed


def without(intervals: Intervals, gone: Iterable[int]) -> Intervals:
    """Return the intervals without the numbers in `gone`; a number that is in none of them changes
    nothing.

    The time grows with the number of numbers to leave out, and hardly with that of intervals.
    """
    spans = list(intervals)
    for number in gone:
        k = bisect_right(spans, (number, math.inf)) - 1
        if k >= 0 and number <= spans[k][1]:
            _cut(spans, k, number)
    return tuple(spans)


def _cut(spans: list[tuple[int, int]], place: int, number: int) -> None:
    """Leave `number` out of the interval at this place, which has it."""
    first, last = spans[place]
    if first < number < last:
        spans[place] = first, number - 1
        spans.insert(place + 1, (number + 1, last))
    elif first < number:
        spans[place] = first, number - 1
    elif number < last:
        spans[place] = number + 1, last
    else:
        del spans[place]


def merged(ours: Iterable[tuple[int, int]], theirs: Iterable[tuple[int, int]]) -> Intervals:
    """Return the union of two sets of intervals that have no number in common, with adjoining
    intervals united. `theirs` may hold the intervals of several sets, in any order."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted((*ours, *theirs)):
        if spans and spans[-1][1] == first - 1:
            spans[-1] = spans[-1][0], last
        else:
            spans.append((first, last))
    return tuple(spans)


def added(intervals: Intervals, number: int) -> Intervals:
    """Return the intervals with `number`, which must be in none of them, added; adjoining intervals
    become one."""
    k = bisect_right(intervals, (number, math.inf))
    first = last = number
    begin, end = k, k
    if k and intervals[k - 1][1] == number - 1:
        begin, first = k - 1, intervals[k - 1][0]
    if k < len(intervals) and intervals[k][0] == number + 1:
        end, last = k + 1, intervals[k][1]
    return (*intervals[:begin], (first, last), *intervals[end:])


def swapped(intervals: Intervals, number: int, other: int) -> Intervals:
    """Return the intervals with `other`, which must be in none of them, in place of `number`, which
    must be in one; adjoining intervals become one."""
    spans = list(intervals)
    _swap(spans, number, other)
    return tuple(spans)


def _swap(spans: list[tuple[int, int]], number: int, other: int) -> None:
    """Put `other` in the place of `number` in the intervals `spans`, as `swapped` does."""
    _cut(spans, bisect_right(spans, (number, math.inf)) - 1, number)
    first = last = other
    begin = end = bisect_right(spans, (other, math.inf))
    if begin and spans[begin - 1][1] == other - 1:
        begin -= 1
        first = spans[begin][0]
    if end < len(spans) and spans[end][0] == other + 1:
        last = spans[end][1]
        end += 1
    spans[begin:end] = ((first, last),)


def among(intervals: Intervals, numbers: Iterable[int]) -> list[int]:
    """Return those of these numbers that are in the intervals, ascending."""
    starts, found = [first for first, _ in intervals], []
    for number in sorted(numbers):
        k = bisect_right(starts, number) - 1
        if k >= 0 and number <= intervals[k][1]:
            found.append(number)
    return found


def covers(these: Intervals, those: Intervals) -> bool:
    """Return whether each number of `those` is one of `these`. Adjoining intervals of `these` must
    have been united: an interval of `those` has to lie within one of `these`."""
    for first, last in those:
        k = bisect_right(these, (first, math.inf)) - 1
        if k < 0 or last > these[k][1]:
            return False
    return True


def intervals_of(numbers: Iterable[int]) -> Intervals:
    """Return ascending, non-negative numbers as intervals; consecutive numbers are one interval."""
    spans: list[tuple[int, int]] = []
    first = last = -2
    for number in numbers:
        if number != last + 1:
            if last >= 0:
                spans.append((first, last))
            first = number
        last = number
    if last >= 0:
        spans.append((first, last))
    return tuple(spans)


def grouped(values: Sequence[V]) -> tuple[tuple[str, V], ...]:
    """Return a pair (numbers, value) for each different item of `values`, in the order of their
    first positions. `numbers` has the positions of the value in the sequence, as logs write numbers
    (`0-3 5`). Values must be hashable."""
    having: defaultdict[V, list[int]] = defaultdict(list)
    for number, value in enumerate(values):
        having[value].append(number)
    return tuple((text(intervals_of(numbers)), value) for value, numbers in having.items())


def spread(groups: Iterable[tuple[str, V]], count: int) -> tuple[V, ...]:
    """Return the value of each number from 0 to `count` - 1, in that order, from pairs (numbers,
    value) such as `grouped` returns. Raises LookupError where a number is in no pair."""
    found = {number: value for numbers, value in groups for number in numbers_in(numbers)}
    return tuple(found[number] for number in range(count))


def meet(ours: Intervals, theirs: Intervals) -> bool:
    """Return whether two sets of intervals have a number in common."""
    for a, b in ours:
        for c, d in theirs:
            if a <= d and c <= b:
                return True
    return False


def common(ours: Intervals, theirs: Intervals) -> Intervals:
    """Return the numbers that are in both sets of intervals, as intervals."""
    found, at = [], 0
    for first, last in ours:
        while at < len(theirs) and theirs[at][1] < first:
            at += 1
        k = at
        while k < len(theirs) and theirs[k][0] <= last:
            found.append((max(first, theirs[k][0]), min(last, theirs[k][1])))
            k += 1
    return tuple(found)


def size_of(intervals: Iterable[tuple[int, int]]) -> int:
    """Return how many numbers are in the intervals."""
    return sum([last - first + 1 for first, last in intervals])


@define
class Numbers:
    """Keeps the numbers of the free processors as ascending, disjoint, non-touching intervals.

    `procset` offers the same sets; an allocation and its release take it 25 microseconds on a pool
    of 20 intervals and this class 2.
    """

    processors: int
    """Number of processors, P."""
    _starts: list[int] = field(init=False)
    _ends: list[int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._starts, self._ends = [0], [self.processors - 1]

    @classmethod
    def of(cls, intervals: Intervals) -> Numbers:
        """Return the free numbers of these intervals, which are ascending, disjoint and do not
        touch."""
        made = cls(0)
        made._starts = [first for first, _ in intervals]
        made._ends = [last for _, last in intervals]
        return made

    def take(self, count: int, former: Intervals = ()) -> Intervals:
        """Remove `count` free numbers and return them: those of `former` if they are that many and
        all free, else numbers from as few gaps as possible. The caller makes sure that there are
        enough.

        While no gap holds all that is still wanted, the largest is taken whole (the highest of
        equals); then the smallest that holds the rest (the lowest of equals) gives its lowest
        numbers. With the lowest numbers of all, 10^3 processors of 10^4 are 36 intervals on
        average, this way 7; and it is intervals that cost.
        """
        if former and size_of(former) == count and self.has(former):
            self.remove(former)
            return former
        return self._fewest(count)

    def lowest(self, count: int) -> Intervals:
        """Remove the `count` lowest free numbers and return them. The caller makes sure that there
        are enough."""
        starts, ends, whole, size, first = self._starts, self._ends, 0, 0, 0
        for first, last in zip(starts, ends, strict=True):
            size = last - first + 1
            if size >= count:
                break
            count -= size
            whole += 1
        taken = (*zip(starts[:whole], ends[:whole], strict=True), (first, first + count - 1))
        if count == size:
            whole += 1
        else:
            starts[whole] = first + count
        if whole:
            del starts[:whole], ends[:whole]
        return taken

    def release(self, taken: Intervals) -> None:
        """Make these numbers free again."""
        starts, ends = self._starts, self._ends
        for first, last in taken:
            i = bisect_left(starts, first)
            follows = i > 0 and ends[i - 1] == first - 1
            if i < len(starts) and starts[i] == last + 1:
                if follows:
                    ends[i - 1] = ends[i]
                    del starts[i], ends[i]
                else:
                    starts[i] = first
            elif follows:
                ends[i - 1] = last
            else:
                starts.insert(i, first)
                ends.insert(i, last)

    def intervals(self) -> Intervals:
        """Return the numbers of the free processors."""
        return tuple(zip(self._starts, self._ends, strict=True))

    def _fewest(self, count: int) -> Intervals:
        starts, ends = self._starts, self._ends
        lengths = list(map(sub, ends, starts))  # each is one less than the gap's size
        by_size = sorted(range(len(starts)), key=lengths.__getitem__)
        whole = len(by_size)
        while (longest := lengths[by_size[whole - 1]] + 1) < count:
            count -= longest
            whole -= 1
        last = by_size[bisect_left(by_size, count - 1, 0, whole, key=lengths.__getitem__)]
        head = starts[last], starts[last] + count - 1
        emptied = by_size[whole:]
        taken = [head, *[(starts[i], ends[i]) for i in emptied]]
        starts[last] += count
        if starts[last] > ends[last]:
            emptied.append(last)
        for i in sorted(emptied, reverse=True):
            del starts[i], ends[i]
        return tuple(sorted(taken))

    def has(self, wanted: Sequence[tuple[int, int]]) -> bool:
        """Return whether all numbers of the intervals `wanted` are free."""
        for first, last in wanted:
            i = bisect_right(self._starts, first) - 1
            if i < 0 or self._ends[i] < last:
                return False
        return True

    def remove(self, wanted: Intervals) -> None:
        """Remove these numbers, all of which are free, from the free ones."""
        # Where possible an end of a gap is moved, which takes half as long as replacing a slice.
        starts, ends = self._starts, self._ends
        for first, last in wanted:
            i = bisect_right(starts, first) - 1
            start, end = starts[i], ends[i]
            if start < first:
                ends[i] = first - 1
                if last < end:
                    starts.insert(i + 1, last + 1)
                    ends.insert(i + 1, end)
            elif last < end:
                starts[i] = last + 1
            else:
                del starts[i], ends[i]
