"""Expected values for rigid jobs (rigid21), computed independently."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from policies.interface.queue import BatchPolicy
from policies.maths.silent_errors import rigid_bound
from policies.maths.speedup import Rigid
from policies.queue.allocation import requested
from policies.queue.lists import Reading
from policies.queue.names import strategy_named
from policies.queue.orders import PAPER_ORDERS
from sims.bench.cases import described
from sims.papers.silent import expected_ratio
from tests.case_files import case_file
from tests.sims.schedules import attempts, makespan


def load(folder: Path) -> dict[str, Any]:
    return case_file(folder, "rigid.json")


def policy(heuristic: str, order: str) -> BatchPolicy:
    name, _, reading = heuristic.partition(":")
    strategy = strategy_named(name, Reading(reading) if reading else Reading.FRESH)
    return BatchPolicy(PAPER_ORDERS[order], strategy, requested, heuristic)


def profiles(case: dict[str, Any]) -> list[Rigid]:
    """Whole numbers stay whole, "1/3" becomes a fraction: both are exact."""
    times = [Fraction(t) if isinstance(t, str) else t for t in case["times"]]
    return [Rigid(p, t) for p, t in zip(case["procs"], times, strict=True)]


def run(case: dict[str, Any], heuristic: str, order: str) -> float:
    jobs = described(profiles(case), case.get("verif", 0))
    return makespan(case["P"], jobs, case["f"], policy(heuristic, order), seed=7).value


def schedule(case: dict[str, Any], heuristic: str, order: str) -> list[list[list[float]]]:
    jobs = described(profiles(case), case["verif"])
    found = attempts(case["P"], jobs, case["f"], policy(heuristic, order))
    return [[[start, end] for name, *_, start, end in found if name == job.name] for job in jobs]


def test_every_heuristic_has_the_expected_makespan_under_every_order(cases_dir: Path) -> None:
    for case in load(cases_dir)["instances"]:
        for order, expected in case["makespan"].items():
            found = {heuristic: run(case, heuristic, order) for heuristic in expected}
            assert found == expected, (case["name"], order)


def test_every_attempt_starts_and_ends_when_expected(cases_dir: Path) -> None:
    for case in load(cases_dir)["instances"]:
        for key, expected in case.get("schedules", {}).items():
            order, heuristic = key.split(" ")
            assert schedule(case, heuristic, order) == expected, (case["name"], key)


def test_the_lower_bound_is_the_expected_fraction(cases_dir: Path) -> None:
    for case in load(cases_dir)["instances"]:
        exact = [Rigid(p, Fraction(t)) for p, t in zip(case["procs"], case["times"], strict=True)]
        bound = rigid_bound(exact, case["f"], case["P"])
        assert bound == Fraction(case["lower_bound_verif_excluded"]), case["name"]


def test_small_instances_come_out_as_by_hand(cases_dir: Path) -> None:
    for case in load(cases_dir)["micro"]:
        for heuristic, expected in case["hand_expected"].items():
            found = run(case, heuristic, case["priority"])
            assert found == expected, (case["name"], heuristic, case["why"])


def test_propositions_3_and_4_come_out_exactly(cases_dir: Path) -> None:
    for case in load(cases_dir)["props"]:
        for heuristic, values in case.get("makespans_over_the_7_priorities", {}).items():
            found = {run(case, heuristic, order) for order in PAPER_ORDERS}
            assert found == {Fraction(value) for value in values}, (case["name"], heuristic)
        for heuristic, value in case.get("makespan", {}).items():
            assert run(case, heuristic, case["priority"]) == value, (case["name"], heuristic)
        if "expected_shelf" in case:
            assert run(case, "R-SHELF-B", "LPT") == Fraction(case["expected_shelf"])
            assert run(case, "R-LIST-0", "LPT") == Fraction(case["expected_optimal"])


def test_the_expected_ratio_of_proposition_3_follows_the_reading_of_its_times(
    cases_dir: Path,
) -> None:
    for row in load(cases_dir).get("expected_ratio_prop3", {}).get("ours", []):
        scale = int(row["t_j"].split("/")[0])
        found = expected_ratio(row["P"], row["lam"], scale)
        assert found - 1 == pytest.approx(row["ratio"] - 1, rel=1e-6), row
