"""Boxes in time, of which every Gantt chart is made: kept as columns so that millions fit; drawn
one by one while they can be told apart, as an image beyond, of which every pixel shows in its
colour's mix what its area went to."""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from sims.plots import Paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Columns: TypeAlias = Any
"""A numpy.recarray, whose columns' names numpy's types do not tell."""

NUMBERS = {"kind": np.int16, "job": np.int32, "run": np.int32, "seq": np.int32}
BOX = {**dict.fromkeys(("low", "high", "start", "end", "share"), float), **NUMBERS}
"""A box covers rows [low, high) over the time [start, end): `share` of its area, below 1 where
servers multitask. `kind`: index of its Paint; `job`: index of its job in order of submission, -1:
nobody's; `run`: -1: no run's; `seq`: the event that began it."""

TOLERANCE = 1e-9
"""Shares of a processor add up to 1 but for rounding."""

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
BANDS = 16
"""Parts of an image that are made one after the other: all of it at once, of a million boxes, takes
some hundreds of megabytes."""
TINY = 1e-12
"""Coverage that is rounding, not a box."""


PIECE = 2**16
"""Numbers of a table that are put in columns together."""


@define
class Table:
    """Columns under construction, in as little memory as their types take."""

    types: Mapping[str, type]
    """By name."""
    _last: array[float] = field(init=False, factory=lambda: array("d"))
    """Rows that are in no column yet, one after the other."""
    _pieces: list[Columns] = field(init=False, factory=list)

    def add(self, *rows: float) -> None:
        """Enter a row, or several, one after the other."""
        self._last.extend(rows)
        if len(self._last) >= PIECE:
            self._settle()

    def _settle(self) -> None:
        columns = np.array(self._last).reshape(-1, len(self.types)).T
        self._pieces.append(np.rec.fromarrays(list(columns), dtype=list(self.types.items())))
        self._last = array("d")

    def columns(self) -> Columns:
        """What was entered so far: the table's own, and no copy."""
        self._settle()
        whole: Columns = np.recarray(sum(map(len, self._pieces)), list(self.types.items()))
        end = len(whole)
        while self._pieces:  # each is freed once it is copied: never is all there twice
            piece = self._pieces.pop()
            whole[end - len(piece) : end] = piece
            end -= len(piece)
        self._pieces = [whole]
        return whole


def within(boxes: Columns, start: float, end: float) -> Columns:
    """Those that reach into [start, end], cut to it."""
    inside = boxes[(boxes.end >= start) & (boxes.start <= end)]
    inside.start, inside.end = (np.clip(edge, start, end) for edge in (inside.start, inside.end))
    return inside


@define
class Lanes:
    """For what overlaps: whoever starts takes the lowest lane that is free."""

    depth: int = 0
    """How many there ever were."""
    _free: list[int] = field(factory=list)
    _taken: dict[object, int] = field(factory=dict)

    @property
    def empty(self) -> bool:
        """Whether all lanes are free."""
        return not self._taken

    def take(self, whose: object) -> int:
        """A lane, until it is given back."""
        if not self._free:
            self._free.append(self.depth)
            self.depth += 1
        lane = self._taken[whose] = self._free.pop(0)
        return lane

    def give(self, whose: object) -> int:
        """Its lane is free again."""
        lane = self._taken.pop(whose)
        insort(self._free, lane)
        return lane


def areas_of(boxes: Columns) -> Floats:
    """What each box covers: rows x time."""
    areas: Floats = (boxes.high - boxes.low) * (boxes.end - boxes.start) * boxes.share
    return areas


def side_by_side(boxes: Columns) -> Columns:
    """Boxes of one row each that share it, as whole boxes beside each other, of height `share`; the
    same boxes, where none is shared."""
    if (boxes.share == 1).all():
        return boxes
    boxes = boxes.copy()
    under_way: dict[float, list[tuple[float, float, float]]] = {}
    order = np.lexsort((boxes.seq, boxes.start))
    for k in order[boxes.share[order] < 1].tolist():
        row, share, bottom = boxes.low[k], boxes.share[k], 0.0
        others = sorted(it for it in under_way.get(row, ()) if it[2] > boxes.start[k])
        for low, high, _ in others:
            if low - bottom >= share - TOLERANCE:
                break
            bottom = high
        else:
            bottom = min(bottom, 1 - share)  # where rounding leaves no gap
        under_way[row] = [*others, (bottom, bottom + share, boxes.end[k])]
        boxes.low[k], boxes.high[k] = row + bottom, min(row + bottom + share, row + 1)
    boxes.share = 1
    return boxes


