"""A fixed number of workers, the load spread so that the slowest ends as early as can be."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from policies.enrolment.spread import Spread
from policies.interface import Wake
from policies.maths.markov import workers_of
from tests.policies.enrolment.views import STEADY, View, ask, enrolment, views


def view(speeds: list[int], tasks: int, up: int, bounds: list[int] | None = None) -> View:
    return View(enrolment([STEADY] * len(speeds), speeds, tasks, bounds), up)


def test_the_fastest_workers_that_are_up_share_the_tasks() -> None:
    answer = ask(Spread(2), view([3, 1, 2, 2], 6, 0b1101))
    assert answer is not None
    assert dict(answer.members) == {2: 3, 3: 3}


def test_it_waits_while_too_few_are_up_or_hold_too_little() -> None:
    assert ask(Spread(3), view([1, 1, 1], 6, 0b101)) is None
    assert ask(Spread(2), view([1, 1, 1], 6, 0b011, [2, 3, 6])) is None
    assert ask(Spread(2), view([1, 1, 1], 6, 0b011, [3, 3, 6])) is not None


def test_a_worker_that_holds_no_task_is_passed_over() -> None:
    answer = ask(Spread(1), view([1, 5], 4, 0b11, [0, 4]))
    assert answer is not None
    assert dict(answer.members) == {1: 4}


def test_it_never_asks_to_be_woken() -> None:
    assert Spread(1).wake is Wake.NEVER


@given(views(), st.integers(1, 3))
def test_no_other_share_ends_earlier(seen: View, workers: int) -> None:
    asked = seen.enrolment
    workers = min(workers, asked.tasks)
    able = [q for q in workers_of(seen.up) if q < len(asked.speeds) and asked.bounds[q]]
    chosen = sorted(able, key=lambda q: (asked.speeds[q], q))[:workers]
    shares = [
        max(load * asked.speeds[q] for load, q in zip(loads, chosen, strict=True))
        for loads in product(*(range(1, asked.bounds[q] + 1) for q in chosen))
        if len(chosen) == workers and sum(loads) == asked.tasks
    ]
    answer = ask(Spread(workers), seen)
    if not shares:
        assert answer is None
        return
    assert answer is not None
    assert [q for q, _ in answer.members] == sorted(chosen)
    assert sum(load for _, load in answer.members) == asked.tasks
    assert all(1 <= load <= asked.bounds[q] for q, load in answer.members)
    assert max(load * asked.speeds[q] for q, load in answer.members) == min(shares)


def test_a_worker_that_is_full_gets_no_more_however_fast_it_is() -> None:
    answer = ask(Spread(2), view([1, 9], 5, 0b11, [2, 5]))
    assert answer is not None
    assert dict(answer.members) == {0: 2, 1: 3}
