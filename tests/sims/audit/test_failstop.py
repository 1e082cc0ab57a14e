"""What the audit says of processors that fail, by law and number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from actors.batch.events import ProcessorFailed, ProcessorRepaired
from actors.events import Outcome, RunEnded, RunStarted
from actors.runtime import Event, Record
from sims.audit.families import audit
from sims.audit.law import Law
from tests.sims.kinds import records_of

RECORDS = records_of("batch-faults")


def first(kind: type[Event], fits: Callable[[Record], bool] = lambda _: True) -> Record:
    return next(it for it in RECORDS if isinstance(it.event, kind) and fits(it))


def is_lost(record: Record) -> bool:
    return isinstance(record.event, RunEnded) and record.event.outcome is Outcome.LOST


LOST = first(RunEnded, is_lost)
FAILED = RECORDS[LOST.cause or 0]
REPAIRED = first(ProcessorRepaired)


def changed(record: Record, **fields: object) -> list[Record]:
    """The log with other fields in one event."""
    event = evolve(record.event, **fields)
    return [evolve(it, event=event) if it is record else it for it in RECORDS]


def without(*gone: Record) -> list[Record]:
    """The log without some events, numbered afresh."""
    left = [it for it in RECORDS if it not in gone]
    new = {it.seq: number for number, it in enumerate(left)}
    return [
        evolve(it, seq=number, cause=None if number == 0 else new.get(it.cause or 0, number - 1))
        for number, it in enumerate(left)
    ]


def laws(records: list[Record]) -> set[Law]:
    return {violation.law for violation in audit(records)}


def test_the_log_itself_breaks_no_law() -> None:
    assert isinstance(FAILED.event, ProcessorFailed)
    assert laws(list(RECORDS)) == set()


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.FAILED, Outcome.WITHDRAWN])
def test_an_attempt_on_a_processor_that_fails_cannot_end_otherwise(outcome: Outcome) -> None:
    assert Law.MEMORY in laws(changed(LOST, outcome=outcome))


def test_an_attempt_whose_processors_all_stay_up_cannot_be_lost() -> None:
    sound = first(RunEnded, lambda it: not is_lost(it))
    assert Law.MEMORY in laws(changed(sound, outcome=Outcome.LOST))


def test_an_attempt_cannot_outlive_one_of_its_processors() -> None:
    start = first(RunStarted)
    assert isinstance(start.event, RunStarted)
    number = int(start.event.processors.partition("-")[0])
    other = evolve(RECORDS[0], seq=0)
    fault = Record(start.seq + 2, 0, 0, ProcessorFailed(number, 600.0))
    at = start.seq + 2
    log = [other, *RECORDS[1:at], fault, *RECORDS[at:]]
    numbered = [
        evolve(it, seq=number, cause=None if number == 0 else number - 1)
        for number, it in enumerate(log)
    ]
    kept = [violation for violation in audit(numbered) if violation.law is Law.MEMORY]
    assert f"keeps an attempt on processor {number}" in kept[0].why


def test_a_processor_fails_when_it_is_up_and_comes_back_when_it_is_due() -> None:
    assert Law.STATE in laws(without(REPAIRED))
    assert Law.STATE in laws(changed(REPAIRED, processor=63))
    assert isinstance(FAILED.event, ProcessorFailed)
    late = changed(FAILED, until=FAILED.event.until + 1)
    assert {Law.DURATION, Law.STATE} <= laws(late)


def test_a_processor_that_is_down_runs_nothing() -> None:
    assert isinstance(FAILED.event, ProcessorFailed)
    down, number = FAILED.event, FAILED.event.processor
    start = first(RunStarted, lambda it: FAILED.t < it.t < down.until)
    assert Law.CAPACITY in laws(changed(start, processors=f"{number}-{number + 1}"))


def test_only_a_processor_of_the_platform_can_fail() -> None:
    assert Law.CAPACITY in laws(changed(FAILED, processor=64))
