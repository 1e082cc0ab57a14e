"""Replicas beyond the cases worked by hand: what is told of them, and what is refused (rules.md,
E1)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import (
    CheckpointLost,
    JobCompleted,
    ReplicasDropped,
    RestartedFromScratch,
    RunPaused,
)
from actors.runtime import Record, System
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.summary import Summary
from sims.scenario.loader import read
from sims.scenario.outlook import outlook
from sims.scenario.workload import workload
from sims.session import run
from sims.summary import summary_json, summary_rows

JOB = {"processors": 4, "time": 20, "replicas": 2, "regroup": 1, "rejoin": 2}


def table_of(job: dict[str, Any], strikes: list[list[float]], **more: Any) -> dict[str, Any]:
    faults = {"kind": "list", "strikes": strikes, "downtime": 3}
    about = {"name": "replicas", "unit": "s", "platform": {"workers": 4}, "faults": faults}
    return about | {"job": {"kind": "rigid", "jobs": [job]}, "policy": {"name": "FCFS"}} | more


def records_of(table: dict[str, Any]) -> list[Record]:
    """The log of a scenario, in which the audit finds nothing wrong."""
    records = list(run(table).records())
    assert list(audit(iter(records))) == []
    return records


def of(kind: type, records: list[Record]) -> list[tuple[float, Any]]:
    return [(it.t, it.event) for it in records if isinstance(it.event, kind)]


def test_faults_of_one_instant_take_their_replicas_out_together() -> None:
    records = records_of(table_of(JOB | {"replicas": 4}, [[5, 0], [5, 3]]))
    [(t, event)] = of(ReplicasDropped, records)
    assert (t, event.processors, event.left) == (5, "0 3", 2)
    assert [it.length for _, it in of(RunPaused, records)] == [1, 2]


BUDDIES = {"kind": "buddies", "period": 5, "cost": 1}
BOTH_PAIRS: list[list[float]] = [[7, 0], [7, 1], [10.5, 2], [10.5, 3]]
"""Faults of both buddies of the first replica, and, once that has rejoined at 10, of the second."""


def test_a_run_that_goes_on_lacks_nothing_of_a_checkpoint_that_all_replicas_have_lost() -> None:
    """The checkpoint of 5 is complete at 6, and 6 are done at 7; 7.5 at 10, 8 at 10.5, 9.5 at 13.5,
    when all are UP. The next checkpoints are complete at 15 and 21, the last 5 are done at 26."""
    table = table_of(JOB | {"regroup": 0, "rejoin": 0}, BOTH_PAIRS, protection=BUDDIES)
    records = records_of(table)
    assert [t for t, _ in of(CheckpointLost, records)] == [10.5]
    assert of(RestartedFromScratch, records) == []
    assert [t for t, _ in of(JobCompleted, records)] == [26]


def test_a_run_that_is_lost_after_such_a_loss_begins_from_scratch() -> None:
    """At 12 only the first replica counts, and loses a member."""
    strikes = [*BOTH_PAIRS, [12, 0]]
    records = records_of(table_of(JOB | {"regroup": 0, "rejoin": 0}, strikes, protection=BUDDIES))
    [(t, event)] = of(RestartedFromScratch, records)
    assert (t, event.lost) == (12, 5)


def test_the_summary_counts_drops_and_what_a_run_means_is_told_before_it() -> None:
    table = table_of(JOB, [[5, 0]], protection={"kind": "images", "period": 5, "cost": 1})
    summary = Summary()
    for record in records_of(table):
        summary(record)
    assert ("replicas", "dropped out 1 time, rejoined 1 time") in list(summary_rows(summary))
    assert summary_json(summary)["replicas"] == {"dropped out": 1, "rejoined": 1}
    table["faults"] = {"kind": "exponential", "mtbf": 100, "downtime": 3}
    scenario = read(table, "replicas.toml")
    submissions = workload(scenario, System(0)).submissions
    assert any("as with replicas few of them do" in it for it in outlook(scenario, submissions))


@pytest.mark.parametrize(
    ("job", "policy", "said"),
    [
        (JOB | {"replicas": 3}, "FCFS", "replicas: 3 is not accepted; accepted: a number that"),
        (JOB | {"least": 3}, "FCFS", "least: 3 is not accepted; accepted: 1 to replicas (2)"),
        (JOB | {"regroup": -1}, "FCFS", "regroup"),
        (JOB, "on-demand", "replicas"),
    ],
)
def test_replicas_that_no_run_can_have_are_refused(
    job: dict[str, Any], policy: str, said: str
) -> None:
    more: dict[str, Any] = {"policy": {"name": policy}}
    with pytest.raises(InputError) as raised:
        run(table_of(job | ({"deadline": 90} if policy == "on-demand" else {}), [], **more))
    assert said in str(raised.value)
