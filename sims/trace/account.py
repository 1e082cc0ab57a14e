"""Where a job's flowtime went: its time in the system, cut into parts that add up to it exactly.

A job's time from its submission to its end is told by the run that completed it from that run's
start on, before that by the run whose state it began from, and so on back. What lies between is
told by the other runs under way, whose computing was lost, else it was downtime while the job kept
processors, else waiting.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, pairwise
from math import inf

import numpy as np
from attrs import define, field, frozen

from sims.history import Run
from sims.telling import in_units

Head = tuple[int, float]
"""The state that a job, or an iteration of it, came to: its run, and what of that run's work is in
it."""
ROUNDING = 1 - 1e-12
"""Work summed in another order differs by so much; a sliver of it is no lost work."""


class Part(enum.Enum):
    """What a job was about, from its submission to its completion; one at a time."""

    WAITING = "waiting"
    """For processors, for its turn, or for the link."""
    TRANSFER = "transfer"
    """A message on its way to or from some worker, while nothing is computed."""
    USEFUL = "useful"
    LOST = "lost"
    """Computation that is not in the state that completed the job."""
    VERIFICATION = "verification"
    CHECKPOINT = "checkpoint"
    DOWNTIME = "downtime"
    """It keeps processors that are not all UP, between two runs."""
    RECOVERY = "recovery"
    REDISTRIBUTION = "redistribution"
    SUSPENDED = "suspended"
    """A run of it stands still: a member is RECLAIMED or DOWN, or at speed 0."""
    UNSETTLED = "unsettled"
    """Computation that a fault could still undo, or a check reject, where the log ends."""


Claim = tuple[float, float, Part]
"""A job may have been about this from then to then."""


@frozen
class Piece:
    """A run was about one thing from `start` on."""

    start: float
    part: Part
    done: float
    """Work done then."""
    rate: float
    """At which it grows."""


@define(eq=False)
class Course:
    """What a run was about when: its pieces in order of time."""

    run: Run
    pieces: list[Piece] = field(init=False, factory=list)
    released: float | None = field(init=False, default=None)
    """When its members were, where its job kept them; None: not yet."""

    def turn(self, now: float, part: Part, done: float, rate: float = 0) -> None:
        """From `now` on the run is about `part`."""
        self.pieces.append(Piece(now, part, done, rate))

    def spans(self, end: float) -> Iterator[tuple[Piece, float]]:
        """Each piece with its end, the last one's being `end`."""
        return zip(self.pieces, [*(it.start for it in self.pieces[1:]), end], strict=True)

    def claims(self, end: float, limit: float, fate: Part) -> Iterator[Claim]:
        """Its time until `end`: what was computed up to the work `limit` met `fate`, and was lost
        beyond."""
        run = self.run
        if run.end is not None:
            end = min(end, run.end)
            limit = inf if limit >= run.done else limit  # whatever its rate was told to be
        for it, until in self.spans(end):
            over = min(until, end)
            if it.part is not Part.USEFUL:
                yield it.start, over, it.part
                continue
            whole = it.done + it.rate * (over - it.start) * ROUNDING <= limit
            at = over if whole else it.start + (limit - it.done) / it.rate
            split = min(max(at, it.start), over)
            yield it.start, split, fate
            yield split, over, Part.LOST


@define
class FlowAccount:
    """Time by part, up to `since`; what is later is not settled yet."""

    spent: dict[Part, Fraction] = field(factory=lambda: dict.fromkeys(Part, Fraction(0)))
    since: float = 0
    """When the present iteration, or the life, began."""
    runs: list[Course] = field(factory=list)
    """Since then, in order of their starts."""

    @property
    def total(self) -> Fraction:
        """Completion minus submission (or the log's end minus submission), exactly."""
        return sum(self.spent.values(), Fraction(0))

    def as_json(self) -> dict[str, object]:
        """The account as data."""
        parts = {part.value: float(time) for part, time in self.spent.items() if time}
        return {"flowtime": float(self.total), "parts": parts}

    def lines(self, unit: str) -> Iterator[str]:
        """The account for people."""
        total = self.total
        yield f"where its {in_units(float(total), unit)} went:"
        for part, time in self.spent.items():
            if time:
                told = in_units(float(time), unit)
                yield f"  {part.value:<16}{told:>22}  {float(time / total):>6.1%}"

    def settle(self, now: float, head: Head | None, fate: Part) -> None:
        """Enter all time until `now`: what was computed and is in `head` met `fate`."""
        known, end = {course.run.number: course for course in self.runs}, now
        led: list[Iterator[Claim]] = []
        while head is not None and head[0] in known:
            course, done = known[head[0]], head[1]
            led.append(course.claims(end, done, fate))
            end, source = course.run.start, course.run.event.source
            head = None if source is None else (source, course.run.event.saved)
        others = [course.claims(now, -inf, fate) for course in self.runs]
        kept = (
            (it.run.end, now if it.released is None else it.released, Part.DOWNTIME)
            for it in self.runs
            if it.run.end is not None and it.run.kept
        )
        waits = (self.since, now, Part.WAITING)
        self._enter([waits, *kept, *chain(*reversed(others)), *chain(*reversed(led))])
        self.since, self.runs = now, []

    def _enter(self, claims: list[Claim]) -> None:
        """Each moment goes to the last claim on it."""
        times = sorted({t for start, end, _ in claims for t in (start, end)})
        owners = np.zeros(len(times) - 1, int)
        for k, (start, end, _) in enumerate(claims):
            owners[bisect_left(times, start) : bisect_left(times, end)] = k
        for (start, end), k in zip(pairwise(times), owners.tolist(), strict=True):
            self.spent[claims[k][2]] += Fraction(end) - Fraction(start)
