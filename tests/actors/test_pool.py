"""Workers that are given out, taken back, and away for a while."""

from __future__ import annotations

import pytest

from actors.intervals import Intervals, members
from actors.pool import Pool
from policies.availability import WorkerState

UP, DOWN = WorkerState.UP, WorkerState.DOWN


@pytest.mark.parametrize("named", [False, True])
def test_who_is_held_or_away_is_not_given(named: bool) -> None:
    pool = Pool(4, numbered=True, changing=True, named=named)
    assert pool.assign(0, 0, [0, 1]) == ((0, 1),)
    pool.move(3, DOWN, None)
    for taken in ([1, 2], [2, 3]):
        with pytest.raises(ValueError, match=r"not all of \[.*\] are free"):
            pool.assign(1, 0, taken)
    assert pool.free == 1
    assert pool.assign(1, 0, [2]) == ((2, 2),)
    assert [pool.holder(n) for n in range(4)] == [0, 0, 1, -1]


def test_a_pool_in_which_nothing_changes_does_not_look_up_who_holds_whom() -> None:
    pool = Pool(3, numbered=True)
    assert pool.assign(0, 0, [1]) == ((1, 1),)
    assert pool.allocate(1, 1, 0) == ((0, 0),)
    assert pool.free == 1


def test_who_was_never_away_comes_back_to_no_effect() -> None:
    pool = Pool(2, numbered=True, changing=True)
    pool.move(0, UP, None)
    assert pool.free == 2
    pool.move(0, DOWN, 7.0)
    assert (pool.free, list(pool.absent())) == (1, [(0, 7.0)])
    for _ in range(2):
        pool.move(0, UP, None)
    assert (pool.free, pool.away) == (2, {})


# --- malleable17, sections 3.3 and 5 --------------------------------------------------------------


def platform(workers: int, *sizes: int) -> tuple[Pool, list[Intervals]]:
    """Copy k holds so many workers."""
    pool = Pool(workers, True, True)
    return pool, [pool.allocate(copy, size, copy) for copy, size in enumerate(sizes)]


def test_workers_are_given_from_the_lowest_number_on() -> None:
    pool, held = platform(9, 4)
    assert members(held[0]) == (0, 1, 2, 3)
    assert pool.free == 5


def test_who_shrinks_gives_the_highest_and_who_grows_takes_the_lowest_free() -> None:
    pool, _ = platform(12, 6, 2, 2)
    assert members(pool.exchange(0, 2)) == (0, 1)
    assert [pool.holder(worker) for worker in (1, 2, 5)] == [0, -1, -1]
    assert members(pool.exchange(2, 6)) == (2, 3, 4, 5, 8, 9)
    assert pool.free == 2


def test_an_unchanged_size_keeps_its_workers() -> None:
    pool, held = platform(4, 2)
    assert pool.exchange(0, 2) == held[0]


def test_who_shrinks_gives_workers_that_are_not_up_last() -> None:
    pool, _ = platform(8, 6, 0)
    pool.move(5, DOWN, 9.0)
    assert members(pool.exchange(0, 4)) == (0, 1, 2, 5)
    assert pool.free == 4
    assert members(pool.exchange(1, 4)) == (3, 4, 6, 7)
