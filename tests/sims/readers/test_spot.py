"""Spot-instance traces: counts of instances, and what they mean for workers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.spot import SpotTrace, read_spot_trace
from sims.readers.timeline import Timeline
from tests.sims.readers.lookup import state_at

UP, RECLAIMED, DOWN = WorkerState
COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=60)


def test_a_mapping_gives_each_count_its_state_at_the_trace_s_pace(data: Path) -> None:
    trace = read_spot_trace(data / "spot.json")
    expected = Timeline(((0.0, UP), (390.0, RECLAIMED), (585.0, DOWN), (975.0, UP)), end=6 * 195.0)
    assert trace.mapped({0: RECLAIMED, 1: UP, 2: DOWN}) == expected


def test_a_count_without_a_state_is_refused_by_name(data: Path) -> None:
    trace = read_spot_trace(data / "spot.json")
    with pytest.raises(InputError, match="trace state 2") as caught:
        trace.mapped({0: DOWN, 1: UP})
    assert (caught.value.source, caught.value.key) == (str(data / "spot.json"), "data[3]")


@given(COUNTS)
def test_a_node_is_up_while_enough_instances_are_there(counts: list[int]) -> None:
    for k, timeline in enumerate(SpotTrace("made", 300.0, tuple(counts)).nodes()):
        states = timeline.slotted(300.0).slots()
        assert list(states) == [UP if count > k else DOWN for count in counts]


@given(COUNTS)
def test_as_many_nodes_are_up_as_instances_are_there(counts: list[int]) -> None:
    nodes = SpotTrace("made", 1.0, tuple(counts)).nodes()
    assert len(nodes) == max(1, *counts)
    assert [sum(state_at(n, k) is UP for n in nodes) for k in range(len(counts))] == counts


@given(COUNTS, st.floats(0.5, 1e4))
@settings(deadline=None)
def test_a_trace_reads_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], gap: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "trace.json"
    path.write_text(json.dumps({"metadata": {"gap_seconds": gap}, "data": counts}))
    assert read_spot_trace(path) == SpotTrace(str(path), gap, tuple(counts))
