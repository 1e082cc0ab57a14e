"""Placement at random: the workers of each start are drawn from the free ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

from actors.events import RunStarted
from actors.intervals import numbers_in
from sims.audit.audit import audit
from sims.session import run


def members(jobs: list[dict[str, Any]], workers: int, seed: int) -> list[tuple[int, ...]]:
    """The workers of each run, in order; the audit finds nothing wrong."""
    table = {
        "name": "random",
        "unit": "s",
        "platform": {"workers": workers},
        "job": {"kind": "rigid", "jobs": jobs},
        "policy": {"name": "R-LIST-0", "placement": "random"},
    }
    records = list(run(table, seed=seed).records())
    assert list(audit(iter(records))) == []
    return [numbers_in(it.event.processors) for it in records if isinstance(it.event, RunStarted)]


def test_every_worker_is_drawn_as_often_as_any_other() -> None:
    """3 of 6 workers in 400 starts: each 200 times, give or take four standard deviations of 10."""
    jobs = [{"processors": 3, "time": 1, "release": 2 * k} for k in range(400)]
    drawn = Counter(worker for run in members(jobs, 6, 1) for worker in run)
    assert set(drawn) == set(range(6))
    assert all(abs(times - 200) < 40 for times in drawn.values())


def test_a_seed_draws_the_same_workers_again_and_another_seed_others() -> None:
    jobs = [{"processors": 2, "time": 1, "release": 2 * k} for k in range(20)]
    assert members(jobs, 8, 1) == members(jobs, 8, 1) != members(jobs, 8, 2)


def test_a_start_that_needs_all_free_workers_draws_nothing() -> None:
    """The first job takes all of them; what the second gets does not depend on it."""
    narrow = {"processors": 2, "time": 1, "release": 5}
    wide = {"processors": 8, "time": 1}
    assert members([wide, narrow], 8, 3)[1] == members([narrow], 8, 3)[0]
