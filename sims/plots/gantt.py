"""Gantt charts: what every processor did, and how every job fared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sims.durations import SCALES
from sims.plots.boxes import FEW, Columns, draw_boxes, draw_names
from sims.plots.classes import told_apart
from sims.plots.figure import PLAIN, Framing, legend_below, number_wholly
from sims.plots.palette import GREY, RUN_PAINTS, SIGNS, USE_PAINTS, WHITE, Paint, Sign
from sims.plots.scene import Scene
from sims.telling import SECOND, in_units, row_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

NAMED = 64
"""Rows that are named one by one; more have a numbered axis."""
FEW_MARKS = 100
"""Up to so many signs are marked large."""
MANY_MARKS = 300
"""More signs than this are counted in a strip below the chart."""
STRIP = 200
"""Bars of that strip, at most."""
CELLS = (160, 40)
"""Columns and rows of a chart of so many jobs that they are counted."""


def draw_processors(scene: Scene, framing: Framing) -> Figure:
    """Processors over time: what each did; a worker's state lies behind it; failures and
    checkpoints are marked.

    A row per processor up to some thousands of boxes; beyond, rows and moments share pixels, whose
    colour mixes what their area went to. Where all was of one kind, jobs are told apart instead.
    """
    axes, strip, marks = _chart(scene, framing, scene.workers, row_of(scene.header))
    boxes = scene.rows_of_processors()
    figure = _fill(scene, (axes, strip), (boxes, USE_PAINTS), marks, marks)
    if len(scene.jobs) > 1:
        draw_names(axes, boxes, scene.jobs, _size(marks) if len(marks) and not strip else 0)
    return figure


def draw_jobs(scene: Scene, framing: Framing) -> Figure:
    """Jobs over time, in order of submission: in the system, and each run with its outcome.

    Copies that run at once lie side by side in their job's row. What is nobody's is not marked.
    Some thousands of jobs are counted by when they came and how long they stayed.
    """
    if len(scene.jobs) > FEW:
        return _count_jobs(scene, framing)
    axes, strip, every = _chart(scene, framing, scene.jobs, "job, by submission")
    # Completed runs last: among many copies side by side the one that counts must be seen.
    boxes = scene.runs[np.argsort(-scene.runs.kind, kind="stable")]
    runs = zip(boxes.job, boxes.run, strict=True)
    middles = dict(zip(runs, (boxes.low + boxes.high) / 2, strict=True))
    marks = every[every.job >= 0]
    marks.row = [middles[run] for run in zip(marks.job, marks.run, strict=True)]
    return _fill(scene, (axes, strip), (boxes, RUN_PAINTS), every, marks)


def _count_jobs(scene: Scene, framing: Framing) -> Figure:
    start, end = framing.window(scene)
    stays = scene.runs[scene.runs.run < 0]
    stays = stays[(stays.start >= start) & (stays.start <= end)]
    spent, unit = np.maximum(stays.end - stays.start, 1), scene.header.unit
    figure = framing.figure(6)
    axes = figure.add_subplot()
    drawn = axes.hexbin(stays.start, spent, gridsize=CELLS, bins="log", yscale="log", mincnt=1)
    figure.colorbar(drawn, format=PLAIN, label=f"jobs ({len(stays):,} in all)")
    axes.set(title=framing.heading(scene), ylabel="time in the system")
    axes.yaxis.set_major_formatter(lambda t, _: in_units(t, unit))
    if unit == SECOND:
        axes.set_yticks([t for t in SCALES.values() if 1 <= t < spent.max(initial=0)], minor=False)
    framing.label(axes, scene)
    return figure


def _chart(
    scene: Scene, framing: Framing, names: Sequence[str], what: str
) -> tuple[Axes, Axes | None, Columns]:
    """Axes with named rows over a scene's time, a strip below where signs are many, and what is
    marked there or counted here."""
    start, end = framing.window(scene)
    marks = signs(scene.marks[(scene.marks.t >= start) & (scene.marks.t <= end)])
    figure = framing.figure(min(max(2.2 + 0.28 * len(names), 3.4), 8.0))
    many = len(marks) > MANY_MARKS
    grid = figure.add_gridspec(1 + many, 1, height_ratios=(6, 1)[: 1 + many])
    axes = figure.add_subplot(grid[0])
    strip = figure.add_subplot(grid[1], sharex=axes) if many else None
    if len(names) <= NAMED:
        axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize="small")
        axes.set_ylabel(what)
    else:
        number_wholly(axes, "y")
        axes.set_ylabel(f"{what} ({len(names):,})")
    axes.set_ylim(max(len(names), 1), 0)
    axes.set_title(framing.heading(scene))
    framing.label(strip or axes, scene)
    return axes, strip, marks


def _fill(
    scene: Scene,
    chart: tuple[Axes, Axes | None],
    drawn: tuple[Columns, Sequence[Paint]],
    counted: Columns,
    marks: Columns,
) -> Figure:
    """Draw the boxes, and mark or count the signs; say below what they mean."""
    (axes, strip), (boxes, paints) = chart, told_apart(scene, *drawn)
    figure = axes.get_figure(root=True)
    assert figure is not None
    kinds = (marks if strip is None else counted).kind.tolist()
    draw_legend(figure, paints, boxes.kind.tolist(), kinds, counted=strip is not None)
    figure.draw_without_rendering()  # outlines and names need the axes' final size
    draw_boxes(axes, boxes, paints)
    if strip is None:
        _draw_marks(axes, marks)
    else:
        _draw_strip(strip, counted)
    return figure


def signs(marks: Columns) -> Columns:
    """All marks; of too many to mark each only what went wrong."""
    return marks if len(marks) <= MANY_MARKS else marks[marks.kind != Sign.CHECKPOINT]


def _size(marks: Columns) -> float:
    """Points across a mark, where there are so many."""
    return 7.7 if len(marks) < FEW_MARKS else 4.5


def _draw_marks(axes: Axes, marks: Columns) -> None:
    from matplotlib.patheffects import withStroke

    for kind in np.unique(marks.kind):
        found, sign = marks[marks.kind == kind], SIGNS[kind]
        axes.scatter(
            *(found.t, found.row, _size(marks) ** 2, sign.colour),
            marker=sign.marker,
            linewidths=1.2,
            # Or it would vanish on boxes of its own colour.
            path_effects=[withStroke(linewidth=4, foreground=WHITE)],
            zorder=5,
            clip_on=False,
        )


def _draw_strip(axes: Axes, marks: Columns) -> None:
    """Signs counted over time: where marking each would hide the chart."""
    kinds = np.unique(marks.kind)
    times = [marks.t[marks.kind == kind] for kind in kinds]
    colours = [SIGNS[kind].colour for kind in kinds]
    axes.hist(times, bins=STRIP, range=axes.get_xlim(), stacked=True, color=colours)
    axes.set(ylabel="failures")
    number_wholly(axes, "y")


def draw_legend(
    figure: Figure,
    paints: Sequence[Paint],
    kinds: Sequence[int],
    signs: Sequence[int] = (),
    counted: bool = False,
) -> None:
    """What the colours and signs that occur mean, below the chart.

    `counted`: signs are counted in a strip, not marked.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = dict.fromkeys(paints[kind] for kind in sorted(set(kinds)))
    handles: list[Patch | Line2D] = [
        Patch(facecolor=it.colour, edgecolor=GREY, label=it.label) for it in shown
    ]
    handles += [
        Patch(facecolor=it.colour, label=f"{it.label} (below)")
        if counted
        else Line2D([], [], ls="", marker=it.marker, color=it.colour, label=it.label)
        for it in (SIGNS[kind] for kind in sorted(set(signs)))
    ]
    if handles:
        legend_below(figure, columns=min(len(handles), 6), handles=handles)
