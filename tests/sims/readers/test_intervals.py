"""Availability as a table of intervals, a line for each of one worker."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.timeline import Timeline
from sims.readers.traces import read_intervals
from sims.scenario.trace_files import IntervalFile
from tests.sims.readers.lookup import state_at

UP, RECLAIMED, DOWN = WorkerState
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


def test_a_table_of_outages_says_that_workers_are_up_elsewhere(tmp_path: Path) -> None:
    found = read_intervals(written(tmp_path, "a,10,20,d\n"), UP)
    assert found == {"a": Timeline(((0.0, UP), (10.0, DOWN)), 20.0)}


@given(spans=SPANS)
def test_a_state_holds_from_its_start_until_before_its_end(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[int, int, str]]
) -> None:
    clock, lines, expected = 0, [], []
    for wait, length, state in spans:
        expected += ["d"] * wait + [state] * length
        lines.append(f"w,{clock + wait},{clock + wait + length},{state}")
        clock += wait + length
    path = written(tmp_path_factory.mktemp("csv"), "\n".join(reversed(lines)))
    timeline = read_intervals(path)["w"]
    assert timeline.end == clock
    assert [state_at(timeline, k).value for k in range(clock)] == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,0,10,u\na,5,20,d\n", "line 2: the worker has another interval until 10"),
        ("a,5,5,u\n", "line 1: the interval lasts from 5 to 5"),
        ("a,0,x,u\n", "'x' is not a number"),
        ("a,0,1,off\n", "'off' is no state"),
        ("a,0,1\n", "3 columns"),
        ("worker,start,end,state\n", "no interval"),
    ],
)
def test_what_is_no_table_of_intervals_is_refused_by_line(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        read_intervals(written(tmp_path, text))


def test_a_scenarios_worker_is_one_of_the_files(tmp_path: Path) -> None:
    written(tmp_path, "a,0,120,u\na,120,180,r\n")
    section = IntervalFile(kind="csv", file="nodes.csv", worker="a", slot=60)
    assert section.timeline(tmp_path).slots() == (UP, UP, RECLAIMED)
    with pytest.raises(InputError, match="no worker 'b'"):
        IntervalFile(kind="csv", file="nodes.csv", worker="b", slot=60).timeline(tmp_path)
