"""An application of m tasks in lockstep: who replaces whom, whom the master serves then, how it
ends; worlds checked by hand.

Letters of an activity: P receives the program, D data, C computes, I idle, `.` not enrolled or
not UP; one per slot.
"""

from __future__ import annotations

import pytest
from attrs import define, field
from numpy.random import Generator

from actors.deciders.enrolment import decider
from actors.events import End, JobCompleted, RunStarted
from actors.runtime import Deadlock
from policies.interface import Configuration, EnrolmentView, Reason, Wake
from policies.service import Timetable
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


def test_two_crashes_at_once_are_one_failure() -> None:
    platform = workers(["uudddddd", "uudddddd", "uuuuuuuu"], speeds=[4, 4, 4])
    script = Script([choice((0, 1), (1, 1)), choice((2, 2))])
    played = play_with(script, world(platform, 2))
    assert played.outcomes() == [(2, "lost"), (10, "completed")]


def test_a_switch_cancels_the_run_and_keeps_what_both_configurations_share() -> None:
    """P1 stays: its program and its datum are kept; P2 leaves, P3 comes, computation restarts."""
    platform = workers(["u" * 12] * 3, speeds=[4, 4, 4])
    lines = [choice((0, 1), (1, 1)), *[None] * 3, choice((0, 1), (2, 1)), *[None] * 9]
    played = play_with(
        Script(lines, Wake.EVERY_SLOT), world(platform, 2, Costs(channels=2, program=1, data=1))
    )
    assert played.rows() == ["PDCCIICCCC", "PDCC......", "....PDCCCC"]
    assert played.outcomes() == [(4, "cancelled"), (10, "completed")]


def test_who_is_enrolled_again_at_the_failure_keeps_data_and_the_partial_message() -> None:
    """At slot 4 P2 goes DOWN with P3 in its place: P1 goes on with its second data message."""
    platform = workers(["uuuuuuuuuuu", "uuuuddddddd", "dddduuuuuuu"], memory=[2, 1, 1])
    costs = Costs(channels=3, program=1, data=2)
    played = play(world(platform, 3, costs))
    assert [members for _, members, _ in played.choices()] == [
        ((0, 2), (1, 1)),
        ((0, 2), (2, 1)),
    ]
    assert played.rows() == ["PDDDDIICC", "PDDI.....", "....PDDCC"]


def test_fewer_tasks_after_a_failure_stop_the_transfer_that_is_not_needed_any_more() -> None:
    """P2 crashes at slot 4, when P1 is a slot into its second message; P3 takes that task over."""
    platform = workers(["u" * 13, "uuuuddddddddd", "u" * 13])
    script = Script([choice((0, 2), (1, 1)), choice((0, 1), (2, 2))])
    played = play_with(script, world(platform, 3, Costs(channels=2, data=3)))
    assert played.rows() == ["DDDDIIIIIICC", "DDDI........", "....DDDDDDCC"]


def test_a_message_in_progress_goes_before_a_lower_index() -> None:
    """P3 crashes at slot 1: P1 is enrolled when P2 is a slot into its program."""
    platform = workers(["uuuuuuuu", "uuuuuuuu", "uddddddd"])
    script = Script([choice((1, 1), (2, 1)), choice((0, 1), (1, 1))])
    played = play_with(script, world(platform, 2, Costs(program=3)))
    assert played.rows() == [".IIPPPC", "PPPIIIC", "I......"]


def test_a_timetable_serves_whom_it_lists_and_nobody_after_its_end() -> None:
    platform = workers(["u" * 8] * 2)
    costs = Costs(program=2, order=Timetable(((1,), (), (0, 1), (1,))))
    played = play(world(platform, 2, costs, cap=6, policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["IIPIII", "PIIPII"]


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


# --- how many changes of mind in a row are too many -----------------------------------------------


@define
class Moving:
    """Goes from one of two workers to the other at these times, in slots since the iteration
    began; in the first iteration it stays where it is."""

    times: tuple[int, ...]
    wake = Wake.EVERY_SLOT
    iteration: int = field(init=False, default=0)

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        running = view.running
        if view.reason is not Reason.PROACTIVE or running is None:
            self.iteration += 1
            return choice((0, 1))
        if self.iteration == 1 or view.elapsed not in self.times:
            return None
        return choice((1 - running.configuration.members[0][0], 1))


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decider, "PATIENCE", 3)


def moved(times: tuple[int, ...], costs: Costs, speed: int) -> tuple[End, list[float]]:
    """How it ended, and when runs started."""
    what = world(workers(["u"] * 2, speeds=[speed] * 2), 1, costs, iterations=2)
    played = play_with(Moving(times), what)
    return played.end, played.times(RunStarted)


@pytest.mark.usefixtures("patience")
def test_each_iteration_may_have_as_many_fruitless_switches_as_any() -> None:
    """Its datum takes 5 slots, so that whoever switches in each slot never begins to compute."""
    costs = Costs(data=5)
    three, four = (1, 2, 3), (1, 2, 3, 4)
    assert moved(three, costs, 2) == (End.COMPLETED, [0, 7, 8, 9, 10])
    assert moved(four, costs, 2) == (End.DIVERGED, [0, 7, 8, 9, 10])


@pytest.mark.usefixtures("patience")
def test_a_switch_counts_unless_it_comes_nearer_to_the_end_than_ever() -> None:
    """Runs of 1, 2, 3, 4 and 5 of 9 slots: each is the furthest so far."""
    assert moved((1, 3, 6, 10, 15), Costs(), 9)[0] is End.COMPLETED
    # Runs of 2 of 9 slots, five times: the first was nearer than nothing, three may follow.
    assert moved((2, 4, 6, 8, 10), Costs(), 9) == (End.DIVERGED, [0, 9, 11, 13, 15])
