"""Where a job's flowtime went: its time in the system, cut into parts that add up to it exactly.

A job's time from its submission to its end is told by the run that completed it from that run's
start on, before that by the run whose state it began from, and so on back. What lies between is
told by the other runs under way, whose computing was lost, else it was downtime while the job kept
processors, else waiting.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from fractions import Fraction
from math import inf

from attrs import define, field, frozen

from sims.history import Run
from sims.telling import in_units

Gap = tuple[float, float]
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

    def turn(self, now: float, part: Part, done: float, rate: float = 0) -> None:
        """From `now` on the run is about `part`."""
        self.pieces.append(Piece(now, part, done, rate))

    def spans(self, end: float) -> Iterator[tuple[Piece, float]]:
        """Each piece with its end, the last one's being `end`."""
        return zip(self.pieces, [*(it.start for it in self.pieces[1:]), end], strict=True)


@define
class FlowAccount:
    """Time by part, up to `since`; what is later is not settled yet."""

    spent: dict[Part, Fraction] = field(factory=lambda: dict.fromkeys(Part, Fraction(0)))
    since: float = 0
    """When the present iteration, or the life, began."""
    runs: list[Course] = field(factory=list)
    """Since then, in order of their starts."""
    kept: list[Gap] = field(factory=list)
    """When the job kept processors between two of them."""

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
        while head is not None and head[0] in known:
            course, done = known[head[0]], head[1]
            run = course.run
            over = min(_end(run), end)
            self._fill(over, end)
            self._spend(course, run.start, over, done, fate)
            end, source = run.start, run.event.source
            head = None if source is None else (source, run.event.saved)
        self._fill(self.since, end)
        self.since, self.runs, self.kept = now, [], []

    def _fill(self, start: float, end: float) -> None:
        """Enter [start, end), in which no run that led to the state was under way."""
        for course in self.runs:
            first, last = max(course.run.start, start), min(_end(course.run), end)
            if last > first:
                self._idle(start, first)
                self._spend(course, first, last, inf, Part.LOST)
                start = last
        self._idle(start, end)

    def _idle(self, start: float, end: float) -> None:
        for since, until in sorted(self.kept):
            first, last = max(since, start), min(until, end)
            if last > first:
                self._add(Part.WAITING, start, first)
                self._add(Part.DOWNTIME, first, last)
                start = last
        self._add(Part.WAITING, start, end)

    def _spend(self, course: Course, start: float, end: float, kept: float, fate: Part) -> None:
        """Enter what a run did in [start, end): what was computed up to the work `kept` met
        `fate`, and was lost beyond."""
        if course.run.end is not None and kept >= course.run.done:
            kept = inf  # whatever its rate was told to be
        for piece, over in course.spans(end):
            first, last = max(piece.start, start), min(over, end)
            if last <= first:
                continue
            if piece.part is not Part.USEFUL:
                self._add(piece.part, first, last)
                continue
            split = min(max(_reached(piece, over, kept), first), last)
            self._add(fate, first, split)
            self._add(Part.LOST, split, last)

    def _add(self, part: Part, start: float, end: float) -> None:
        self.spent[part] += Fraction(end) - Fraction(start)


def _end(run: Run) -> float:
    return inf if run.end is None else run.end


def _reached(piece: Piece, over: float, kept: float) -> float:
    """When the work `kept` was done, if it was within this piece."""
    if piece.done + piece.rate * (over - piece.start) * ROUNDING <= kept:
        return over
    return piece.start + (kept - piece.done) / piece.rate
