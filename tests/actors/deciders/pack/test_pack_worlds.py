"""What a pack's workers do around a fault, an end and a resize, worked out by hand
(malleable17)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from actors.deciders.pack.state import Candidate, CandidateAtSpeed
from actors.events import (
    CheckpointTaken,
    JobCompleted,
    MembersPromised,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
)
from actors.runtime import Event, Record
from policies.interface.pack import Cause, RedistributionView, Resize
from policies.maths.cosched import Link, costs
from policies.pack import CATALOGUE
from sims.audit.audit import audit
from sims.scenario.loader import read
from sims.world import run

COMPUTING = Stage.COMPUTING
BUDDIES = {"kind": "buddies", "period": 5000, "cost": 20, "mtbf": 1e9}
LOCAL = "ShortestApplicationsFirst-EndLocal"


def played(
    *times: Sequence[float], workers: int = 4, footprint: float = 8, **sections: Any
) -> list[Record]:
    """Applications of `footprint` units of data, by what they take on 1, 2, ... workers."""
    speedups = [{"kind": "table", "times": list(row)} for row in times]
    jobs = [
        {"name": f"T{k}", "footprint": footprint, "speedup": it}
        for k, it in enumerate(speedups, start=1)
    ]
    table = {
        "name": "pack",
        "platform": {"workers": workers},
        "job": {"kind": "malleable", "jobs": jobs},
        "link": {"unit": 1},
        "protection": BUDDIES,
        "policy": {"name": LOCAL},
    }
    records: list[Record] = []
    run(read(table | sections, "pack"), [records.append])
    return records


def told(records: Sequence[Record], kind: type[Event]) -> list[tuple[float, Any]]:
    return [(it.t, it.event) for it in records if isinstance(it.event, kind)]


# --- early releases -------------------------------------------------------------------------------


@pytest.mark.parametrize(("second", "promised"), [(179, True), (180, False), (181, False)])
def test_who_ends_before_the_struck_one_computes_again_promises_its_workers_at_the_fault(
    second: float, promised: bool
) -> None:
    """Struck at 100, DOWN for 60 and recovering for 20, T1 computes again at 180."""
    strike = {"kind": "list", "strikes": [[100, 0]], "downtime": 60}
    records = played([1000, 600], [second, second], faults=strike)
    ends = [(100, MembersPromised("T2", 0, "2-3"))] if promised else []
    assert told(records, MembersPromised) == ends
    assert [(t, it.job) for t, it in told(records, RunEnded)] == [
        (100, "T1"),
        (second, "T2"),
        (780, "T1"),
    ]


def test_an_application_that_is_down_as_it_promises_its_workers_recovers_and_ends() -> None:
    """T2 has saved 100 of 108 at 120. Struck at 125, DOWN for 60 and recovering for 20, it ends at
    213. T1, struck at 140, computes again at 220: T2 promises its workers while it is DOWN."""
    records = played(
        *([1000, 600], [108, 108]),
        faults={"kind": "list", "strikes": [[125, 2], [140, 0]], "downtime": 60},
        protection=BUDDIES | {"period": 100},
    )
    assert told(records, MembersPromised) == [(140, MembersPromised("T2", 0, "2-3"))]
    assert [(t, it.job) for t, it in told(records, RunStarted)][2] == (185, "T2")
    assert next((t, it.job) for t, it in told(records, JobCompleted)) == (213, "T2")
    assert list(audit(records)) == []


def nobody_moves(view: RedistributionView) -> Sequence[Resize]:
    """It does not say that it never does anything at faults."""
    return ()


@pytest.mark.parametrize(
    ("policy", "end"),
    [
        *((name, 100 if "-" in name else 240) for name in CATALOGUE),
        ("policies.pack:NoRedistribution", 240),
        (f"{__name__}:nobody_moves", 100),
    ],
)
def test_nobody_releases_workers_at_a_fault_under_a_policy_that_does_nothing_there(
    policy: str, end: float
) -> None:
    """T2, struck at 80, computes again at 130, and T1 would end at 100. Struck at 90 on workers
    that it has not released, T1 recovers for 100 x 1 / 2 and does its 100 from the start."""
    records = played(
        *([200, 100, 100, 100], [600, 300, 300, 300]),
        footprint=100,
        faults={"kind": "list", "strikes": [[80, 2], [90, 0]], "downtime": 0},
        protection={"kind": "buddies", "period": "young", "mtbf": 10000},
        policy={"name": policy},
    )
    completed = [(t, it.job) for t, it in told(records, JobCompleted)]
    assert completed == [(end, "T1"), (430, "T2")]
    assert bool(told(records, MembersPromised)) is (end == 100)
    assert list(audit(records)) == []


# --- what closes a redistribution -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "closed"),
    [
        (BUDDIES, [(194, "T1")]),
        ({"kind": "buddies", "period": math.inf, "cost": 20}, []),
        ({"kind": "images", "period": 5000, "cost": 20, "mtbf": 1e9}, []),
        ({"kind": "none"}, []),
    ],
)
def test_a_checkpoint_closes_a_redistribution_where_members_keep_checkpoints_that_are_taken(
    rules: dict[str, Any], closed: list[tuple[float, str]]
) -> None:
    """T2 ends at 172; T1 goes from 2 to 4 workers in 2 rounds of 8 / (2 x 4), until 174."""
    records = played([999, 600, 500, 300], [172] * 4, protection=rules)
    computing = [(t, it.job) for t, it in told(records, StageStarted) if it.stage is COMPUTING]
    assert computing[2:] == [(194 if closed else 174, "T1")]
    assert [(t, it.job) for t, it in told(records, CheckpointTaken)] == closed


# --- who is absent and leaves ---------------------------------------------------------------------


class Halving:
    """Whoever is struck with four workers has two from then on."""

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        struck = [it for it in view.candidates if it.index == view.faulty and it.size == 4]
        return [Resize(it.index, 2) for it in struck] if view.cause is Cause.FAULT else ()


def test_whoever_waits_for_its_members_waits_for_none_that_has_left() -> None:
    """From 100 on only worker 3 is UP, and given away first, then 2, which is DOWN. When 0 and 1
    are back T1 recovers for 20, moves 8 / (4 x 2) in each of 2 rounds, closes that with a
    checkpoint of 20, and does 600."""
    strikes = [[100, worker] for worker in range(3)]
    faults = {"kind": "list", "strikes": strikes, "downtime": 60}
    records = played(
        [999, 600, 500, 400],
        faults=faults,
        protection=BUDDIES | {"fatal": "possible"},
        policy={"name": f"{__name__}:Halving"},
    )
    runs = [(t, it.processors, it.work) for t, it in told(records, RunStarted)]
    assert runs == [(0, "0-3", 400), (160, "0-1", 600)]
    assert records[-1].t == 160 + 20 + 2 + 20 + 600


# --- what a candidate believes --------------------------------------------------------------------


def test_on_slow_members_all_but_the_start_takes_longer() -> None:
    """From 1 to 2 processors: 1 round of 8 / (1 x 2), then half of 60; from 1 to 1 it stays."""
    table = costs(np.array([100.0, 60.0]), 8, 1, Link(), None)
    known = (0, 1, table, 10.0, 0.5, 77.0)
    plain, half = Candidate(*known), CandidateAtSpeed(*known, speed=0.5)
    assert [plain.finish(size) for size in (1, 2)] == [77, 10 + 4 + 30]
    assert [half.finish(size) for size in (1, 2)] == [77, 10 + 2 * (4 + 30)]
