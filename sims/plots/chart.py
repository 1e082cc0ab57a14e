"""Boxes on axes: one by one while they can be told apart, as an image beyond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sims.plots.axes import number_wholly
from sims.plots.boxes import Boxes, Floats
from sims.plots.density import Raster, image, rgb
from sims.plots.marks import Mark, Sign
from sims.plots.palette import BLACK, BLUE, GREY, PURPLE, VERMILION, WHITE, Paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

SHAPES: dict[Sign, tuple[str, str]] = {
    Sign.ERROR: ("x", BLACK),
    Sign.CRASH: ("v", VERMILION),
    Sign.FAULT: ("X", VERMILION),
    Sign.IGNORED: ("+", BLUE),
    Sign.FATAL: ("*", PURPLE),
    Sign.CHECKPOINT: ("o", BLUE),
}
"""Marker and colour of each sign; the shape alone tells them apart."""
FEW_MARKS = 100
"""Up to so many signs are marked large."""
STRIP = 200
"""Bars of that strip, at most."""
MANY_MARKS = 300
"""More signs than this are counted in a strip below the chart."""


def draw_boxes(
    axes: Axes, boxes: Boxes, paints: Sequence[Paint], raster: Raster, faint: float = 1
) -> None:
    """Draw boxes over the time and rows of `raster`, row 0 on top.

    In an image `faint` < 1 lifts what covers little of a pixel (`density.image`).
    """
    axes.set(xlim=(raster.start, raster.end), ylim=(raster.height, 0))
    boxes = boxes.within(raster.start, raster.end)
    if len(boxes) > FEW:
        picture = image(boxes, paints, raster, faint)
        extent = (raster.start, raster.end, raster.height, 0)
        axes.imshow(picture, extent=extent, aspect="auto", interpolation="antialiased", zorder=1)
    else:
        _draw_each(axes, boxes, paints)


def raster_of(rows: int, window: tuple[float, float], most: tuple[int, int] = PIXELS) -> Raster:
    """An image of so many rows over a window of time, of `most` pixels: a whole number of them for
    each row where they are few, or edges between them would blur."""
    pixels = rows * (most[0] // rows) if 0 < rows <= most[0] // 2 else most[0]
    start, end = window
    return Raster(pixels, most[1], max(rows, 1), end, start)


def _draw_each(axes: Axes, boxes: Boxes, paints: Sequence[Paint]) -> None:
    from matplotlib.collections import PolyCollection

    colours = np.array([rgb(paint.colour) for paint in paints])
    states = np.array([paint.state for paint in paints])[boxes.kind]
    for behind in (True, False):
        drawn = boxes.where(states == behind)
        width, height = _points(axes, drawn)
        outlined = (np.minimum(width, height) >= EDGED) & (not behind)
        # The small ones last, or their neighbours' outlines would hide them.
        order = np.argsort(~outlined, kind="stable")
        drawn, outlined = drawn.where(order), outlined[order]
        collection = PolyCollection(
            list(_corners(drawn)),
            facecolors=colours[drawn.kind],
            edgecolors=np.where(outlined[:, np.newaxis], 1.0, colours[drawn.kind]),
            linewidths=np.where(outlined, 0.3, 0.2),
            rasterized=len(boxes) > VECTORS,
            zorder=1 if behind else 2,
        )
        axes.add_collection(collection)


def _points(axes: Axes, boxes: Boxes) -> tuple[Floats, Floats]:
    """Width and height of boxes on the page, in points."""
    place = axes.get_window_extent()  # in dots
    dots = axes.figure.get_dpi() / 72
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return (
        (boxes.end - boxes.start) * place.width / dots / abs(right - left),
        (boxes.high - boxes.low) * place.height / dots / abs(top - bottom),
    )


def _corners(boxes: Boxes) -> Floats:
    x = np.stack([boxes.start, boxes.end, boxes.end, boxes.start], axis=1)
    y = np.stack([boxes.low, boxes.low, boxes.high, boxes.high], axis=1)
    return np.stack([x, y], axis=2)


def draw_names(axes: Axes, boxes: Boxes, names: Sequence[str], margin: float = 0) -> None:
    """Write each run's name into its largest box, where it has room.

    `margin`: points that stay free on both sides, for marks.
    """
    boxes = boxes.within(*axes.get_xlim())
    if len(boxes) > FEW:
        return
    length, height = _points(axes, boxes)
    size = np.minimum(height * 0.8, LETTERS[1])
    for k in _largest(boxes, height * length):
        name = names[boxes.job[k]]
        if size[k] >= LETTERS[0] and length[k] > 0.7 * size[k] * len(name) + 2 * margin:
            x, y = (boxes.start[k] + boxes.end[k]) / 2, (boxes.low[k] + boxes.high[k]) / 2
            axes.text(x, y, name, fontsize=size[k], ha="center", va="center", zorder=4)


def _largest(boxes: Boxes, area: Floats) -> list[int]:
    best: dict[tuple[int, int], int] = {}
    for k in np.argsort(area, kind="stable"):
        if boxes.run[k] >= 0:
            best[int(boxes.job[k]), int(boxes.run[k])] = int(k)
    return list(best.values())


def mark_size(marks: int) -> float:
    """Points across a mark, where there are so many."""
    return 7.7 if marks < FEW_MARKS else 4.5


def signs(marks: Sequence[Mark]) -> list[Mark]:
    """All marks; of too many to mark each only what went wrong."""
    if len(marks) <= MANY_MARKS:
        return list(marks)
    return [mark for mark in marks if mark.kind is not Sign.CHECKPOINT]


def draw_marks(axes: Axes, marks: Sequence[tuple[float, float, Sign]]) -> None:
    """Mark signs (t, row, kind) on the chart."""
    for kind, (marker, colour) in SHAPES.items():
        found = [(t, y) for t, y, it in marks if it is kind]
        if found:
            x, y = zip(*found, strict=True)
            size = mark_size(len(marks)) ** 2
            # A wider white copy beneath, or a mark would vanish on boxes of its own colour.
            for layer, line in ((WHITE, 4), (colour, 1.2)):
                axes.scatter(
                    *(x, y),
                    s=size,
                    c=layer,
                    marker=marker,
                    linewidths=line,
                    zorder=5,
                    clip_on=False,
                )


def draw_strip(axes: Axes, marks: Sequence[Mark], window: tuple[float, float]) -> None:
    """Count signs over time: where marking each would hide the chart."""
    kinds = [kind for kind in SHAPES if any(mark.kind is kind for mark in marks)]
    times = [[mark.t for mark in marks if mark.kind is kind] for kind in kinds]
    colours = [SHAPES[kind][1] for kind in kinds]
    axes.hist(times, bins=STRIP, range=window, stacked=True, color=colours)
    axes.set(ylabel="failures")
    number_wholly(axes, "y")


def draw_legend(
    figure: Figure,
    paints: Sequence[Paint],
    shown: set[int],
    kinds: set[Sign],
    counted: bool = False,
) -> None:
    """What the colours and marks that occur mean, below the chart.

    `counted`: signs are counted in a strip, not marked.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(facecolor=paints[k].colour, edgecolor=GREY, label=paints[k].label)
        for k in sorted(shown)
    ]
    handles += [
        Patch(facecolor=colour, label=f"{kind.value} (below)")
        if counted
        else Line2D([], [], ls="", marker=marker, color=colour, label=kind.value)
        for kind, (marker, colour) in SHAPES.items()
        if kind in kinds
    ]
    if handles:
        columns = min(len(handles), 6)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize="small")
