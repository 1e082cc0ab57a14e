from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from sims.plots import groups
from sims.plots.groups import Member, draw_groups
from sims.statistics import Interval

LOW, HIGH = Interval(2, 0.5, 9), Interval(100, 20, 9)
TWO: Mapping[str, Mapping[Member, Interval]] = {
    "small": {("A", "x"): LOW, ("A", "y"): LOW, ("B", "x"): HIGH},
    "large": {("A", "x"): LOW, ("B", "x"): HIGH},
}


@pytest.fixture
def figure(monkeypatch: pytest.MonkeyPatch) -> Figure:
    """The picture of TWO."""
    drawn: list[Figure] = []

    def keep(figure: Figure, path: Path) -> Path:
        drawn.append(figure)
        return path

    monkeypatch.setattr(groups, "save", keep)
    draw_groups(TWO, Path("p.png"), "title", "ratio", "B: what is left out of y")
    return drawn[0]


def members(figure: Figure) -> dict[str, ErrorbarContainer]:
    """Member -> its points and bars."""
    bars = [it for it in figure.axes[0].containers if isinstance(it, ErrorbarContainer)]
    return {str(it.get_label()): it for it in bars}


def test_points_of_different_groups_are_not_connected(figure: Figure) -> None:
    assert {it.lines[0].get_linestyle() for it in members(figure).values()} == {"None"}


def test_a_member_has_its_own_place_the_same_in_every_group(figure: Figure) -> None:
    places = {name: np.asarray(it.lines[0].get_xdata()) for name, it in members(figure).items()}
    assert len({places[name][0] for name in places}) == 3
    assert places["A x"][1] - places["A x"][0] == pytest.approx(1)
    assert all(abs(x - round(x)) < 0.5 for xs in places.values() for x in xs)
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["small", "large"]


def test_colours_tell_families_and_markers_tell_variants(figure: Figure) -> None:
    lines = {name: it.lines[0] for name, it in members(figure).items()}
    assert lines["A x"].get_color() == lines["A y"].get_color() != lines["B x"].get_color()
    assert lines["A x"].get_marker() == lines["B x"].get_marker() != lines["A y"].get_marker()


def test_values_of_several_orders_are_all_within_the_axis(figure: Figure) -> None:
    axes = figure.axes[0]
    bottom, top = axes.get_ylim()
    assert axes.get_yscale() == "log"
    assert bottom < 1.5 and top > 120


def test_what_a_picture_leaves_out_is_told_in_it(figure: Figure) -> None:
    assert "B: what is left out of y" in figure.legends[0].get_title().get_text()
    assert "95 %" in figure.legends[0].get_title().get_text()


def test_a_picture_of_groups_is_written_whole(tmp_path: Path) -> None:
    assert draw_groups(TWO, tmp_path / "p.png", "t", "y").stat().st_size > 3000
