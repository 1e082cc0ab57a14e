"""Expected values for moldable jobs (000), computed independently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.batch.events import AttemptSized
from actors.events import RunEnded
from actors.runtime import Record, System
from policies.batch.allocation import LocalProcessorAllocation, MinArea, MinTime
from policies.batch.batches import Exact
from policies.batch.lists import RList
from policies.batch.orders import PAPER_ORDERS
from policies.interface.batch import BatchJob, BatchPolicy
from policies.maths.makespan_bounds import least, moldable_bound
from policies.maths.profiles import Listed
from policies.maths.speedup import (
    Profile,
    Table,
    amdahl,
    communication,
    mix,
    power,
    roofline,
)
from sims.papers.batch_runs import described, spawn

CLOSE = 1e-9
RULES = {
    "LPA": LocalProcessorAllocation(),
    "MINTIME": MinTime(),
    "MINAREA": MinArea(),
    "BATCH": Exact(),
}
"""BATCH_mixed and BATCH_dp0.3 are other allotments, kept for comparison."""

MODELS = {
    "roofline": lambda j: roofline(j["w"], j["pbar"]),
    "communication": lambda j: communication(j["w"], j["c"]),
    "amdahl": lambda j: amdahl(j["w"], j["gamma"]),
    "mix": lambda j: mix(j["w"], j["pbar"], j["gamma"], j["c"]),
    "power": lambda j: power(j["w"], j["delta"]),
    "table": lambda j: Table(tuple(j["table"])),
}


def instances(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / "moldable.json"
    if not path.exists():
        pytest.skip(f"{folder} has no moldable.json")
    yield from json.loads(path.read_text())["instances"]


def profiles(case: dict[str, Any]) -> list[Profile]:
    if case["jobs"] == "table":
        return [Table(tuple(times)) for times in case["t"]]
    return [MODELS[job["model"]](job) for job in case["jobs"]]


def some(case: dict[str, Any], indices: list[int] | None = None) -> list[BatchJob]:
    jobs = described(profiles(case))
    return [jobs[i] for i in (indices if indices is not None else range(len(jobs)))]


def attempts(case: dict[str, Any], rule: str, order: str) -> tuple[float, list[tuple[Any, ...]]]:
    records: list[Record] = []
    system = System(0, [records.append], start=0)
    policy = BatchPolicy(PAPER_ORDERS[order], RList(0), RULES[rule], rule)
    spawn(system, case["P"], some(case), case["failures"], policy)
    system.run()
    ends = {(r.event.job, r.event.run): r.t for r in records if isinstance(r.event, RunEnded)}
    rows = [
        (int(e.job[1:]) - 1, e.run, e.processors, r.t, ends[e.job, e.run])
        for r in records
        if isinstance(e := r.event, AttemptSized)
    ]
    return max(ends.values()), sorted(rows)


def test_each_speedup_model_takes_the_expected_times(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        for profile, times in zip(profiles(case), case["t"], strict=True):
            found = [profile.time(p) for p in range(1, case["P"] + 1)]
            assert found == pytest.approx(times, rel=CLOSE), case["name"]


def test_minima_ratios_and_the_lower_bound_are_as_expected(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        times, areas = least(profiles(case), case["P"])
        assert times == pytest.approx(case["t_min"], rel=CLOSE), case["name"]
        assert areas == pytest.approx(case["a_min"], rel=CLOSE), case["name"]
        bound = moldable_bound(times, areas, case["failures"], case["P"])
        assert bound == pytest.approx(case["lower_bound_Lprime"], rel=CLOSE), case["name"]
        for row, expected in zip(case["t"], case["r"], strict=True):
            listed = Listed.of(Table(tuple(row)), case["P"])
            assert listed.ratios().tolist() == pytest.approx(expected, rel=CLOSE), case["name"]


def test_local_rules_allot_as_expected(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        for rule, expected in case["alloc"].items():
            assert list(RULES[rule](some(case), case["P"])) == expected, (case["name"], rule)


def test_the_exact_rule_allots_each_batch_as_expected(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        for batch in case["batches"]:
            g, jobs = batch["g"], some(case, batch["jobs"])
            found = Exact().allot(jobs, [g] * len(jobs), case["P"])
            spread = [[count for n, count in parts for _ in range(n)] for parts in found]
            assert spread == batch["alloc_uniform"], (case["name"], g)


def test_every_algorithm_has_the_expected_schedule_under_every_order(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        for key, expected in case["results"].items():
            rule, order = key.split("/")
            if rule not in RULES:
                continue
            makespan, rows = attempts(case, rule, order)
            assert makespan == pytest.approx(expected["makespan"], rel=CLOSE), (case["name"], key)
            wanted = sorted(
                (s["job"], s["attempt"], s["p"], s["start"], s["end"]) for s in expected["schedule"]
            )
            assert [row[:3] for row in rows] == [row[:3] for row in wanted], (case["name"], key)
            for row, want in zip(rows, wanted, strict=True):
                assert row[3:] == pytest.approx(want[3:], rel=CLOSE, abs=CLOSE), (case["name"], key)
