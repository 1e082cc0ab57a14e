"""Boxes in time, the parts of every Gantt chart, in columns so that millions fit into memory.

Up to FEW boxes are drawn one by one. More become an image: the colour of each pixel mixes the
colours of its boxes by area.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from policies.maths.tolerance import ROUNDING, SAME
from sims.errors import visible
from sims.plots import Paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Columns: TypeAlias = Any
"""A numpy.recarray; numpy's types do not know the names of its columns."""

NUMBERS = {"kind": np.int16, "job": np.int32, "run": np.int32, "seq": np.int32}
BOX = {**dict.fromkeys(("low", "high", "start", "end", "share"), float), **NUMBERS}
"""Columns of a table of boxes. A box covers rows [low, high) over the time [start, end): `share` of
its area, below 1 where servers multitask. `kind`: index of its Paint; `job`: index of its job in
order of submission, -1 without a job; `run`: number of its run, -1 without one; `seq`: the event
that began it."""


FEW = 5000
"""Largest number of boxes that are drawn one by one: so many take a second, and more overlap."""
FONT_SIZES = (4.0, 8.0)
"""Smallest and largest font size of a name, in points."""
MOST_VECTORS = 2000
"""Largest number of boxes that SVG and PDF files hold as vectors; more are one image there."""
PIXELS = (900, 1600)
"""Largest numbers of rows and columns of an image of boxes."""
LEAST_EDGED = 3.0
"""Smallest height and width, in points, of a box with an outline: smaller boxes would vanish below
it."""
BANDS = 16
"""Number of parts in which an image is made one after the other: made at once, the image of a
million boxes takes some hundreds of megabytes."""


PIECE = 2**13
"""Count of numbers from which on a table moves its latest rows into columns."""


@define
class Table:
    """A growing table of numbers with named columns, kept in as little memory as the columns' types
    take."""

    types: Mapping[str, type]
    """Maps the name of each column to its type."""
    _last: list[float] = field(init=False, factory=list)
    """Rows that are in no column yet, one after the other."""
    _packed: bytearray = field(init=False, factory=bytearray)
    """All other rows, in the columns' types. It grows in place: pieces that are put together in the
    end would be in memory twice, as what is freed between others is not given back."""

    def add(self, *rows: float) -> None:
        """Append rows, given as the numbers of one row after the other in the order of the
        columns."""
        self._last += rows
        if len(self._last) >= PIECE:
            self._settle()

    def _settle(self) -> None:
        columns = np.array(self._last, float).reshape(-1, len(self.types)).T
        self._packed += np.rec.fromarrays(list(columns), dtype=list(self.types.items())).tobytes()
        self._last.clear()

    def columns(self) -> Columns:
        """Return all rows entered so far as a record array with a field for each column. It is the
        table's own memory and not a copy.

        While the array is in use, no more rows can be entered.
        """
        self._settle()
        rows = np.frombuffer(self._packed, list(self.types.items()))
        return rows.view(np.recarray)


def within(boxes: Columns, start: float, end: float) -> Columns:
    """Return those boxes whose time reaches into [start, end] or touches it, cut to that
    interval."""
    inside = boxes[(boxes.end >= start) & (boxes.start <= end)]
    inside.start, inside.end = (np.clip(edge, start, end) for edge in (inside.start, inside.end))
    return inside


@define
class Lanes:
    """Places boxes that overlap in time side by side: each gets the lowest lane that is free."""

    depth: int = 0
    """Largest number of lanes taken at one time so far."""
    _free: list[int] = field(factory=list)
    _taken: dict[object, int] = field(factory=dict)

    @property
    def empty(self) -> bool:
        """Whether no lane is taken."""
        return not self._taken

    def take(self, owner: object) -> int:
        """Return the lowest free lane, which `owner` holds until `give`."""
        if not self._free:
            self._free.append(self.depth)
            self.depth += 1
        lane = self._taken[owner] = self._free.pop(0)
        return lane

    def give(self, owner: object) -> int:
        """Free the lane of `owner`, and return it."""
        lane = self._taken.pop(owner)
        insort(self._free, lane)
        return lane


