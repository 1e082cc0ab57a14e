"""Campaign files: what they may say, and what they are refused for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from sims.campaign.engine import execute
from sims.campaign.file import load_campaign
from sims.campaign.picture import draw
from sims.campaign.plan import Cases
from sims.campaign.sections import Precision
from sims.errors import InputError
from sims.examples import CAMPAIGNS
from tests.case_files import listed
from tests.sims.campaign.campaigns import CAMPAIGN, alone, campaign, run, store, write


def loaded(tmp_path: Path, text: str) -> Any:
    return load_campaign(write(tmp_path, campaign=text))


@pytest.mark.parametrize(("values", "meant"), listed(__file__, "axes"))
def test_an_axis_is_a_list_or_a_range(tmp_path: Path, values: str, meant: Any) -> None:
    text = f'name = "x"\nscenario = "base.toml"\n[axes]\nplatform.workers = {values}\n'
    assert loaded(tmp_path, text).varied.axes == {"platform.workers": tuple(meant)}


def test_every_variant_is_in_every_cell_with_what_the_file_sets(tmp_path: Path) -> None:
    text = CAMPAIGN + "\n[set]\nplatform.workers = 4\njob.verification = 1\n"
    plan = Cases.of(loaded(tmp_path, text))
    assert plan.places == 6
    assert [case.variant for case in plan] == ["LPT", "SPT", "mine"] * 6
    scenarios: list[Any] = [case.scenario(1) for case in plan]
    assert {(it.platform.workers, it.job.verification, it.seed) for it in scenarios} == {
        (8, 1, 4),
        (16, 1, 4),
    }


def test_a_table_with_a_kind_replaces_and_others_merge(tmp_path: Path) -> None:
    text = 'name = "x"\nscenario = "base.toml"\n[variants]\nA.job = { verification = 2 }\n'
    text += 'B.protection = { kind = "buddies" }\n'
    plan = loaded(tmp_path, text)
    assert plan.varied.variants == {
        "A": {"job.verification": 2},
        "B": {"protection": {"kind": "buddies"}},
    }


def test_a_size_takes_the_place_of_what_the_file_says(tmp_path: Path) -> None:
    text = CAMPAIGN + "\n[sizes.smoke]\nreplications = 1\naxes.platform.workers = [8]\n"
    small = load_campaign(write(tmp_path, campaign=text), "smoke")
    assert (small.surely.runs, small.varied.axes["platform.workers"]) == (1, (8,))
    with pytest.raises(InputError, match="'full' is not there; accepted: smoke"):
        load_campaign(tmp_path / "campaign.toml", "full")


MAKER = """
def scenario(workers, seed):
    times = [1 + (seed * k) % 7 for k in range(1, 5)]
    jobs = [{"processors": 1, "time": t} for t in times]
    job = {"kind": "rigid", "jobs": jobs}
    return {"name": "made", "seed": seed, "platform": {"workers": workers}, "job": job}
"""


def test_a_function_can_make_the_scenarios_one_for_each_seed(tmp_path: Path) -> None:
    text = 'name = "x"\nscenario = "maker:scenario"\nreplications = 3\nseed = 1\n'
    text += '[axes]\nworkers = [1, 2]\n[variants]\nLPT.policy.order = "LPT"\n'
    (tmp_path / "maker.py").write_text(MAKER)
    results = alone(loaded(tmp_path, text))
    frame = results.runs()
    found = frame.filter(frame["workers"] == 1)["makespan"].to_list()
    assert found == [sum(1 + (s * k) % 7 for k in range(1, 5)) for s in (1, 2, 3)]
    case = next(it for it in results.plan if it.variant == "LPT")
    assert case.reproducing(1) == "maker:scenario workers=1 policy.order=LPT --seed 2"


REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text())["refused"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["new"])
def test_what_cannot_be_is_refused_before_anything_runs(tmp_path: Path, case: Any) -> None:
    assert case["old"] in CAMPAIGN
    file = write(tmp_path, campaign=CAMPAIGN.replace(case["old"], case["new"]))
    with pytest.raises(InputError) as caught:
        run(file)
    for part in case["told"]:
        assert part in str(caught.value)
    assert not store(file).files()


def test_a_section_of_variants_has_at_least_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"variants: \{\} is not accepted; accepted: at least one"):
        loaded(tmp_path, 'name = "x"\nscenario = "base.toml"\nvariants = {}\n')


# --- until it is precise enough -------------------------------------------------------------------


def test_looks_grow_and_end_at_the_most() -> None:
    assert Precision(relative=0.1, first=10, most=50).looks() == [10, 15, 22, 34, 50]
    assert Precision(absolute=1, first=5, most=5).looks() == [5]


def test_a_cell_is_run_until_it_is_precise_and_gives_the_same_when_it_goes_on(
    tmp_path: Path,
) -> None:
    file = write(tmp_path)
    changes = {
        "precision": {"relative": 0.1, "first": 4, "most": 12},
        "measures": ["makespan"],
        "axes": {"platform": {"workers": [16]}, "errors": {"average": [0.0, 0.6]}},
    }
    results = alone(campaign(file, **changes), store(file))
    counts = {cell.point[-1][1]: cell.seeds for cell in results.comparisons()}
    looks = results.question.surely.precision.looks()  # type: ignore[union-attr]
    assert results.question.surely.level == pytest.approx(1 - 0.05 / len(looks))
    assert set(counts.values()) <= set(looks)
    for cell in results.comparisons():
        widest = max(line.mean.half / line.mean.mean for line in cell.lines)
        assert widest <= 0.1 or cell.seeds == 12
    for path in store(file).files()[::2]:
        path.unlink()
    again = alone(campaign(file, **changes), store(file))
    assert again.comparisons() == results.comparisons()


def test_the_example_ships_and_draws_its_picture_from_one_file(tmp_path: Path) -> None:
    shorter = {"replications": 1, "set": {"job.iterations": 2, "job.cap": 4000}}
    example = load_campaign(CAMPAIGNS / "enrolment.toml", "smoke", shorter)
    assert len(example.varied.axes) == 3
    assert draw(execute(example), tmp_path / "it.png").stat().st_size > 10_000
