"""Where a job's flowtime went: its time in the system, cut into parts that add up to it exactly.

A job's time from its submission to its end belongs to the run that completed it from that run's
start on, before that to the run whose state it began from, and so on back. What lies between
belongs to the other runs under way, whose computing was lost or redundant, else to the processors
that the job kept between two runs, else the job was pending. The words are the ledger's.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import inf

import numpy as np
from attrs import define, field, frozen

from policies.availability import WorkerState
from sims.history import Run
from sims.ledger import AWAY, Use
from sims.ledger.spans import unless_useful
from sims.telling import in_units

Head = tuple[int, float]
"""The state that a job, or an iteration of it, came to: its run, and what of that run's work is in
it."""
ROUNDING = 1 - 1e-12
"""Work summed in another order differs by so much; a sliver of it is no lost work."""


class Part(enum.Enum):
    """What a job was about, from its submission to its completion; one at a time. A word that the
    ledger has too means the same here, of the whole job: the first that fits any of its members."""

    PENDING = "pending"
    """It holds no processors, which is no time of the ledger."""
    USEFUL = Use.USEFUL.value
    LOST = Use.LOST.value
    CHECKPOINT = Use.CHECKPOINT.value
    RECOVERY = Use.RECOVERY.value
    REDISTRIBUTION = Use.REDISTRIBUTION.value
    TRANSFER = Use.TRANSFER.value
    """A message is on its way to or from some worker, while its run does nothing else."""
    WAITING = Use.WAITING.value
    """Its run stands still, or it keeps processors between two runs: for the link, without speed,
    or until a fault is detected; all members are UP."""
    REDUNDANT = Use.REDUNDANT.value
    VERIFICATION = Use.VERIFICATION.value
    RECLAIMED = Use.RECLAIMED.value
    """Its run stands still, or it keeps processors between two runs: a member is RECLAIMED."""
    DOWN = Use.DOWN.value
    """The same, and a member is DOWN."""
    UNSETTLED = "unsettled"
    """Computation that a fault could still undo, or a check reject, where the log ends."""


HELD_UP = {state: Part(use.value) for state, use in AWAY.items()}
"""What a member that is away keeps its job from, the worst first. Read only."""


def held_up(away: Collection[WorkerState]) -> Part:
    """Why a job stands still whose members are in these states, those that are UP left out."""
    return next((part for state, part in HELD_UP.items() if state in away), Part.WAITING)


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


def _spans(pieces: Sequence[Piece], end: float) -> Iterator[tuple[Piece, float]]:
    return zip(pieces, [*(it.start for it in pieces[1:]), end], strict=False)


@define(eq=False)
class Course:
    """What a run was about when: its pieces in order of time."""

    run: Run
    pieces: list[Piece] = field(init=False, factory=list)
    waits: list[Piece] = field(init=False, factory=list)
    """What kept its job from its next run, while that kept its members."""
    released: float | None = field(init=False, default=None)
    """When its members were, where its job kept them; None: not yet."""

    def turn(self, now: float, part: Part, done: float, rate: float = 0) -> None:
        """From `now` on the run is about `part`."""
        self.pieces.append(Piece(now, part, done, rate))

    def spans(self, end: float) -> Iterator[tuple[Piece, float]]:
        """Each piece with its end, the last one's being `end`."""
        return _spans(self.pieces, end)

    def keeping(self, end: float) -> Iterator[Claim]:
        """The time until `end` for which its job kept its members."""
        end = end if self.released is None else self.released
        for it, until in _spans(self.waits, end):
            if it.start < end:
                yield it.start, min(until, end), it.part

    def claims(self, end: float, limit: float, fate: Part) -> Iterator[Claim]:
        """Its time until `end`: what was computed up to the work `limit` met `fate`, and was lost
        or redundant beyond."""
        run = self.run
        beyond = Part(unless_useful(run).value)
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
            yield split, over, beyond


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
        kept = [course.keeping(now) for course in self.runs]
        waits = (self.since, now, Part.PENDING)
        self._enter([waits, *chain(*kept), *chain(*reversed(others)), *chain(*reversed(led))])
        self.since, self.runs = now, []

    def _enter(self, claims: list[Claim]) -> None:
        """Each moment goes to the last claim on it."""
        times = sorted({t for start, end, _ in claims for t in (start, end)})
        owners = np.zeros(len(times) - 1, int)
        for k, (start, end, _) in enumerate(claims):
            owners[bisect_left(times, start) : bisect_left(times, end)] = k
        for (start, end), k in zip(pairwise(times), owners.tolist(), strict=True):
            self.spent[claims[k][2]] += Fraction(end) - Fraction(start)
