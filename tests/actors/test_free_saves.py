"""Checkpoints that cost nothing, of which nobody hears, are counted by arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import CheckpointTaken
from actors.runtime import Record
from sims.history.summary import Summary
from sims.session import load
from sims.summary import summary_json
from sims.world import run


class Listener:
    """A sink that wants each checkpoint, so that they are taken one by one."""

    wants = frozenset({CheckpointTaken})

    def __init__(self) -> None:
        self.taken = 0

    def __call__(self, record: Record) -> None:
        self.taken += 1


def summary_of(table: dict[str, Any], *sinks: Any) -> dict[str, object]:
    """The summary of a run with these further sinks."""
    summary = Summary()
    run(load(table), [summary, *sinks])
    return summary_json(summary)


@pytest.mark.parametrize("kind", ["images", "buddies"])
@pytest.mark.parametrize("speed", [1, [[0, 1], [7, 0.5], [13.25, 2]]])
@pytest.mark.parametrize("seed", range(12))
def test_a_summary_is_the_same_however_checkpoints_are_counted(
    kind: str, speed: Any, seed: int
) -> None:
    table = {
        "name": "free",
        "seed": seed,
        "platform": {"workers": 5, "speed": speed, "reserve": 1},
        "reclaims": [[3.125, 4.5, 0], [11, 12, 1]],
        "faults": {"mtbf": 24, "downtime": 1.5, "detection": 0.25},
        "protection": {"kind": kind, "period": 0.125, "cost": 0, "recovery": 0.5},
        "errors": {"rate": 0.01},
        "job": {
            "kind": "rigid",
            "jobs": [{"name": "A", "processors": 4, "time": 20, "verification": 0.5}],
            "cap": 400,
        },
        "policy": {"name": "FCFS"},
    }
    listener = Listener()
    one_by_one = summary_of(table, listener)
    counted = summary_of(table)
    assert listener.taken > 100
    assert counted["makespan"] == pytest.approx(one_by_one["makespan"], rel=1e-12)
    del counted["makespan"], one_by_one["makespan"]
    assert counted == one_by_one
