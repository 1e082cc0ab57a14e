"""Promises of conservative backfilling where jobs overtake and workers go away."""

from __future__ import annotations

from policies.queue.conservative import Conservative
from sims.scenario.loader import read
from sims.world import run
from tests.sims.schedules import Schedule, job, schedule


def test_a_job_that_the_order_puts_before_another_delays_no_promise_to_it() -> None:
    jobs = [job(0, 0, 2, 10), job(1, 1, 2, 5), job(2, 2, 2, 1), job(3, 3, 2, 3)]
    found = schedule(2, jobs, Conservative(), "SJF")
    assert found.promises == [("J1", 10, 1), ("J2", 15, 2), ("J3", 16, 3)]


def scheduled(*reclaims: list[float]) -> Schedule:
    """Two workers; J2 wants both from 1 on, and J3 one from 12 on."""
    jobs = [(1, 10, 0), (2, 5, 1), (1, 3, 12)]
    listed = [{"processors": p, "time": time, "release": at} for p, time, at in jobs]
    table = {
        "name": "away",
        "unit": "s",
        "platform": {"workers": 2},
        "job": {"kind": "rigid", "jobs": listed},
        "policy": {"name": "conservative"},
        "reclaims": list(reclaims),
    }
    found = Schedule()
    run(read(table, "away"), [found])
    return found


def test_while_nobody_knows_when_a_worker_comes_back_no_promise_needs_it() -> None:
    calm, away = scheduled(), scheduled([2, 14, 1])
    assert calm.promises == [("J2", 10, 1), ("J3", 15, 12)]
    assert calm.starts == {"J1": 0, "J2": 10, "J3": 15}
    assert away.promises == [("J2", 10, 1)]  # made before it went, and put off for ever
    assert away.starts == {"J1": 0, "J2": 15, "J3": 12}
