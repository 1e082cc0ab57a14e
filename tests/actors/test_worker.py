"""What befalls a worker adds up (WORLD.md, W1)."""

from __future__ import annotations

from actors.events import WorkerSpeedChanged
from tests.actors.worlds import Task, World, of, runs, states


def test_a_fault_makes_a_worker_down_for_its_downtime() -> None:
    records = World(workers=2, faults=[(3, 1)], downtime=2).run(Task())
    assert states(records, 1) == [(3, "d"), (5, "u")]


def test_a_fault_on_a_worker_that_is_down_changes_nothing() -> None:
    records = World(workers=2, faults=[(3, 1), (4, 1)], downtime=2).run(Task())
    assert states(records, 1) == [(3, "d"), (5, "u")]


def test_a_fault_at_the_first_instant_of_an_owners_down_changes_nothing() -> None:
    world = World(owners=["u", "uuuduu"], faults=[(3, 1)], downtime=4)
    assert states(world.run(Task()), 1) == [(3, "d"), (4, "u")]


def test_a_fault_at_the_end_of_a_down_strikes_and_there_is_no_gap() -> None:
    world = World(owners=["u", "uuuduu"], faults=[(4, 1)], downtime=2)
    assert states(world.run(Task()), 1) == [(3, "d"), (6, "u")]
    twice = World(workers=2, faults=[(3, 1), (5, 1)], downtime=2).run(Task())
    assert states(twice, 1) == [(3, "d"), (7, "u")]


def test_an_owners_down_within_a_faults_downtime_is_one_down() -> None:
    world = World(owners=["u", "uuuuddduu"], faults=[(3, 1)], downtime=2)
    assert states(world.run(Task()), 1) == [(3, "d"), (7, "u")]


def test_a_worker_that_was_reclaimed_meanwhile_comes_back_reclaimed() -> None:
    world = World(owners=["u", "uuuurrruu"], faults=[(3, 1)], downtime=2)
    assert states(world.run(Task()), 1) == [(3, "d"), (5, "r"), (7, "u")]


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
