"""Expected values for moldable jobs (moldable21), computed independently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from policies.interface.queue import Allocation, Allotment, BatchAllocation, BatchJob, BatchPolicy
from policies.maths.profiles import Listed
from policies.maths.silent_errors import least, moldable_bound
from policies.maths.speedup import Profile, Table, amdahl, communication, mix, power, roofline
from policies.queue.allocation import LPA, MINAREA, MINTIME
from policies.queue.allotments import Mixed, Programme
from policies.queue.batches import Exact
from policies.queue.chains import runs as shortened
from policies.queue.lists import RList
from policies.queue.orders import PAPER_ORDERS
from sims.bench.cases import described
from tests.case_files import case_file
from tests.sims.schedules import attempts

CLOSE = 1e-9
RULES: dict[str, Allocation | BatchAllocation] = {
    "LPA": LPA,
    "MINTIME": MINTIME,
    "MINAREA": MINAREA,
    "BATCH": Exact(),
}

SAME = 1e-12

Case = dict[str, Any]

Chains = list[list[int]]
"""Processors by job and attempt."""

Size = tuple[Fraction, Fraction]
"""(time, area) of a chain, without rounding."""

MODELS: dict[str, tuple[Callable[..., Profile], list[str]]] = {
    "roofline": (roofline, ["w", "pbar"]),
    "communication": (communication, ["w", "c"]),
    "amdahl": (amdahl, ["w", "gamma"]),
    "mix": (mix, ["w", "pbar", "gamma", "c"]),
    "power": (power, ["w", "delta"]),
    "table": (lambda times: Table(tuple(times)), ["table"]),
}
"""Speedup models, and the keys of what they are made of."""


def instances(folder: Path) -> Iterator[Case]:
    yield from case_file(folder, "moldable.json")["instances"]


def batches(folder: Path) -> Iterator[tuple[Case, Case, Any]]:
    """(case, batch, where that is)."""
    for case in instances(folder):
        for batch in case["batches"]:
            yield case, batch, (case["name"], batch["g"])


def profiles(case: Case) -> list[Profile]:
    if case["jobs"] == "table":
        return [Table(tuple(times)) for times in case["t"]]
    models = [(job, *MODELS[job["model"]]) for job in case["jobs"]]
    return [model(*(job[key] for key in keys)) for job, model, keys in models]


def allotted(case: Case, batch: Case, rule: BatchAllocation) -> Chains:
    every = described(profiles(case))
    jobs = [every[index] for index in batch["jobs"]]
    found = rule.allot(jobs, [batch["g"]] * len(jobs), case["P"])
    return [[count for n, count in parts for _ in range(n)] for parts in found]


def sizes(case: Case, batch: Case, chains: Chains) -> list[Size]:
    times = [[Fraction(t) for t in case["t"][job]] for job in batch["jobs"]]
    return [
        (sum((t[p - 1] for p in chain), Fraction()), sum((p * t[p - 1] for p in chain), Fraction()))
        for t, chain in zip(times, chains, strict=True)
    ]


def length(case: Case, measured: list[Size]) -> float:
    """L (moldable21, equation 8)."""
    return float(max(*(t for t, _ in measured), sum(a for _, a in measured) / case["P"]))


def compared(
    case: Case, batch: Case, rule: BatchAllocation, wanted: Chains
) -> tuple[list[Size], list[Size]]:
    """Sizes of the chains that a rule allots, and of those that the case records: the same chains,
    but where areas differ by rounding errors alone: p (w/p) is not w in doubles. Equal areas are
    told apart by the rule."""
    found = allotted(case, batch, rule)
    ours, theirs = sizes(case, batch, found), sizes(case, batch, wanted)
    for chain, want, (_, area), (_, other) in zip(found, wanted, ours, theirs, strict=True):
        rounding_decides = 0 < abs(area - other) <= SAME * other
        assert chain == want or rounding_decides, (case["name"], batch["g"])
    return ours, theirs


@frozen
class Recorded:
    """Allots the batches of a case as its file says."""

    chains: dict[int, Chains]
    """By attempts of a job."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        return [shortened(chain) for chain in self.chains[attempts[0]]]


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
            assert list(local(described(profiles(case)), case["P"])) == expected, (
                case["name"],
                rule,
            )


def test_the_exact_rule_allots_each_batch_as_expected(cases_dir: Path) -> None:
    for case, batch, where in batches(cases_dir):
        assert allotted(case, batch, Exact()) == batch["alloc_uniform"], where


def test_the_mixed_rule_finds_the_least_length_of_each_batch(cases_dir: Path) -> None:
    for case, batch, where in batches(cases_dir):
        ours, _ = compared(case, batch, Mixed(), batch["alloc_mixed"])
        assert length(case, ours) == pytest.approx(batch["minL_mixed"], rel=CLOSE), where


def test_the_programme_allots_each_batch_as_expected(cases_dir: Path) -> None:
    """But for chains whose areas differ by rounding errors alone: there only the area is
    determined, and that L keeps its guarantee (moldable21, lemma 3)."""
    for case, batch, where in batches(cases_dir):
        stored = batch["dp_eps0p3"]
        ours, theirs = compared(case, batch, Programme(0.3), stored["alloc"])
        assert length(case, theirs) == pytest.approx(stored["L"], rel=CLOSE), where
        areas = [float(sum(area for _, area in measured)) for measured in (ours, theirs)]
        assert areas[0] == pytest.approx(areas[1], rel=SAME), where
        assert length(case, ours) <= 1.3 * batch["minL_mixed"] * (1 + CLOSE), where


def scheduled_rule(case: Case, rule: str) -> Allocation | BatchAllocation:
    """The rule; for those whose allotments rounding may decide (see the tests above), what the case
    records of them: then the schedule is determined again."""
    if rule in RULES:
        return RULES[rule]
    mixed = rule == "BATCH_mixed"
    return Recorded(
        {
            it["g"]: it["alloc_mixed"] if mixed else it["dp_eps0p3"]["alloc"]
            for it in case["batches"]
        }
    )


def test_every_algorithm_has_the_expected_schedule_under_every_order(cases_dir: Path) -> None:
    for case in instances(cases_dir):
        rules = {key.split("/")[0] for key in case["results"]}
        chosen = {rule: scheduled_rule(case, rule) for rule in sorted(rules)}
        for key, expected in case["results"].items():
            rule, order = key.split("/")
            policy = BatchPolicy(PAPER_ORDERS[order], RList(0), chosen[rule])
            jobs = described(profiles(case))
            runs = attempts(case["P"], jobs, case["failures"], policy)
            assert max(run[-1] for run in runs) == pytest.approx(expected["makespan"], rel=CLOSE), (
                case["name"],
                key,
            )
            if rule not in RULES:
                continue  # cases record the makespan only
            wanted = sorted(
                (s["job"], s["attempt"], s["p"], s["start"], s["end"]) for s in expected["schedule"]
            )
            rows = sorted((int(job[1:]) - 1, *run) for job, *run in runs)
            assert [row[:3] for row in rows] == [row[:3] for row in wanted], (case["name"], key)
            for row, want in zip(rows, wanted, strict=True):
                assert row[3:] == pytest.approx(want[3:], rel=CLOSE, abs=CLOSE), (case["name"], key)
