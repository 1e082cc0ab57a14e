"""Accounts for a job's flowtime: cuts the job's time in the system into parts that sum to it
exactly.

A job's time from its submission to its end belongs to the run that completed it from that run's
start on, before that to the run whose state the completing run began from, and so on back. Time
that this chain of runs leaves over belongs to the job's other runs under way, whose computation was
lost or redundant; else to the processors that the job kept between two runs; else the job was
pending. The names of the parts are the ledger's.
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
from policies.maths.tolerance import ROUNDING
from sims.history.lineages import unless_useful, useful_until
from sims.history.reader import Run
from sims.history.rows import AWAY, Use
from sims.telling import in_units

Head = tuple[int, float]
"""A saved state of a job or of one of its iterations: the number of the run that computed it, and
the amount of that run's work that it contains."""


class Part(enum.Enum):
    """A use of a job's time between its submission and its completion; exactly one applies at any
    time.

    A name that the ledger has too means the same here, applied to the job as a whole. Where the
    members of a run that stands still differ, the worst of their states decides: DOWN before
    RECLAIMED before UP.
    """

    PENDING = "pending"
    """The job holds no processors; the ledger has no such time."""
    USEFUL = Use.USEFUL.value
    LOST = Use.LOST.value
    CHECKPOINT = Use.CHECKPOINT.value
    STARTUP = Use.STARTUP.value
    RECOVERY = Use.RECOVERY.value
    REDISTRIBUTION = Use.REDISTRIBUTION.value
    TRANSFER = Use.TRANSFER.value
    """A message to or from at least one worker is on its way while the run does nothing else."""
    WAITING = Use.WAITING.value
    """The run makes no progress, or the job keeps processors between two runs, although all members
    are UP: it waits for the link, for a speed above 0, or for the detection of a fault."""
    REDUNDANT = Use.REDUNDANT.value
    VERIFICATION = Use.VERIFICATION.value
    RECLAIMED = Use.RECLAIMED.value
    """The run makes no progress, or the job keeps processors between two runs, because a member is
    RECLAIMED."""
    DOWN = Use.DOWN.value
    """The run makes no progress, or the job keeps processors between two runs, because a member is
    DOWN."""
    UNSETTLED = "unsettled"
    """Computation that a fault could still undo, or a verification reject, where the log ends."""


HELD_UP = {state: Part(use.value) for state, use in AWAY.items()}
"""Maps the state of an absent member to the part of the job's time that it causes, the worst state
first. Read only."""


def held_up(away: Collection[WorkerState]) -> Part:
    """Return the part that explains why a job makes no progress.

    `away` has the states of those members that are not UP. The worst one decides; if there is none,
    the job waits.
    """
    return next((part for state, part in HELD_UP.items() if state in away), Part.WAITING)


Claim = tuple[float, float, Part]
"""Start, end and part of an interval that a job may have spent so; a later claim overrides an
earlier one."""


@frozen
class Piece:
    """A piece of a run in which its part and its rate stay the same. It lasts from `start` to the
    start of the next piece."""

    start: float
    part: Part
    done: float
    """Work done at `start`."""
    rate: float
    """Work done per unit of time from `start` on."""


def _spans(pieces: Sequence[Piece], end: float) -> Iterator[tuple[Piece, float]]:
    return zip(pieces, [*(it.start for it in pieces[1:]), end], strict=False)


