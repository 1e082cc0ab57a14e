"""Curves with their confidence intervals, in panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray

from sims.errors import InputError
from sims.plots import panels
from sims.plots.panels import Curve, about_bars, draw_panels
from tests.sims.plots.made import bar

RISING: Curve = [(k, bar(k * k, 0.5 * k)) for k in (1, 2, 4, 8)]
FALLING: Curve = [(k, bar(70 - k, 1)) for k in (1, 2, 4, 8)]
PANELS = {name: {"a": RISING, "b": RISING} for name in ("first", "second", "third")}

Drawn = Callable[..., Figure]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """The figure of some panels, instead of a file."""
    figures: list[Figure] = []
    monkeypatch.setattr(panels, "save", lambda figure, path: figures.append(figure))

    def draw(told: Mapping[str, Mapping[str, Curve]], **how: Any) -> Figure:
        draw_panels(told, Path("p.png"), "t", "x", "y", **how)
        return figures[-1]

    return draw


def picture(curves: Mapping[str, Curve], path: Path) -> NDArray[np.float64]:
    """The pixels of the picture of some curves."""
    draw_panels({"": curves}, path, "Curves", "x", "y", columns=1, log_y=False, line=None)
    pixels: NDArray[np.float64] = imread(path)[..., :3]
    return pixels


def colours(pixels: NDArray[np.float64]) -> set[tuple[int, ...]]:
    """Saturated colours: neither grey, white nor black."""
    flat = (pixels.reshape(-1, 3) * 255).astype(int)
    vivid = flat[flat.max(axis=1) - flat.min(axis=1) > 100]
    return {tuple(colour) for colour in vivid.tolist()}


def test_a_picture_shows_its_curves(tmp_path: Path) -> None:
    """Each in a colour of its own, and nothing else in any."""
    empty = picture({"nowhere": []}, tmp_path / "empty.png")
    one = picture({"rising": RISING}, tmp_path / "one.png")
    two = picture({"rising": RISING, "falling": FALLING}, tmp_path / "two.png")
    assert len(colours(empty)) < len(colours(one))
    assert len(colours(two) - colours(one)) > 0


def test_a_bar_that_reaches_0_ends_within_a_logarithmic_axis(drawn: Drawn) -> None:
    [axes] = drawn({"": {"it": [(1, bar(4, 1)), (2, bar(4, 5))]}}, columns=1, log_y=True).axes
    [bars] = axes.collections
    ends = [end for line in bars.get_segments() for _, end in line]
    assert 0 < axes.get_ylim()[0] <= min(ends) < 3


def test_wider_intervals_are_drawn_wider(tmp_path: Path) -> None:
    """Bars of eight times the length cover more of the picture, on the same axes."""
    narrow = [(x, bar(50, 1)) for x in (1, 2, 4, 8)]
    wide = [(x, bar(50, 8)) for x in (1, 2, 4, 8)]
    frame = [(0.0, bar(0, 0.1)), (9.0, bar(100, 0.1))]
    painted = [
        (picture({"frame": frame, "it": curve}, tmp_path / "p.png").min(axis=2) < 0.9).sum()
        for curve in (narrow, wide)
    ]
    assert painted[0] < painted[1]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_suffix_chooses_the_format_and_folders_are_made(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "deep" / f"p{suffix}"
    draw_panels(PANELS, path, "t", "x", "y", columns=3, log_y=False)
    assert path.stat().st_size > 3000


def test_another_suffix_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.gif' is no picture; accepted: \.png, \.svg, \.pdf"):
        draw_panels(PANELS, tmp_path / "p.gif", "t", "x", "y")


def test_no_two_of_many_curves_look_alike(drawn: Drawn) -> None:
    axes = drawn({"": {f"curve {k}": RISING for k in range(14)}}).axes[0]
    bars = [it.lines[0] for it in axes.containers if isinstance(it, ErrorbarContainer)]
    looks = {(it.get_color(), it.get_marker(), it.get_linestyle()) for it in bars}
    assert len(looks) == 14


def test_the_legend_hides_no_curve_and_says_what_the_bars_are(drawn: Drawn) -> None:
    figure = drawn({"": {"rising": RISING}}, columns=1)
    assert figure.axes[0].get_legend() is None
    assert figure.legends[0].get_title().get_text() == "bars: 95 % confidence intervals"


def test_intervals_that_one_sample_leaves_unknown_are_said_to_be_missing() -> None:
    known, unknown = bar(1, 0.5), bar(1, float("inf"))
    assert about_bars([known, known]) == "bars: 95 % confidence intervals"
    assert about_bars([known, unknown]).endswith("none where there is one sample only")


def test_places_that_are_whole_numbers_are_marked_by_whole_numbers(drawn: Drawn) -> None:
    whole = [(k, bar(k, 1)) for k in (1, 2, 3)]
    ticks = drawn({"": {"whole": whole}}, columns=1, log_y=False).axes[0].get_xticks()
    assert all(tick == int(tick) for tick in ticks)


def test_every_panel_has_its_curves_apart_and_the_line_of_no_difference(drawn: Drawn) -> None:
    figure = drawn(PANELS, log_x=True)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == list(PANELS)
    for axes in shown:
        assert np.all(np.asarray(axes.lines[0].get_ydata()) == 1)
        bars = [it.lines[0] for it in axes.containers if isinstance(it, ErrorbarContainer)]
        first, second = (np.asarray(it.get_xdata()) for it in bars)
        assert np.all(first < second)
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
