"""What befalls a worker adds up (WORLD.md, W1)."""

from __future__ import annotations

import pytest

from actors.events import WorkerSpeedChanged
from tests.actors.worlds import Task, World, of, runs, states

UP = "u" * 9


@pytest.mark.parametrize(
    ("letters", "faults", "downtime", "expected"),
    [
        pytest.param(UP, [3], 2, [(3, "d"), (5, "u")], id="a fault: down for its downtime"),
        pytest.param(UP, [3, 4], 2, [(3, "d"), (5, "u")], id="on who is down: nothing"),
        pytest.param("uuuduu", [3], 4, [(3, "d"), (4, "u")], id="as an owner's down begins"),
        pytest.param("uuuduu", [4], 2, [(3, "d"), (6, "u")], id="as an owner's down ends: no gap"),
        pytest.param(UP, [3, 5], 2, [(3, "d"), (7, "u")], id="as a fault's down ends: no gap"),
        pytest.param("uuuuddduu", [3], 2, [(3, "d"), (7, "u")], id="an owner's down within: one"),
        pytest.param("uuuurrruu", [3], 2, [(3, "d"), (5, "r"), (7, "u")], id="reclaimed meanwhile"),
    ],
)
def test_what_befalls_a_worker_adds_up(
    letters: str, faults: list[int], downtime: int, expected: list[tuple[float, str]]
) -> None:
    world = World(owners=["u", letters], faults=[(at, 1) for at in faults], downtime=downtime)
    assert states(world.run(Task()), 1) == expected


def test_without_downtime_a_struck_worker_loses_its_run_and_is_back_at_once() -> None:
    records = World(workers=1, faults=[(3, 0)]).run(Task())
    assert states(records, 0) == [(3, "d"), (3, "u")]
    assert [run[3:6] for run in runs(records)] == [(0, 3, "lost"), (3, 13, "completed")]


def test_its_speed_counts_while_it_is_up() -> None:
    world = World(speeds=[[(0, 2), (3, 0), (5, 0.5)]])
    records = world.run(Task(time=8))
    assert [(r.t, r.event.speed) for r in of(records, WorkerSpeedChanged)] == [
        (0, 2),
        (3, 0),
        (5, 0.5),
    ]
    assert runs(records)[0][4] == 9
