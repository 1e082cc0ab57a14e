"""OFF-LINE-COUPLED against the cases and against trying everything."""

from __future__ import annotations

from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import OptimizeResult

from policies.maths.offline import Bound, Load, Search, States, _optimum, end_of
from tests.case_files import case_file

letters = arrays.arrays(
    np.dtype("U1"),
    st.tuples(st.integers(1, 4), st.integers(1, 9)),
    elements=st.sampled_from("uuuurd"),
)


def tried(up: States, down: States, tasks: int, speed: int, bound: Bound) -> int | None:
    """The earliest end over all sets of workers."""
    workers = range(up.shape[0])
    sizes = [tasks] if bound is Bound.ONE else range(1, min(tasks, len(workers)) + 1)
    ends = [
        end_of(chosen, ceil(tasks / size) * speed, up, down)
        for size in sizes
        for chosen in combinations(workers, size)
    ]
    return min((end for end in ends if end is not None), default=None)


def tried_in_a_row(up: States, down: States, tasks: int, speed: int, bound: Bound) -> int:
    """The most iterations over all slots at which the next one could begin."""
    best = 0
    for start in range(up.shape[1]):
        end = tried(up[:, start:], down[:, start:], tasks, speed, bound)
        if end is not None:
            rest = slice(start + end, None)
            best = max(best, 1 + tried_in_a_row(up[:, rest], down[:, rest], tasks, speed, bound))
    return best


@pytest.mark.parametrize(("key", "bound"), [("mu1", Bound.ONE), ("mu_inf", Bound.UNBOUNDED)])
def test_cases_end_when_they_can_at_the_earliest(cases_dir: Path, key: str, bound: Bound) -> None:
    for case in case_file(cases_dir, "volatile.json")["offline"]:
        expected: dict[str, Any] = case[key]
        states = np.array([list(row) for row in case["states"]])
        up, down = states == "u", states == "d"
        found = Search(up, case["m"], case["w"], bound, down=down).earliest_end()
        many = Search(up, case["m"], case["w"], bound, down=down).most_iterations()
        assert found.optimal and many.optimal
        assert found.upper == expected["earliest_end"]
        assert many.lower == expected["max_iterations"]
        if found.upper is not None:
            slots = ceil(case["m"] / len(expected["set"])) * case["w"]
            assert end_of(expected["set"], slots, up, down) == found.upper


@given(letters, st.integers(1, 4), st.integers(1, 3), st.sampled_from(Bound))
def test_the_optimum_is_what_trying_every_set_finds(
    states: np.ndarray[Any, np.dtype[np.str_]], tasks: int, speed: int, bound: Bound
) -> None:
    up, down = states == "u", states == "d"
    found = Search(up, tasks, speed, bound, down=down).earliest_end()
    expected = tried(up, down, tasks, speed, bound)
    assert found.optimal
    assert found.upper == expected
    assert found.lower == (states.shape[1] + 1 if expected is None else expected)
    if found.upper is not None:
        slots = ceil(tasks / len(found.workers)) * speed
        assert end_of(found.workers, slots, up, down) == found.upper


@settings(max_examples=25)
@given(letters, st.integers(1, 3), st.integers(1, 2), st.sampled_from(Bound))
def test_iterations_one_after_the_other_are_as_many_as_any_starts_allow(
    states: np.ndarray[Any, np.dtype[np.str_]], tasks: int, speed: int, bound: Bound
) -> None:
    up, down = states == "u", states == "d"
    found = Search(up, tasks, speed, bound, down=down).most_iterations()
    assert found.optimal
    assert found.lower == found.upper == tried_in_a_row(up, down, tasks, speed, bound)


def test_reclaimed_workers_delay_an_iteration_and_down_ones_end_it() -> None:
    up = np.array([[True, True, False, True]])
    down = np.array([[False, False, True, False]])
    assert Search(up, 1, 3, Bound.ONE).earliest_end().upper == 4
    assert Search(up, 1, 3, Bound.ONE, down=down).earliest_end().upper is None


def test_fewer_workers_may_do_where_each_takes_several_tasks() -> None:
    up = np.array([[True] * 6, [True, False] * 3, [False, True] * 3])
    assert Search(up, 3, 2, Bound.ONE).earliest_end().upper is None
    found = Search(up, 3, 2, Bound.UNBOUNDED).earliest_end()
    assert (found.upper, found.workers) == (6, (0,))


def test_a_search_that_is_cut_short_still_bounds_the_optimum() -> None:
    up = np.random.default_rng(1).random((20, 200)) < 0.7
    found = Search(up, 5, 10, Bound.ONE, time_limit=0.01).earliest_end()
    some = end_of(range(5), 10, up, np.zeros_like(up))
    assert not found.optimal
    assert some is not None
    assert 10 <= found.lower <= some
    assert found.upper is None or found.lower <= found.upper
    many = Search(up[:, :60], 5, 10, Bound.ONE, time_limit=0.01).most_iterations()
    assert 0 <= many.lower < many.upper <= 6


@pytest.mark.parametrize(("tasks", "speed"), [(0, 1), (1, 0)])
def test_an_iteration_without_work_is_refused(tasks: int, speed: int) -> None:
    with pytest.raises(ValueError, match="at least 1 task"):
        Search(np.ones((1, 1), dtype=bool), tasks, speed, Bound.ONE)


def test_states_that_contradict_each_other_are_refused() -> None:
    up = np.ones((2, 3), dtype=bool)
    with pytest.raises(ValueError, match="UP and DOWN in the same slot"):
        Search(up, 1, 1, Bound.ONE, down=up).earliest_end()
    with pytest.raises(ValueError, match="one matrix"):
        Search(up, 1, 1, Bound.ONE, down=up[:, 1:]).earliest_end()


@pytest.mark.parametrize(
    ("proven", "lower"), [(5.0, 5), (5.0 + 1e-9, 5), (5.1, 6), (3.0, 4), (np.inf, 4), (None, 4)]
)
def test_of_a_search_that_is_cut_short_the_bound_is_the_first_slot_not_ruled_out(
    proven: float | None, lower: int
) -> None:
    """Nobody ends before the 4 slots of a load are over, whatever the solver has proven."""
    states = np.ones((2, 9), dtype=bool)
    cut = OptimizeResult(status=1, x=None, mip_dual_bound=proven)
    found = _optimum(cut, states, ~states, [Load(2, 4), Load(1, 8)])
    assert (found.lower, found.upper, found.optimal) == (lower, None, False)
