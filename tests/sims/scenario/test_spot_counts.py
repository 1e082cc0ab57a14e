"""Spot traces that count instances: one key gives each worker of a table its own states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.events import JobCompleted, WorkerChanged
from sims.scenario.loader import read
from sims.world import run
from tests.sims.oneworld import Table

COUNTS = [2, 3, 1, 0, 2]
"""Instances in each tick of ten seconds."""


def played(folder: Path, **platform: object) -> list[object]:
    """The run's events with their times, of a job of one worker and 45 s."""
    trace = {"metadata": {"gap_seconds": 10}, "data": COUNTS}
    (folder / "zone.json").write_text(json.dumps(trace))
    table: Table = {
        "name": "spot",
        "unit": "s",
        **platform,
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 18}]},
        "policy": {"name": "EASY"},
    }
    found: list[object] = []
    run(read(table, "spot", folder), [lambda it: found.append((it.t, it.event))], folder)
    return found


TRACE = {"kind": "spot", "file": "zone.json", "after": "repeat"}


@pytest.mark.parametrize("kind", ["pool", "table"])
def test_so_many_workers_are_up_as_there_are_instances(kind: str, tmp_path: Path) -> None:
    """At 20 s one instance is left, at 30 s none: worker 0 keeps the job until then."""
    table = {"availability": TRACE}
    pool = {"platform": {"workers": 3, **table}}
    said = pool if kind == "pool" else {"workers": [{"count": 3, **table}]}
    events = played(tmp_path, **said)
    changes = [(t, it.worker, it.state.value) for t, it in events if isinstance(it, WorkerChanged)]
    assert changes == [(0, 2, "d"), (10, 2, "u")]
    [(end, _)] = [it for it in events if isinstance(it[1], JobCompleted)]
    assert end == 18


def test_a_mapping_of_counts_still_says_what_one_worker_is(tmp_path: Path) -> None:
    states = {0: "d", 1: "u", 2: "d", 3: "u"}
    table = {"availability": TRACE | {"states": {str(k): v for k, v in states.items()}}}
    events = played(tmp_path, platform={"workers": 2, **table})
    [(end, _)] = [it for it in events if isinstance(it[1], JobCompleted)]
    assert end == 28
