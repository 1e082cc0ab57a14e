"""A log in numbers, on worlds small enough to check by hand."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from actors.events import (
    SCHEMA,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobsLeftOut,
    JobSubmitted,
    Outcome,
    RunEnded,
    RunStarted,
    ScenarioStarted,
)
from actors.runtime import Event, Record
from policies.interface.kinds import JobKind
from sims.cli.logs import account_table
from sims.history.rows import Use
from sims.metrics.jobs import spread_of
from sims.metrics.report import Report
from tests.sims.oneworld import records_of

TWO_JOBS = """
name = "two"
platform = { workers = 2 }
policy = { name = "R-LIST-0", order = "FCFS" }
[job]
kind = "rigid"
verification = 1
jobs = [
    { processors = 2, time = 4, failures = 1 },
    { processors = 1, time = 3, release = 2, failures = 0 },
]
"""
"""J1 fails over [0, 5), succeeds over [5, 10); J2 waits from 2 to 10 and runs to 14."""


def reported(scenario: str) -> Report:
    return Report.of(records_of(tomllib.loads(scenario)), workers=True, jobs=True)


def mean(report: Report, name: str) -> float | None:
    spread = report.spreads[name]
    return spread and spread["mean"]


@pytest.fixture
def report() -> Report:
    return reported(TWO_JOBS)


def test_processor_time_is_reported_by_what_it_went_to(report: Report) -> None:
    spent = {use: float(time) for use, time in report.ledger.total.items() if time}
    assert spent == {Use.USEFUL: 11, Use.LOST: 8, Use.VERIFICATION: 5, Use.IDLE: 4}
    assert report.utilisation == pytest.approx(24 / 28)
    assert report.wasted == pytest.approx(8 / 24)


def test_flowtimes_and_stretches_are_summed_up(report: Report) -> None:
    assert mean(report, "flowtime") == pytest.approx((10 + 12) / 2)
    assert mean(report, "stretch") == pytest.approx((10 / 5 + 12 / 4) / 2)


def test_the_queue_is_averaged_over_time(report: Report) -> None:
    assert (report.queue.mean, report.queue.longest) == (pytest.approx(8 / 14), 1)


def test_ledgers_per_worker_and_job_are_reported_in_a_table(report: Report) -> None:
    assert float(report.ledger.by_worker[1][Use.IDLE]) == 4
    heading, first, *_ = account_table(report.ledger.by_job, "s")
    assert heading.split() == ["processors", "x", "s", "useful", "lost", "verification"]
    assert first.split() == ["J1", "8", "8", "4"]


def test_a_master_is_asked_how_busy_its_link_is() -> None:
    report = reported("""
        name = "alone"
        master = { channels = 2, program = 3, data = 1 }
        job = { kind = "iterative", tasks = 1, iterations = 1 }
        policy = { name = "IE" }
        [[workers]]
        task_time = 2
        availability = "u"
        belief = { rows = [[1, 0, 0], [1, 0, 0], [1, 0, 0]] }
    """)
    assert report.bandwidth == pytest.approx(4 / 6 / 2)
    assert mean(report, "stretch") is None


def test_nothing_has_no_spread() -> None:
    assert spread_of(np.array([])) is None


KILLED: list[tuple[float, Event]] = [
    (0, ScenarioStarted(SCHEMA, "killed", 0, ("rigid",), "R-LIST-0", 4, (), "s")),
    (0, JobsLeftOut("too wide", 2)),
    (0, JobSubmitted("a")),
    (0, JobDescribed("a", JobKind.RIGID, 10, 1, None, None, None)),
    (1, JobSubmitted("b")),
    (1, JobDescribed("b", JobKind.RIGID, 50, 0, None, None, 3)),
    (2, RunStarted("a", 0, "0-1", 5)),
    (8, RunEnded("a", 0, Outcome.FAILED, 5)),
    (8, RunStarted("a", 1, "0-1", 5)),
    (9, RunStarted("b", 0, "2", 50)),
    (12, RunEnded("b", 0, Outcome.CANCELLED, 3)),
    (12, JobKilled("b")),
    (14, RunEnded("a", 1, Outcome.COMPLETED, 5)),
    (14, JobCompleted("a")),
]


def test_a_killed_jobs_time_is_lost_and_its_flowtime_none() -> None:
    report = Report.of(Record(seq, time, None, event) for seq, (time, event) in enumerate(KILLED))
    # a: 2 x 5 lost, 2 x 5 useful, twice 2 x 1 verified; b: 1 x 3 lost.
    spent = {use: float(time) for use, time in report.ledger.total.items() if time}
    assert spent == {Use.USEFUL: 10, Use.LOST: 13, Use.VERIFICATION: 4, Use.IDLE: 29}
    assert report.utilisation == pytest.approx(27 / 56)
    summary = report.summary
    assert (len(summary.submitted), len(summary.completed), len(summary.killed)) == (2, 1, 1)
    assert summary.left_out == {"too wide": 2}
    assert (summary.outcomes.total(), summary.outcomes[Outcome.FAILED]) == (3, 1)
    assert mean(report, "flowtime") == 14
    assert mean(report, "stretch") == pytest.approx(14 / 6)
    assert report.queue.area == 2 + 8


def test_a_log_that_shows_nothing_has_no_numbers() -> None:
    report = Report.of(())
    told = report.summary.makespan, mean(report, "flowtime"), report.utilisation
    assert told == (None, None, 0)


def test_what_a_run_costs_and_draws_is_reported_where_its_scenario_says_prices_and_watts() -> None:
    report = reported("""
        name = "priced"
        platform = { workers = 2 }
        job = { kind = "rigid", jobs = [{ processors = 1, time = 7200 }] }
        measures = { prices = { busy = 3 }, watts = { busy = 500, idle = 100 } }
    """)
    told = [line.strip() for line in report.lines()]
    assert "cost        6" in told
    assert "energy      1.2 kWh" in told
