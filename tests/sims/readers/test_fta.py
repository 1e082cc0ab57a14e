"""Failure Trace Archive: events of nodes become timelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.states import FtaStates, Origin
from sims.readers.timeline import Timeline
from sims.readers.traces import NodeId, read_fta_trace

UP, RECLAIMED, DOWN = WorkerState


def test_nodes_keep_a_common_clock_from_the_earliest_start(data: Path) -> None:
    nodes = read_fta_trace(data / "event_trace.tab")
    assert nodes == {
        NodeId(1, 1): Timeline(((0.0, UP), (10.0, DOWN), (15.0, UP)), end=20.0),
        NodeId(1, 2): Timeline(((0.0, DOWN), (6.0, UP)), end=9.0),
        NodeId(2, 1): Timeline(((0.0, DOWN), (2.0, UP)), end=8.0),
    }
    assert list(nodes) == sorted(nodes)


def test_the_scenario_says_what_availability_and_silence_mean(data: Path) -> None:
    states = FtaStates(unavailable=RECLAIMED, gap=UP)
    node = read_fta_trace(data / "event_trace.tab", states)[NodeId(1, 1)]
    assert node.changes == ((0.0, UP), (10.0, RECLAIMED), (13.0, UP))


def test_each_node_can_begin_at_its_own_first_event(data: Path) -> None:
    nodes = read_fta_trace(data / "event_trace.tab", origin=Origin.NODE)
    assert nodes[NodeId(1, 2)] == Timeline(((0.0, DOWN), (2.0, UP)), end=5.0)


def test_one_component_s_events_can_be_kept_alone(data: Path) -> None:
    assert list(read_fta_trace(data / "event_trace.tab", component=2)) == [NodeId(2, 1)]
    with pytest.raises(InputError, match="of component 3"):
        read_fta_trace(data / "event_trace.tab", component=3)


NODES = st.lists(
    st.lists(st.sampled_from([UP, DOWN, None]), min_size=1, max_size=20), min_size=1, max_size=4
)


@given(NODES, st.data())
@settings(deadline=None)
def test_events_in_any_order_give_back_the_states_that_they_were_written_from(
    tmp_path_factory: pytest.TempPathFactory,
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
    path = tmp_path_factory.getbasetemp() / "event_trace.tab"
    path.write_text("\n".join(draw.draw(st.permutations(lines))))
    nodes_read = read_fta_trace(path, FtaStates(gap=RECLAIMED))
    expected = [tuple(state or RECLAIMED for state in states) for states in covered]
    assert [timeline.slots() for timeline in nodes_read.values()] == expected
