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

    A state holds over a half-open interval: from its change on, up to the next change. Raises
    ValueError where the parts contradict each other.
    """

    changes: tuple[Change, ...]
    """(time, state) in time order, the first at 0; neighbours differ in state."""
    end: float | None = None
    """The trace is known up to here, exclusive; None: for ever (the last state lasts)."""
    period: float | None = None
    """Length of the part that repeats for ever; None: nothing repeats."""
    cycle_start: float = 0.0
    """Where the repeating part begins; what comes before it happens once."""

    def __attrs_post_init__(self) -> None:
        _check_changes(self.changes)
        _check_repetition(self)

    @classmethod
    def of(cls, changes: Iterable[Change], end: float | None = None) -> Timeline:
        """From (time, state) in time order, where neighbours may repeat a state: of several at
        one time the last holds."""
        return cls(_merged(changes), end)

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
        cycle = self._cycle()
        if self.period is None or len(cycle) == 1:
            return
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
        """The whole trace repeats for ever; ValueError where it has no end."""
        if self.end is None:
            raise ValueError("Only a timeline that ends can be repeated.")
        return Timeline(self.changes, period=self.end)

    def slotted(self, slot: float) -> Timeline:
        """The same worker in slots of length `slot`: the state at the start of each slot.

        What begins and ends between two slot starts is not seen. A change within 1e-12
        (relative) of a slot's start counts as at it. A repetition stays exact: its slots repeat
        after a whole number of laps. Raises ValueError where that takes more than 10,000 laps;
        `clipped` first, then.
        """
        if not 0 < slot < math.inf:
            raise ValueError(f"A slot lasts longer than 0, not {slot}.")
        if self.period is not None:
            return self._slotted_cycle(slot, _slots_per_cycle(self.period / slot))
        changes = _merged((float(_first_slot(time, slot)), state) for time, state in self.changes)
        if self.end is None:
            return Timeline(changes)
        end = float(_first_slot(self.end, slot))
        return Timeline(tuple(change for change in changes if change[0] < end), end)

    def runs(self) -> tuple[tuple[WorkerState, int], ...]:
        """(state, slots in a row), slots of length 1, from 0 to `end`; ValueError without one."""
        slotted = self.slotted(1.0)
        if slotted.end is None:
            raise ValueError("The timeline goes on for ever: clip it to a time first.")
        times = chain((time for time, _ in slotted.changes), (slotted.end,))
        states = (state for _, state in slotted.changes)
        return tuple((s, int(b - a)) for s, (a, b) in zip(states, pairwise(times), strict=True))

    def slots(self) -> tuple[WorkerState, ...]:
        """The state of each slot of length 1, from 0 to `end`; ValueError without one."""
        return tuple(chain.from_iterable(repeat(state, slots) for state, slots in self.runs()))

    def _cycle(self) -> tuple[Change, ...]:
        """The changes of the repeating part, its first state placed at its very start."""
        first = bisect_right(self.changes, self.cycle_start, key=lambda change: change[0])
        return ((self.cycle_start, self.changes[first - 1][1]), *self.changes[first:])

    def _slotted_cycle(self, slot: float, slots: int) -> Timeline:
        start = _first_slot(self.cycle_start, slot)
        # Half a slot beyond the last one asked for, so that no rounding can lose it.
        seen = self.clipped((start + slots - 0.5) * slot).slotted(slot)
        return Timeline(seen.changes, period=float(slots), cycle_start=float(start))


def _check_changes(changes: tuple[Change, ...]) -> None:
    if not changes or changes[0][0] != 0:
        raise ValueError("A timeline's first state begins at time 0.")
    for (earlier, before), (later, after) in pairwise(changes):
        if not earlier < later < math.inf:
            raise ValueError(f"A timeline's changes are in time order: {later} after {earlier}.")
        if before is after:
            raise ValueError(f"A timeline changes state at each change, not at {later}.")


def _check_repetition(timeline: Timeline) -> None:
    last, end, period = timeline.changes[-1][0], timeline.end, timeline.period
    if end is not None and (period is not None or not last < end < math.inf):
        raise ValueError(f"A timeline ends after its last change ({last}) or repeats, not {end}.")
    if period is None:
        return
    if not 0 < period < math.inf or not 0 <= timeline.cycle_start < math.inf:
        raise ValueError(f"A period is above 0 and finite, not {period}.")
    if last >= timeline.cycle_start + period:
        raise ValueError(f"A period of {period} ends before the last change, at {last}.")


def _merged(changes: Iterable[Change]) -> tuple[Change, ...]:
    merged: list[Change] = []
    for time, state in changes:
        if merged and merged[-1][0] == time:
            merged.pop()
        if not merged or merged[-1][1] is not state:
            merged.append((time, state))
    return tuple(merged)


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
