"""004's experiments, small: they run, and print what they promise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from policies.maths.speeds import TwoPoint, UniformSlots
from sims.bench import redundancy as bench
from sims.papers.redundancy import main
from sims.papers.redundancy_bounds import BoundTask, Semantics, guarantee, run_bound
from sims.papers.redundancy_lemmas import drain_row, gain_row
from sims.papers.redundancy_runs import Setting
from sims.papers.redundancy_study import Axis, cell, points, run_task, tasks


@pytest.mark.parametrize("semantics", list(Semantics))
def test_srpt_r_stays_within_theorem_1(semantics: Semantics) -> None:
    setting = Setting(servers=4, jobs=100)
    for speed in (1.5, 3.0):
        ratio = run_bound(BoundTask(setting, "SRPT+R", semantics, speed, 1)).ratio
        most = guarantee(setting, "SRPT+R", speed)
        assert most is not None
        assert 0 < ratio < most


@pytest.mark.parametrize("semantics", list(Semantics))
@pytest.mark.parametrize("policy", ["SRPT+R", "SRPT+R-even", "LAPS+R(1/2)", "FCFS"])
def test_no_policy_beats_the_bound_at_unit_speed(semantics: Semantics, policy: str) -> None:
    setting = Setting(servers=4, jobs=100)
    assert run_bound(BoundTask(setting, policy, semantics, 1.0, 1)).ratio >= 1


@pytest.mark.parametrize("process", [TwoPoint(4.0, 0.3), UniformSlots(2.0, 0.5)])
def test_lemmas_1_and_2_hold(process: TwoPoint | UniformSlots) -> None:
    row = gain_row("speeds", process, 0.7, 8, 500, np.random.default_rng(1))
    assert (row.concave, row.bounded) == (True, True)
    assert len(row.gains) == 8


def test_lemma_5_holds() -> None:
    row = drain_row(20, 3, 0.5, np.random.default_rng(1))
    assert row.simulated == pytest.approx(row.formula, rel=1e-12)


@pytest.mark.parametrize("axis", list(Axis))
def test_the_reference_s_own_ratio_is_one(axis: Axis) -> None:
    label, setting = next(iter(points(axis, 30).items()))
    numbers = [run_task(task) for task in tasks({label: setting}, ["SRPT"], 2)]
    assert cell(numbers, numbers).ratio.mean == 1


def test_the_study_prints_its_table_and_draws_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "load.png"
    words = ["study", "--axes", "load", "--policies", "SRPT+R", "--jobs", "30", "--seeds", "2"]
    assert main([*words, "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "(0.310)" in printed
    assert "stretch by load" in printed
    assert picture.exists()


def test_an_unknown_policy_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bounds", "--policies", "XYZ", "--jobs", "5", "--seeds", "1"]
    assert main(words) == 2
    assert "XYZ" in capsys.readouterr().err


def test_bounds_and_lemmas_print_their_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bounds", "--jobs", "20", "--seeds", "2", "--speeds", "1", "1.5"]) == 0
    assert main(["lemmas", "--copies", "3", "--sample", "60", "--instances", "2"]) == 0
    printed = capsys.readouterr().out
    assert "27.0" in printed
    assert "Lemma 5: 2 random instances" in printed


def test_the_benchmark_prints_the_ratio_to_simpy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "seconds_per_task", lambda: 1e-5)
    bench.main(["--servers", "10", "--arrivals", "50", "--repeat", "1"])
    assert "microseconds per task" in capsys.readouterr().out
