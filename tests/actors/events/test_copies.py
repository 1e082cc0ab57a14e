"""Copies that one line tells."""

from __future__ import annotations

from actors.events import CopiesPlaced, RunStarted


def test_a_copy_that_goes_round_its_workers_is_told_with_all_of_them() -> None:
    placed = CopiesPlaced(("a", "b"), (0, 4), (1, 1), (6, 8), (2, 2), 3, 0.5, (0, 3), (None, 1))
    first = RunStarted("a", 0, "2-4", 6, 0, None, 0, None, 0.5, True)
    second = RunStarted("b", 4, "2-4", 8, 3, 1, 3, None, 0.5, True)
    assert list(placed.parts()) == [first, second]


def test_a_copy_on_one_worker_is_told_with_its_number() -> None:
    placed = CopiesPlaced(("a",), (0,), (2,), (6,), (5, 7), 1, 1, (0, 0), (None, None))
    told = [(it.run, it.processors, it.rotates) for it in placed.parts()]
    assert told == [(0, "5", False), (1, "7", False)]
