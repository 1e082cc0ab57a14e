"""Boxes on axes: one by one while they can be told apart, as an image beyond, of which every pixel
shows in its colour's mix what its area went to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sims.plots.boxes import Columns, Floats, within
from sims.plots.palette import Paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 5000
"""Boxes drawn one by one; so many still take a second, and more lie on top of each other."""
LETTERS = (4.0, 8.0)
"""Points of the smallest and the largest letters of a name."""
VECTORS = 2000
"""Boxes drawn as vectors in SVG and PDF; more are one image there."""
PIXELS = (900, 1600)
"""Rows and columns of an image of boxes, at most."""
EDGED = 3.0
"""Points of height and width from which on a box has an outline: of smaller ones it would leave
nothing."""
TINY = 1e-12
"""Coverage that is rounding, not a box."""


@frozen
class Raster:
    """An image's size and what it shows."""

    rows: int
    columns: int
    height: float
    """Rows of the chart, such as processors."""
    end: float
    """Time at its right edge; the left edge is `start`."""
    start: float = 0


def draw_boxes(
    axes: Axes,
    boxes: Columns,
    paints: Sequence[Paint],
    most: tuple[int, int] = PIXELS,
    faint: float = 1,
) -> None:
    """Draw boxes within the time and the rows, 0 on top, that `axes` show.

    An image has `most` pixels, and a whole number of them for each row where those are few, or
    edges between them would blur; `faint` < 1 lifts what covers little of a pixel (`image`).
    """
    (start, end), height = axes.get_xlim(), int(axes.get_ylim()[0])
    boxes = within(boxes, start, end)
    if len(boxes) > FEW:
        rows = height * (most[0] // height) if 2 * height <= most[0] else most[0]
        picture = image(boxes, paints, Raster(rows, most[1], height, end, start), faint)
        extent = (start, end, height, 0)
        axes.imshow(picture, extent=extent, aspect="auto", interpolation="antialiased", zorder=1)
        return
    states = np.array([paint.state for paint in paints])[boxes.kind]
    for behind in (True, False):
        _draw_each(axes, boxes[states == behind], paints, behind, len(boxes) > VECTORS)


def _draw_each(
    axes: Axes, boxes: Columns, paints: Sequence[Paint], behind: bool, rasterized: bool
) -> None:
    from matplotlib.collections import PolyCollection

    outlined = (np.min(_points(axes, boxes), axis=0) >= EDGED) & (not behind)
    # The small ones last, or their neighbours' outlines would hide them.
    order = np.argsort(~outlined, kind="stable")
    boxes, outlined = boxes[order], outlined[order]
    x = np.stack([boxes.start, boxes.end, boxes.end, boxes.start], axis=1)
    y = np.stack([boxes.low, boxes.low, boxes.high, boxes.high], axis=1)
    colours = np.array([rgb(paint.colour) for paint in paints])[boxes.kind]
    collection = PolyCollection(
        list(np.stack([x, y], axis=2)),
        facecolors=colours,
        edgecolors=np.where(outlined[:, np.newaxis], 1.0, colours),
        linewidths=np.where(outlined, 0.3, 0.2),
        rasterized=rasterized,
        zorder=1 if behind else 2,
    )
    axes.add_collection(collection)


def _points(axes: Axes, boxes: Columns) -> Floats:
    """Width and height of boxes on the page, in points."""
    one, other = (
        axes.transData.transform(np.column_stack(corner))
        for corner in ((boxes.start, boxes.low), (boxes.end, boxes.high))
    )
    sizes: Floats = np.abs(other - one).T * 72 / axes.figure.get_dpi()
    return sizes


def draw_names(axes: Axes, boxes: Columns, names: Sequence[str], margin: float = 0) -> None:
    """Write each run's name into its largest box, where it has room.

    `margin`: points that stay free on both sides, for marks.
    """
    boxes = within(boxes, *axes.get_xlim())
    if len(boxes) > FEW:
        return
    length, height = _points(axes, boxes)
    order = np.argsort(height * length, kind="stable")
    largest = {(boxes.job[k], boxes.run[k]): k for k in order if boxes.run[k] >= 0}
    for k in largest.values():
        box, size = boxes[k], min(height[k] * 0.8, LETTERS[1])
        name = names[box.job]
        if size >= LETTERS[0] and length[k] > 0.7 * size * len(name) + 2 * margin:
            x, y = (box.start + box.end) / 2, (box.low + box.high) / 2
            axes.text(x, y, name, fontsize=size, ha="center", va="center", zorder=4)


def image(boxes: Columns, paints: Sequence[Paint], raster: Raster, faint: float = 1) -> Floats:
    """(rows, columns, 3): colours in [0, 1], white where no box is.

    A pixel's colours mix by area; states get what the boxes before them leave. `faint` < 1 shows a
    pixel of which a part p is covered by others than states as if it were p ** faint, so that
    single boxes among many thousands can be seen at all.
    """
    shape = (raster.rows, raster.columns)
    picture, left = np.ones((*shape, 3)), np.ones(shape)
    parts = coverage(boxes, raster)
    for behind in (False, True):
        mine = {kind: part for kind, part in parts.items() if paints[kind].state is behind}
        covered = np.clip(sum(mine.values(), np.zeros(shape)), TINY, 1)
        lifted = np.minimum(covered ** (1 if behind else faint), left)
        for kind, part in mine.items():
            mixed = part / covered * lifted
            picture += mixed[:, :, np.newaxis] * (rgb(paints[kind].colour) - 1)
        left = left - lifted if mine else left
    return np.clip(picture, 0, 1)


def coverage(boxes: Columns, raster: Raster) -> dict[int, Floats]:
    """By kind, (rows, columns): the part of each pixel that its boxes cover, none of which overlap.

    Exact but for rounding: a box's edges fall within pixels, and are accounted for in part.
    """
    found = {}
    for kind in np.unique(boxes.kind).tolist():
        mine = boxes[boxes.kind == kind]
        down = _steps(mine.low, mine.high, raster.rows, 0, raster.height)
        along = _steps(mine.start, mine.end, raster.columns, raster.start, raster.end)
        steps = (down.multiply(mine.share) @ along.T).toarray()
        found[kind] = np.clip(steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1], 0, 1)
    return found


def _steps(low: Floats, high: Floats, pixels: int, start: float, end: float) -> Any:
    """(pixels + 1, boxes), sparse: by how much a row of pixels steps up and down for each box.

    The running sum of the steps is the part of each pixel that [low, high) covers.
    """
    from scipy.sparse import csr_array

    scale = pixels / (end - start) if end > start else 0.0
    places = np.clip((np.concatenate([low, high]) - start) * scale, 0, pixels)
    pixel = np.minimum(places.astype(int), pixels - 1)
    up, box = np.repeat([1, -1], len(low)), np.tile(np.arange(len(low)), 4)
    by = np.concatenate([up * (1 - places + pixel), up * (places - pixel)])
    return csr_array((by, (np.append(pixel, pixel + 1), box)), shape=(pixels + 1, len(low)))


def rgb(colour: str) -> Floats:
    """`#RRGGBB` as three numbers in [0, 1]."""
    return np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
