"""Who makes way for a more urgent job."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from actors.deciders.queue.state import view_without
from policies.interface.queue import (
    BatchJob,
    BatchView,
    Decision,
    Queued,
    Run,
    Strategy,
)
from policies.maths.speedup import Rigid
from policies.queue.lists import RList, Shelves
from policies.queue.preemption import Preemptive
from tests.policies.queue.test_strategies import View

GREEDY = RList(0)


@define
class Crowded(View):
    """Some runs can go on later, and some workers are away."""

    resumable: frozenset[int] = frozenset()
    away: frozenset[int] = frozenset()
    early: Sequence[Run] = ()
    memory: object = None
    moved: bool = False
    cancelled: frozenset[int] = frozenset()

    def absent(self, run: Run) -> list[Run]:
        away = {n for first, last in run.numbers for n in range(first, last + 1)} & self.away
        return [Run(20, ~n, 1, None, ((n, n),), ~n) for n in sorted(away)]

    def without(self, gone: Sequence[Run]) -> BatchView:
        return view_without(self, gone)  # type: ignore[arg-type]


def queued(index: int, processors: int, key: float) -> Queued:
    job = BatchJob(index, f"J{index}", Rigid(processors, 5))
    return Queued(job, processors, 5, (key, index))


def decided(
    free: int,
    wanted: int,
    *running: tuple[int, int, float],
    saved: set[int],
    away: frozenset[int] = frozenset(),
    strategy: Strategy = GREEDY,
) -> Decision:
    """`running`: (index, processors, key), of which those `saved` can go on later; the first
    processor of each has ten times its number."""
    runs: list[Run] = [
        Run(9, k, width, queued(k, width, key), ((10 * k, 10 * k + width - 1),), k)
        for k, width, key in running
    ]
    view = Crowded(
        *(free, [queued(9, wanted, 0)], runs),
        now=1,
        processors=4,
        shelf_end=20,
        resumable=frozenset(saved),
        away=away,
    )
    return Preemptive(strategy)(view)  # type: ignore[arg-type]


def cancelled(decision: Decision) -> list[int]:
    return [run.index for run in decision.cancels]


def test_no_more_runs_make_way_than_are_needed_and_the_last_of_the_order_first() -> None:
    running = ((1, 1, 1), (2, 1, 3), (3, 1, 2))
    assert cancelled(decided(0, 2, *running, saved={1, 2, 3})) == [2, 3]
    assert cancelled(decided(1, 2, *running, saved={1, 2, 3})) == [2]


def test_nobody_makes_way_where_that_would_not_be_enough_or_would_lose_work() -> None:
    running = ((1, 1, 1), (2, 1, 3))
    assert cancelled(decided(0, 3, *running, saved={1, 2})) == []
    assert cancelled(decided(0, 2, *running, saved={1})) == []


def test_a_run_whose_processors_are_not_up_does_not_make_way() -> None:
    running = ((1, 1, 1), (2, 1, 3), (3, 2, 2))
    assert cancelled(decided(0, 2, *running, saved={1, 2, 3}, away=frozenset({20}))) == [3]
    assert cancelled(decided(0, 2, *running, saved={1, 2, 3}, away=frozenset({20, 31}))) == [3, 1]
    assert cancelled(decided(0, 2, (3, 2, 2), saved={3}, away=frozenset({31}))) == []


def test_nobody_makes_way_where_the_strategy_would_not_start_the_first_all_the_same() -> None:
    running = ((1, 1, 1), (2, 1, 3))
    assert cancelled(decided(0, 1, *running, saved={1, 2}, strategy=Shelves())) == []
    # A shelf of its own.
    assert cancelled(decided(0, 2, *running, saved={1, 2}, strategy=Shelves())) == [2, 1]


def test_whom_the_order_puts_first_keeps_its_processors() -> None:
    assert cancelled(decided(0, 1, (1, 1, -1), saved={1})) == []
