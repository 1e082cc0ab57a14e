"""Processor-time is neither made nor lost, whatever the scenario."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import JobCompleted, ScenarioStarted
from actors.intervals import count_in, intervals_of, spans_in, text
from actors.runtime import Record
from sims.history.rows import SpanRow, Use
from sims.ledger import Ledger, account
from tests.parts import parted
from tests.sims.anything import TABLES
from tests.sims.ledger.accountant import Accountant
from tests.sims.oneworld import records_of

pytestmark = pytest.mark.usefixtures("unchecked")


def processors_of(records: list[Record]) -> int:
    first = records[0].event
    assert isinstance(first, ScenarioStarted)
    return first.processors


def slices_of(records: list[Record]) -> list[SpanRow]:
    accountant = Accountant(processors_of(records))
    told = [it for record in parted(records) for it in accountant(record)]
    return [*told, *accountant.close(records[-1].t)]


def ledger_of(records: list[Record]) -> Ledger:
    return account(records, processors_of(records), workers=True)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("ignore:.*no buddy", "ignore:.*has no effect")
def test_every_processor_is_put_to_exactly_one_use_at_a_time(kind: str) -> None:
    for seed in range(20):
        records = records_of(TABLES[kind](seed))
        check_uses(records)
        check_cut(records[: 1 + seed * len(records) // 20])
        check_useful(records)


def check_uses(records: list[Record]) -> None:
    """By worker and by job."""
    ledger = ledger_of(records)
    assert sum(ledger.total.values()) == ledger.capacity
    for own in ledger.by_worker.values():
        assert own[Use.IDLE] >= 0
        assert sum(own.values()) == Fraction(ledger.end)
    for use in Use:
        if use not in (Use.IDLE, Use.DOWN, Use.RECLAIMED):
            by_job = sum(own[use] for own in ledger.by_job.values())
            assert by_job == ledger.total[use]


def check_cut(cut: list[Record]) -> None:
    """A log that stops early has a ledger, too."""
    ledger = ledger_of(cut)
    assert sum(ledger.total.values()) == ledger.capacity
    assert ledger.total[Use.IDLE] >= 0


def check_useful(records: list[Record]) -> None:
    """No job is useful after its completion."""
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
