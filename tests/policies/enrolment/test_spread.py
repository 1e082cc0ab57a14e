"""A fixed number of workers, the load spread so that the slowest ends as early as can be."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.enrolment.spread import Spread
from policies.interface import Configuration, Wake
from policies.maths.markov import workers_of
from tests.policies.enrolment.views import STEADY, View, ask, enrolment, views


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
    assert [q for q, _ in answer.members] == sorted(chosen)
    assert sum(load for _, load in answer.members) == asked.tasks
    assert all(1 <= load <= asked.bounds[q] for q, load in answer.members)
    assert max(load * asked.speeds[q] for q, load in answer.members) == min(shares)


@pytest.mark.parametrize(
    ("speeds", "bounds", "expected"),
    [([1, 2], [4, 4], ((0, 3), (1, 1))), ([1, 9], [2, 4], ((0, 2), (1, 2)))],
)
def test_a_faster_worker_takes_more_until_it_is_full(
    speeds: list[int], bounds: list[int], expected: tuple[tuple[int, int], ...]
) -> None:
    view = View(enrolment([STEADY] * 2, speeds, 4, bounds), 0b11)
    assert ask(Spread(2), view) == Configuration(expected)
