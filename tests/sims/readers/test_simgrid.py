"""SimGrid state profiles, held against SimGrid's own way of playing them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.availability import WorkerState
from sims.readers.states import ProfileStates
from sims.readers.timeline import Change, Timeline
from sims.readers.traces import read_simgrid_profile
from tests.sims.readers.lookup import state_at

UP, RECLAIMED, DOWN = WorkerState
EVENTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=8)


def played(events: list[tuple[int, int]], loop_after: int | None, horizon: int) -> list[Change]:
    """The profile as SimGrid plays it: each event waits for the difference of its date to the
    one before; a loop puts its delay before the first event of every lap."""
    pauses = [b[0] - a[0] for a, b in zip([(0, 0), *events], events, strict=False)]
    time, changes = 0, [(0.0, UP)]
    while time <= horizon:
        for pause, (_, value) in zip(pauses, events, strict=True):
            time += pause
            changes.append((float(time), UP if value else DOWN))
        if loop_after is None:
            break
        time += loop_after
    return changes


def write(path: Path, events: list[tuple[int, int]], loop: str = "") -> Path:
    path.write_text("".join(f"{date} {value}\n" for date, value in events) + loop)
    return path


@given(EVENTS, st.integers(0, 6))
@settings(deadline=None)
def test_a_loop_plays_as_in_simgrid(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, int]], delay: int
) -> None:
    events = sorted(events, key=lambda event: event[0])
    if events[-1][0] + delay == 0:
        delay = 1
    folder = tmp_path_factory.getbasetemp()
    timeline = read_simgrid_profile(write(folder / "p", events, f"LOOPAFTER {delay}\n"))
    expected = Timeline.of(played(events, delay, 100))
    assert timeline.clipped(100.0) == expected.clipped(100.0)
    period = events[-1][0] + delay
    same = read_simgrid_profile(write(folder / "q", events, f"PERIODICITY {period}\n"))
    assert same == timeline


@given(EVENTS)
@settings(deadline=None)
def test_without_a_loop_the_last_state_lasts_for_ever(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, int]]
) -> None:
    events = sorted(events, key=lambda event: event[0])
    timeline = read_simgrid_profile(write(tmp_path_factory.getbasetemp() / "p", events))
    assert timeline == Timeline.of(played(events, None, 0))
    assert timeline.end is timeline.period is None


def test_a_third_value_is_reclaimed_only_where_asked_for(data: Path) -> None:
    path = data / "state.profile"
    plain = read_simgrid_profile(path)
    assert list(islice(plain.transitions(), 5)) == [
        (0.0, UP), (2.0, DOWN), (5.0, UP), (14.0, DOWN), (17.0, UP),
    ]  # fmt: skip
    extended = read_simgrid_profile(path, ProfileStates(reclaimed_value=2.0))
    assert list(islice(extended.transitions(), 7)) == [
        (0.0, UP), (2.0, DOWN), (5.0, UP), (8.0, RECLAIMED), (9.0, UP), (14.0, DOWN), (17.0, UP),
    ]  # fmt: skip


def test_off_can_mean_reclaimed(data: Path) -> None:
    timeline = read_simgrid_profile(data / "state.profile", ProfileStates(off=RECLAIMED))
    assert state_at(timeline, 3.0) is RECLAIMED
