"""Processor-time is neither made nor lost, whatever the scenario."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.events import JobCompleted, ScenarioStarted
from actors.intervals import count_in, intervals_of, spans_in, text
from actors.runtime import Record
from sims.ledger import Ledger, Slice, Use, account
from tests.parts import parted
from tests.sims.anything import TABLES, records_of, scenarios
from tests.sims.ledger.accountant import Accountant


def processors_of(records: list[Record]) -> int:
    first = records[0].event
    assert isinstance(first, ScenarioStarted)
    return first.processors


def slices_of(records: list[Record]) -> list[Slice]:
    accountant = Accountant(processors_of(records))
    told = [it for record in parted(records) for it in accountant(record)]
    return [*told, *accountant.close(records[-1].t)]


def ledger_of(records: list[Record]) -> Ledger:
    return account(records, processors_of(records), workers=True)


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_processor_is_put_to_exactly_one_use_at_a_time(
    kind: str, data: st.DataObject
) -> None:
    ledger = ledger_of(records_of(data.draw(scenarios(kind))))
    assert sum(ledger.total.values()) == ledger.capacity
    for own in ledger.by_worker.values():
        assert own[Use.IDLE] >= 0
        assert sum(own.values()) == Fraction(ledger.end)
    for use in Use:
        if use not in (Use.IDLE, Use.DOWN, Use.RECLAIMED):
            by_job = sum(own[use] for own in ledger.by_job.values())
            assert by_job == ledger.total[use]


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), part=st.floats(0, 1))
def test_a_log_that_stops_early_has_a_ledger_too(
    kind: str, data: st.DataObject, part: float
) -> None:
    records = records_of(data.draw(scenarios(kind)))
    cut = records[: 1 + int(part * (len(records) - 1))]
    ledger = ledger_of(cut)
    assert sum(ledger.total.values()) == ledger.capacity
    assert ledger.total[Use.IDLE] >= 0


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_job_is_useful_before_its_submission_or_after_its_completion(
    kind: str, data: st.DataObject
) -> None:
    records = records_of(data.draw(scenarios(kind)))
    done = {r.event.job: r.t for r in records if isinstance(r.event, JobCompleted)}
    for it in slices_of(records):
        assert it.start < it.end
        if it.use is Use.USEFUL and it.job in done:
            assert it.end <= done[it.job]


@given(st.sets(st.integers(0, 60)))
def test_an_interval_set_is_read_back_as_it_was_written(numbers: set[int]) -> None:
    written = text(intervals_of(sorted(numbers)))
    assert {p for a, b in spans_in(written) for p in range(a, b + 1)} == numbers
    assert count_in(written) == len(numbers)
