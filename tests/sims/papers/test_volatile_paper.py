"""volatile13's tables: how heuristics are scored, run and printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.campaign.engine import execute
from sims.cli import main
from sims.papers.catalogue import item
from sims.papers.values import Value
from sims.papers.volatile import Makespans, scores
from sims.papers.volatile.printed import TABLE_1

ZONES = Path(__file__).parents[2] / "data" / "zones"
SMALL = ["--axis", "fastest=[1]", "--axis", "channels=[5]", "--axis", "number=[0]"]


def scored(scenarios: list[Makespans]) -> dict[tuple[str, str], Value]:
    return {(it.who, it.what): it for it in scores(scenarios, "IE")}


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
    assert sorted(found) == sorted(TABLE_1)
    assert found == {line.variant: line.runs[0].value or 20_000 for line in same.lines}
    assert min(found.values()) > 10
    assert found["RANDOM"] > max(value for name, value in found.items() if name != "RANDOM")


def test_an_interrupted_table_resumes_from_its_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["papers", "run", "volatile13/table2", *SMALL, "--replications", "1"]
    words += ["--set", "job.cap=2000", "--results", str(tmp_path)]
    assert main(words) == 0
    first = capsys.readouterr().out
    files = sorted(tmp_path.iterdir())
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert sorted(tmp_path.iterdir()) == files
    assert "Y-IE" in first
    assert "(-10.33)" in first


def test_figure_2_is_drawn(tmp_path: Path) -> None:
    words = ["papers", "run", "volatile13/figure2", "--size", "smoke", *SMALL]
    assert main([*words, "--results", str(tmp_path)]) == 0
    assert (tmp_path / "figure2.png").stat().st_size > 10_000


REAL = ["papers", "run", "volatile13/realtraces", "--size", "smoke"]


def test_real_traces_are_fitted_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REAL, "--input", str(ZONES), "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "on fitted chains" in out
    assert "RANDOM" in out
    assert "log-likelihood" not in out


def test_the_fitted_chains_can_be_seen_with_their_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*REAL, "--input", str(ZONES), "--axis", "number=[0]", "--set", "cap=10", "--evidence"]
    assert main([*words, "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("log-likelihood") == len(list(ZONES.glob("*.json")))
    assert "slots independent of the one before" in out


def test_a_folder_without_traces_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*REAL, "--input", str(tmp_path)]) == 2
    assert "no .json file" in capsys.readouterr().err


def test_real_traces_without_any_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*REAL, "--results", str(tmp_path)]) == 2
    assert "--input" in capsys.readouterr().err
