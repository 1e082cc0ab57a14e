"""A preemptive queue cancels a run only for a job that starts in its place."""

from __future__ import annotations

import tomllib

import pytest
from attrs import evolve

from actors.events import JobCompleted, Outcome, RunEnded
from actors.runtime import Record
from policies.queue.orders import TIMED
from sims.audit.audit import audit
from sims.audit.law import Law
from tests.sims.oneworld import records_of

TABLE = """
name = "preempted"
platform.workers = 2
protection = { kind = "images", period = 3, cost = 0 }
job.kind = "rigid"
job.jobs = [
  { processors = 2, time = 10 },
  { processors = 1, time = 2, release = 5 },
  { processors = 2, time = 1, release = 6 },
]
policy = { name = "EASY", order = "SJF", preemption = true }
"""


def told() -> list[Record]:
    return records_of(tomllib.loads(TABLE))


def test_the_log_of_a_preemptive_queue_breaks_no_law() -> None:
    records = told()
    ends = [it.event.outcome for it in records if isinstance(it.event, RunEnded)]
    assert Outcome.CANCELLED in ends
    assert list(audit(records)) == []


@pytest.mark.parametrize("order", list(TIMED))
def test_an_order_that_changes_with_time_preempts_by_what_it_is_now(order: str) -> None:
    table = tomllib.loads(TABLE)
    table["policy"] = {**table["policy"], "order": order}
    records = records_of(table)
    ends = [it.event.job for it in records if isinstance(it.event, JobCompleted)]
    assert sorted(ends) == ["J1", "J2", "J3"]
    assert list(audit(records)) == []


def test_a_run_that_is_cancelled_where_nobody_starts_is_noticed() -> None:
    """The urgent J2 starts a little later than the run that makes way for it ends."""
    records = told()
    (ended,) = (it.seq for it in records if it.t == 5 and isinstance(it.event, RunEnded))
    late = [evolve(it, t=5.25) if it.t == 5 and it.seq > ended else it for it in records]
    assert [it.law for it in audit(late)] == [Law.DECISION]


def test_a_log_that_says_that_its_queue_does_not_preempt_is_noticed() -> None:
    first, *rest = told()
    event = evolve(first.event, settings=("order=SJF",))
    assert list(audit([evolve(first, event=event), *rest])) != []
