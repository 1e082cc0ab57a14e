from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import Outcome
from sims.ledger import Use
from sims.plots.boxes import BoxTable
from sims.plots.density import Raster, coverage, image, rgb
from sims.plots.palette import IN_SYSTEM, KIND, RUN_KIND, RUN_PAINTS, USE_PAINTS

USEFUL, LOST = KIND[Use.USEFUL], KIND[Use.LOST]


@st.composite
def tables(draw: st.DrawFn) -> BoxTable:
    """Boxes in rows of their own, so that none overlap."""
    table = BoxTable()
    for row in range(draw(st.integers(1, 6))):
        edges = sorted(draw(st.lists(st.floats(0, 50), min_size=2, max_size=8, unique=True)))
        for start, end in zip(edges[::2], edges[1::2], strict=False):
            share = draw(st.sampled_from([1.0, 0.5]))
            table.add((row, row + 1, start, end), USEFUL, (-1, -1, 0), share)
    return table


@given(tables(), st.integers(1, 40), st.integers(1, 40))
def test_an_image_covers_the_area_of_its_boxes(table: BoxTable, rows: int, columns: int) -> None:
    boxes = table.boxes()
    area = float(((boxes.end - boxes.start) * (boxes.high - boxes.low) * boxes.share).sum())
    part = coverage(boxes, Raster(rows, columns, 6, 50))
    assert part.sum() * (6 / rows) * (50 / columns) == pytest.approx(area, abs=1e-6)
    assert part.min() >= 0
    assert part.max() <= 1


def test_a_pixel_that_two_uses_share_mixes_their_colours() -> None:
    table = BoxTable()
    table.add((0, 1, 0, 3), USEFUL, (0, 0, 0))
    table.add((0, 1, 3, 4), LOST, (0, 1, 1))
    pixel = image(table.boxes(), USE_PAINTS, Raster(1, 1, 1, 4))[0, 0]
    green, vermilion = np.array([0, 0x9E, 0x73]) / 255, np.array([0xD5, 0x5E, 0]) / 255
    assert pixel == pytest.approx(0.75 * green + 0.25 * vermilion, abs=1e-9)


def test_pixels_without_boxes_are_white() -> None:
    table = BoxTable()
    table.add((0, 1, 2, 4), USEFUL, (0, 0, 0))
    picture = image(table.boxes(), USE_PAINTS, Raster(2, 2, 2, 4))
    assert picture[1].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert picture[0, 0].tolist() == [1, 1, 1]
    assert picture[0, 1].tolist() != [1, 1, 1]


def test_faint_boxes_can_be_lifted_without_changing_what_is_full() -> None:
    table = BoxTable()
    table.add((0, 1, 0, 1), USEFUL, (0, 0, 0))
    table.add((0, 1, 100, 200), USEFUL, (0, 0, 0))
    raster = Raster(1, 2, 1, 200)
    plain, lifted = (image(table.boxes(), USE_PAINTS, raster, faint) for faint in (1, 0.5))
    assert (lifted[0, 0] < plain[0, 0]).any()
    assert lifted[0, 1] == pytest.approx(plain[0, 1])


def test_a_short_run_shows_before_the_state_that_lies_behind_it() -> None:
    """A job's run of a thousandth of its wait would vanish in the wait's grey."""
    table = BoxTable()
    table.add((0, 1, 0, 1000), RUN_PAINTS.index(IN_SYSTEM), (0, -1, 0))
    table.add((0, 1, 500, 501), RUN_KIND[Outcome.COMPLETED], (0, 0, 1))
    pixel = image(table.boxes(), RUN_PAINTS, Raster(1, 1, 1, 1000), faint=0.15)[0, 0]
    behind, green = rgb(IN_SYSTEM.colour), rgb(RUN_PAINTS[RUN_KIND[Outcome.COMPLETED]].colour)
    lifted = 0.001**0.15
    assert pixel == pytest.approx(lifted * green + (1 - lifted) * behind, abs=1e-6)


def test_a_full_box_hides_the_state_behind_it() -> None:
    table = BoxTable()
    table.add((0, 1, 0, 4), RUN_PAINTS.index(IN_SYSTEM), (0, -1, 0))
    table.add((0, 1, 0, 4), RUN_KIND[Outcome.FAILED], (0, 0, 1))
    pixel = image(table.boxes(), RUN_PAINTS, Raster(1, 1, 1, 4))[0, 0]
    assert pixel == pytest.approx(rgb(RUN_PAINTS[RUN_KIND[Outcome.FAILED]].colour), abs=1e-6)
