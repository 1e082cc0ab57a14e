"""An application of m tasks in lockstep: pace, suspension, restart, end; worlds checked by hand."""

from __future__ import annotations

import pytest

from actors.events import (
    End,
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    RateChanged,
    Stage,
    StageStarted,
)
from actors.runtime import Deadlock
from policies.interface import Wake
from tests.actors.deciders.enrolment.worlds import (
    Costs,
    Script,
    choice,
    fixed,
    play,
    play_with,
    workers,
    world,
)


def test_the_pace_is_that_of_the_slowest_member() -> None:
    """W = max x_q w_q: 3 tasks of 2 slots against 1 task of 5."""
    platform = workers(["u" * 10] * 2, speeds=[2, 5])
    played = play(world(platform, 4, policy=fixed((0, 3), (1, 1))))
    assert played.works() == [6]
    assert played.time == 6


def test_nothing_computes_before_the_last_member_is_loaded() -> None:
    platform = workers(["u" * 10] * 2, speeds=[1, 1])
    played = play(world(platform, 2, Costs(channels=1, program=2), policy=fixed((0, 1), (1, 1))))
    started = played.told(StageStarted)
    assert [t for t, event in started if event.stage is Stage.COMPUTING] == [4]


def test_one_reclaimed_member_suspends_all_of_them() -> None:
    platform = workers(["uurruuuu", "uuuuuuuu"], speeds=[4, 4])
    played = play(world(platform, 2, policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["CC..CC", "CCIICC"]
    changed = [(t, event.rate, event.done) for t, event in played.told(RateChanged)]
    assert changed == [(2, 0, 2), (4, 1, 2)]


def test_computation_resumes_when_the_last_of_the_reclaimed_is_back() -> None:
    platform = workers(["urruuuuu", "uurrruuu"], speeds=[3, 3])
    played = play(world(platform, 2, policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["C..IICC", "CI...CC"]


def test_a_crash_restarts_the_iteration_from_scratch() -> None:
    platform = workers(["uuuduuuuuu", "uuuuuuuuuu"], speeds=[4, 4])
    played = play(world(platform, 2, policy=fixed((0, 1), (1, 1))))
    assert played.outcomes() == [(3, "lost"), (8, "completed")]
    assert played.times(IterationStarted) == [0]
    assert [why for _, _, why in played.choices()] == ["start", "start"]


def test_a_replacement_in_the_slot_of_the_crash_is_due_to_the_failure() -> None:
    platform = workers(["uuuddddd", "uuuuuuuu"], speeds=[4, 4])
    script = Script([choice((0, 1)), choice((1, 1))])
    played = play_with(script, world(platform, 1))
    assert played.choices() == [(0, ((0, 1),), "start"), (3, ((1, 1),), "failure")]
    assert played.time == 7


def test_two_crashes_at_once_are_one_failure() -> None:
    platform = workers(["uudddddd", "uudddddd", "uuuuuuuu"], speeds=[4, 4, 4])
    script = Script([choice((0, 1), (1, 1)), choice((2, 2))])
    played = play_with(script, world(platform, 2))
    assert played.outcomes() == [(2, "lost"), (10, "completed")]


def test_work_that_ends_when_a_member_crashes_is_complete() -> None:
    played = play(world(workers(["uuud"], speeds=[3]), 1))
    assert played.outcomes() == [(3, "completed")]


def test_a_crash_elsewhere_changes_nothing() -> None:
    platform = workers(["uuuuuuuu", "uudddddd"], speeds=[4, 4])
    played = play(world(platform, 1, policy=fixed((0, 1))))
    assert played.outcomes() == [(4, "completed")]


def test_each_iteration_begins_where_the_last_one_ended() -> None:
    played = play(world(workers(["u" * 9], speeds=[2]), 1, Costs(data=1), iterations=3))
    assert played.times(IterationStarted) == [0, 3, 6]
    assert played.times(IterationCompleted) == [3, 6, 9]
    assert played.times(JobCompleted) == [9]
    assert played.outcomes() == [(3, "completed"), (6, "completed"), (9, "completed")]


def test_a_switch_cancels_the_run_and_keeps_what_both_configurations_share() -> None:
    """P1 stays: its program and its datum are kept; P2 leaves, P3 comes, computation restarts."""
    platform = workers(["u" * 12] * 3, speeds=[4, 4, 4])
    lines = [choice((0, 1), (1, 1)), *[None] * 3, choice((0, 1), (2, 1)), *[None] * 9]
    played = play_with(
        Script(lines, Wake.EVERY_SLOT), world(platform, 2, Costs(channels=2, program=1, data=1))
    )
    assert played.rows() == ["PDCCIICCCC", "PDCC......", "....PDCCCC"]
    assert played.outcomes() == [(4, "cancelled"), (10, "completed")]


# --- how it ends ----------------------------------------------------------------------------------


def test_the_cap_ends_the_run_unfinished() -> None:
    played = play(world(workers(["u" * 9], speeds=[9]), 1, cap=5))
    assert (played.end, played.time) == (End.CAPPED, 5)
    assert played.outcomes() == [(5, "cancelled")]
    assert played.times(JobCompleted) == []


def test_work_that_ends_at_the_cap_is_complete() -> None:
    played = play(world(workers(["u" * 9], speeds=[5]), 1, cap=5))
    assert (played.end, played.time) == (End.COMPLETED, 5)


def test_too_few_workers_up_for_ever_is_a_deadlock_that_names_the_wait() -> None:
    with pytest.raises(Deadlock) as caught:
        play(world(workers(["ud"], speeds=[2]), 1, cap=float("inf")))
    assert caught.value.time == 1
    assert caught.value.waiting == (
        "scheduler waits for 1 of 1 jobs",
        "application waits for workers for iteration 0",
    )


def test_a_member_reclaimed_for_ever_is_a_deadlock_that_names_member_and_message() -> None:
    platform = workers(["uur", "uuu"])
    scenario = world(platform, 2, Costs(program=4), cap=float("inf"), policy=fixed((0, 1), (1, 1)))
    with pytest.raises(Deadlock) as caught:
        play(scenario)
    assert caught.value.time == 6
    assert caught.value.waiting == (
        "scheduler waits for 1 of 1 jobs",
        "P1 waits for its return: it is RECLAIMED, and a run holds it, "
        "which lacks 2 time units of messages",
        "application waits for P1 to be UP again",
    )


def test_a_computing_member_reclaimed_for_ever_is_named_too() -> None:
    with pytest.raises(Deadlock) as caught:
        play(world(workers(["ur"], speeds=[2]), 1, cap=float("inf")))
    assert "application waits for P1 to be UP" in str(caught.value)
