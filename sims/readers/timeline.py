"""A worker's availability over time: what every trace format is read into."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, count, pairwise, repeat, takewhile

from attrs import frozen

from policies.availability import WorkerState
from sims.errors import InputError

Change = tuple[float, WorkerState]

STATES = {state.value: state for state in WorkerState}
"""By their letters."""
MOST_LAPS = 10_000
"""Laps of a repetition that `slotted` is willing to unroll before the slots repeat too."""


@frozen
class Timeline:
    """The states of one worker, piecewise constant from time 0 in the trace's unit of time.

    A state holds over a half-open interval: from its change on, up to the next change.
    """

    changes: tuple[Change, ...]
    """(time, state) in time order, the first at 0; neighbours differ in state."""
    end: float | None = None
    """The trace is known up to here, exclusive; None: for ever (the last state lasts)."""
    period: float | None = None
    """Length of the part that repeats for ever; None: nothing repeats."""
    cycle_start: float = 0.0
    """Where the repeating part begins; what comes before it happens once."""

    @classmethod
    def of(cls, changes: Iterable[Change], end: float | None = None) -> Timeline:
        """From (time, state) in time order, the first at 0, where neighbours may repeat a state: of
        several at one time the last holds. What comes at the end or later is left out. Raises
        ValueError where nothing is left."""
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
        """From one state per slot of length `slot`, known as far as they go."""
        return cls.of(((k * slot, state) for k, state in enumerate(states)), len(states) * slot)

    def transitions(self) -> Iterator[Change]:
        """Every change from time 0 on, in time order; endless where the changes repeat.

        Times of later laps are multiples of the period away from the first, never a running
        sum, so that they do not drift.
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
        """The same states, known up to `until` at most (above 0), without repetition."""
        end = until if self.end is None else min(until, self.end)
        return Timeline(tuple(takewhile(lambda change: change[0] < end, self.transitions())), end)

    def repeated(self) -> Timeline:
        """The whole trace, which ends, repeats for ever."""
        return Timeline(self.changes, period=self.end)

    def slotted(self, slot: float) -> Timeline:
        """The same worker in slots of length `slot`: the state at the start of each slot.

        What begins and ends between two slot starts is not seen. A change within 1e-12
        (relative) of a slot's start counts as at it. A repetition stays exact: its slots repeat
        after a whole number of laps. Raises ValueError where that takes more than 10,000 laps, and
        OverflowError where there are more slots than can be counted.
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

    def runs(self) -> tuple[tuple[WorkerState, int], ...]:
        """(state, slots in a row), slots of length 1, from 0 to `end`; ValueError without one."""
        slotted = self.slotted(1.0)
        if slotted.end is None:
            raise ValueError("The timeline goes on for ever: clip it to a time first.")
        changes = (*slotted.changes, (slotted.end, None))
        return tuple((state, int(b - a)) for (a, state), (b, _) in pairwise(changes) if state)

    def slots(self) -> tuple[WorkerState, ...]:
        """The state of each slot of length 1, from 0 to `end`; ValueError without one."""
        return tuple(chain.from_iterable(repeat(state, slots) for state, slots in self.runs()))


def _first_slot(time: float, slot: float) -> int:
    """The first slot that starts at `time` or later."""
    slots = time / slot
    nearest = round(slots)
    if math.isclose(slots, nearest, rel_tol=1e-12, abs_tol=1e-12):
        return nearest
    return math.ceil(slots)


def _slots_per_cycle(slots: float) -> int:
    """Slots until a repetition of `slots` slots falls on slot starts again."""
    ratio = Fraction(slots).limit_denominator(MOST_LAPS)
    if not math.isclose(slots, ratio, rel_tol=1e-12):
        raise ValueError(f"A period of {slots} slots does not repeat within {MOST_LAPS} laps.")
    return ratio.numerator


# --- as letters ---------------------------------------------------------------------------------


def read_letters(letters: str, source: str, key: str) -> Timeline:
    """`uurrdu`, as scenarios write it: one state per slot of length 1 (u UP, r RECLAIMED, d DOWN),
    known as far as it goes.

    `source` and `key` say where the letters stand. Raises InputError for no letter at all and
    for any other character, which it names with its place (from 0).
    """
    accepted = "a string of u (UP), r (RECLAIMED) and d (DOWN), one per slot"
    if not letters:
        raise InputError(source, key, "no slot", accepted)
    for slot, letter in enumerate(letters):
        if letter not in STATES:
            raise InputError(source, key, f"{letter!r} for slot {slot} is no state", accepted)
    return Timeline.of_slots([STATES[letter] for letter in letters])
