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
    Script,
    choice,
    fixed,
    play,
    play_with,
    workers,
    world,
)

Members = tuple[tuple[int, int], ...]
ALONE, BOTH, THREE = ((0, 1),), ((0, 1), (1, 1)), ((0, 1), (1, 1), (2, 1))
"""Members: (worker, tasks)."""

KEPT = [
    pytest.param(
        ["urrruuuuu", "uuuuuuuuu"],
        Costs(program=3),
        BOTH,
        ["P...PPC", "IPPPIIC"],
        id="a reclaimed worker gives its channel to the next",
    ),
    pytest.param(
        ["uuuduuuuuu"],
        Costs(program=2, data=1),
        ((0, 2),),
        ["PPD.PPDDCC"],
        id="down loses program and data",
    ),
    pytest.param(
        ["uurduuuuuu"],
        Costs(program=3),
        ALONE,
        ["PP..PPPC"],
        id="down while reclaimed loses everything, too",
    ),
    pytest.param(
        ["uurrruuuu"],
        Costs(program=1, data=1),
        ALONE,
        ["PD...C"],
        id="reclaimed keeps program and data",
    ),
    # P3's crash leaves nobody enrolled for a slot: P1 has the program by then, P2 half of it.
    pytest.param(
        ["u" * 11, "u" * 11, "uuuduuuuuuu"],
        Costs(channels=1, program=2),
        THREE,
        ["PPI.IIIIC", "IIP.PPIIC", "III.IIPPC"],
        id="a complete program outlives unenrolment, a partial one does not",
    ),
    # P2 goes DOWN at slot 2 while P1, with all it needs, is RECLAIMED; both are UP at 3.
    pytest.param(
        ["uuruuuu", "uuduuuu"],
        Costs(channels=2, program=1, data=1),
        BOTH,
        ["PD.DIC", "PD.PDC"],
        id="a member that is reclaimed at the failure loses its data",
    ),
]
SERVED = [
    pytest.param(
        ["u" * 6] * 3,
        Costs(channels=2, program=2),
        THREE,
        ["PPIIC", "PPIIC", "IIPPC"],
        id="at most n_com workers are served at once",
    ),
    pytest.param(
        ["uruuuu", "uuuuuu"],
        Costs(program=2),
        BOTH,
        ["P.IPC", "IPPIC"],
        id="of two messages that have begun the one under way keeps its channel (WORLD.md, L3)",
    ),
    # P1's first data message does not wait for P2's program: a message was complete.
    pytest.param(
        ["u" * 10] * 2,
        Costs(program=2, data=1),
        BOTH,
        ["PPDIIIC", "IIIPPDC"],
        id="between messages the lowest index is served",
    ),
    # P1 lacks 2 + 1, P2 2 + 2: P2 first, then in turn as they draw level, ties to P1.
    pytest.param(
        ["u" * 12] * 2,
        Costs(program=2, data=1, order=LongestFirst()),
        ((0, 1), (1, 2)),
        ["IPIPIDICC", "PIPIDIDCC"],
        id="longest first serves whoever lacks most in every slot",
    ),
]


@pytest.mark.parametrize(("letters", "costs", "members", "rows"), KEPT + SERVED)
def test_what_workers_keep_and_whom_the_master_serves(
    letters: list[str], costs: Costs, members: Members, rows: list[str]
) -> None:
    tasks = sum(tasks for _, tasks in members)
    played = play(world(workers(letters), tasks, costs, policy=fixed(*members)))
    assert played.rows() == rows


@pytest.mark.parametrize(
    ("letters", "rows", "expected"),
    [("uurruuuu", ["PP..PC"], (4, 0, 1)), ("uuduuuuuu", ["PP.PPPC"], (3, 0, 3))],
)
def test_a_reclaimed_worker_resumes_its_transfer_where_it_stopped_and_down_loses_it(
    letters: str, rows: list[str], expected: tuple[float, int, float]
) -> None:
    played = play(world(workers([letters]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert played.rows() == rows
    started = [(t, event.worker, event.left) for t, event in played.told(TransferStarted)]
    assert started == [(0, 0, 3), expected]


def test_a_transfer_that_ends_when_its_worker_is_reclaimed_is_complete() -> None:
    played = play(world(workers(["uurruu"]), 1, Costs(program=2), policy=fixed((0, 1))))
    assert played.times(TransferEnded) == [2]
    assert played.times(TransferSuspended) == []
    assert played.rows() == ["PP..C"]


def test_a_complete_program_outlives_an_iteration_and_data_do_not() -> None:
    costs = Costs(program=2, data=1)
    played = play(world(workers(["uuuuuuuu"]), 1, costs, iterations=2, policy=fixed((0, 1))))
    assert played.rows() == ["PPDCDC"]


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
