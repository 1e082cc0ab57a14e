"""Curves in panels side by side: ratios to a reference, one panel per case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sims.plots.axes import title_within
from sims.plots.curves import (
    Curve,
    about_bars,
    apart,
    format_places,
    legend_below,
    plain_log_y,
    plot_curves,
)
from sims.plots.figure import blank_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, MORE = 4.6, 3.5, 1.2
"""Inches of a panel, and what title and legend take."""

Panels = Mapping[str, Mapping[str, Curve]]


def draw_panels(
    panels: Panels,
    path: Path,
    title: str,
    x: str,
    y: str,
    *,
    columns: int = 2,
    log_x: bool = False,
    log_y: bool = True,
    note: str = "",
    line: float | None = 1,
) -> Path:
    """Draw each panel's curves; `line`, where ratios say that there is no difference, is a line.

    Panels share their axes: on logarithmic ones all, else those of a column. Every panel has the
    same curves, drawn a little apart, for bars to be seen. Returns `path`.
    """
    rows = ceil(len(panels) / columns)
    figure = blank_figure(WIDTH * columns, HEIGHT * rows + MORE)
    share: Literal["all", "col"] = "all" if log_y else "col"
    grid = list(figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False).flat)
    for axes, (name, curves) in zip(grid, panels.items(), strict=False):
        _draw_panel(axes, name, curves, log_x, log_y, line)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.suptitle(title_within(title, WIDTH * columns))
    _label(figure.axes[: len(panels)], columns, x, y)
    _legend(figure, panels, note)
    return save(figure, path)


def _label(panels: Sequence[Axes], columns: int, x: str, y: str) -> None:
    """Name the axes at the outer edges: a name for the whole picture would meet the legend."""
    for place, axes in enumerate(panels):
        if place % columns == 0:
            axes.set_ylabel(y)
        if place + columns >= len(panels):
            axes.set_xlabel(x)


def _draw_panel(
    axes: Axes,
    name: str,
    curves: Mapping[str, Curve],
    log_x: bool,
    log_y: bool,
    line: float | None,
) -> None:
    if line is not None:
        axes.axhline(line, color="black", lw=0.8, ls=(0, (5, 3)))
    plot_curves(axes, apart(curves, log_x))
    format_places(axes, curves, log_x)
    if log_y:
        plain_log_y(axes)
    axes.set_title(name, fontsize="medium")
    axes.tick_params(labelbottom=True, labelleft=True)
    axes.grid(alpha=0.3)


def _legend(figure: Figure, panels: Panels, note: str) -> None:
    values = [it for curves in panels.values() for points in curves.values() for _, it in points]
    handles = figure.axes[0].get_legend_handles_labels()
    columns = len(handles[1]) if len(handles[1]) < 5 else 3
    legend_below(figure, f"{about_bars(values)}{note and f'; {note}'}", columns, handles)
