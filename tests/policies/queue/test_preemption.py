"""Who makes way for a more urgent job."""

from __future__ import annotations

from attrs import define, field

from policies.interface.queue import BatchJob, Decision, Queued, Run
from policies.maths.speedup import Rigid
from policies.queue.preemption import Preemptive


@define
class View:
    free: int
    queue: list[Queued]
    running: list[Run]
    resumable: frozenset[int] = field(factory=frozenset)


def queued(index: int, processors: int, key: float) -> Queued:
    job = BatchJob(index, f"J{index}", Rigid(processors, 5))
    return Queued(job, processors, 5, (key, index))


def decided(free: int, wanted: int, *running: tuple[int, int, float], saved: set[int]) -> Decision:
    """`running`: (index, processors, key), of which those `saved` can go on later."""
    runs: list[Run] = [(9, k, width, queued(k, width, key), (), k) for k, width, key in running]
    view = View(free, [queued(9, wanted, 0)], runs, frozenset(saved))
    return Preemptive(lambda _: Decision())(view)  # type: ignore[arg-type]


def withdrawn(decision: Decision) -> list[int]:
    return [run[1] for run in decision.withdraws]


def test_no_more_runs_make_way_than_are_needed_and_the_last_of_the_order_first() -> None:
    running = ((1, 1, 1), (2, 1, 3), (3, 1, 2))
    assert withdrawn(decided(0, 2, *running, saved={1, 2, 3})) == [2, 3]
    assert withdrawn(decided(1, 2, *running, saved={1, 2, 3})) == [2]


def test_nobody_makes_way_where_that_would_not_be_enough_or_would_lose_work() -> None:
    running = ((1, 1, 1), (2, 1, 3))
    assert withdrawn(decided(0, 3, *running, saved={1, 2})) == []
    assert withdrawn(decided(0, 2, *running, saved={1})) == []


def test_whom_the_order_puts_first_keeps_its_processors() -> None:
    assert withdrawn(decided(0, 1, (1, 1, -1), saved={1})) == []