def areas_of(boxes: Columns) -> Floats:
    """Return the area of each box, rows x time x share."""
    areas: Floats = boxes.high - boxes.low
    areas *= boxes.end - boxes.start
    areas *= boxes.share
    return areas


def side_by_side(boxes: Columns) -> Columns:
    """Return the boxes with those that share a row beside each other: each as high as its `share`
    of the row, at the lowest place in the row that is free for its whole time. Their `share` is
    then 1.

    A box with a share below 1 lies in one row. Where no row is shared, the same array is returned.
    """
    if (boxes.share == 1).all():
        return boxes
    boxes = boxes.copy()
    under_way: dict[float, list[tuple[float, float, float]]] = {}
    order = np.lexsort((boxes.seq, boxes.start))
    for k in order[boxes.share[order] < 1].tolist():
        row, share, bottom = boxes.low[k], boxes.share[k], 0.0
        others = sorted(it for it in under_way.get(row, ()) if it[2] > boxes.start[k])
        for low, high, _ in others:
            if low - bottom >= share - SAME:
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
    """The size of an image in pixels, and the rows of a chart and the time that the image shows."""

    rows: int
    """Number of rows of pixels."""
    columns: int
    """Number of columns of pixels."""
    height: float
    """Number of rows of the chart, such as processors."""
    end: float
    """Time at its right edge; the left edge is `start`."""
    start: float = 0
    """Time at its left edge."""


@frozen(eq=False)
class Look:
    """How the boxes of a chart are painted.

    A large table of boxes is changed into what is drawn part by part, and never copied as a whole.
    """

    paints: Sequence[Paint]
    """Paints of the boxes as they are drawn; a box's `kind` is an index here."""
    inset: float = 0
    """Part of a row that a box leaves free above and below, unless it shows a worker's state."""
    classes: Columns | None = None
    """Kind, by job, of the boxes whose kind is 0 in the table; None: they stay of that kind."""

    def kinds(self, boxes: Columns) -> Columns:
        """Return the kind of each box as it is drawn, an index of `paints`: with `classes`, a box
        of kind 0 gets its job's class."""
        if self.classes is None:
            return boxes.kind
        return np.where(boxes.kind == 0, self.classes[boxes.job], boxes.kind)

    def of(self, boxes: Columns) -> Columns:
        """Return these boxes as they are drawn: with the kinds of `kinds`, and lower by the inset
        unless they show workers' states. The same array is returned if that changes nothing."""
        if not self.inset and self.classes is None:
            return boxes
        boxes = boxes.copy()
        behind = np.array([paint.state for paint in self.paints])[boxes.kind]
        inset = np.where(behind, 0, self.inset * np.minimum(boxes.high - boxes.low, 1))
        boxes.low += inset
        boxes.high -= inset
        boxes.kind = self.kinds(boxes)
        return boxes


