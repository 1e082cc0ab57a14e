"""The co-scheduling study's command: examples, figures, the single run (003)."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from attrs import evolve

from policies.pack import LookAhead
from sims.papers import cosched, cosched_single
from sims.papers.cosched_figures import FIGURES
from sims.papers.cosched_trials import FAULT_FREE, NONE, Setting, Trial, makespans


def test_section_4s_examples_are_printed_beside_the_papers_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cosched.main(["example"])
    numbers = re.findall(r"│ (\d\.?\d?)\s+│ (\d\.?\d?)\s+│\n", capsys.readouterr().out)
    assert numbers == [("8", "8"), ("7.2", "7.2"), ("6", "6"), ("6.5", "6.5")]


def test_all_policies_of_a_trial_meet_the_same_pack_and_faults() -> None:
    trial = Trial(Setting(applications=8, processors=40), ("EndLocal",), LookAhead.NEXT_PAIR, 3)
    twice = evolve(trial, policies=("IteratedGreedy-EndGreedy", "EndLocal"))
    assert makespans(twice)["EndLocal"] == makespans(trial)["EndLocal"]
    assert makespans(twice)[NONE] == makespans(trial)[NONE]


def test_the_fault_free_run_bounds_what_redistribution_can_gain() -> None:
    setting = Setting(applications=10, processors=60, mtbf_years=10)
    found = makespans(Trial(setting, (FAULT_FREE, "EndLocal"), LookAhead.NEXT_PAIR, 1))
    assert found[FAULT_FREE] < found["EndLocal"] < found[NONE]


@pytest.mark.parametrize("what", FIGURES)
def test_every_figure_runs_at_a_small_size(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = FIGURES[what]
    applications = 12 if what == "figure9" else 6
    small = evolve(
        plan,
        base=evolve(plan.base, applications=applications, processors=26),
        points=(plan.points[0],),
        spreads=plan.spreads[:1],
    )
    points = {"processors, p": (26.0,), "applications, n": (12.0,)}.get(plan.axis, plan.points[:1])
    small = evolve(small, points=points)
    monkeypatch.setitem(FIGURES, what, small)
    picture = tmp_path / "figure.png"
    cosched.main([what, "--repeats", "2", "--plot", str(picture)])
    assert re.search(r"gain +│ +\d+\.\d", capsys.readouterr().out)
    assert picture.exists()


def test_figure_11_follows_each_policy_from_fault_to_fault(tmp_path: Path) -> None:
    setting = Setting(applications=8, processors=40, mtbf_years=5)
    found = cosched_single.courses(setting, LookAhead.NEXT_PAIR, seed=2)
    reference = found[NONE]
    assert len(reference) > 3
    assert all(a.makespan <= b.makespan for a, b in pairwise(reference))
    greedy = found["IteratedGreedy-EndLocal"]
    assert greedy[-1].makespan < reference[-1].makespan
    drawn = cosched_single.draw(found, tmp_path / "f.png")
    assert [path.name for path in drawn] == ["f-makespan.png", "f-spread.png"]
    assert all(path.exists() for path in drawn)


def test_redistribution_gains_about_as_much_as_the_study_found() -> None:
    """One point of figure 10 (n = 100, p = 500): the study's gain there is near 30 %."""
    setting = Setting(processors=500)
    names = ("IteratedGreedy-EndGreedy", "ShortestApplicationsFirst-EndLocal")
    found = [makespans(Trial(setting, names, LookAhead.NEXT_PAIR, seed)) for seed in range(6)]
    for name in names:
        ratios = [trial[name] / trial[NONE] for trial in found]
        assert 0.6 < sum(ratios) / len(ratios) < 0.85
