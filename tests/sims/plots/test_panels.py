"""Curves in panels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from sims.plots import panels
from sims.plots.panels import draw_panels
from tests.sims.plots.bars import bar

CURVE = [(1.0, bar(0.5, 0.1)), (4.0, bar(2, 0.5))]
MARKS = ("None", "o", "s")
"""Of the line at 1 and of the two curves; others are the bars' ends."""
PANELS = {name: {"a": CURVE, "b": CURVE} for name in ("first", "second", "third")}


def test_every_panel_has_its_curves_apart_and_the_line_of_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Figure] = []

    def keep(figure: Figure, path: Path) -> Path:
        kept.append(figure)
        return path

    monkeypatch.setattr(panels, "save", keep)
    draw_panels(PANELS, tmp_path / "p.png", "title", "x", "y", log_x=True)
    [figure] = kept
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == list(PANELS)
    for axes in shown:
        one, first, second = (line for line in axes.lines if line.get_marker() in MARKS)
        assert np.all(np.asarray(one.get_ydata()) == 1)
        assert np.all(np.asarray(first.get_xdata()) < np.asarray(second.get_xdata()))
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


def test_panels_of_plain_ratios_are_written(tmp_path: Path) -> None:
    path = draw_panels(PANELS, tmp_path / "p.png", "t", "x", "y", columns=3, log_y=False)
    assert path.stat().st_size > 10_000
