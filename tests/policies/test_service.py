"""Orders in which a master serves workers."""

from __future__ import annotations

from attrs import frozen

from policies.service import LongestFirst


@frozen
class Waits:
    index: int
    left: float
    serving: bool = False
    started: bool = False


def test_two_workers_that_lack_the_same_but_for_rounding_are_served_by_their_index() -> None:
    waiting = [Waits(0, 0.3), Waits(1, 0.1 + 0.2), Waits(2, 0.1)]
    assert waiting[1].left > waiting[0].left
    assert [it.index for it in LongestFirst()(waiting, 2, 0)] == [0, 1]
