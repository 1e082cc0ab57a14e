"""Lists and shelves on small views."""

from math import inf

import pytest
from attrs import define, field

from policies.interface.queue import BatchJob, Decision, Queued, Reservation, Run
from policies.maths.speedup import Rigid
from policies.queue.lists import Reading, RList, Shelves


@define
class View:
    free: int
    queue: list[Queued]
    running: list[Run] = field(factory=list)
    failed: list[Queued] = field(factory=list)
    now: float = 0
    processors: int = 8
    shelf_end: float | None = None
    reservations: dict[int, Reservation] = field(factory=dict)
    down: int = 0
    cells: None = None
    changed: tuple[int, ...] = ()
    vacant: tuple[()] = ()

    @property
    def busy(self) -> bool:
        return self.free < self.processors - self.down

    @property
    def least(self) -> int:
        return min((waiting.processors for waiting in self.queue), default=self.processors + 1)


def queued(index: int, processors: int, held: float) -> Queued:
    job = BatchJob(index, f"J{index}", Rigid(processors, held))
    return Queued(job, processors, held, (0, index))


def running(end: float, index: int, processors: int) -> Run:
    return Run(end, index, processors, queued(index, processors, end), (), index)


def indices(starts) -> list[int]:
    return [waiting.job.index for waiting in starts]


def promises(decision: Decision) -> list[tuple[int, float]]:
    return [(it.waiting.job.index, it.start) for it in decision.reservations]


def test_who_is_blocked_is_reported_when_he_can_start_even_if_nobody_could_pass_him() -> None:
    queue = [queued(0, 6, 1), queued(1, 7, 2), queued(2, 8, 1)]
    view = View(1, queue, [running(5, 9, 4), running(6, 8, 3)])
    for reading in (Reading.FRESH, Reading.EASY):
        assert promises(RList(1, reading)(view)) == [(0, 6)]
        assert promises(RList(2, reading)(view)) == [(0, 6), (1, 7)]
        assert promises(RList(3, reading)(view)) == [(0, 6), (1, 7), (2, 9)]


def test_reservations_that_matter_now_are_made_and_not_logged() -> None:
    queue = [queued(0, 6, 1), queued(1, 1, 9), queued(2, 1, 5), queued(3, 8, 1)]
    view = View(1, queue, [running(5, 9, 4), running(6, 8, 3)])
    for reading in (Reading.FRESH, Reading.EASY):
        decision = RList(None, reading)(view)
        assert (indices(decision.starts), promises(decision)) == ([1], [])


def test_one_reservation_by_two_numbers_is_one_by_the_whole_free_profile() -> None:
    queue = [queued(0, 5, 3), queued(1, 2, 4), queued(2, 1, 2), queued(3, 3, 2), queued(4, 1, 9)]
    for free in range(1, 6):
        view = View(free, queue, [running(2, 9, 1), running(3, 8, 7 - free)])
        quick, slow = RList(1, Reading.EASY)(view), easy_by_free_profile(view)
        assert indices(quick.starts) == indices(slow.starts)
        assert promises(quick) == promises(slow)


def easy_by_free_profile(view: View) -> Decision:
    from policies.queue.lists import _planned

    return _planned(view, 1, False)


def test_kept_reservations_come_back_until_they_start() -> None:
    view = View(2, [queued(0, 8, 3)], [running(5, 9, 6)])
    decision = RList(None, Reading.KEPT)(view)
    assert [promise.start for promise in decision.reservations] == [5]
    assert decision.wake == 5
    view.now, view.free, view.running = 5, 8, []
    view.reservations = {0: decision.reservations[0]}
    assert indices(RList(None, Reading.KEPT)(view).starts) == [0]


def test_a_kept_reservation_whose_processors_are_late_is_put_off() -> None:
    promise = Reservation(5, queued(0, 8, 3))
    view = View(2, [promise.waiting], [running(4, 9, 6)], now=5, reservations={0: promise})
    decision = RList(None, Reading.KEPT)(view)
    assert not decision.starts
    assert [p.waiting.job.index for p in decision.reservations] == [0]


def test_a_negative_number_of_reservations_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        RList(-1)


def test_a_shelf_opens_on_what_is_up_once_nothing_runs() -> None:
    queue, repair = [queued(0, 8, 3), queued(1, 7, 3)], Run(9, -1, 1, None, ((0, 0),), -1)
    view = View(7, queue, [repair], down=1)
    assert indices(Shelves(backfilling=True)(view).starts) == [1]
    assert indices(Shelves(backfilling=False)(view).starts) == []
    view.free = 6
    assert indices(Shelves(backfilling=True)(view).starts) == []


def test_a_lost_job_fills_its_shelf_only_where_other_processors_are_free() -> None:
    lost = queued(0, 2, 3)
    repair = Run(9, -1, 1, None, ((0, 0),), -1)
    view = View(1, [lost], [running(6, 9, 6), repair], [lost], now=1, shelf_end=6, down=1)
    assert indices(Shelves(filling=True)(view).starts) == []
    view.free = 2
    assert indices(Shelves(filling=True)(view).starts) == [0]


def test_a_reservation_counts_on_a_processor_that_is_down_from_its_repair_on() -> None:
    queue = [queued(0, 8, 3), queued(1, 2, 4), queued(2, 2, 5)]
    view = View(7, queue, [Run(4, -3, 1, None, ((2, 2),), -3)], down=1)
    for reading in (Reading.EASY, Reading.FRESH):
        assert indices(RList(1, reading)(view).starts) == [1]
    decision = RList(1, Reading.KEPT)(view)
    assert [promise.start for promise in decision.reservations] == [4]


def test_nothing_is_promised_for_workers_whose_return_nobody_knows() -> None:
    wide = queued(0, 6, 1)
    view = View(4, [wide], [Run(inf, 9, 4, None, (), 9)], down=4)
    decided = RList(1, Reading.KEPT)(view)
    (promise,) = decided.reservations
    assert (decided.starts, promise.start, promise.waiting, decided.wake) == ([], inf, wide, None)
    back = View(8, [wide], reservations={0: promise}, now=7)
    assert indices(RList(1, Reading.KEPT)(back).starts) == [0]
