"""Draws a scene as interactive charts; no other module makes charts of bokeh."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sims.errors import imported, visible
from sims.plots import GREY, SIGNS, USES
from sims.plots.boxes import Columns, Look, Raster, bands
from sims.plots.figure import LONG
from sims.plots.gantt import NAMED, signs
from sims.plots.scene import Scene
from sims.telling import SECOND, SLOT, counted, in_units, row_of, time_axis

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource, HoverTool
    from bokeh.models.renderers import GlyphRenderer
    from bokeh.plotting import figure as Figure

MOST = 250_000
"""Largest number of boxes that a browser draws one by one; more become an image, in which nothing
can be picked."""
LEFT = 100
"""Least width, in pixels, of the space for rows' names left of the axes."""
IMAGE = (700, 2000)
"""Numbers of rows and columns of an image of too many boxes."""


def check_installed() -> None:
    """Raise InputError with the pip command where bokeh is missing."""
    imported("bokeh", "view", "pip install 'holdfast[view]'")


def processors(scene: Scene) -> Figure:
    """Return a Gantt chart of the processors' uses, with a row for each processor and marks for
    failures and checkpoints."""
    row = row_of(scene.header)
    chart = blank_chart(scene, f"{row}s over time", row, scene.workers)
    raster = Raster(*IMAGE, len(scene.workers), scene.end or 1)
    _draw(chart, scene.rows_of_processors(), scene.look_of_uses(), raster)
    marks = signs(scene.marks)
    for kind in np.unique(marks.kind):
        sign, found = SIGNS[kind], marks[marks.kind == kind]
        lines = sign.glyph in ("x", "cross")
        chart.scatter(
            *(found.t, found.row),
            marker=sign.glyph,
            size=10,
            color=sign.colour,
            line_color=sign.colour if lines else "white",
            legend_label=sign.label,
        )
    place_legend(chart)
    return chart


def jobs(scene: Scene, beside: Figure) -> Figure:
    """Return a Gantt chart of the jobs' runs, with a row for each job in order of submission; its
    time axis moves with that of the chart `beside`."""
    chart = blank_chart(scene, "jobs over time", "job, by submission", scene.jobs)
    chart.x_range = beside.x_range
    raster = Raster(*IMAGE, max(len(scene.jobs), 1), scene.end or 1)
    _draw(chart, scene.runs, scene.look_of_runs(), raster)
    place_legend(chart)
    return chart


def ledger(scene: Scene) -> Figure:
    """Return a bar chart of the shares of the platform's time by use."""
    from bokeh.models import DataRange1d, FactorRange
    from bokeh.plotting import figure

    shares = scene.shares()
    names = [f"{use}  {share:.3g} %" for use, share in shares.items()]
    chart = figure(
        title="Where the processor-time went",
        x_range=DataRange1d(start=0),
        y_range=FactorRange(factors=names[::-1]),
        min_border_left=LEFT,
        height=60 + 24 * len(names),
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
    )
    colours = [USES[use].colour for use in shares]
    chart.hbar(y=names, right=[*shares.values()], height=0.8, color=colours, line_color=GREY)
    header = scene.header
    platform = counted(header.processors, "processor")
    chart.xaxis.axis_label = f"% of {platform} x {in_units(scene.end, header.unit)}"
    chart.yaxis.axis_label = "use"
    return chart


def blank_chart(scene: Scene, title: str, row: str, names: Sequence[str]) -> Figure:
    """Return a chart with the scene's axis of time and an empty row for each name, from the top;
    `row` is the word for a row."""
    from bokeh.models import BasicTicker, NumeralTickFormatter, PlainText, Range1d
    from bokeh.plotting import figure

    end, rows = scene.end or 1, max(len(names), 1)
    chart = figure(
        title=title,
        output_backend="webgl",
        sizing_mode="stretch_width",
        height=min(max(160 + 22 * rows, 280), 560),
        x_range=Range1d(start=0, end=end, bounds=(-0.02 * end, 1.02 * end)),
        y_range=Range1d(start=rows, end=0, bounds=(0, rows)),
        x_axis_label=time_axis(scene.header.unit),
        y_axis_label=row,
        tools="pan,xwheel_zoom,wheel_zoom,box_zoom,reset,save,tap",
        min_border_left=LEFT,  # charts that move together stand below each other
        active_scroll="xwheel_zoom",
        active_drag="pan",
    )
    chart.xaxis.formatter = NumeralTickFormatter(format="0,0.[000000]")
    if scene.header.unit == SECOND and (scene.begins is not None or end >= LONG):
        _count_days(chart, scene.begins)
    chart.yaxis.formatter = NumeralTickFormatter(format="0,0")
    if scene.header.unit == SLOT:
        chart.xaxis.ticker = BasicTicker(min_interval=1, mantissas=[1, 2, 5], num_minor_ticks=0)
    chart.grid.grid_line_alpha = 0.3
    if len(names) <= NAMED:
        places = [k + 0.5 for k in range(len(names))]
        chart.yaxis.ticker = places
        # A plain string that has $$ would be a formula, whose fonts bokeh fetches from the network.
        labels = (PlainText(text=visible(name)) for name in names)
        chart.yaxis.major_label_overrides = dict(zip(places, labels, strict=True))
    return chart


