from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from sims.ledger import Use
from sims.plots.boxes import BoxTable
from sims.plots.chart import draw_boxes, draw_names, mark_size, raster_of
from sims.plots.density import rgb
from sims.plots.figure import new_figure
from sims.plots.palette import KIND, USE_PAINTS, USES


def table() -> BoxTable:
    """A checkpoint too short for an outline, between two long stretches of work."""
    boxes = BoxTable()
    boxes.add((0, 1, 0, 499), KIND[Use.USEFUL], (0, 0, 0))
    boxes.add((0, 1, 499, 501), KIND[Use.CHECKPOINT], (0, 1, 1))
    boxes.add((0, 1, 501, 1000), KIND[Use.USEFUL], (0, 2, 2))
    return boxes


def test_what_is_too_small_for_an_outline_is_drawn_over_its_neighbours_outlines() -> None:
    _, axes = new_figure()
    draw_boxes(axes, table().boxes(), USE_PAINTS, raster_of(1, (0, 1000)))
    drawn = [it for it in axes.collections if isinstance(it, PolyCollection)][-1]
    colours = np.asarray(drawn.get_facecolor())[:, :3]
    assert colours[-1] == pytest.approx(rgb(USES[Use.CHECKPOINT].colour))
    white = [edge.tolist() == [1, 1, 1] for edge in np.asarray(drawn.get_edgecolor())[:, :3]]
    assert white == [True, True, False]


def test_names_leave_room_for_marks_at_both_ends_of_their_box() -> None:
    """A box of 20 points takes a name of two letters, but not beside marks of 8."""
    boxes = BoxTable()
    boxes.add((0, 1, 0, 20), KIND[Use.USEFUL], (0, 0, 0))
    for margin, written in ((0, ["J1"]), (mark_size(1), [])):
        figure, axes = new_figure(9, 5)
        figure.draw_without_rendering()
        points = axes.get_window_extent().width / figure.get_dpi() * 72
        axes.set(xlim=(0, points), ylim=(1, 0))
        draw_names(axes, boxes.boxes(), ["J1"], margin)
        assert [text.get_text() for text in axes.texts] == written
