"""What a user's order, strategy or allocation does wrong is told by its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from actors.deciders.queue.checks import checked
from actors.decisions import BadDecision, answer
from actors.events import RunStarted
from actors.runtime import ActorFailed
from policies.interface.queue import (
    BatchJob,
    BatchPolicy,
    BatchView,
    Decision,
    Moment,
    Reservation,
    Run,
)
from policies.maths.speedup import Table
from policies.queue.allocation import requested
from policies.queue.batches import Scaled
from policies.queue.lists import RList
from policies.queue.orders import first_come
from policies.queue.preemption import Preemptive
from tests.actors.deciders.queue.test_queue import job, of, starts, world

HERE = "policy tests.actors.deciders.queue.test_checks:"
JOBS = [job(0, 3, 1), job(1, 2, 1)]


def refused(*parts: str, **policy) -> None:
    """A run of two jobs on four processors ends with one line that has all of `parts`."""
    with pytest.raises(ActorFailed) as caught:
        world(JOBS, **{"strategy": RList(0)} | policy)
    line = str(caught.value.error)
    assert isinstance(caught.value.error, BadDecision)
    assert "\n" not in line
    for part in parts:
        assert part in line


def answers(answer: object) -> Callable[[BatchView], Decision]:
    def scripted(view: BatchView) -> Decision:
        return answer(view) if callable(answer) else answer

    return scripted


def test_the_papers_policies_are_asked_directly() -> None:
    policy = BatchPolicy(first_come, RList(0), requested)
    assert checked(policy) is policy
    assert checked(BatchPolicy(first_come, RList(0), Scaled())).allocation == Scaled()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "an answer is a Decision"),
        ([1], "an answer is a Decision"),
        (Decision(None), "`starts` is a sequence"),
        (Decision([None]), "None is not in the queue"),
        (lambda view: Decision([view.queue[0].job]), "a is not in the queue"),
        (lambda view: Decision([view.queue[0]] * 2), "a is not in the queue"),
        (lambda view: Decision(view.queue), "b needs 2 processors, and 1 are left"),
        (Decision(shelf_end=math.nan), "`shelf_end` is None or a finite number"),
        (Decision(shelf_end="late"), "`shelf_end` is None or a finite number"),
        (Decision(wake=0), "`wake` is None or a time after now, 0"),
        (Decision(wake=math.inf), "`wake` is None or a time after now, 0"),
        (Decision(reservations=None), "`reservations` is a sequence of Reservation"),
        (Decision(reservations=[7]), "`reservations` is a sequence of Reservation"),
        (lambda view: Decision((), None, [Reservation(math.nan, view.queue[0])]), "nan is no time"),
        (Decision(cancels=None), "`cancels` is a sequence of members of view.running"),
        (Decision(cancels=[Run(1, 0, 1, None, (), 0)]), "members of view.running that are jobs'"),
    ],
)
def test_a_strategys_answer_that_cannot_be_is_refused(answer: object, problem: str) -> None:
    seen = "it saw now = 0, 4 of 4 processors free, queue: a (3), b (2)"
    for strategy in (answers(answer), Preemptive(answers(answer))):
        refused(HERE, " answered ", problem, seen, strategy=strategy)


def test_the_queue_itself_is_an_answer_like_any_other() -> None:
    records = world([job(0, 1, 1), job(1, 1, 1), job(2, 1, 1)], lambda view: Decision(view.queue))
    assert [s[:2] for s in starts(records)] == [("a", 0), ("b", 0), ("c", 0)]


def test_a_strategy_that_asks_to_be_woken_is_woken_without_any_reservation() -> None:
    def late(view: BatchView) -> Decision:
        return Decision(view.queue) if view.now >= 5 else Decision(wake=5)

    [started] = of(world([job(0, 1, 1)], late), RunStarted)
    assert started.t == 5


def test_a_strategy_that_asks_to_be_woken_an_ulp_from_now_is_asked_in_the_next_instant() -> None:
    """This one has been decided on; without it, the job would wait for ever."""
    due = math.nextafter(5, 6)

    def late(view: BatchView) -> Decision:
        if view.now >= due:
            return Decision(view.queue)
        return Decision(wake=due if view.now else 5)

    [started] = of(world([job(0, 1, 1)], late), RunStarted)
    assert 5 < started.t < 5 * (1 + 2e-12)


@pytest.mark.parametrize("answer", [None, "first", math.nan, math.inf, np.zeros(2), 1j])
def test_an_orders_answer_that_is_no_finite_number_is_refused(answer: object) -> None:
    refused(
        f"{HERE}test_an_orders_answer",
        "a priority is a finite number",
        "a on 3 of 4 processors",
        order=lambda *_: answer,
    )


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "an answer is 2 numbers of processors, one for each job"),
        ([1], "an answer is 2 numbers of processors, one for each job"),
        ([1, 5], "b was allotted 5; accepted: 1 to 4 processors"),
        ([0, 1], "a was allotted 0; accepted: 1 to 4 processors"),
        ([1.0, 2.0], "a was allotted 1.0; accepted: 1 to 4 processors"),
        ([math.nan, 1], "a was allotted nan; accepted: 1 to 4 processors"),
    ],
)
def test_a_local_rules_answer_that_cannot_be_is_refused(answer: object, problem: str) -> None:
    refused(HERE, " answered ", problem, "it saw 4 processors, jobs: a, b", rule=lambda *_: answer)


def test_a_job_is_allotted_no_more_than_its_table_lists() -> None:
    jobs = [BatchJob(0, "a", Table((4, 3)))]
    with pytest.raises(ActorFailed, match="a was allotted 4; accepted: 1 to 2 processors"):
        world(jobs, RList(0), rule=lambda *_: [4])
    with pytest.raises(ActorFailed, match="a was allotted 3; accepted: 1 to 2 processors"):
        world(jobs, RList(0), rule=Together([((1, 3),)]))


class Together:
    """Allots whatever it was made with."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def allot(self, jobs, attempts, processors):
        return self.answer() if callable(self.answer) else self.answer


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "an answer is 2 allotments, one for each job"),
        ([((1, 1),)], "an answer is 2 allotments, one for each job"),
        ([None, ((1, 1),)], "a's is of (attempts, processors) pairs, 1 attempt in all"),
        ([((1, 1),), ((2, 1),)], "b's is of (attempts, processors) pairs, 1 attempt in all"),
        ([((1, 1),), ((1, 5),)], "b was allotted 5; accepted: 1 to 4 processors"),
        (lambda: {}["nothing"], "raised KeyError: 'nothing' (test_checks.py, line "),
    ],
)
def test_a_batch_rules_answer_that_cannot_be_is_refused(answer: object, problem: str) -> None:
    refused(f"{HERE}Together ", problem, rule=Together(answer))


