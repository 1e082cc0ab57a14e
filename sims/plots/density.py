"""Many boxes as one image: every pixel shows in its colour's mix what its area went to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from sims.plots.boxes import Boxes, Floats, Integers
from sims.plots.palette import Paint

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


def coverage(boxes: Boxes, raster: Raster) -> Floats:
    """(rows, columns): the part of each pixel that `boxes`, which do not overlap, cover.

    Exact but for rounding: a box's edges fall within pixels, and are accounted for in part.
    """
    shape = (raster.rows + 1, raster.columns + 1)
    y_at, y_by = _steps(boxes.low, boxes.high, raster.rows, 0, raster.height)
    x_at, x_by = _steps(boxes.start, boxes.end, raster.columns, raster.start, raster.end)
    sums = np.zeros(shape[0] * shape[1])
    for i in range(4):
        for j in range(4):
            weights = y_by[i] * x_by[j] * boxes.share
            sums += np.bincount(y_at[i] * shape[1] + x_at[j], weights, len(sums))
    whole = sums.reshape(shape).cumsum(axis=0).cumsum(axis=1)
    part: Floats = np.clip(whole[:-1, :-1], 0, 1)
    return part


def _steps(
    low: Floats, high: Floats, pixels: int, start: float, end: float
) -> tuple[list[Integers], list[Floats]]:
    """Where, and by how much, a row of pixels steps up and down for each of the intervals.

    The running sum of the steps is the part of each pixel that [low, high) covers.
    """
    scale = pixels / (end - start) if end > start else 0.0
    at: list[Integers] = []
    by: list[Floats] = []
    for edge, sign in ((low, 1.0), (high, -1.0)):
        place = np.clip((edge - start) * scale, 0, pixels)
        pixel = np.minimum(place.astype(np.int64), pixels - 1)
        inside = place - pixel
        at += [pixel, pixel + 1]
        by += [sign * (1 - inside), sign * inside]
    return at, by


def image(boxes: Boxes, paints: Sequence[Paint], raster: Raster, faint: float = 1) -> Floats:
    """(rows, columns, 3): colours in [0, 1], white where no box is.

    A pixel's colours mix by area; states get what the boxes before them leave. `faint` < 1 shows a
    pixel of which a part p is covered by others than states as if it were p ** faint, so that
    single boxes among many thousands can be seen at all.
    """
    shape = (raster.rows, raster.columns)
    picture, left = np.ones((*shape, 3)), np.ones(shape)
    for behind in (False, True):
        parts = _parts(boxes, paints, raster, behind)
        covered = np.clip(sum(parts.values(), np.zeros(shape)), TINY, None)
        lifted = np.minimum(np.minimum(covered, 1) ** (1 if behind else faint), left)
        for kind, part in parts.items():
            mixed = part / covered * lifted
            picture += mixed[:, :, np.newaxis] * (rgb(paints[kind].colour) - 1)
        left = left - lifted if parts else left
    return np.clip(picture, 0, 1)


def _parts(
    boxes: Boxes, paints: Sequence[Paint], raster: Raster, behind: bool
) -> dict[int, Floats]:
    """Coverage by kind, of the states (`behind`) or of the others."""
    kinds = [kind for kind in np.unique(boxes.kind).tolist() if paints[kind].state is behind]
    return {kind: coverage(boxes.where(boxes.kind == kind), raster) for kind in kinds}


def rgb(colour: str) -> Floats:
    """`#RRGGBB` as three numbers in [0, 1]."""
    return np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