@define(eq=False)
class Course:
    """The course of one run: its pieces in order of time, and the time for which the job kept its
    members."""

    run: Run
    pieces: list[Piece] = field(init=False, factory=list)
    waits: list[Piece] = field(init=False, factory=list)
    """Pieces after the run's end, which say why the job's next run could not start on the kept
    members."""
    released: float | None = field(init=False, default=None)
    """Time at which the job released the members that it had kept after the run's end; None before
    that."""

    def turn(self, now: float, part: Part, done: float, rate: float = 0) -> None:
        """Start a new piece of the run at time `now`: it is spent on `part`, with `done` work done
        before it and `rate` work per time unit in it."""
        self.pieces.append(Piece(now, part, done, rate))

    def spans(self, end: float) -> Iterator[tuple[Piece, float]]:
        """Yield each piece with its end; the last piece ends at `end`."""
        return _spans(self.pieces, end)

    def keeping(self, end: float) -> Iterator[Claim]:
        """Yield what the job's time was spent on while it kept the members of this run after the
        run's end, as claims (start, end, part); `end` is the time at which the account is made
        up."""
        end = end if self.released is None else self.released
        for it, until in _spans(self.waits, end):
            if it.start < end:
                yield it.start, min(until, end), it.part

    def claims(self, end: float, limit: float, fate: Part) -> Iterator[Claim]:
        """Yield what the run's time up to `end`, or to its own end if that is earlier, was spent
        on, as claims (start, end, part).

        The first `limit` of the work that it computed belongs to the part `fate`, such as useful
        work. Computation beyond that was lost, or redundant if the run was cancelled.
        """
        run = self.run
        beyond = Part(unless_useful(run).value)
        if run.end is not None:
            end = min(end, run.end)
            # All of the run's work counts, whatever rates the log gave: rounding must leave no
            # sliver.
            limit = inf if limit >= run.done else limit
        for it, until in self.spans(end):
            over = min(until, end)
            if it.part is not Part.USEFUL:
                yield it.start, over, it.part
                continue
            # Work summed in another order may differ: such a sliver does not count as lost.
            whole = it.done + it.rate * (over - it.start) * (1 - ROUNDING) <= limit
            at = over if whole else it.start + (limit - it.done) / it.rate
            split = min(max(at, it.start), over)
            yield it.start, split, fate
            yield split, over, beyond


@define
class FlowAccount:
    """Account of a job's flowtime: the time that it has spent on each part. It is exact up to the
    time `since`; `settle` enters later time."""

    spent: dict[Part, Fraction] = field(factory=lambda: dict.fromkeys(Part, Fraction(0)))
    since: float = 0
    """When the present iteration, or the job's life, began."""
    runs: list[Course] = field(factory=list)
    """Courses of the runs that started since `since`, in order of their starts."""

    @property
    def total(self) -> Fraction:
        """Flowtime: completion (or the log's end) minus submission, as an exact sum."""
        return sum(self.spent.values(), Fraction(0))

    def as_json(self) -> dict[str, object]:
        """Return the flowtime and its parts above 0 as plain data for JSON."""
        parts = {part.value: float(time) for part, time in self.spent.items() if time}
        return {"flowtime": float(self.total), "parts": parts}

    def lines(self, unit: str) -> Iterator[str]:
        """Yield the account as text, one line for each part above 0."""
        total = self.total
        yield f"where its {in_units(float(total), unit)} went:"
        for part, time in self.spent.items():
            if time:
                text = in_units(float(time), unit)
                yield f"  {part.value:<16}{text:>22}  {float(time / total):>6.1%}"

    def settle(self, now: float, head: Head | None, fate: Part) -> None:
        """Enter all time from `since` to `now` into the account.

        Computation that the state `head` contains belongs to `fate`, such as useful work; all other
        computation was lost or redundant. None for `head` means that no state survives.
        """
        known, end = {course.run.number: course for course in self.runs}, now
        runs = {number: course.run for number, course in known.items()}
        useful = {} if head is None else useful_until(*head, runs)
        led: list[Iterator[Claim]] = []
        for number, done in useful.items():
            led.append(known[number].claims(end, done, fate))
            # Before its start, the job's time belongs to the run whose saved state this run began
            # from.
            end = known[number].run.start
        others = [course.claims(now, -inf, fate) for course in self.runs]
        kept = [course.keeping(now) for course in self.runs]
        # Claims go from weak to strong: pending, kept processors, other runs (an earlier one wins
        # over a later one), and at last the chain of runs that leads to `head` (a later one wins).
        waits = (self.since, now, Part.PENDING)
        self._enter([waits, *chain(*kept), *chain(*reversed(others)), *chain(*reversed(led))])
        self.since, self.runs = now, []

    def _enter(self, claims: list[Claim]) -> None:
        """Add each moment between the first start and the last end to the time of one part: that of
        the last claim in the list that covers the moment."""
        times = sorted({t for start, end, _ in claims for t in (start, end)})
        owners = np.zeros(len(times) - 1, int)
        for k, (start, end, _) in enumerate(claims):
            owners[bisect_left(times, start) : bisect_left(times, end)] = k
        for (start, end), k in zip(pairwise(times), owners.tolist(), strict=True):
            self.spent[claims[k][2]] += Fraction(end) - Fraction(start)