def _count_days(chart: Figure, begins: float | None) -> None:
    from bokeh.models import AdaptiveTicker, CustomJSTickFormatter

    code = "return window.holdfast.day(tick, begins)"
    chart.xaxis.ticker = AdaptiveTicker(base=60, mantissas=[1, 6, 12, 24], num_minor_ticks=0)
    chart.xaxis.formatter = CustomJSTickFormatter(args={"begins": begins}, code=code)
    chart.xaxis.axis_label = time_axis("d") if begins is None else "date, UTC"


def _draw(chart: Figure, boxes: Columns, look: Look, raster: Raster) -> None:
    if len(boxes) > MOST:
        _draw_image(chart, boxes, look, raster)
        return
    boxes, paints, renderers = look.of(boxes), look.paints, []
    for kind in sorted(np.unique(boxes.kind).tolist(), key=lambda kind: not paints[kind].state):
        paint = paints[kind]
        renderers.append(
            chart.quad(
                *("start", "end", "low", "high"),
                source=_source(boxes[boxes.kind == kind]),
                name=paint.label,
                legend_label=paint.label,
                fill_color=paint.colour,
                line_color=None,
                nonselection_fill_alpha=0.15,
            )
        )
    chart.add_tools(hover(renderers))


def _draw_image(chart: Figure, boxes: Columns, look: Look, raster: Raster) -> None:
    from bokeh.models import ColumnDataSource

    colours = np.full((raster.rows, raster.columns, 4), 255, np.uint8)
    for columns, band in bands(boxes, look, raster):
        colours[:, columns, :3] = band * 255
    rgba = colours.view(np.uint32)[:, :, 0]
    source = ColumnDataSource({"image": [rgba]})
    for kind in np.unique(look.kinds(boxes)).tolist():
        it = look.paints[kind]
        chart.scatter(
            [nan], [nan], marker="square", size=16, color=it.colour, legend_label=it.label
        )
    chart.image_rgba("image", source=source, x=0, y=0, dw=raster.end, dh=raster.height)


def place_legend(chart: Figure) -> None:
    """Put the chart's legend below it, where a click on an entry hides its glyphs."""
    for legend in chart.legend:
        legend.update(click_policy="hide", orientation="horizontal", ncols=6)
        chart.add_layout(legend, "below")


def _source(boxes: Columns) -> ColumnDataSource:
    columns = {name: boxes[name] for name in ("start", "end")}
    columns |= {name: boxes[name].astype(np.float32) for name in ("low", "high")}
    columns |= {name: boxes[name].astype(np.int32) for name in ("job", "run", "seq")}
    return source_of(columns)


def source_of(columns: dict[str, NDArray[Any]]) -> ColumnDataSource:
    """Return a chart's source with these columns, whose rows can be picked; `job` is the row of
    whom a pick follows, and `seq` the event that it explains."""
    from bokeh.models import ColumnDataSource, CustomJS

    source = ColumnDataSource(columns, tags=["boxes"])
    picked = CustomJS(args={"source": source}, code="window.holdfast.picked(source)")
    source.selected.js_on_change("indices", picked)
    return source


def hover(renderers: Sequence[GlyphRenderer[Any]]) -> HoverTool:
    """Return the tool that tells the page which box the mouse points at.

    The page itself says what the box is. bokeh's own tooltips take what a formatter returns as HTML
    before version 3.8 and as text from then on, and would run a script in a job's name.
    """
    from bokeh.models import CustomJS, HoverTool

    pointed = CustomJS(code="window.holdfast.pointed(cb_data)")
    return HoverTool(renderers=list(renderers), tooltips=None, callback=pointed)
