"""What the audit says of whole attempts and of workers that fail, by law."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from actors.events import Outcome, RunEnded, RunStarted, WorkerChanged
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.law import Law
from tests.sims.audit.plain import WORKERS, records_of

RECORDS = records_of(
    [(4, 10.0, 0), (2, 6.0, 1), (3, 5.0, 0), (8, 4.0, 1), (1, 9.0, 2)],
    [(2.0, 1), (7.0, 6), (15.0, 0), (15.5, 0)],
)


def first(kind: type[Event], fits: Callable[[Record], bool] = lambda _: True) -> Record:
    return next(it for it in RECORDS if isinstance(it.event, kind) and fits(it))


def is_lost(record: Record) -> bool:
    return isinstance(record.event, RunEnded) and record.event.outcome is Outcome.LOST


def is_back(record: Record) -> bool:
    return isinstance(record.event, WorkerChanged) and record.event.state is WorkerState.UP


DOWN, BACK = first(WorkerChanged), first(WorkerChanged, is_back)
LOST, START = first(RunEnded, is_lost), first(RunStarted)


def changed(record: Record, **fields: object) -> list[Record]:
    """The log with other fields in one event."""
    event = evolve(record.event, **fields)
    return [evolve(it, event=event) if it is record else it for it in RECORDS]


def without(gone: Record) -> list[Record]:
    """The log without one event, numbered afresh."""
    left = [it for it in RECORDS if it is not gone]
    return [evolve(it, seq=k, cause=k - 1 if k else None) for k, it in enumerate(left)]


def laws(records: list[Record]) -> set[Law]:
    return {violation.law for violation in audit(records)}


def test_the_log_itself_breaks_no_law() -> None:
    assert laws(RECORDS) == set()


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.FAILED, Outcome.CANCELLED])
def test_an_attempt_on_a_worker_that_fails_cannot_end_otherwise(outcome: Outcome) -> None:
    assert Law.MEMORY in laws(changed(LOST, outcome=outcome))


def test_an_attempt_whose_workers_all_stay_up_cannot_be_lost() -> None:
    sound = first(RunEnded, lambda it: not is_lost(it))
    assert Law.MEMORY in laws(changed(sound, outcome=Outcome.LOST))


def test_an_attempt_cannot_outlive_one_of_its_workers() -> None:
    kept = [violation for violation in audit(without(LOST)) if violation.law is Law.MEMORY]
    assert "goes on, and a member is DOWN" in kept[0].why


def test_a_worker_fails_when_it_is_up_and_comes_back_when_it_is_due() -> None:
    assert Law.STATE in laws(without(BACK))
    assert Law.STATE in laws(changed(BACK, worker=7))
    assert isinstance(DOWN.event, WorkerChanged) and DOWN.event.until is not None
    assert {Law.DURATION, Law.STATE} & laws(changed(DOWN, until=DOWN.event.until + 1))


def test_a_worker_that_is_down_runs_nothing() -> None:
    assert isinstance(DOWN.event, WorkerChanged)
    until = DOWN.event.until
    assert until is not None
    start = first(RunStarted, lambda it: DOWN.t < it.t < until or it.seq > LOST.seq)
    number = DOWN.event.worker
    assert {Law.CAPACITY, Law.STATE} & laws(changed(start, processors=f"{number}"))


def test_only_a_worker_of_the_platform_can_fail() -> None:
    assert Law.CAPACITY in laws(changed(DOWN, worker=WORKERS))


def test_an_attempt_takes_its_work_and_its_verification() -> None:
    assert isinstance(START.event, RunStarted)
    assert Law.DURATION in laws(changed(START, work=START.event.work + 1))


def test_two_attempts_cannot_hold_one_worker() -> None:
    others = [it for it in RECORDS if isinstance(it.event, RunStarted)]
    assert Law.CAPACITY in laws(changed(others[1], processors="3-4"))


def test_a_job_fails_as_often_as_it_is_said_to() -> None:
    failed = first(
        RunEnded,
        lambda it: isinstance(it.event, RunEnded) and it.event.outcome is Outcome.FAILED,
    )
    assert Law.ATTEMPTS in laws(changed(failed, outcome=Outcome.COMPLETED))


def test_columns_that_do_not_fit_are_noticed_not_raised() -> None:
    assert Law.FRAME in laws(changed(START, processors="0-x"))
