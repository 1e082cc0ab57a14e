"""Campaigns' pictures: what they show of the cells, and when they are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sims.campaign.file import load_campaign
from sims.campaign.picture import draw, panels_of
from sims.campaign.results import Results
from sims.campaign.sections import PictureSection
from sims.errors import InputError
from sims.examples import CAMPAIGNS
from tests.sims.campaign.campaigns import alone, campaign, write

AXIS = {"errors.average": (0.1, 0.5)}


def results(folder: Path, picture: PictureSection | None, **more: Any) -> Results:
    asked = campaign(write(folder), measures=["makespan"], replications=2)
    varied = evolve(asked.varied, **{"axes": AXIS, **more})
    return alone(evolve(asked, picture=picture, varied=varied))


@pytest.mark.parametrize("show", ["ratio", "difference"])
def test_against_the_baseline_there_is_a_curve_for_each_other_variant(
    tmp_path: Path, show: Any
) -> None:
    found = results(tmp_path, PictureSection(x="errors.average", show=show))
    assert found.question.picture is not None
    cells = found.comparisons(effect=show)
    [curves] = panels_of(found.question, found.question.picture, cells).values()
    assert list(curves) == ["SPT", "mine"]
    lines = (line for cell in cells for line in cell.lines if line.variant == "SPT")
    told = [line.effect for line in lines]
    assert curves["SPT"] == list(zip((0.1, 0.5), told, strict=True))


@pytest.mark.parametrize(
    ("picture", "changes", "problem"),
    [
        (None, {}, "picture: missing; accepted: \\[picture\\] with x"),
        (
            PictureSection(x="errors.average", log_x=True),
            {"axes": {"errors.average": (0, 0.5)}},
            "picture.log_x: errors.average = 0; accepted: values above 0",
        ),
        (
            PictureSection(x="policy.order"),
            {"axes": {"policy.order": ("LPT", "SPT")}, "variants": {"one": {}}},
            "picture.x: policy.order = 'LPT' is no number; accepted: numbers",
        ),
        (
            PictureSection(x="errors.average"),
            {"axes": {**AXIS, "platform.workers": (8, 16)}},
            "picture: several values at one place",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    tmp_path: Path, picture: PictureSection | None, changes: dict[str, Any], problem: str
) -> None:
    found = results(tmp_path, picture, **changes)
    with pytest.raises(InputError, match=problem):
        draw(found, tmp_path / "it.png")
    assert not (tmp_path / "it.png").exists()


def test_nothing_is_drawn_of_a_campaign_that_has_not_begun(tmp_path: Path) -> None:
    begun = Results.of(campaign(write(tmp_path)))
    with pytest.raises(InputError, match="no cell has a value; accepted: finished runs"):
        draw(begun, tmp_path / "it.png")


def test_a_picture_marks_the_best_and_the_formulas_periods_of_each_panel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"replications": 1, "set": {"work": "2 h"}, "axes": {"spares": [0]}}
    asked = load_campaign(CAMPAIGNS / "training.toml", "smoke", changes)
    found = alone(asked)
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(
        "sims.campaign.picture.draw_panels",
        lambda panels, *_, **how: drawn.update(how, panels=panels),
    )
    draw(found, tmp_path / "it.png")
    panels = drawn["panels"]
    # One of 64 nodes fails each 81,000 s: sqrt(2 x 320 x 81,000), sqrt(2 x 10 x 81,000).
    assert drawn["marks"]["place = storage"]["Young: 7,200 s"] == pytest.approx(7200)
    assert "Young: 1,273 s" in drawn["marks"]["place = buddies"]
    beside = drawn["marks"]["place = storage, non-blocking"]
    assert beside["Young, if saves stopped the job: 7,200 s"] == pytest.approx(7200)
    assert drawn["ticks"] == {1200: "20 min", 5400: "1.5 h"}
    for panel, curves in panels.items():
        for name, curve in curves.items():
            [at] = [at for at, it in curve if it.mean == max(it.mean for _, it in curve)]
            assert drawn["stars"][panel][name] == at
    monkeypatch.undo()
    assert draw(found, tmp_path / "it.png").stat().st_size > 10_000
