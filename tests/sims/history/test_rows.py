"""Rows of jobs against the ledger, and against the runs that a history holds at each record."""

from __future__ import annotations

from collections import defaultdict

import pytest

from actors.intervals import count_in
from sims.history import History, JobRow, Listener
from sims.metrics.report import Report
from tests.parts import parted
from tests.sims.kinds import EVERY, records_of


class Rows(Listener):
    """Keeps the row of each job."""

    def __init__(self) -> None:
        self.of: dict[str, JobRow] = {}

    def job_over(self, row: JobRow) -> None:
        assert row.name not in self.of
        self.of[row.name] = row


def test_a_job_is_reported_with_all_runs_that_end_at_the_instant_of_its_end() -> None:
    rows, records = Rows(), records_of("redundant")
    History.of(records, rows)
    assert any(sum(row.outcomes.values()) > 1 for row in rows.of.values())
    assert all(sum(row.outcomes.values()) == row.runs for row in rows.of.values())


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"shared"}))  # runs that hold half a worker
def test_the_processor_time_of_a_job_is_what_the_ledger_says_that_the_job_held(name: str) -> None:
    rows, records = Rows(), records_of(name)
    History.of(records, rows)
    ledger = Report.of(records, jobs=True).ledger
    for job, row in rows.of.items():
        held = float(sum(ledger.held(job).values()))
        assert row.processor_time == pytest.approx(held)


@pytest.mark.parametrize("name", EVERY)
def test_the_processors_of_a_job_are_the_most_that_its_runs_hold_at_one_time(name: str) -> None:
    rows, history = Rows(), History()
    history.listen(rows)
    most: defaultdict[str, int] = defaultdict(int)
    for record in parted(records_of(name)):
        history.apply(record)
        held: defaultdict[str, int] = defaultdict(int)
        for run in history.runs.values():
            held[run.job.name] += count_in(run.processors)
        for job, number in held.items():
            most[job] = max(most[job], number)
    history.close()
    assert {job: row.processors for job, row in rows.of.items() if row.runs} == most
