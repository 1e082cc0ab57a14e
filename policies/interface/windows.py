"""Describes windows: spans of time in which their owner has workers DOWN (rules.md, M2)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from math import inf

from attrs import frozen

from policies.maths.tolerance import ROUNDING

Window = tuple[float, float]
"""A span [from, to) of time; `to` may be inf."""


@frozen(eq=False, slots=False)
class Windows:
    """The spans of time in which some workers are DOWN together."""

    spans: tuple[Window, ...]
    """The spans, sorted and disjoint."""

    @classmethod
    def of(cls, windows: Iterable[Window]) -> Windows:
        """Return the spans of time that these windows cover; spans that touch become one."""
        spans: list[Window] = []
        for begin, over in sorted(windows):
            if spans and begin <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(spans[-1][1], over)
            else:
                spans.append((begin, over))
        return cls(tuple(spans))

    @cached_property
    def begins(self) -> list[float]:
        return [begin for begin, _ in self.spans]

    @cached_property
    def ends(self) -> list[float]:
        return [over for _, over in self.spans]

    @property
    def lasts(self) -> bool:
        """Whether none of them is without an end."""
        return not self.spans or self.spans[-1][1] < inf

    def closed(self, start: float, end: float) -> bool:
        """Return whether a window overlaps [start, end). One that ends at `start` or begins at
        `end`, within rounding, does not."""
        before = bisect_left(self.begins, end * (1 - ROUNDING))
        return before > 0 and self.spans[before - 1][1] > start * (1 + ROUNDING)

    def turns(self, now: float) -> bool:
        """Return whether a window begins or ends at this instant."""
        return any(abs(time - now) <= now * ROUNDING for time in (*self.begins, *self.ends))

    def next_from(self, start: float) -> float:
        """Return the time after `start` at which the next window begins; inf if none does."""
        at = bisect_right(self.begins, start)
        return self.begins[at] if at < len(self.begins) else inf

    def last_over(self, start: float) -> float:
        """Return the time of the latest end of a window at `start` or before; -inf if there is
        none."""
        at = bisect_right(self.ends, start * (1 + ROUNDING))
        return self.ends[at - 1] if at else -inf

    def back(self, now: float, otherwise: float) -> float:
        """Return the end of the window that covers `now`, or `otherwise` if none does: when a
        worker that is not UP is expected back."""
        at = bisect_right(self.begins, now) - 1
        return self.spans[at][1] if at >= 0 and now < self.spans[at][1] else otherwise
