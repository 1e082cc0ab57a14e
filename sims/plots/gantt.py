"""Draws Gantt charts: the uses of every processor, and the runs of every job, over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sims.durations import SCALES
from sims.errors import visible
from sims.plots import COLOURS, GREY, SIGNS, Paint, Sign
from sims.plots.boxes import FEW, Columns, draw_boxes, draw_names
from sims.plots.figure import PLAIN, Framing, legend_below, number_wholly
from sims.plots.scene import Scene
from sims.telling import SECOND, in_units, row_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

NAMED = 64
"""Largest number of rows that are named one by one; more rows have a numbered axis."""
FEW_MARKS = 100
"""Number of signs from which on their marks are small."""
MANY_MARKS = 300
"""Largest number of signs that are marked; more are counted in a strip below the chart."""
STRIP = 200
"""Number of bars in the strip that counts signs."""
CELLS = (160, 40)
"""Columns and rows of cells in a chart that counts jobs instead of drawing each."""


def draw_processors(scene: Scene, framing: Framing) -> Figure:
    """Draw the uses of each processor over time, with workers' states behind them and marks for
    failures and checkpoints.

    Up to FEW boxes are drawn one by one; beyond, several rows and instants share a pixel, whose
    colour mixes their uses by area. If all uses are of one kind, colours show classes of jobs
    instead (users, queues or waits).
    """
    chart = _Chart.of(scene, framing, scene.workers, row_of(scene.header))
    look = scene.look_of_uses()
    boxes = look.of(scene.rows_of_processors())
    chart.fill(boxes, look.paints, chart.marks)
    _draw_partitions(chart.axes, scene)
    if len(scene.jobs) > 1:
        marked = len(chart.marks) and chart.strip is None
        draw_names(chart.axes, boxes, scene.jobs, chart.size if marked else 0)
    return chart.figure


def _draw_partitions(axes: Axes, scene: Scene) -> None:
    """Draw a strip for each partition at the right edge of a chart of processors, over the rows of
    its workers, with its name above."""
    from matplotlib.patches import Rectangle

    for it in scene.history.pools:
        left = 1.004 + it.number * 0.022
        for first, last in it.workers:
            axes.add_patch(
                Rectangle(
                    (left, first),
                    *(0.016, last + 1 - first),
                    transform=axes.get_yaxis_transform(),
                    facecolor=f"C{it.number % 10}",
                    clip_on=False,
                )
            )
        axes.text(
            *(left + 0.008, 0, visible(it.name)),
            transform=axes.get_yaxis_transform(),
            rotation=60,
            fontsize="x-small",
            va="bottom",
        )


def draw_jobs(scene: Scene, framing: Framing) -> Figure:
    """Draw jobs over time in order of submission, a row each: their time in the system, and each
    run with its outcome.

    Copies that run at once lie side by side in their job's row. Events without a job are not
    marked. More than FEW jobs are not drawn: instead, colours count them by the times of their
    submission and the lengths of their stay.
    """
    if len(scene.jobs) > FEW:
        return _count_jobs(scene, framing)
    chart = _Chart.of(scene, framing, scene.jobs, "job, by submission")
    # Completed runs last: among many copies side by side the one that counts must be seen.
    boxes = scene.runs[np.argsort(-scene.runs.kind, kind="stable")]
    runs = zip(boxes.job, boxes.run, strict=True)
    middles = dict(zip(runs, (boxes.low + boxes.high) / 2, strict=True))
    marks = chart.marks[chart.marks.job >= 0]
    marks.row = [middles[run] for run in zip(marks.job, marks.run, strict=True)]
    look = scene.look_of_runs()
    chart.fill(look.of(boxes), look.paints, marks)
    return chart.figure


def _count_jobs(scene: Scene, framing: Framing) -> Figure:
    """Draw how many jobs were submitted when and stayed in the system how long, as a map of cells,
    for jobs too many to have a row each."""
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


@frozen(eq=False)
class _Chart:
    """A Gantt chart: axes with named rows over a scene's time, and the marks on them."""

    scene: Scene
    figure: Figure
    axes: Axes
    strip: Axes | None
    """Axes below the chart where signs are counted; None: they are few enough to be marked."""
    marks: Columns

    @classmethod
    def of(cls, scene: Scene, framing: Framing, names: Sequence[str], what: str) -> _Chart:
        """Return an empty chart with title, axes and a row for each of `names`. `what` says what a
        row is, such as `worker`."""
        start, end = framing.window(scene)
        marks = signs(scene.marks[(scene.marks.t >= start) & (scene.marks.t <= end)])
        figure = framing.figure(min(max(2.2 + 0.28 * len(names), 3.4), 8.0))
        many = len(marks) > MANY_MARKS
        grid = figure.add_gridspec(1 + many, 1, height_ratios=(6, 1)[: 1 + many])
        axes = figure.add_subplot(grid[0])
        strip = figure.add_subplot(grid[1], sharex=axes) if many else None
        if len(names) <= NAMED:
            axes.set_yticks(
                np.arange(len(names)) + 0.5, list(map(visible, names)), fontsize="small"
            )
            axes.set_ylabel(what)
        else:
            number_wholly(axes, "y")
            axes.set_ylabel(f"{what} ({len(names):,})")
        axes.set_ylim(max(len(names), 1), 0)
        axes.set_title(framing.heading(scene))
        axes.tick_params(labelbottom=not many)  # the strip below has the same time
        framing.label(strip or axes, scene)
        return cls(scene, figure, axes, strip, marks)

    @property
    def size(self) -> float:
        """Size of a mark in points: smaller from FEW_MARKS marks on."""
        return 7.7 if len(self.marks) < FEW_MARKS else 4.5

    def fill(self, boxes: Columns, paints: Sequence[Paint], marks: Columns) -> None:
        """Draw the boxes, the legend and the marks; where the chart has a strip for signs, it
        counts the chart's own marks over time instead."""
        counted = self.strip is not None
        marks = self.marks if counted else marks
        kinds = np.unique(marks.kind).tolist()
        shown = [paints[kind] for kind in np.unique(boxes.kind)]
        draw_legend(self.figure, [*shown, *(SIGNS[kind] for kind in kinds)], counted)
        self.figure.draw_without_rendering()  # outlines and names need the axes' final size
        draw_boxes(self.axes, boxes, paints)
        found = {SIGNS[kind]: marks[marks.kind == kind] for kind in kinds}
        if self.strip is None:
            self._mark(found)
            return
        colours, times = [sign.colour for sign in found], [it.t for it in found.values()]
        span = self.axes.get_xlim()
        self.strip.hist(times, bins=STRIP, range=span, stacked=True, color=colours)
        self.strip.set_ylabel("failures")
        number_wholly(self.strip, "y")

    def _mark(self, found: Mapping[Paint, Columns]) -> None:
        from matplotlib.patheffects import withStroke

        for sign, marks in found.items():
            self.axes.scatter(
                *(marks.t, marks.row, self.size**2, sign.colour),
                marker=sign.marker,
                linewidths=1.2,
                # Without the white edge, a mark would vanish on boxes of its own colour.
                path_effects=[withStroke(linewidth=4, foreground=COLOURS["white"])],
                zorder=5,
                clip_on=False,
            )


def signs(marks: Columns) -> Columns:
    """Return the marks to be drawn: all of them or, if there are more than MANY_MARKS, those that
    are no checkpoints."""
    return marks if len(marks) <= MANY_MARKS else marks[marks.kind != Sign.CHECKPOINT]


def draw_legend(figure: Figure, shown: Iterable[Paint], counted: bool = False) -> None:
    """Add a legend of these colours and signs, each once, below the chart. With `counted`, signs
    are counted in a strip below, and their entries say so."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = []
    for it in dict.fromkeys(shown):
        if it.marker and not counted:
            handles.append(Line2D([], [], ls="", marker=it.marker, color=it.colour, label=it.label))
        else:
            label = f"{it.label} (below)" if it.marker else it.label
            handles.append(Patch(facecolor=it.colour, edgecolor=GREY, label=label))
    if handles:
        legend_below(figure, columns=min(len(handles), 6), handles=handles)