def test_good_answers_are_carried_out() -> None:
    jobs = [BatchJob(index, "ab"[index], Table((4, 3, 2, 1))) for index in range(2)]
    rule = Together([((np.int64(1), np.int64(2)),), [[1, 4]]])
    order = partial(lambda sign, job, *_: sign * job.index, -1)
    records = world(jobs, RList(0), order=order, rule=rule)
    assert starts(records) == [("a", 0, "0-1"), ("b", 3, "0-3")]
    records = world(jobs, RList(0), order=order, rule=lambda *_: np.array([4, 2]))
    assert starts(records) == [("a", 0, "0-3"), ("b", 1, "0-1")]


def broken(*_: object) -> int:
    raise RuntimeError("boom\non two lines")


@pytest.mark.parametrize("part", ["order", "strategy", "rule"])
def test_an_error_inside_is_reported_with_its_place(part: str) -> None:
    line = broken.__code__.co_firstlineno + 1
    place = f"(test_checks.py, line {line})"
    refused(f"{HERE}broken raised RuntimeError: boom on two lines {place}", **{part: broken})


class Aging:
    """An order of the user's that changes with time."""

    half_life = None

    def __init__(self, answer: object = None) -> None:
        self.answer = answer

    def at(self, moment: Moment):
        if moment.now < 2:
            return lambda job, *_: float(-job.index)
        return lambda job, *_: float(job.index) if self.answer is None else self.answer


def test_an_order_that_changes_with_time_sorts_the_queue_anew() -> None:
    jobs = [job(0, 4, 1), job(1, 4, 2), job(2, 4, 1), job(3, 4, 1)]
    order = [name for name, *_ in starts(world(jobs, RList(0), order=Aging()))]
    assert order == ["a", "b", "d", "c"]


def test_what_an_order_answers_for_a_later_moment_is_checked_too() -> None:
    jobs = [job(0, 4, 1), job(1, 4, 2), job(2, 4, 1), job(3, 4, 1)]
    with pytest.raises(ActorFailed) as caught:
        world(jobs, RList(0), order=Aging(math.nan))
    assert "nan: a priority is a finite number" in str(caught.value.error)


class Counting:
    """An object that is called, with too few parameters for it."""

    def __call__(self) -> int:
        return 0


def test_an_object_that_cannot_be_called_is_reported_with_the_place_of_its_call() -> None:
    line = Counting.__call__.__code__.co_firstlineno
    refused(f"{HERE}Counting raised TypeError", f"(test_checks.py, line {line})", order=Counting())


def test_an_error_of_the_papers_own_policies_is_reported_as_it_is() -> None:
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute"):
        answer(RList(0), None)
