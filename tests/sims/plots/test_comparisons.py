"""Curves with their confidence intervals, in panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from sims.errors import InputError
from sims.plots import comparisons
from sims.plots.comparisons import Curve, about_bars, draw_panels
from tests.sims.plots.made import bar

RISING: Curve = [(k, bar(k * k, 0.5 * k)) for k in (1, 2, 4, 8)]
PANELS = {name: {"a": RISING, "b": RISING} for name in ("first", "second", "third")}

Drawn = Callable[..., Figure]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """The figure of some panels, instead of a file."""
    figures: list[Figure] = []
    monkeypatch.setattr(comparisons, "save", lambda figure, path: figures.append(figure))

    def draw(told: Mapping[str, Mapping[str, Curve]], **how: Any) -> Figure:
        draw_panels(told, Path("p.png"), "t", "x", "y", **how)
        return figures[-1]

    return draw


def test_a_bar_that_reaches_0_ends_within_a_logarithmic_axis(drawn: Drawn) -> None:
    [axes] = drawn({"": {"it": [(1, bar(4, 1)), (2, bar(4, 5))]}}, columns=1, log_y=True).axes
    [bars] = axes.collections
    ends = [end for line in bars.get_segments() for _, end in line]
    assert 0 < axes.get_ylim()[0] <= min(ends) < 3


def test_another_suffix_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.gif' is no picture; accepted: \.png, \.svg, \.pdf"):
        draw_panels(PANELS, tmp_path / "p.gif", "t", "x", "y")


def test_no_two_of_many_curves_look_alike(drawn: Drawn) -> None:
    axes = drawn({"": {f"curve {k}": RISING for k in range(14)}}).axes[0]
    bars = [it.lines[0] for it in axes.containers if isinstance(it, ErrorbarContainer)]
    looks = {(it.get_color(), it.get_marker(), it.get_linestyle()) for it in bars}
    assert len(looks) == 14


def test_curves_and_their_bars_are_where_their_values_are(drawn: Drawn) -> None:
    figure = drawn({"": {"rising": RISING}}, columns=1, log_y=False)
    [axes], [legend] = figure.axes, figure.legends
    [curve] = [it for it in axes.containers if isinstance(it, ErrorbarContainer)]
    x, y = (np.asarray(it).tolist() for it in curve.lines[0].get_data())
    assert list(zip(x, y, strict=True)) == [(at, it.mean) for at, it in RISING]
    [bars] = axes.collections
    assert [[y for _, y in line] for line in bars.get_segments()] == [
        [it.low, it.high] for _, it in RISING
    ]
    assert axes.get_legend() is None  # within the axes it hides a curve
    assert legend.get_title().get_text() == "bars: 95 % confidence intervals"


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