# --- drawn ---------------------------------------------------------------------------------------


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


def draw_boxes(axes: Axes, boxes: Columns, paints: Sequence[Paint]) -> None:
    """Draw boxes within the time and the rows, 0 on top, that `axes` show.

    An image has a whole number of pixels for each row where those are few, or edges between them
    would blur.
    """
    (start, end), height = axes.get_xlim(), int(axes.get_ylim()[0])
    boxes = within(boxes, start, end)
    if len(boxes) > FEW:
        rows, columns = PIXELS
        rows = height * (rows // height) if 2 * height <= rows else rows
        picture = image(boxes, paints, Raster(rows, columns, height, end, start))
        extent = (start, end, height, 0)
        axes.imshow(picture, extent=extent, aspect="auto", interpolation="antialiased", zorder=1)
        return
    from matplotlib.collections import PolyCollection

    behind = np.array([paint.state for paint in paints])[boxes.kind]
    outlined = (np.min(_points(axes, boxes), axis=0) >= EDGED) & ~behind
    # The small ones last, or their neighbours' outlines would hide them.
    order = np.argsort(np.where(behind, 0, np.where(outlined, 1, 2)), kind="stable")
    boxes, outlined = boxes[order], outlined[order]
    colours = np.array([rgb(paint.colour) for paint in paints])[boxes.kind]
    x = np.array([boxes.start, boxes.end, boxes.end, boxes.start])
    y = np.array([boxes.low, boxes.low, boxes.high, boxes.high])
    drawn = PolyCollection(
        list(np.stack([x, y]).T),
        facecolors=colours,
        edgecolors=np.where(outlined[:, np.newaxis], 1.0, colours),
        linewidths=np.where(outlined, 0.3, 0.2),
        rasterized=len(boxes) > VECTORS,
    )
    axes.add_collection(drawn)


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


def image(boxes: Columns, paints: Sequence[Paint], raster: Raster) -> Floats:
    """(rows, columns, 3): colours in [0, 1], white where no box is.

    A pixel's colours mix by area; states get what the boxes before them leave.
    """
    picture = np.ones((raster.rows, raster.columns, 3))
    for columns, band in bands(boxes, paints, raster):
        picture[:, columns] = band
    return picture


def bands(
    boxes: Columns, paints: Sequence[Paint], raster: Raster
) -> Iterator[tuple[slice, Floats]]:
    """The image's parts from left to right: their columns, and their pixels."""
    edges = np.linspace(0, raster.columns, BANDS + 1).astype(int).tolist()
    step = (raster.end - raster.start) / raster.columns
    for first, last in pairwise(edges):
        if first < last:
            start, end = raster.start + first * step, raster.start + last * step
            band = evolve(raster, columns=last - first, start=start, end=end)
            reached = boxes[(boxes.start < end) & (boxes.end > start)]
            yield slice(first, last), _band(reached, paints, band)


def _band(boxes: Columns, paints: Sequence[Paint], raster: Raster) -> Floats:
    shape = (raster.rows, raster.columns)
    picture, left = np.ones((*shape, 3)), np.ones(shape)
    parts = coverage(boxes, raster)
    for behind in (False, True):
        mine = {kind: part for kind, part in parts.items() if paints[kind].state is behind}
        covered = np.clip(sum(mine.values(), np.zeros(shape)), TINY, 1)
        shown = np.minimum(covered, left)
        for kind, part in mine.items():
            mixed = part / covered * shown
            picture += mixed[:, :, np.newaxis] * (rgb(paints[kind].colour) - 1)
        left = left - shown if mine else left
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
    return np.frombuffer(bytes.fromhex(colour[1:]), np.uint8) / 255
