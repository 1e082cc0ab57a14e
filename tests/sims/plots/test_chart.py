from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection

from sims.plots.boxes import (
    BOX,
    Columns,
    Raster,
    Table,
    coverage,
    draw_boxes,
    draw_names,
    image,
    rgb,
)
from sims.plots.figure import blank_figure, save
from sims.plots.palette import KIND, RUN_KIND, RUN_PAINTS, USE_PAINTS, USES
from tests.sims.plots.made import boxes

USEFUL, LOST, CHECKPOINT = (KIND[it] for it in ("useful", "lost", "checkpoint"))
BEHIND, COMPLETED = RUN_KIND["in_system"], RUN_KIND["completed"]


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
    rng = np.random.default_rng(1)
    table, processors, end = Table(BOX), 50_000, 1000.0
    for k in range(100_000):
        low, start = int(rng.integers(processors - 50)), rng.uniform(0, end - 1)
        table.add(low, low + 50, start, start + 1, 1, USEFUL, k, 0, k)
    figure = blank_figure()
    axes = figure.add_subplot()
    axes.set(xlim=(0, end), ylim=(processors, 0))
    draw_boxes(axes, table.columns(), USE_PAINTS)
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


@given(tables(), st.integers(1, 40), st.integers(1, 40))
def test_an_image_covers_the_area_of_its_boxes(drawn: Columns, rows: int, columns: int) -> None:
    area = float(((drawn.end - drawn.start) * (drawn.high - drawn.low) * drawn.share).sum())
    part = coverage(drawn, Raster(rows, columns, 6, 50))[USEFUL]
    assert part.sum() * (6 / rows) * (50 / columns) == pytest.approx(area, abs=1e-6)
    assert part.min() >= 0
    assert part.max() <= 1


def test_a_pixel_that_two_uses_share_mixes_their_colours() -> None:
    shared = boxes((0, 1, 0, 3, USEFUL), (0, 1, 3, 4, LOST))
    pixel = image(shared, USE_PAINTS, Raster(1, 1, 1, 4))[0, 0]
    green, vermilion = np.array([0, 0x9E, 0x73]) / 255, np.array([0xD5, 0x5E, 0]) / 255
    assert pixel == pytest.approx(0.75 * green + 0.25 * vermilion, abs=1e-9)


def test_pixels_without_boxes_are_white() -> None:
    picture = image(boxes((0, 1, 2, 4, USEFUL)), USE_PAINTS, Raster(2, 2, 2, 4))
    assert picture[1].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert picture[0, 0].tolist() == [1, 1, 1]
    assert picture[0, 1].tolist() != [1, 1, 1]


def test_a_full_box_hides_the_state_behind_it() -> None:
    full = boxes((0, 1, 0, 4, BEHIND), (0, 1, 0, 4, COMPLETED))
    pixel = image(full, RUN_PAINTS, Raster(1, 1, 1, 4))[0, 0]
    assert pixel == pytest.approx(rgb(RUN_PAINTS[COMPLETED].colour), abs=1e-6)
