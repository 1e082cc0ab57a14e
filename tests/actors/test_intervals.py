"""Numbers of free processors."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.intervals import Numbers, text


def members(intervals) -> set[int]:
    return {n for first, last in intervals for n in range(first, last + 1)}


def after(*given) -> Numbers:
    """A pool of 20 of which only `given` are free."""
    pool = Numbers(20)
    pool.take(20)
    for interval in given:
        pool.release((interval,))
    return pool


def test_the_smallest_gap_that_holds_all_gives_its_lowest_numbers() -> None:
    assert after((0, 5), (8, 10), (12, 14)).take(2) == ((8, 9),)


def test_while_no_gap_holds_all_the_largest_goes_whole() -> None:
    pool = after((0, 1), (4, 8), (10, 12), (15, 19))
    assert pool.take(7) == ((0, 1), (15, 19))
    assert pool.intervals() == ((4, 8), (10, 12))


def test_former_numbers_are_taken_again_where_they_are_free_and_as_many() -> None:
    pool = Numbers(8)
    first, second = pool.take(2), pool.take(3)
    pool.release(first)
    pool.release(second)
    assert pool.take(3, second) == second
    assert pool.take(3, second) == ((5, 7),)


def test_intervals_are_written_as_logs_write_them() -> None:
    assert text(((0, 3), (5, 5), (7, 8))) == "0-3 5 7-8"
    assert text(()) == ""


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=40))
def test_the_pool_is_a_set_of_numbers(steps: list[tuple[bool, int]]) -> None:
    """Against plain sets: nothing is lost, nothing given twice, intervals never touch."""
    pool, free, held = Numbers(20), set(range(20)), []
    for takes, amount in steps:
        if takes and amount <= len(free):
            former = held[0] if held else ()
            taken = pool.take(amount, former if members(former) <= free else ())
            assert members(taken) <= free and len(members(taken)) == amount
            free -= members(taken)
            held.append(taken)
        elif held:
            back = held.pop(amount % len(held))
            pool.release(back)
            free |= members(back)
        found = pool.intervals()
        assert members(found) == free
        assert all(b + 1 < c for (_, b), (c, _) in pairwise(found))


@pytest.mark.parametrize("count", [1, 50_000])
def test_a_pool_of_any_size_is_one_interval_at_first(count: int) -> None:
    assert Numbers(count).intervals() == ((0, count - 1),)
