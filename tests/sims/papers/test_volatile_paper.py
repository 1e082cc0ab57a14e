"""volatile13's tables: how heuristics are scored, run and printed."""

from __future__ import annotations

import pytest

from sims.campaign.engine import execute
from sims.papers import item
from sims.papers.values import Value
from sims.papers.volatile13 import Makespans, scores
from tests.sims.cli.commands import Shell
from tests.sims.papers.papers import ZONES


def scored(scenarios: list[Makespans]) -> dict[tuple[str, str], Value]:
    return {(it.who, it.what): it for it in scores(scenarios)}


def test_differences_are_of_means_over_trials_in_which_both_succeed() -> None:
    found = scored(
        [
            {"IE": [100, 300, 100], "H": [50, 150, None]},
            {"IE": [100, 100], "H": [120, 140]},
        ]
    )
    assert found["H", "#fails"].ours.mean == 1
    assert found["H", "%diff"].ours.mean == pytest.approx((-100 + 30) / 2)
    assert found["H", "%wins"].ours.mean == pytest.approx((100 + 0) / 2)
    assert found["H", "%wins30"].ours.mean == pytest.approx((100 + 50) / 2)
    assert found["H", "stdv"].ours.mean == pytest.approx(1.3 / 2**0.5)
    assert found["IE", "%diff"].ours.mean == 0


def test_figure_2_takes_scores_apart_by_wmin() -> None:
    one = item("volatile13/figure2")
    axes = {"fastest": [1, 2], "channels": [5], "number": [0]}
    found = one.values(execute(one.campaign("smoke", {"axes": axes, "replications": 1})))
    assert {it.place for it in found} == {(("fastest", 1),), (("fastest", 2),)}


def test_every_heuristic_of_table_1_runs_on_the_same_instance_again_and_again() -> None:
    one = item("volatile13/table1")
    axes = {"fastest": [1], "channels": [5], "number": [0]}
    changes = {"axes": axes, "set": {"job": {"cap": 20_000}}, "replications": 1}
    first, again = (execute(one.campaign("default", changes)) for _ in range(2))
    cell, same = first.comparisons()[0], again.comparisons()[0]
    found = {line.variant: line.runs[0].value or 20_000 for line in cell.lines}
    assert sorted(found) == sorted(set(one.printed) - {"columns"})
    assert found == {line.variant: line.runs[0].value or 20_000 for line in same.lines}
    assert min(found.values()) > 10
    assert found["RANDOM"] > max(value for name, value in found.items() if name != "RANDOM")


@pytest.mark.parametrize("evidence", [False, True])
def test_real_traces_are_fitted_and_run_and_their_evidence_can_be_seen(
    evidence: bool, shell: Shell
) -> None:
    words = ["papers", "run", "volatile13/realtraces", "--size", "smoke", "--input", ZONES]
    told = ["--evidence"] if evidence else []
    out = shell(*words, "--axis", "number=[0]", "--set", "cap=10", *told).out
    assert "on fitted chains" in out
    assert "RANDOM" in out
    assert out.count("log-likelihood") == (len(list(ZONES.glob("*.json"))) if evidence else 0)
    assert ("slots independent of the one before" in out) == evidence
