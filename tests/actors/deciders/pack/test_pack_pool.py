"""Who holds which workers, by number (malleable17, sections 3.3 and 5)."""

from __future__ import annotations

from actors.intervals import Intervals, members
from actors.pool import Pool
from policies.availability import WorkerState


def platform(workers: int, *sizes: int) -> tuple[Pool, list[Intervals]]:
    """Copy k holds so many workers."""
    pool = Pool(workers, True, True)
    return pool, [pool.allocate(copy, size) for copy, size in enumerate(sizes)]


def test_workers_are_given_from_the_lowest_number_on() -> None:
    pool, held = platform(9, 4)
    assert members(held[0]) == (0, 1, 2, 3)
    assert pool.free == 5


def test_who_shrinks_gives_the_highest_and_who_grows_takes_the_lowest_free() -> None:
    pool, held = platform(12, 6, 2, 2)
    assert members(pool.exchange(0, held[0], 2)) == (0, 1)
    assert [pool.holder(worker) for worker in (1, 2, 5)] == [0, -1, -1]
    assert members(pool.exchange(2, held[2], 6)) == (2, 3, 4, 5, 8, 9)
    assert pool.free == 2


def test_an_unchanged_size_keeps_its_workers() -> None:
    pool, held = platform(4, 2)
    assert pool.exchange(0, held[0], 2) == held[0]


def test_who_shrinks_gives_workers_that_are_not_up_last() -> None:
    pool, held = platform(8, 6)
    pool.move(5, WorkerState.DOWN, 9.0)
    assert members(pool.exchange(0, held[0], 4)) == (0, 1, 2, 5)
    assert pool.free == 4
    assert members(pool.exchange(1, (), 4)) == (3, 4, 6, 7)
