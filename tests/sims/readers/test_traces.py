"""Availability in files: events of nodes, SimGrid's profiles, intervals, counts of instances."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.spot import SpotTrace, read_spot_trace
from sims.readers.timeline import Change, Timeline
from sims.readers.trace_states import FtaStates, NodeId, Origin, ProfileStates
from sims.readers.traces import read_fta_trace, read_intervals, read_simgrid_profile
from sims.scenario.trace_files import FtaFile, IntervalFile
from tests.sims.kinds import DATA
from tests.sims.readers.lookup import states_at

UP, RECLAIMED, DOWN = WorkerState

# --- Failure Trace Archive ------------------------------------------------------------------------


def test_nodes_keep_a_common_clock_from_the_earliest_start() -> None:
    nodes = read_fta_trace(DATA / "event_trace.tab")
    assert nodes == {
        NodeId(1, 1): Timeline(((0.0, UP), (10.0, DOWN), (15.0, UP)), end=20.0),
        NodeId(1, 2): Timeline(((0.0, DOWN), (6.0, UP)), end=9.0),
        NodeId(2, 1): Timeline(((0.0, DOWN), (2.0, UP)), end=8.0),
    }
    assert list(nodes) == sorted(nodes)


def test_the_scenario_says_what_availability_and_silence_mean() -> None:
    states = FtaStates(unavailable=RECLAIMED, gap=UP)
    node = read_fta_trace(DATA / "event_trace.tab", states)[NodeId(1, 1)]
    assert node.changes == ((0.0, UP), (10.0, RECLAIMED), (13.0, UP))


def test_each_node_can_begin_at_its_own_first_event() -> None:
    nodes = read_fta_trace(DATA / "event_trace.tab", origin=Origin.NODE)
    assert nodes[NodeId(1, 2)] == Timeline(((0.0, DOWN), (2.0, UP)), end=5.0)


def test_one_component_s_events_can_be_kept_alone() -> None:
    assert list(read_fta_trace(DATA / "event_trace.tab", component=2)) == [NodeId(2, 1)]
    with pytest.raises(InputError, match="of component 3"):
        read_fta_trace(DATA / "event_trace.tab", component=3)


def test_events_of_both_kinds_may_end_together(tmp_path: Path) -> None:
    path = tmp_path / "event_trace.tab"
    path.write_text("1 1 1 1 n 0 0 9\n2 1 1 1 n 1 5 9\n")
    assert read_fta_trace(path) == {NodeId(1, 1): Timeline(((0.0, DOWN),), end=9.0)}


NODES = st.lists(
    st.lists(st.sampled_from([UP, DOWN, None]), min_size=1, max_size=20), min_size=1, max_size=4
)


@given(NODES, st.data())
def test_events_in_any_order_give_back_the_states_that_they_were_written_from(
    tmp_path: Path,
    nodes: list[list[WorkerState | None]],
    draw: st.DataObject,
) -> None:
    """None is a second that no event covers; each node ends with one that is covered."""
    covered = [[UP, *states, DOWN] for states in nodes]
    lines = [
        f"{second} 1 {node} 7 name {int(state is UP)} {500 + second} {501 + second} NULL"
        for node, states in enumerate(covered)
        for second, state in enumerate(states)
        if state is not None
    ]
    path = tmp_path / "event_trace.tab"
    path.write_text("\n".join(draw.draw(st.permutations(lines))))
    nodes_read = read_fta_trace(path, FtaStates(gap=RECLAIMED))
    expected = [tuple(state or RECLAIMED for state in states) for states in covered]
    assert [timeline.slots() for timeline in nodes_read.values()] == expected


def test_a_scenarios_worker_is_one_of_the_archives_nodes() -> None:
    def changes(node: int, **keys: Any) -> list[Change]:
        table = {"kind": "fta", "file": "event_trace.tab", "slot": 1, "after": "hold"}
        worker = FtaFile.model_validate({**table, "node": node, **keys}).placed(False, 0, DATA)
        return list(islice(worker.changes(np.random.default_rng(0)), 5))

    assert changes(2, platform=1) == [(0, DOWN), (6, UP)]
    assert changes(2, platform=1, origin="node") == [(0, DOWN), (2, UP)]
    assert changes(1, platform=2, component=2, origin="node") == [(0, UP)]
    with pytest.raises(InputError, match=r"no node 9 on platform 0.*1/1, 1/2, 2/1"):
        changes(9)


# --- SimGrid, as it plays its profiles itself -----------------------------------------------------

EVENTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=8).map(
    lambda events: sorted(events, key=lambda event: event[0])
)


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
def test_a_profile_plays_as_in_simgrid_once_and_in_a_loop(
    tmp_path: Path, events: list[tuple[int, int]], delay: int
) -> None:
    folder, delay = tmp_path, delay or int(events[-1][0] == 0)
    once = read_simgrid_profile(write(folder / "p", events))
    assert once == Timeline.of(played(events, None, 0))
    assert once.end is once.period is None
    timeline = read_simgrid_profile(write(folder / "p", events, f"LOOPAFTER {delay}\n"))
    expected = Timeline.of(played(events, delay, 100))
    assert timeline.clipped(100.0) == expected.clipped(100.0)
    period = events[-1][0] + delay
    assert read_simgrid_profile(write(folder / "q", events, f"PERIODICITY {period}\n")) == timeline


def test_values_mean_what_the_scenario_says() -> None:
    path = DATA / "state.profile"
    ends = [(0.0, UP), (2.0, DOWN), (5.0, UP)], [(14.0, DOWN), (17.0, UP)]
    plain = read_simgrid_profile(path)
    assert list(islice(plain.transitions(), 5)) == [*ends[0], *ends[1]]
    extended = read_simgrid_profile(path, ProfileStates(reclaimed_value=2.0))
    third = [(8.0, RECLAIMED), (9.0, UP)]
    assert list(islice(extended.transitions(), 7)) == [*ends[0], *third, *ends[1]]
    off = read_simgrid_profile(path, ProfileStates(off=RECLAIMED))
    assert states_at(off, [3.0]) == [RECLAIMED]


# --- intervals ------------------------------------------------------------------------------------

SPANS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 9), st.sampled_from("urd")), min_size=1
)


def written(folder: Path, text: str) -> Path:
    path = folder / "nodes.csv"
    path.write_text(text)
    return path


def test_each_worker_has_its_intervals_and_is_down_between_them(tmp_path: Path) -> None:
    text = "worker,start,end,state\nb,60,120,u\na,0,30,UP\n\na, 30 ,50,reclaimed\na,70,80,u\n"
    assert read_intervals(written(tmp_path, text)) == {
        "b": Timeline(((0.0, DOWN), (60.0, UP)), 120.0),
        "a": Timeline(((0.0, UP), (30.0, RECLAIMED), (50.0, DOWN), (70.0, UP)), 80.0),
    }
    found = read_intervals(written(tmp_path, "a,10,20,d\n"), UP)  # a table of outages
    assert found == {"a": Timeline(((0.0, UP), (10.0, DOWN)), 20.0)}


@given(spans=SPANS)
def test_a_state_holds_from_its_start_until_before_its_end(
    tmp_path: Path, spans: list[tuple[int, int, str]]
) -> None:
    clock, lines, expected = 0, [], []
    for wait, length, state in spans:
        expected += ["d"] * wait + [state] * length
        lines.append(f"w,{clock + wait},{clock + wait + length},{state}")
        clock += wait + length
    path = written(tmp_path, "\n".join(reversed(lines)))
    assert [state.value for state in read_intervals(path, DOWN)["w"].slots()] == expected


def test_a_scenarios_worker_is_one_of_the_tables(tmp_path: Path) -> None:
    written(tmp_path, "a,0,120,u\na,120,180,r\n")
    section = IntervalFile(kind="csv", file="nodes.csv", worker="a", slot=60)
    assert section.placed(False, 0, tmp_path).timeline().slots() == (UP, UP, RECLAIMED)
    with pytest.raises(InputError, match="no worker 'b'"):
        IntervalFile(kind="csv", file="nodes.csv", worker="b", slot=60).placed(
            False, 0, tmp_path
        ).timeline()


# --- spot instances -------------------------------------------------------------------------------

COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=60)


def test_a_mapping_gives_each_count_its_state_at_the_trace_s_pace() -> None:
    trace = read_spot_trace(DATA / "spot.json")
    expected = Timeline(((0.0, UP), (390.0, RECLAIMED), (585.0, DOWN), (975.0, UP)), end=6 * 195.0)
    assert trace.mapped({0: RECLAIMED, 1: UP, 2: DOWN}) == expected


def test_a_count_without_a_state_is_refused_by_name() -> None:
    trace = read_spot_trace(DATA / "spot.json")
    with pytest.raises(InputError, match="trace state 2") as caught:
        trace.mapped({0: DOWN, 1: UP})
    assert (caught.value.source, caught.value.key) == (str(DATA / "spot.json"), "data[3]")


@given(COUNTS)
def test_a_node_is_up_while_enough_instances_are_there(counts: list[int]) -> None:
    for k, timeline in enumerate(SpotTrace("made", 300.0, tuple(counts)).nodes()):
        states = timeline.slotted(300.0).slots()
        assert list(states) == [UP if count > k else DOWN for count in counts]


@given(COUNTS)
def test_as_many_nodes_are_up_as_instances_are_there(counts: list[int]) -> None:
    nodes = SpotTrace("made", 1.0, tuple(counts)).nodes()
    assert len(nodes) == max(1, *counts)
    states = zip(*(it.slots() for it in nodes), strict=True)
    assert [sum(state is UP for state in tick) for tick in states] == counts


@given(COUNTS, st.floats(0.5, 1e4))
def test_a_trace_reads_back_as_written(tmp_path: Path, counts: list[int], gap: float) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"metadata": {"gap_seconds": gap}, "data": counts}))
    assert read_spot_trace(path) == SpotTrace(str(path), gap, tuple(counts))
