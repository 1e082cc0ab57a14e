"""The co-scheduling study: examples, figures, the single run (malleable17)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from sims.papers.malleable17 import FAULT_FREE, courses, pack, pictures
from sims.scenario.loader import read
from sims.summary import Summary
from sims.world import run

NONE = "none"


def makespans(policies: tuple[str, ...], seed: int, **setting: Any) -> dict[str, float]:
    """By policy, on the same pack and faults."""
    return {name: _makespan(pack(name, seed, **setting), seed) for name in policies}


def _makespan(table: dict[str, Any], seed: int) -> float:
    summary = Summary()
    run(read(table | {"seed": table["seed"] + seed}, "malleable17"), [summary])
    assert summary.makespan is not None
    return summary.makespan


def test_all_policies_of_a_point_meet_the_same_pack_and_faults() -> None:
    one, other = (read(pack(name, 3), "malleable17") for name in ("EndLocal", NONE))
    assert one.job == other.job
    assert (one.faults, one.seed) == (other.faults, other.seed)


def test_points_of_a_curve_have_packs_of_their_own() -> None:
    one, other = (read(pack(NONE, 3, unit=unit), "malleable17") for unit in (0.1, 1.0))
    assert one.job != other.job


def test_the_fault_free_run_bounds_what_redistribution_can_gain() -> None:
    names = (NONE, FAULT_FREE, "EndLocal")
    found = makespans(names, 1, applications=10, processors=60, mtbf_years=10)
    assert found[FAULT_FREE] < found["EndLocal"] < found[NONE]


def test_figure_11_follows_each_policy_from_fault_to_fault(tmp_path: Path) -> None:
    found = courses(2, applications=8, processors=40, mtbf_years=5)
    reference = found[NONE]
    assert len(reference) > 3
    assert all(a.makespan <= b.makespan for a, b in pairwise(reference))
    greedy = found["IteratedGreedy-EndLocal"]
    assert greedy[-1].makespan < reference[-1].makespan
    drawn = list(pictures(tmp_path, found))
    assert [path.name for path in drawn] == ["figure11-makespan.png", "figure11-spread.png"]
    assert all(path.exists() for path in drawn)


def test_redistribution_gains_about_as_much_as_the_study_found() -> None:
    """One point of figure 10 (n = 100, p = 500): the study's gain there is near 30 %."""
    names = ("IteratedGreedy-EndGreedy", "ShortestApplicationsFirst-EndLocal")
    found = [makespans((NONE, *names), seed, processors=500) for seed in range(6)]
    for name in names:
        ratios = [trial[name] / trial[NONE] for trial in found]
        assert 0.6 < sum(ratios) / len(ratios) < 0.85
