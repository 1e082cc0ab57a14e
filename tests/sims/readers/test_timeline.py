"""Timelines of availability: states over time, repetition and slots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.timeline import Timeline, read_letters
from tests.sims.readers.lookup import states_at

UP, RECLAIMED, DOWN = WorkerState
STATES = st.lists(st.sampled_from(WorkerState), min_size=1, max_size=40)


def letters(states: Sequence[WorkerState]) -> str:
    return "".join(state.value for state in states)


@st.composite
def repeating(draw: st.DrawFn) -> tuple[Timeline, Callable[[int], WorkerState]]:
    """It, and its state in each slot; whole-numbered times, so that every expected value is
    exact."""
    states = draw(STATES)
    start, spare = draw(st.integers(0, len(states) - 1)), draw(st.integers(0, 5))
    period, padded = len(states) - start + spare, states + [states[-1]] * spare
    changes = Timeline.of_slots(states).changes
    timeline = Timeline(changes, period=float(period), cycle_start=float(start))
    return timeline, lambda k: padded[k if k < start else start + (k - start) % period]


@given(st.text("urd", min_size=1))
def test_letters_come_back_as_one_state_per_slot(text: str) -> None:
    timeline = read_letters(text, "scenario.toml", "key")
    assert letters(timeline.slots()) == text
    assert timeline.end == len(text)
    assert "".join(state.value * slots for state, slots in timeline.runs()) == text


@pytest.mark.parametrize(("text", "problem"), [("", "no slot"), ("uuxd", "'x' for slot 2")])
def test_letters_that_name_no_state_are_refused_with_their_place(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"key: {problem}"):
        read_letters(text, "scenario.toml", "key")


@given(STATES, st.integers(0, 200))
def test_a_repeated_trace_has_the_state_of_the_time_modulo_its_length(
    states: list[WorkerState], slot: int
) -> None:
    [state] = states_at(Timeline.of_slots(states).repeated(), [slot])
    assert state is states[slot % len(states)]


@given(repeating())
def test_transitions_of_a_repetition_are_exactly_where_the_state_changes(
    drawn: tuple[Timeline, Callable[[int], WorkerState]],
) -> None:
    timeline, state = drawn
    assert timeline.clipped(150) == Timeline.of_slots([state(k) for k in range(150)])


def test_a_repetition_in_which_nothing_changes_ends_its_transitions() -> None:
    timeline = Timeline(((0.0, DOWN), (3.0, UP)), period=2.0, cycle_start=4.0)
    assert list(timeline.transitions()) == [(0.0, DOWN), (3.0, UP)]


def test_times_of_a_repetition_do_not_drift() -> None:
    timeline = Timeline(((0.0, UP), (0.05, DOWN)), period=0.1)
    times = [time for time, _ in islice(timeline.transitions(), 2_000_001)]
    assert times[-1] == pytest.approx(100_000.0, rel=1e-15)
    assert all(a < b for a, b in pairwise(times))


@given(repeating(), st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0, 7.0]))
def test_slots_have_the_state_at_their_start_however_long_the_repetition_runs(
    drawn: tuple[Timeline, Callable[[int], WorkerState]], slot: float
) -> None:
    timeline, state = drawn
    found = states_at(timeline.slotted(slot), range(200))
    assert found == [state(int(k * slot)) for k in range(200)]


@given(st.lists(st.tuples(st.floats(0, 100), st.sampled_from(WorkerState))), st.floats(0.1, 9))
def test_slots_of_a_trace_that_ends_have_the_state_at_their_start(
    changes: list[tuple[float, WorkerState]], slot: float
) -> None:
    timeline = Timeline.of([(0.0, UP), *sorted(changes, key=lambda change: change[0])], 101.0)
    states = timeline.slotted(slot).slots()
    assert len(states) == math.ceil(101.0 / slot)
    expected = states_at(timeline, [k * slot for k in range(len(states))])
    for k, (found, state) in enumerate(zip(states, expected, strict=True)):
        near = any(math.isclose(time, k * slot, rel_tol=1e-11) for time, _ in timeline.changes)
        assert near or found is state


def test_a_change_on_a_slot_start_is_seen_there_despite_rounding() -> None:
    timeline = Timeline(((0.0, UP), (2.1, DOWN)), end=3.0)
    assert 2.1 / 0.3 > 7
    assert letters(timeline.slotted(0.3).slots()) == "u" * 7 + "d" * 3


def test_what_is_shorter_than_a_slot_can_go_unseen() -> None:
    timeline = Timeline(((0.0, UP), (1.2, DOWN), (1.8, UP)), end=4.0)
    assert timeline.slotted(1.0) == Timeline(((0.0, UP),), end=4.0)


def test_what_goes_on_for_ever_cannot_be_counted_nor_what_has_no_slot() -> None:
    with pytest.raises(ValueError, match="for ever"):
        Timeline(((0.0, UP),)).runs()
    with pytest.raises(ValueError, match="before anything"):
        Timeline(((0.0, UP),), end=1e-15).slotted(1.0)


def test_slots_that_never_meet_a_repetition_again_are_refused() -> None:
    with pytest.raises(ValueError, match="does not repeat"):
        Timeline(((0.0, UP), (0.5, DOWN)), period=math.pi).slotted(1.0)
