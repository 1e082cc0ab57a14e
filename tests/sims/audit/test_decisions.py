"""What the audit says of decisions that the state of their instant rules out."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from attrs import evolve

from actors.events import JobCompleted, Outcome, RunEnded, RunStarted
from actors.runtime import Record
from policies.queue.orders import TIMED
from sims.audit.audit import audit
from sims.audit.law import Law
from tests.sims.anything import TABLES
from tests.sims.oneworld import records_of

PREEMPTED = """
platform.workers = 2
protection = { kind = "images", period = 3, cost = 0 }
job.jobs = [
  { processors = 2, time = 10 },
  { processors = 1, time = 2, release = 5 },
  { processors = 2, time = 1, release = 6 },
]
policy = { name = "EASY", order = "SJF", preemption = true }
"""
COMPACT = """
platform.workers = 6
protection = { kind = "none", copies = 2 }
job.jobs = [
  { processors = 2, time = 1, protection = { kind = "none" } },
  { kind = "iterative", processors = 2, tasks = 2, iterations = 2 },
]
policy = { name = "R-LIST-0", order = "FCFS", placement = "compact" }
"""
"""J1 holds 0-1 while the copies of J2's first iteration run on 2-3 and 4-5; all end at 1."""
BLOCKED = """
platform.workers = 3
job.jobs = [
  { processors = 2, time = 5 },
  { processors = 3, time = 5 },
  { processors = 1, time = 5 },
]
policy = { name = "FCFS", order = "FCFS" }
"""
"""J3 fits from the start on, and waits for its turn."""
LATE = """
platform.workers = 3
job.jobs = [{ processors = 2, time = 5, release = 4 }]
policy.name = "EASY"
"""
ENROLLED = """
platform.workers = 2
job = { kind = "iterative", jobs = [{ tasks = 2, iterations = 1, release = 4 }] }
policy.name = "IE"
"""


def table(text: str) -> dict[str, Any]:
    found = tomllib.loads(f"name = 'decided'\n{text}")
    found["job"].setdefault("kind", "rigid")
    return found


def broken(records: list[Record]) -> list[Law]:
    return [violation.law for violation in audit(records)]


def called(records: list[Record], **head: object) -> list[Record]:
    """The same log, whose head says something else."""
    first, *rest = records
    return [evolve(first, event=evolve(first.event, **head)), *rest]


@pytest.mark.parametrize("order", ["SJF", *TIMED])
def test_an_order_preempts_by_what_it_is_now(order: str) -> None:
    asked = table(PREEMPTED)
    asked["policy"]["order"] = order
    records = records_of(asked)
    ends = [it.event.job for it in records if isinstance(it.event, JobCompleted)]
    assert sorted(ends) == ["J1", "J2", "J3"]
    assert broken(records) == []


def test_a_run_that_is_cancelled_where_nobody_starts_is_noticed() -> None:
    """The urgent J2 starts a little later than the run that makes way for it ends."""
    records = records_of(table(PREEMPTED))
    ends = [it for it in records if isinstance(it.event, RunEnded)]
    (ended,) = (it.seq for it in ends if it.t == 5 and it.event.outcome is Outcome.CANCELLED)
    late = [evolve(it, t=5.25) if it.t == 5 and it.seq > ended else it for it in records]
    assert broken(late) == [Law.DECISION]


def test_a_log_that_says_that_its_queue_does_not_preempt_is_noticed() -> None:
    assert broken(called(records_of(table(PREEMPTED)), settings=("order=SJF",)))


def test_a_jobs_first_copy_gets_whom_it_had_and_a_further_one_the_fewest_gaps() -> None:
    records = records_of(table(COMPACT))
    first, further = (it for it in records if isinstance(it.event, RunStarted) and it.t == 1)
    assert (first.event.processors, further.event.processors) == ("2-3", "0-1")
    assert broken(records) == []
    records[first.seq] = evolve(first, event=evolve(first.event, processors="0-1"))
    records[further.seq] = evolve(further, event=evolve(further.event, processors="2-3"))
    assert broken(records) == [Law.DECISION]


def test_a_job_that_waits_though_it_fits_is_noticed_where_all_that_fits_starts() -> None:
    records = records_of(table(BLOCKED))
    assert broken(records) == []
    assert broken(called(records, policy="R-LIST-0")) == [Law.DECISION]


@pytest.mark.parametrize("text", [LATE, ENROLLED])
def test_jobs_that_wait_while_all_workers_are_free_are_noticed(text: str) -> None:
    records = records_of(table(text))
    assert broken(records) == []
    start = next(it.seq for it in records if isinstance(it.event, RunStarted))
    early = [evolve(it, t=0.0) if it.seq < start else it for it in records]
    assert broken(early) == [Law.MISSING]


def test_copies_that_srpt_would_not_start_are_noticed() -> None:
    asked = TABLES["runs"](20)
    asked["policy"] = {"name": "FCFS", "decider": "copies"}
    records = records_of(asked)
    assert broken(records) == []
    assert broken(called(records, policy="SRPT")) == [Law.DECISION]
