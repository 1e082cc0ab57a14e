"""Whom a run gets, what members lose and what they take along (rules.md, D2, R2, W2)."""

from __future__ import annotations

import tomllib
from typing import Any

from actors.events import CheckpointTaken, Outcome, RunEnded, RunStarted, TransferStarted
from actors.runtime import Event, Record
from sims.audit.audit import audit
from tests.sims.oneworld import records_of

ALL = """
name = "members"
policy = { name = "R-LIST-0", order = "FCFS" }
job.kind = "rigid"
"""


def told(scenario: str) -> list[Record]:
    """The log of a run, which obeys the laws."""
    records = records_of(tomllib.loads(ALL + scenario))
    assert list(audit(records)) == []
    return records


def of(records: list[Record], kind: type[Event], job: str) -> list[tuple[float, Any]]:
    return [(it.t, it.event) for it in records if type(it.event) is kind and it.event.job == job]


def test_a_job_that_failed_gets_the_lowest_workers_whomever_it_had() -> None:
    records = told("""
        platform.workers = 2
        job.jobs = [
            { name = "A", processors = 1, time = 4 },
            { name = "B", processors = 1, time = 2, failures = 2 },
        ]
    """)
    started = of(records, RunStarted, "B")
    assert [(t, event.processors) for t, event in started] == [(0, "1"), (2, "1"), (4, "0")]


def test_whoever_is_struck_as_he_begins_to_save_has_saved_nothing_though_he_is_back_at_once() -> (
    None
):
    records = told("""
        platform.workers = 2
        master = { channels = 1, image = 1 }
        faults = { kind = "list", strikes = [[2, 0], [2, 1]], downtime = 0 }
        protection = { kind = "images", period = 2 }
        job.jobs = [{ name = "A", processors = 2, time = 4 }]
    """)
    ended = of(records, RunEnded, "A")
    told_so = [(t, event.outcome) for t, event in ended]
    assert told_so == [(2, Outcome.LOST), (8, Outcome.COMPLETED)]
    assert [t for t, _ in of(records, CheckpointTaken, "A")] == [6]


def test_a_kept_member_that_is_given_back_has_no_data_for_the_next_job() -> None:
    """The second copy of A waits for worker 2 from 2 on; the first completes A at 4."""
    records = told("""
        platform.workers = 4
        master = { channels = 4, data = 1 }
        faults = { kind = "list", strikes = [[2, 2]], downtime = 10 }
        job.jobs = [
            { name = "A", processors = 2, time = 3, protection = { kind = "buddies", copies = 2 } },
            { name = "B", processors = 3, time = 1, release = 1 },
        ]
    """)
    assert [(t, event.processors) for t, event in of(records, RunStarted, "B")] == [(4, "0-1 3")]
    sent = [(t, event.worker) for t, event in of(records, TransferStarted, "B")]
    assert sent == [(4, 0), (4, 1), (4, 3)]
    assert [t for t, _ in of(records, RunEnded, "B")] == [6]
