"""What runs that were cancelled have computed is useful where a later run goes on from it
(redundancy17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from numpy.random import default_rng

from actors.events import (
    CopiesPlaced,
    JobCompleted,
    JobDescribed,
    RunEnded,
    WorkerSpeedChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history.rows import SpanRow, Use
from sims.ledger import account
from sims.metrics.report import Report
from sims.scenario.loader import read
from sims.world import run
from tests.parts import parted
from tests.sims.ledger.accountant import Accountant

Table = dict[str, Any]

NEVER = {"kind": "list", "strikes": [[1e9, 0]], "downtime": 1}
"""Faults after the end: every copy is a run of its own, and none a column."""


def log_of(table: Table) -> list[Record]:
    records: list[Record] = []
    run(read({"name": "copies", **table}, "copies"), [records.append])
    return records


def useful(records: Sequence[Record], workers: int) -> dict[str, float]:
    """Work of each job's useful computing."""
    changes: list[list[tuple[float, float]]] = [[(0, 1)] for _ in range(workers)]
    for record in records:
        if isinstance(record.event, WorkerSpeedChanged):
            changes[record.event.worker].append((record.t, record.event.speed))
    accountant, work = Accountant(workers), defaultdict[str, float](float)
    told = [it for record in parted(records) for it in accountant(record)]
    for it in (*told, *accountant.close(records[-1].t)):
        if it.use is Use.USEFUL and it.job is not None:
            work[it.job] += sum(_served(it, changes[n]) for n in _workers(it))
    return work


def _workers(it: SpanRow) -> list[int]:
    return list(numbers_in(it.processors))


def _served(it: SpanRow, changes: Sequence[tuple[float, float]]) -> float:
    spans = pairwise([*changes, (inf, 0.0)])
    served = sum(
        max(min(end, it.end) - max(start, it.start), 0) * speed
        for (start, speed), (end, _) in spans
    )
    return float(it.share) * served


@pytest.mark.parametrize("faults", [{}, {"faults": NEVER}], ids=["columns", "runs"])
@pytest.mark.parametrize(("fast", "first", "end"), [(0, 4, 4.25), (1, 5, 5)])
def test_a_state_that_nobody_ran_for_a_while_is_useful_once_it_is_gone_on_from(
    fast: int, first: int, end: float, faults: Table
) -> None:
    """J1's copies, runs 0 and 1, have done 1 when J2 comes; from then on only run 0's state is run,
    by run 2 until J3 comes at 1.5, and by run 3 from 1.75 on. At 2 both states are run again, by
    run 4 from run 3's (which lacks 2.25) and by run 5 from run 1's (3); one worker alone is left.
    """
    jobs = [{"time": 4}, {"time": 1, "release": 1}, {"time": 0.25, "release": 1.5}]
    speeds = [[[0, 1], [2, int(worker == fast)]] for worker in range(2)]
    table: Table = {
        "workers": [{"speed": {"kind": "list", "changes": it}} for it in speeds],
        "job": {"kind": "rigid", "jobs": [{"processors": 1, **it} for it in jobs]},
        "policy": {"name": "SRPT+R-noclone", "placement": "lowest"},
    }
    records = log_of(table | faults)
    assert any(isinstance(it.event, CopiesPlaced) for it in records) is not bool(faults)
    (completed,) = (
        (it.event.run, it.t)
        for it in parted(records)
        if isinstance(it.event, RunEnded)
        and it.event.job == "J1"
        and it.event.outcome.value == "completed"
    )
    assert completed == (first, end)
    assert useful(records, 2) == {"J1": 4, "J2": 1, "J3": 0.25}
    assert Report.of(records).ledger.total == account(records, 2).total


def drawn(seed: int) -> Table:
    """In columns; as runs; as runs that fetch their states and are lost all the time."""
    rng = default_rng(seed)
    workers = int(rng.integers(2, 6))
    policy = _one(rng, "SRPT+R", "SRPT+R-noclone", "SRPT+R-noclone", "SRPT+R-even", "SRPT")
    table: Table = {
        "seed": seed,
        "platform": {
            "workers": workers,
            "speed": {"kind": "two-point", "peak": 4, "interval": 0.5},
        },
        "job": {
            "kind": "rigid",
            "stream": {
                "count": int(rng.integers(2, 9)),
                "arrivals": {"kind": "poisson", "load": _one(rng, 0.3, 0.6, 0.9)},
                "sizes": {"kind": "exponential", "mean": 1},
            },
        },
        "policy": {"name": policy},
    }
    strikes = [[float(rng.uniform(0, 6)), int(rng.integers(workers))] for _ in range(20)]
    often = {"kind": "list", "strikes": sorted(strikes), "downtime": _one(rng, 0, 0.1, 0.4)}
    return table | _one(
        *(rng, {}, {"faults": NEVER}, {"faults": often}),
        {"faults": often, "protection": {"kind": "none", "delay": 0.05}},
    )


def _one(rng: Any, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_useful_work_of_a_completed_job_is_its_work(first: int) -> None:
    for seed in range(first, first + 40):
        table = drawn(seed)
        records = log_of(table)
        events = [record.event for record in records]
        work = {it.job: it.work for it in events if isinstance(it, JobDescribed)}
        completed = [it.job for it in events if isinstance(it, JobCompleted)]
        found = useful(records, table["platform"]["workers"])
        assert found == pytest.approx({job: work[job] for job in completed}, rel=1e-9), seed
