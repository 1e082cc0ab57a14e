"""Expected values for moldable jobs (moldable21), computed independently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from actors.events import RunEnded, RunStarted
from actors.intervals import count_in
from actors.runtime import Record, System
from policies.interface.queue import (
    Allocation,
    Allotment,
    BatchAllocation,
    BatchJob,
    BatchPolicy,
)
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
from policies.queue.allocation import LPA, MINAREA, MINTIME
from policies.queue.allotments import Mixed, Programme
from policies.queue.batches import Exact
from policies.queue.chains import runs
from policies.queue.lists import RList
from policies.queue.orders import PAPER_ORDERS
from sims.bench.batch_runs import described, spawn
from tests.case_files import case_file

CLOSE = 1e-9
RULES: dict[str, Allocation | BatchAllocation] = {
    "LPA": LPA,
    "MINTIME": MINTIME,
    "MINAREA": MINAREA,
    "BATCH": Exact(),
    "BATCH_mixed": Mixed(),
    "BATCH_dp0.3": Programme(0.3),
}
UNSCHEDULED = ("BATCH_mixed", "BATCH_dp0.3")
"""Rules of whose results cases record the makespan only."""

SAME = 1e-12

Chains = list[list[int]]
"""Processors by job and attempt."""

Size = tuple[Fraction, Fraction]
"""(time, area) of a chain, without rounding."""

MODELS: dict[str, Callable[[dict[str, Any]], Profile]] = {
    "roofline": lambda j: roofline(j["w"], j["pbar"]),
    "communication": lambda j: communication(j["w"], j["c"]),
    "amdahl": lambda j: amdahl(j["w"], j["gamma"]),
    "mix": lambda j: mix(j["w"], j["pbar"], j["gamma"], j["c"]),
    "power": lambda j: power(j["w"], j["delta"]),
    "table": lambda j: Table(tuple(j["table"])),
}


def instances(folder: Path) -> Iterator[dict[str, Any]]:
    yield from case_file(folder, "moldable.json")["instances"]


def profiles(case: dict[str, Any]) -> list[Profile]:
    if case["jobs"] == "table":
        return [Table(tuple(times)) for times in case["t"]]
    return [MODELS[job["model"]](job) for job in case["jobs"]]


def some(case: dict[str, Any], indices: list[int] | None = None) -> list[BatchJob]:
    jobs = described(profiles(case))
    return [jobs[i] for i in (indices if indices is not None else range(len(jobs)))]


def attempts(
    case: dict[str, Any], rule: Allocation | BatchAllocation, order: str
) -> tuple[float, list[tuple[Any, ...]]]:
    records: list[Record] = []
    system = System(0, [records.append], start=0)
    policy = BatchPolicy(PAPER_ORDERS[order], RList(0), rule)
    spawn(system, case["P"], some(case), case["failures"], policy)
    system.run()
    ends = {(r.event.job, r.event.run): r.t for r in records if isinstance(r.event, RunEnded)}
    rows = [
        (int(e.job[1:]) - 1, e.run, count_in(e.processors), r.t, ends[e.job, e.run])
        for r in records
        if isinstance(e := r.event, RunStarted)
    ]
    return max(ends.values()), sorted(rows)


def allotted(case: dict[str, Any], batch: dict[str, Any], rule: BatchAllocation) -> Chains:
    g, jobs = batch["g"], some(case, batch["jobs"])
    found = rule.allot(jobs, [g] * len(jobs), case["P"])
    return [[count for n, count in parts for _ in range(n)] for parts in found]


def sizes(case: dict[str, Any], batch: dict[str, Any], chains: Chains) -> list[Size]:
    times = [[Fraction(t) for t in case["t"][job]] for job in batch["jobs"]]
    return [
        (sum((t[p - 1] for p in chain), Fraction()), sum((p * t[p - 1] for p in chain), Fraction()))
        for t, chain in zip(times, chains, strict=True)
    ]


def length(case: dict[str, Any], measured: list[Size]) -> float:
    """L (moldable21, equation 8)."""
    return float(max(*(t for t, _ in measured), sum(a for _, a in measured) / case["P"]))


def rounding_decides(one: Size, other: Size) -> bool:
    """Whether two chains of one job have areas that differ by rounding errors alone: p (w/p) is
    not w in doubles. Equal areas are told apart by the rule."""
    return 0 < abs(one[1] - other[1]) <= SAME * other[1]


@frozen
class Recorded:
    """Allots the batches of a case as its file says."""

    chains: dict[int, Chains]
    """By attempts of a job."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        return [runs(chain) for chain in self.chains[attempts[0]]]


