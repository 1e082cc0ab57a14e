"""What the audit says of whom a queue's runs get, where its placement is compact."""

from __future__ import annotations

import tomllib

from attrs import evolve

from actors.events import RunStarted
from actors.runtime import Record
from sims.audit.audit import audit
from sims.audit.law import Law
from tests.sims.oneworld import records_of

TABLE = """
name = "compact"
platform.workers = 6
protection = { kind = "none", copies = 2 }
job.kind = "rigid"
job.jobs = [
  { processors = 2, time = 1, protection = { kind = "none" } },
  { kind = "iterative", processors = 2, tasks = 2, iterations = 2 },
]
policy = { name = "R-LIST-0", order = "FCFS", placement = "compact" }
"""
"""J1 holds 0-1 while the copies of J2's first iteration run on 2-3 and 4-5; all end at 1."""


def told() -> list[Record]:
    return records_of(tomllib.loads(TABLE))


def second_iteration(records: list[Record]) -> list[Record]:
    return [it for it in records if isinstance(it.event, RunStarted) and it.t == 1]


def test_a_jobs_first_copy_gets_whom_it_had_and_a_further_one_the_fewest_gaps() -> None:
    records = told()
    processors = [it.event.processors for it in second_iteration(records)]
    assert processors == ["2-3", "0-1"]
    assert list(audit(records)) == []


def test_a_first_copy_that_does_not_get_whom_it_had_is_noticed() -> None:
    records = told()
    first, further = second_iteration(records)
    swapped = {first.seq: "0-1", further.seq: "2-3"}
    other = [
        evolve(it, event=evolve(it.event, processors=swapped[it.seq])) if it.seq in swapped else it
        for it in records
    ]
    assert [violation.law for violation in audit(other)] == [Law.DECISION]
