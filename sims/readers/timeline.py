"""Represent a worker's availability over time; every trace format is read into a Timeline."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, count, pairwise, repeat, takewhile

from attrs import frozen

from policies.availability import WorkerState
from policies.maths.tolerance import ROUNDING
from sims.errors import InputError

Change = tuple[float, WorkerState]
"""A time and the state that begins at it."""

STATES = {state.value: state for state in WorkerState}
"""Maps the letters u, r and d to the worker states."""
MOST_LAPS = 10_000
"""Largest number of laps of a repetition after which its slots may repeat; `slotted` refuses
more."""


@frozen
class Timeline:
    """The states of one worker, piecewise constant from time 0 in the trace's unit of time.

    A state holds over a half-open interval: from its change on, up to the next change.
    """

    changes: tuple[Change, ...]
    """Pairs (time, state) in order of time, the first at 0; neighbours differ in state."""
    end: float | None = None
    """Time up to which the trace is known, exclusive, or None if the last state lasts for ever."""
    period: float | None = None
    """Length of the part that repeats for ever, or None if nothing repeats."""
    cycle_start: float = 0.0
    """Time at which the repeating part begins; changes before it happen once."""

    @classmethod
    def of(cls, changes: Iterable[Change], end: float | None = None) -> Timeline:
        """Build a timeline from pairs (time, state) in order of time, the first at 0.

        Neighbours may have the same state, and of several states at one time the last holds.
        Changes at `end` or later are left out. Raises ValueError where no change is left.
        """
        merged: list[Change] = []
        for time, state in changes:
            if end is not None and time >= end:
                break
            if merged and merged[-1][0] == time:
                merged.pop()
            if not merged or merged[-1][1] is not state:
                merged.append((time, state))
        if not merged:
            raise ValueError("The timeline ends before anything can be seen of it.")
        return cls(tuple(merged), end)

    @classmethod
    def of_slots(cls, states: Sequence[WorkerState], slot: float = 1.0) -> Timeline:
        """Build a timeline from one state for each slot of length `slot`; it ends with the last
        slot."""
        return cls.of(((k * slot, state) for k, state in enumerate(states)), len(states) * slot)

    def transitions(self) -> Iterator[Change]:
        """Yield every change from time 0 on, in order of time; endless where the changes repeat.

        Times of later laps are computed as multiples of the period after the first lap, never as a
        running sum, so that they do not drift.
        """
        yield from self.changes
        first = bisect_right(self.changes, self.cycle_start, key=lambda change: change[0])
        if self.period is None or first == len(self.changes):
            return
        cycle = ((self.cycle_start, self.changes[first - 1][1]), *self.changes[first:])
        state = self.changes[-1][1]
        for lap in count(1):
            for time, following in cycle:
                if following is not state:
                    yield time + lap * self.period, following
                    state = following

    def clipped(self, until: float) -> Timeline:
        """Return a timeline with the same states that ends at `until` (above 0) at the latest and
        has no repetition."""
        end = until if self.end is None else min(until, self.end)
        return Timeline(tuple(takewhile(lambda change: change[0] < end, self.transitions())), end)

    def repeated(self) -> Timeline:
        """Return a timeline that repeats this one, which has an end, for ever."""
        return Timeline(self.changes, period=self.end)

    def slotted(self, slot: float) -> Timeline:
        """Return a timeline in slots of length `slot`, with the state at the start of each slot.

        A state that begins and ends between two slot starts is lost. A change within 1e-12
        (relative) of a slot's start counts as at this start. A repetition stays exact: its slots
        repeat after a whole number of laps. Raises ValueError where that takes more than 10,000
        laps, and OverflowError where there are more slots than can be counted.
        """
        if self.period is None:
            changes = ((float(_first_slot(time, slot)), state) for time, state in self.changes)
            end = None if self.end is None else float(_first_slot(self.end, slot))
            return Timeline.of(changes, end)
        slots = _slots_per_cycle(self.period / slot)
        start = _first_slot(self.cycle_start, slot)
        # Half a slot beyond the last one asked for, so that no rounding can lose it.
        seen = self.clipped((start + slots - 0.5) * slot).slotted(slot)
        return Timeline(seen.changes, period=float(slots), cycle_start=float(start))

    def unseen(self, slot: float) -> tuple[WorkerState, ...]:
        """Return the states that `slotted` loses, since they begin and end between the starts of
        two slots of length `slot`; of what repeats, those of the first lap."""
        starts = [_first_slot(time, slot) for time, _ in self.changes]
        stays = zip(pairwise(starts), self.changes, strict=False)
        return tuple(state for (a, b), (_, state) in stays if a == b)

    def runs(self) -> tuple[tuple[WorkerState, int], ...]:
        """Return (state, number of slots in a row) of each stay, for slots of length 1 from time 0
        to `end`. Raises ValueError where the timeline has no end."""
        slotted = self.slotted(1.0)
        if slotted.end is None:
            raise ValueError("The timeline goes on for ever: clip it to a time first.")
        changes = (*slotted.changes, (slotted.end, None))
        return tuple((state, int(b - a)) for (a, state), (b, _) in pairwise(changes) if state)

    def slots(self) -> tuple[WorkerState, ...]:
        """Return the state of each slot of length 1 from time 0 to `end`. Raises ValueError where
        the timeline has no end."""
        return tuple(chain.from_iterable(repeat(state, slots) for state, slots in self.runs()))


def _first_slot(time: float, slot: float) -> int:
    """Return the number of the first slot that starts at the time `time` or later, with a tolerance
    for rounding; `slot` is the length of a slot."""
    slots = time / slot
    nearest = round(slots)
    if math.isclose(slots, nearest, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return nearest
    return math.ceil(slots)


def _slots_per_cycle(slots: float) -> int:
    """Return the number of slots after which a repetition of `slots` slots falls on slot starts
    again.

    Raises ValueError where this takes more than `MOST_LAPS` laps.
    """
    ratio = Fraction(slots).limit_denominator(MOST_LAPS)
    if not math.isclose(slots, ratio, rel_tol=ROUNDING):
        raise ValueError(f"A period of {slots} slots does not repeat within {MOST_LAPS} laps.")
    return ratio.numerator


# --- as letters ---------------------------------------------------------------------------------


def read_letters(letters: str, source: str, key: str) -> Timeline:
    """Read states as scenarios write them, such as `uurrdu`, one letter for each slot of length 1.

    The letters are u UP, r RECLAIMED and d DOWN; the timeline ends with them. `source` and `key`
    say where the letters stand. Raises InputError for an empty string and for any other character,
    which it names with its place from 0.
    """
    accepted = "a string of u (UP), r (RECLAIMED) and d (DOWN), one per slot"
    if not letters:
        raise InputError(source, key, "no slot", accepted)
    for slot, letter in enumerate(letters):
        if letter not in STATES:
            raise InputError(source, key, f"{letter!r} for slot {slot} is no state", accepted)
    return Timeline.of_slots([STATES[letter] for letter in letters])