def recorded_chains(batch: dict[str, Any], rule: str) -> Chains:
    chains: Chains = batch["alloc_mixed"] if rule == "BATCH_mixed" else batch["dp_eps0p3"]["alloc"]
    return chains


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
            local = RULES[rule]
            assert not isinstance(local, BatchAllocation)
            assert list(local(some(case), case["P"])) == expected, (case["name"], rule)


def test_the_exact_rule_allots_each_batch_as_expected(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        for batch in case["batches"]:
            found = allotted(case, batch, Exact())
            assert found == batch["alloc_uniform"], (case["name"], batch["g"])


def test_the_mixed_rule_finds_the_least_length_of_each_batch(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        for batch in case["batches"]:
            where = case["name"], batch["g"]
            found, wanted = allotted(case, batch, Mixed()), batch["alloc_mixed"]
            ours, theirs = sizes(case, batch, found), sizes(case, batch, wanted)
            assert length(case, ours) == pytest.approx(batch["minL_mixed"], rel=CLOSE), where
            for chain, want, a, b in zip(found, wanted, ours, theirs, strict=True):
                assert chain == want or rounding_decides(a, b), where


def test_the_programme_allots_each_batch_as_expected(cases_dir: Path) -> None:
    """But for chains whose areas differ by rounding errors alone: there only the area is
    determined, and that L keeps its guarantee (moldable21, lemma 3)."""
    for case in instances(cases_dir):
        for batch in case["batches"]:
            where, stored = (case["name"], batch["g"]), batch["dp_eps0p3"]
            found, wanted = allotted(case, batch, Programme(0.3)), stored["alloc"]
            ours, theirs = sizes(case, batch, found), sizes(case, batch, wanted)
            assert length(case, theirs) == pytest.approx(stored["L"], rel=CLOSE), where
            areas = [float(sum(area for _, area in measured)) for measured in (ours, theirs)]
            assert areas[0] == pytest.approx(areas[1], rel=SAME), where
            assert length(case, ours) <= 1.3 * batch["minL_mixed"] * (1 + CLOSE), where
            for chain, want, a, b in zip(found, wanted, ours, theirs, strict=True):
                assert chain == want or rounding_decides(a, b), where


def scheduled_rule(case: dict[str, Any], rule: str) -> Allocation | BatchAllocation:
    """The rule; where rounding decides one of its allotments (see the tests above), those that the
    case records: then the schedule is determined again."""
    known = RULES[rule]
    if rule not in UNSCHEDULED or not isinstance(known, BatchAllocation):
        return known
    recorded = {batch["g"]: recorded_chains(batch, rule) for batch in case["batches"]}
    same = all(allotted(case, b, known) == recorded[b["g"]] for b in case["batches"])
    return known if same else Recorded(recorded)


def test_every_algorithm_has_the_expected_schedule_under_every_order(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        rules = {key.split("/")[0] for key in case["results"]}
        chosen = {rule: scheduled_rule(case, rule) for rule in sorted(rules)}
        for key, expected in case["results"].items():
            rule, order = key.split("/")
            makespan, rows = attempts(case, chosen[rule], order)
            assert makespan == pytest.approx(expected["makespan"], rel=CLOSE), (case["name"], key)
            if rule in UNSCHEDULED:
                continue
            wanted = sorted(
                (s["job"], s["attempt"], s["p"], s["start"], s["end"]) for s in expected["schedule"]
            )
            assert [row[:3] for row in rows] == [row[:3] for row in wanted], (case["name"], key)
            for row, want in zip(rows, wanted, strict=True):
                assert row[3:] == pytest.approx(want[3:], rel=CLOSE, abs=CLOSE), (case["name"], key)