def draw_boxes(axes: Axes, boxes: Columns, paints: Sequence[Paint]) -> None:
    """Draw the boxes that lie within the time of `axes`, with row 0 on top: up to FEW one by one,
    more as one image. A box's `kind` is an index of `paints`.

    Where rows are few, the image has a whole number of pixels for each, or the edges between rows
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
    outlined = (np.min(_points(axes, boxes), axis=0) >= LEAST_EDGED) & ~behind
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
        rasterized=len(boxes) > MOST_VECTORS,
    )
    axes.add_collection(drawn)


def _points(axes: Axes, boxes: Columns) -> Floats:
    """Return an array with two rows, the widths and the heights of the boxes on the page, in
    points."""
    one, other = (
        axes.transData.transform(np.column_stack(corner))
        for corner in ((boxes.start, boxes.low), (boxes.end, boxes.high))
    )
    sizes: Floats = np.abs(other - one).T * 72 / axes.figure.get_dpi()
    return sizes


def draw_names(axes: Axes, boxes: Columns, names: Sequence[str], margin: float = 0) -> None:
    """Write the name of each run's job into the run's largest box, where the box is long and high
    enough for it. With more than FEW boxes, no names are written.

    `names` has the jobs' names in order of submission. `margin`: points that stay free on both
    sides, for marks.
    """
    boxes = within(boxes, *axes.get_xlim())
    if len(boxes) > FEW:
        return
    length, height = _points(axes, boxes)
    order = np.argsort(height * length, kind="stable")
    largest = {(boxes.job[k], boxes.run[k]): k for k in order if boxes.run[k] >= 0}
    for k in largest.values():
        box, size = boxes[k], min(height[k] * 0.8, FONT_SIZES[1])
        name = visible(names[box.job])
        if size >= FONT_SIZES[0] and length[k] > 0.7 * size * len(name) + 2 * margin:
            x, y = (box.start + box.end) / 2, (box.low + box.high) / 2
            axes.text(x, y, name, fontsize=size, ha="center", va="center", zorder=4)


def image(boxes: Columns, paints: Sequence[Paint], raster: Raster) -> Floats:
    """Return an image of the boxes: an array (rows, columns, 3) of colours in [0, 1], white where
    there is no box.

    The colours of a pixel mix by area. Boxes that show a worker's state get the area that the other
    boxes leave.
    """
    picture = np.ones((raster.rows, raster.columns, 3))
    for columns, band in bands(boxes, Look(paints), raster):
        picture[:, columns] = band
    return picture


def bands(boxes: Columns, look: Look, raster: Raster) -> Iterator[tuple[slice, Floats]]:
    """Yield the image of the boxes in BANDS parts from left to right: for each, the slice of its
    columns and an array (rows, columns, 3) of its colours."""
    edges = np.linspace(0, raster.columns, BANDS + 1).astype(int).tolist()
    step = (raster.end - raster.start) / raster.columns
    for first, last in pairwise(edges):
        if first < last:
            start, end = raster.start + first * step, raster.start + last * step
            band = evolve(raster, columns=last - first, start=start, end=end)
            reached = look.of(boxes[(boxes.start < end) & (boxes.end > start)])
            yield slice(first, last), _band(reached, look.paints, band)


def _band(boxes: Columns, paints: Sequence[Paint], raster: Raster) -> Floats:
    shape = (raster.rows, raster.columns)
    picture, left = np.ones((*shape, 3)), np.ones(shape)
    parts = coverage(boxes, raster)
    for behind in (False, True):
        mine = {kind: part for kind, part in parts.items() if paints[kind].state is behind}
        covered = np.clip(sum(mine.values(), np.zeros(shape)), ROUNDING, 1)
        shown = np.minimum(covered, left)
        for kind, part in mine.items():
            mixed = part / covered * shown
            picture += mixed[:, :, np.newaxis] * (rgb(paints[kind].colour) - 1)
        left = left - shown if mine else left
    return np.clip(picture, 0, 1)


def coverage(boxes: Columns, raster: Raster) -> dict[int, Floats]:
    """Map each kind to the part of each pixel that boxes of this kind cover: an array (rows,
    columns) in [0, 1].

    The boxes must not overlap. The result is exact but for rounding: a pixel counts in part where
    an edge falls within it.
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
    """Return a sparse matrix with a row for each edge of a pixel and a column for each box: by how
    much the fraction of the pixel that the box's interval [low, high) covers changes at that edge.

    `pixels` pixels divide the interval from `start` to `end`. The running sum of a box's steps is
    the part of each pixel that it covers, so that the coverage by all boxes is one product of two
    such matrices.
    """
    from scipy.sparse import csr_array

    scale = pixels / (end - start) if end > start else 0.0
    places = np.clip((np.concatenate([low, high]) - start) * scale, 0, pixels)
    # In the index type of the matrix, which would otherwise copy all of it into that type.
    pixel = np.minimum(places.astype(np.int32), np.int32(pixels - 1))
    up = np.repeat(np.array([1, -1], np.int8), len(low))
    box = np.tile(np.arange(len(low), dtype=np.int32), 4)
    by = np.concatenate([up * (1 - places + pixel), up * (places - pixel)])
    return csr_array((by, (np.append(pixel, pixel + 1), box)), shape=(pixels + 1, len(low)))


def rgb(colour: str) -> Floats:
    """Return the colour `#RRGGBB` as three numbers in [0, 1]."""
    return np.frombuffer(bytes.fromhex(colour[1:]), np.uint8) / 255
