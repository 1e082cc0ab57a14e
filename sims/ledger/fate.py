"""What a job's runs computed for: known when the job (the iteration) is completed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from attrs import define, field

from sims.ledger.slices import Slice, Use
from sims.ledger.spans import RunSpan

NONE = -math.inf
"""Limit of work done up to which computing was useful: none of it was."""


@define(eq=False)
class Fate:
    """The runs of one job (of its iteration) that may still matter."""

    runs: dict[int, RunSpan] = field(init=False, factory=dict)
    over: list[RunSpan] = field(init=False, factory=list)
    """Those that have ended and were not looked at since, in that order."""
    completed: RunSpan | None = field(init=False, default=None)
    """The run that completes it."""
    kept: RunSpan | None = field(init=False, default=None)
    """Of the cancelled runs whose states outlive them the furthest, and of equals the last."""

    def keep(self, span: RunSpan) -> None:
        """The state of this run, which is cancelled, outlives it if it is the furthest."""
        before = self.kept
        if before is None or span.done >= before.done:
            self.kept = span
            if before is not None:
                self.over.insert(0, before)

    def settle(self) -> Iterator[Slice]:
        """All that the completing run computed is useful; what the run that it began from computed
        up to that state; and so on back."""
        limits: dict[int, float] = {}
        span, limit = self.completed, math.inf
        while span is not None and span.number not in limits:
            limits[span.number], limit = limit, span.saved
            span = self._source(span)
        for span in self.runs.values():
            yield from span.told(limits.get(span.number, NONE), span.otherwise)

    def give_up(self, now: float) -> Iterator[Slice]:
        """The job is killed now: no other copy was ahead of a run that this ended."""
        for span in self.runs.values():
            yield from span.told(NONE, Use.LOST if span.ended == now else span.otherwise)

    def close(self) -> Iterator[Slice]:
        """The log ends: what is saved or under way is lost."""
        if self.completed is not None:
            yield from self.settle()
        for span in self.runs.values():
            held = span.outcome is None or span.followers or span.safe
            yield from span.told(NONE, Use.LOST if held else span.otherwise)

    def forget(self, now: float) -> Iterator[Slice]:
        """Tell of runs that ended before `now`, and that nothing can go on from any more."""
        if not self.over or self.over[0].ended == now:
            return
        over = [span for span in self.over if span.ended < now]
        del self.over[: len(over)]
        while over:
            span = over.pop()
            if span.followers or span.safe or span in (self.completed, self.kept):
                continue
            if self.runs.pop(span.number, None) is None:
                continue
            yield from span.told(NONE, span.otherwise)
            source = self._source(span)
            if source is not None:
                source.followers -= 1
                if source.outcome is not None:
                    over.append(source)

    def _source(self, span: RunSpan) -> RunSpan | None:
        """The run that it began from."""
        return None if span.source is None else self.runs.get(span.source)
