"""redundancy17's experiments, small: they run, and print what they promise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from policies.maths.speeds import TwoPoint, UniformSlots
from sims.campaign.engine import execute
from sims.cli import main
from sims.papers.catalogue import ITEMS, item
from sims.papers.redundancy import guarantee
from sims.papers.redundancy.lemmas import drain_row, gain_row

SET = {"platform": {"workers": 4}, "job": {"stream": {"count": 100}}}


def over_bounds(policies: tuple[str, ...], speeds: list[float]) -> dict[tuple[str, float], float]:
    """Flowtime over its bound by policy and speed, the worst and best of both semantics."""
    one = item("redundancy17/bounds")
    variants = {name: {"policy": {"name": name}} for name in policies}
    changes = {"set": SET, "axes": {"speed": speeds}, "variants": variants, "replications": 1}
    found = one.values(execute(one.campaign("default", changes)))
    assert len({dict(it.place)["semantics"] for it in found}) == 2
    return {
        (f"{it.who} {dict(it.place)['semantics']}", dict(it.place)["speed"]): it.ours.mean
        for it in found
        if it.what == "flowtime / bound"
    }


def test_srpt_r_stays_within_theorem_1() -> None:
    for (who, speed), ratio in over_bounds(("SRPT+R",), [1.5, 3.0]).items():
        if who.startswith("SRPT+R "):
            most = guarantee("SRPT+R", speed)
            assert most is not None
            assert 0 < ratio < most


def test_no_policy_beats_the_bound_at_unit_speed() -> None:
    found = over_bounds(("SRPT+R", "SRPT+R-even", "LAPS+R(1/2)", "FCFS"), [1.0])
    assert len(found) == 8
    assert min(found.values()) >= 1


@pytest.mark.parametrize("process", [TwoPoint(4.0, 0.3), UniformSlots(2.0, 0.5)])
def test_lemmas_1_and_2_hold(process: TwoPoint | UniformSlots) -> None:
    row = gain_row("speeds", process, 0.7, 8, 500, np.random.default_rng(1))
    assert (row.concave, row.bounded) == (True, True)
    assert len(row.gains) == 8


def test_lemma_5_holds() -> None:
    row = drain_row(20, 3, 0.5, np.random.default_rng(1))
    assert row.simulated == pytest.approx(row.formula, rel=1e-12)


STUDIES = [it.name for it in ITEMS if it.name.startswith("redundancy17/study")]


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_prints_its_table(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["papers", "run", name, "--size", "smoke", "--set", "job.stream.count=30"]
    assert main([*words, "--replications", "2", "--results", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "stretch99" in printed
    if name == "redundancy17/study-load":
        assert "(0.434 " in printed
        assert (tmp_path / "study-load.png").exists()


def test_an_unknown_policy_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["papers", "run", "redundancy17/study-load", "--size", "smoke"]
    assert main([*words, "--set", "policy.placement=XYZ"]) == 2
    assert "XYZ" in capsys.readouterr().err


def test_bounds_and_lemmas_print_their_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["redundancy17/bounds", "--size", "smoke", "--replications", "2"]
    assert main(["papers", "run", *words, "--results", str(tmp_path)]) == 0
    assert main(["papers", "run", "redundancy17/lemmas"]) == 0
    printed = capsys.readouterr().out
    assert "27" in printed
    assert "Lemma 5" in printed
