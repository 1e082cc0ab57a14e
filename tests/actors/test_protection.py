"""What survives which loss (WORLD.md, P)."""

from __future__ import annotations

import pytest

from actors.events import CheckpointLost, CheckpointTaken, RestartedFromScratch
from actors.protection import ProtectionKind
from actors.protection.buddies import groups
from tests.actors.worlds import Task, World, of, runs

COSTS = {"cost": 1, "recovery": 2}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ((4,), [(4,)]),
        ((1, 3), [(1, 3)]),
        ((1, 3, 5), [(1, 3, 5)]),
        ((0, 1, 2, 3), [(0, 1), (2, 3)]),
        ((0, 1, 2, 3, 7), [(0, 1), (2, 3, 7)]),
    ],
)
def test_members_are_paired_by_number_and_an_odd_last_one_makes_a_ring(members, expected) -> None:
    assert groups(members) == expected


def test_reexecution_begins_from_scratch() -> None:
    records = World(workers=1, faults=[(7, 0)], downtime=1).run(Task())
    assert [run[3:] for run in runs(records)] == [(0, 7, "lost", 0), (8, 18, "completed", 0)]


def test_buddies_keep_their_members_and_go_on_from_the_last_checkpoint() -> None:
    task = Task(processors=2, kind=ProtectionKind.BUDDIES, period=4, rules=COSTS)
    records = World(workers=3, faults=[(7, 1)], downtime=1).run(task)
    assert runs(records) == [
        ("a", 0, "0-1", 0, 7, "lost", 0),
        ("a", 1, "0-1", 8, 8 + 2 + 4 + 1 + 2, "completed", 4),
    ]


def test_the_same_buddy_twice_is_not_fatal_and_both_are() -> None:
    task = Task(processors=2, kind=ProtectionKind.BUDDIES, period=4, rules=COSTS)
    same = World(workers=2, faults=[(7, 1), (9, 1)], downtime=1).run(task)
    assert [run[6] for run in runs(same)] == [0, 4, 4]
    assert not of(same, CheckpointLost)
    both = World(workers=2, faults=[(7, 1), (9, 0)], downtime=1).run(task)
    assert [run[6] for run in runs(both)] == [0, 4, 0]
    assert [r.event.workers for r in of(both, CheckpointLost)] == [(0, 1)]
    assert [r.event.lost for r in of(both, RestartedFromScratch)] == [4]


def test_neighbours_of_two_pairs_may_both_go_down() -> None:
    task = Task(processors=4, kind=ProtectionKind.BUDDIES, period=4, rules=COSTS)
    records = World(workers=4, faults=[(7, 1), (7, 2)], downtime=1).run(task)
    assert [run[6] for run in runs(records)] == [0, 4]
    assert not of(records, CheckpointLost)


def test_a_member_without_a_buddy_loses_everything_with_its_memory() -> None:
    task = Task(kind=ProtectionKind.BUDDIES, period=4, rules=COSTS)
    records = World(workers=1, faults=[(7, 0)], downtime=1).run(task)
    assert [run[6] for run in runs(records)] == [0, 0]


def test_an_image_is_fetched_by_the_next_run_on_other_workers() -> None:
    task = Task(kind=ProtectionKind.IMAGES, period=4, image=1)
    records = World(workers=2, channels=1, faults=[(7, 0)], downtime=9).run(task)
    assert [run[2:] for run in runs(records)] == [
        ("0", 0, 7, "lost", 0),
        ("1", 7, 7 + 1 + 4 + 1 + 2, "completed", 4),
    ]


def test_a_checkpoint_is_not_begun_where_no_work_would_be_left_after_it() -> None:
    task = Task(time=8, kind=ProtectionKind.IMAGES, period=4, rules=COSTS)
    records = World(workers=1).run(task)
    assert [(r.t, r.event.done) for r in of(records, CheckpointTaken)] == [(5, 4)]


def test_an_error_rolls_back_to_a_verified_checkpoint_and_to_scratch_without() -> None:
    rules = COSTS | {"verified": True}
    task = Task(kind=ProtectionKind.IMAGES, period=6, verification=1, failures=[0, 1], rules=rules)
    assert [run[6] for run in runs(World(workers=1).run(task))] == [0, 6]
    task = Task(kind=ProtectionKind.IMAGES, period=6, verification=1, failures=[1], rules=COSTS)
    assert [run[6] for run in runs(World(workers=1).run(task))] == [0, 0]


def test_the_first_copy_to_complete_ends_the_others() -> None:
    task = Task(time=6, rules={"copies": 2})
    records = World(speeds=[[(0, 1)], [(0, 2)]]).run(task)
    assert [(run[1], run[4], run[5]) for run in runs(records)] == [
        (0, 3, "cancelled"),
        (1, 3, "completed"),
    ]


def test_a_clone_begins_from_the_furthest_copys_state() -> None:
    task = Task(time=10, rules={"copies": 2, "cloning": True, "delay": 1})
    records = World(owners=["u", "ddddu"]).run(task)
    assert [(run[1], run[3], run[6]) for run in runs(records)] == [(0, 0, 0), (1, 4, 4)]


def test_a_job_waits_in_its_queue_only_when_its_last_copy_is_lost() -> None:
    task = Task(time=10, rules={"copies": 2})
    records = World(workers=2, faults=[(3, 0), (5, 1)], downtime=4).run(task)
    assert [(run[1], run[3], run[5]) for run in runs(records)] == [
        (0, 0, "lost"),
        (1, 0, "lost"),
        (2, 7, "completed"),
        (3, 9, "cancelled"),
    ]
