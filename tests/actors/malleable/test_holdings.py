"""Who holds which pairs, by number (003, sections 3.3 and 5)."""

from __future__ import annotations

from actors.malleable.holdings import Holdings
from actors.malleable.processor import Processor


def platform(processors: int, pair: int = 2) -> Holdings:
    return Holdings(pair, [Processor(f"processor-{k}", k) for k in range(processors)])


def numbers(processors: tuple[Processor, ...]) -> list[int]:
    return [processor.number for processor in processors]


def test_pairs_are_given_from_the_lowest_number_on() -> None:
    holdings = platform(9)
    assert holdings.usable == 8
    gained, lost = holdings.resize(0, 4)
    assert (numbers(gained), lost) == ([0, 1, 2, 3], ())
    assert holdings.idle == 4


def test_who_shrinks_gives_the_highest_and_who_grows_takes_the_lowest_idle() -> None:
    holdings = platform(12)
    for index, size in ((0, 6), (1, 2), (2, 2)):
        holdings.resize(index, size)
    _, lost = holdings.resize(0, 2)
    assert numbers(lost) == [2, 3, 4, 5]
    gained, _ = holdings.resize(2, 6)
    assert numbers(gained) == [2, 3, 4, 5]
    assert holdings.text(holdings.present(2)) == "2-5 8-9"


def test_an_end_frees_all_pairs() -> None:
    holdings = platform(8)
    holdings.resize(0, 6)
    assert holdings.end(0) == []
    assert holdings.idle == 8
    assert holdings.size(0) == 0


def test_promised_pairs_join_their_new_owner_when_the_old_one_ends() -> None:
    holdings = platform(8)
    holdings.resize(0, 4)
    holdings.resize(1, 4)
    holdings.promise(0)
    assert holdings.idle == 4
    gained, _ = holdings.resize(1, 6)
    assert numbers(gained) == [0, 1]
    assert holdings.present(1) == [2, 3]
    assert holdings.end(0) == [(1, [0])]
    assert holdings.present(1) == [0, 2, 3]


def test_single_processors_read_as_such() -> None:
    holdings = platform(6, pair=1)
    holdings.resize(0, 1)
    holdings.resize(1, 2)
    assert holdings.text([0, 2, 3, 5]) == "0 2-3 5"
