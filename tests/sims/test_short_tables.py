"""Jobs whose tables list fewer workers than there are: they run on no more than those."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import RunStarted
from sims.audit.audit import audit
from sims.errors import InputError
from sims.scenario.loader import read
from tests.sims.oneworld import records_of

JOBS = {
    "moldable": {"speedup": {"kind": "table", "times": [30, 16]}},
    "malleable": {"footprint": 9, "speedup": {"kind": "table", "times": [30, 16]}},
}


def table(kind: str, policy: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "short",
        "platform": {"workers": 8},
        "job": {"kind": kind, "verification": 1, "jobs": [JOBS[kind] | more]},
        "policy": {"name": policy},
    }


@pytest.mark.parametrize("errors", [{}, {"rate": 0.02}, {"per_work": 0.02}, {"average": 0.3}])
@pytest.mark.parametrize(
    ("kind", "policy"),
    [("moldable", "EASY"), ("malleable", "EASY"), ("malleable", "IteratedGreedy-EndLocal")],
)
@pytest.mark.parametrize("protection", ["none", "images"])
def test_a_job_whose_table_ends_before_the_workers_do_runs(
    kind: str, policy: str, errors: dict[str, float], protection: str
) -> None:
    """Every run of it on two workers, as far as its table goes."""
    kept = {"images": {"kind": "images", "period": 5, "cost": 1}, "none": {}}[protection]
    records = records_of(table(kind, policy) | {"errors": errors, "protection": kept})
    starts = [it.event for it in records if isinstance(it.event, RunStarted)]
    assert {(it.processors, it.work) for it in starts} == {("0-1", 16)}
    assert list(audit(records)) == []


def test_a_job_asks_for_as_many_workers_as_its_table_lists_at_most() -> None:
    read(table("moldable", "EASY", processors=2), "short")
    with pytest.raises(InputError, match=r"job\.jobs\.0\.processors: 3 .*; accepted: 1 to 2, for"):
        read(table("moldable", "EASY", processors=3), "short")
