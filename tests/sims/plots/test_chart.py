from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection

from sims.plots import KIND, RUN_KIND, RUN_PAINTS, USE_PAINTS, USES
from sims.plots.boxes import Columns, Raster, coverage, draw_boxes, draw_names, image, rgb
from sims.plots.figure import blank_figure, save
from tests.sims.plots.made import boxes

USEFUL, LOST, CHECKPOINT = (KIND[it] for it in ("useful", "lost", "checkpoint"))


def test_what_is_too_small_for_an_outline_is_drawn_over_its_neighbours_outlines() -> None:
    axes = blank_figure().add_subplot()
    axes.set(xlim=(0, 1000), ylim=(1, 0))
    long = boxes((0, 1, 0, 499, USEFUL), (0, 1, 499, 501, CHECKPOINT), (0, 1, 501, 1000, USEFUL))
    draw_boxes(axes, long, USE_PAINTS)
    drawn = [it for it in axes.collections if isinstance(it, PolyCollection)][-1]
    colours = np.asarray(drawn.get_facecolor())[:, :3]
    assert colours[-1] == pytest.approx(rgb(USES["checkpoint"].colour))
    white = [edge.tolist() == [1, 1, 1] for edge in np.asarray(drawn.get_edgecolor())[:, :3]]
    assert white == [True, True, False]


@pytest.mark.parametrize(("margin", "written"), [(0, ["J1"]), (7.7, [])])
def test_names_leave_room_for_marks_at_both_ends_of_their_box(
    margin: float, written: list[str]
) -> None:
    """A box of 20 points takes a name of two letters, but not beside marks of 8."""
    figure = blank_figure()
    axes = figure.add_subplot()
    figure.draw_without_rendering()
    points = axes.get_window_extent().width / figure.get_dpi() * 72
    axes.set(xlim=(0, points), ylim=(1, 0))
    draw_names(axes, boxes((0, 1, 0, 20, USEFUL)), ["J1"], margin)
    assert [text.get_text() for text in axes.texts] == written


def test_fifty_thousand_processors_and_many_attempts_are_drawn_as_one_image(
    tmp_path: Path,
) -> None:
    figure = blank_figure()
    axes = figure.add_subplot()
    axes.set(xlim=(0, 1000), ylim=(50_000, 0))
    steps = [(7 * k, 7 * k + 50, k / 8, k / 8 + 1, USEFUL) for k in range(7000)]
    draw_boxes(axes, boxes(*steps), USE_PAINTS)
    assert len(axes.images) == 1
    assert not axes.collections
    assert save(figure, tmp_path / "large.pdf").stat().st_size < 5_000_000


@st.composite
def tables(draw: st.DrawFn) -> Columns:
    """Boxes in rows of their own, so that none overlap."""
    rows: list[tuple[float, ...]] = []
    for row in range(draw(st.integers(1, 6))):
        edges = sorted(draw(st.lists(st.floats(0, 50), min_size=2, max_size=8, unique=True)))
        for start, end in zip(edges[::2], edges[1::2], strict=False):
            rows.append((row, row + 1, start, end, USEFUL, draw(st.sampled_from([1.0, 0.5]))))
    return boxes(*rows)


@settings(max_examples=40)
@given(tables(), st.integers(1, 40), st.integers(1, 40))
def test_an_image_covers_the_area_of_its_boxes(drawn: Columns, rows: int, columns: int) -> None:
    area = float(((drawn.end - drawn.start) * (drawn.high - drawn.low) * drawn.share).sum())
    part = coverage(drawn, Raster(rows, columns, 6, 50))[USEFUL]
    assert part.sum() * (6 / rows) * (50 / columns) == pytest.approx(area, abs=1e-6)
    assert part.min() >= 0
    assert part.max() <= 1


def test_pixels_mix_the_colours_of_their_boxes_hide_states_and_are_white_without_any() -> None:
    green, vermilion = rgb(USES["useful"].colour), rgb(USES["lost"].colour)
    shared = boxes((0, 1, 0, 3, USEFUL), (0, 1, 3, 4, LOST))
    [[pixel], white] = image(shared, USE_PAINTS, Raster(2, 1, 2, 4))
    assert pixel == pytest.approx(0.75 * green + 0.25 * vermilion, abs=1e-9)
    assert white.tolist() == [[1, 1, 1]]
    full = boxes((0, 1, 0, 4, RUN_KIND["in_system"]), (0, 1, 0, 4, RUN_KIND["completed"]))
    [[pixel]] = image(full, RUN_PAINTS, Raster(1, 1, 1, 4))
    assert pixel == pytest.approx(green, abs=1e-6)
