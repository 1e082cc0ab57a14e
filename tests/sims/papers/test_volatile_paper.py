"""002's tables: how heuristics are scored, run and printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.maths.markov import Expectation
from sims.papers.volatile import main
from sims.papers.volatile_paper import HEURISTICS
from sims.papers.volatile_runs import Instance, instances, makespans
from sims.papers.volatile_scores import by_fastest, scores

ZONES = Path(__file__).parents[2] / "data" / "zones"
SMALL = ["--wmin", "1", "--ncom", "5", "--trials", "1"]


def instance(scenario: int, trial: int, fastest: int = 1) -> Instance:
    return Instance(5, 5, fastest, scenario, trial, ("IE", "H"), Expectation.EXACT, 10_000)


def test_differences_are_of_means_over_trials_in_which_both_succeed() -> None:
    results = {
        instance(0, 0): {"IE": 100, "H": 50},
        instance(0, 1): {"IE": 300, "H": 150},
        instance(0, 2): {"IE": 100, "H": None},
        instance(1, 0): {"IE": 100, "H": 120},
        instance(1, 1): {"IE": 100, "H": 140},
    }
    found = scores(results, "IE")
    row = found.rows["H"]
    assert (found.instances, found.scenarios) == (5, 2)
    assert row.fails == 1
    assert row.diff.mean == pytest.approx((-100 + 30) / 2)
    assert row.wins.mean == pytest.approx((100 + 0) / 2)
    assert row.wins30.mean == pytest.approx((100 + 50) / 2)
    assert row.stdv == pytest.approx(1.3 / 2**0.5)
    assert found.rows["IE"].diff.mean == 0


def test_scores_are_taken_apart_by_wmin() -> None:
    results = {instance(0, 0, w): {"IE": 10, "H": 10 * w} for w in (1, 2)}
    found = by_fastest(results, "IE")
    assert [found[w].rows["H"].diff.mean for w in (1, 2)] == [0, 100]


def test_every_heuristic_of_table_1_runs_on_the_same_instance_again_and_again() -> None:
    [task] = instances(5, [5], [1], 1, 1, HEURISTICS, Expectation.PRINTED, 20_000)
    found = makespans(task)
    assert tuple(found) == HEURISTICS
    assert found == makespans(task)
    assert min(value for value in found.values() if value) > 10
    others = [found[name] or task.cap for name in HEURISTICS if name != "RANDOM"]
    assert (found["RANDOM"] or task.cap) > max(others)


def test_an_interrupted_table_resumes_from_its_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "table.jsonl"
    words = ["table1", *SMALL, "--heuristics", "Y-IE", "IP", "--store", str(store)]
    assert main(words) == 0
    first = capsys.readouterr().out
    results = store.read_text()
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert store.read_text() == results
    assert "Y-IE" in first
    assert "1 instance (1 scenario)" in first


def test_figure_2_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "figure2.png"
    words = ["figure2", *SMALL, "--heuristics", "Y-IE", "--cap", "5000", "--plot", str(picture)]
    assert main(words) == 0
    assert picture.stat().st_size > 10_000


def test_real_traces_are_fitted_run_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "real.png"
    words = ["realtraces", "--traces", str(ZONES), "--trials", "2", "--plot", str(picture)]
    assert main([*words, "--cap", "5000", "--tasks", "2", "--wmin", "1"]) == 0
    out = capsys.readouterr().out
    assert "on fitted chains" in out
    assert "RANDOM" in out
    assert "log-likelihood" not in out
    assert picture.exists()


def test_the_fitted_chains_can_be_seen_with_their_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["realtraces", "--traces", str(ZONES), "--trials", "1", "--cap", "10", "--fits"]
    assert main([*words, "--plot", str(tmp_path / "real.png")]) == 0
    out = capsys.readouterr().out
    assert out.count("log-likelihood") == len(list(ZONES.glob("*.json")))
    assert "slots independent of the one before" in out


def test_a_folder_without_traces_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["realtraces", "--traces", str(tmp_path)]) == 2
    assert "no .json file" in capsys.readouterr().err
