"""What workers keep and lose, and whom the master serves: worlds checked by hand.

Letters of an activity: P receives the program, D data, C computes, I idle, `.` not enrolled or
not UP; one per slot.
"""

from __future__ import annotations

import pytest

from actors.events import TransferEnded, TransferStarted, TransferSuspended
from policies.service import LongestFirst, Timetable
from tests.actors.deciders.enrolment.worlds import (
    Costs,
    Played,
    Script,
    choice,
    fixed,
    play,
    play_with,
    workers,
    world,
)

LONGEST = LongestFirst()


def left(played: Played) -> list[tuple[float, int, float]]:
    """(when, worker, slots left) of each start of a transfer."""
    return [(t, event.worker, event.left) for t, event in played.told(TransferStarted)]


def test_a_reclaimed_worker_resumes_its_transfer_where_it_stopped() -> None:
    played = play(world(workers(["uurruuuu"]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert played.rows() == ["PP..PC"]
    assert left(played) == [(0, 0, 3), (4, 0, 1)]


def test_a_reclaimed_worker_gives_its_channel_to_the_next() -> None:
    platform = workers(["urrruuuuu", "uuuuuuuuu"])
    played = play(world(platform, 2, Costs(program=3), policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["P...PPC", "IPPPIIC"]


def test_a_transfer_that_ends_when_its_worker_is_reclaimed_is_complete() -> None:
    played = play(world(workers(["uurruu"]), 1, Costs(program=2), policy=fixed((0, 1))))
    assert played.times(TransferEnded) == [2]
    assert played.times(TransferSuspended) == []
    assert played.rows() == ["PP..C"]


def test_down_loses_the_partial_message() -> None:
    played = play(world(workers(["uuduuuuuu"]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert played.rows() == ["PP.PPPC"]
    assert left(played) == [(0, 0, 3), (3, 0, 3)]


def test_down_loses_program_and_data() -> None:
    costs = Costs(program=2, data=1)
    played = play(world(workers(["uuuduuuuuu"]), 2, costs, policy=fixed((0, 2))))
    assert played.rows() == ["PPD.PPDDCC"]


def test_down_while_reclaimed_loses_everything_too() -> None:
    played = play(world(workers(["uurduuuuuu"]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert played.rows() == ["PP..PPPC"]


def test_reclaimed_keeps_program_and_data() -> None:
    costs = Costs(program=1, data=1)
    played = play(world(workers(["uurrruuuu"]), 1, costs, policy=fixed((0, 1))))
    assert played.rows() == ["PD...C"]


def test_a_complete_program_outlives_an_iteration_and_data_do_not() -> None:
    costs = Costs(program=2, data=1)
    played = play(world(workers(["uuuuuuuu"]), 1, costs, iterations=2, policy=fixed((0, 1))))
    assert played.rows() == ["PPDCDC"]


def test_a_complete_program_outlives_unenrolment_and_a_partial_one_does_not() -> None:
    """P3's crash leaves nobody enrolled for a slot: P1 has the program by then, P2 half of it."""
    platform = workers(["uuuuuuuuuuu", "uuuuuuuuuuu", "uuuduuuuuuu"])
    costs = Costs(channels=1, program=2)
    members = ((0, 1), (1, 1), (2, 1))
    played = play(world(platform, 3, costs, policy=fixed(*members)))
    assert played.rows() == ["PPI.IIIIC", "IIP.PPIIC", "III.IIPPC"]


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


def test_a_member_that_is_reclaimed_at_the_failure_loses_its_data() -> None:
    """P2 goes DOWN at slot 2 while P1, with all it needs, is RECLAIMED; both are UP at 3."""
    platform = workers(["uuruuuu", "uuduuuu"])
    costs = Costs(channels=2, program=1, data=1)
    played = play(world(platform, 2, costs, policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["PD.DIC", "PD.PDC"]


def test_fewer_tasks_after_a_failure_stop_the_transfer_that_is_not_needed_any_more() -> None:
    """P2 crashes at slot 4, when P1 is a slot into its second message; P3 takes that task over."""
    platform = workers(["u" * 13, "uuuuddddddddd", "u" * 13])
    script = Script([choice((0, 2), (1, 1)), choice((0, 1), (2, 2))])
    played = play_with(script, world(platform, 3, Costs(channels=2, data=3)))
    assert played.rows() == ["DDDDIIIIIICC", "DDDI........", "....DDDDDDCC"]


# --- order of service -----------------------------------------------------------------------------


def test_at_most_n_com_workers_are_served_at_once() -> None:
    platform = workers(["uuuuuu"] * 3)
    members = ((0, 1), (1, 1), (2, 1))
    played = play(world(platform, 3, Costs(channels=2, program=2), policy=fixed(*members)))
    assert played.rows() == ["PPIIC", "PPIIC", "IIPPC"]


def test_a_message_in_progress_goes_before_a_lower_index() -> None:
    """P3 crashes at slot 1: P1 is enrolled when P2 is a slot into its program."""
    platform = workers(["uuuuuuuu", "uuuuuuuu", "uddddddd"])
    script = Script([choice((1, 1), (2, 1)), choice((0, 1), (1, 1))])
    played = play_with(script, world(platform, 2, Costs(program=3)))
    assert played.rows() == [".IIPPPC", "PPPIIIC", "I......"]


def test_of_two_messages_that_have_begun_the_one_under_way_keeps_its_channel() -> None:
    """WORLD.md, L3."""
    platform = workers(["uruuuu", "uuuuuu"])
    played = play(world(platform, 2, Costs(program=2), policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["P.IPC", "IPPIC"]


def test_between_messages_the_lowest_index_is_served() -> None:
    """P1's first data message does not wait for P2's program: a message was complete."""
    platform = workers(["u" * 10] * 2)
    played = play(world(platform, 2, Costs(program=2, data=1), policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["PPDIIIC", "IIIPPDC"]


def test_longest_first_serves_whoever_lacks_most_in_every_slot() -> None:
    """P1 lacks 2 + 1, P2 2 + 2: P2 first, then in turn as they draw level, ties to P1."""
    platform = workers(["u" * 12] * 2)
    costs = Costs(program=2, data=1, order=LONGEST)
    played = play(world(platform, 3, costs, policy=fixed((0, 1), (1, 2))))
    assert played.rows() == ["IPIPIDICC", "PIPIDIDCC"]


def test_a_timetable_serves_whom_it_lists_and_nobody_after_its_end() -> None:
    platform = workers(["u" * 8] * 2)
    costs = Costs(program=2, order=Timetable(((1,), (), (0, 1), (1,))))
    played = play(world(platform, 2, costs, cap=6, policy=fixed((0, 1), (1, 1))))
    assert played.rows() == ["IIPIII", "PIIPII"]


# --- free communication ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        (Costs(), ["CC", "CC"]),
        (Costs(program=2), ["PPIICC", "IIPPCC"]),
        (Costs(data=2), ["DDIICC", "IIDDCC"]),
    ],
)
def test_what_costs_nothing_to_send_is_there_at_once(costs: Costs, expected: list[str]) -> None:
    platform = workers(["u" * 8] * 2, speeds=[2, 2])
    played = play(world(platform, 2, costs, policy=fixed((0, 1), (1, 1))))
    assert played.rows() == expected
