"""Draws a number over two settings: a dot for each point that was tried, coloured by its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from sims.plots.figure import PLAIN, legend_below, panels_in, plainly, save, title_within

WIDTH, HEIGHT, MORE = 5.2, 4.0, 1.0
"""Width and height of a panel, and height of the title and the legend, in inches."""


@frozen
class Dot:
    """A point of a map: its place, its value, and its sign."""

    x: float
    y: float
    value: float
    good: bool
    """Whether the point has a ring."""
    best: bool
    """Whether the point has a star, and a ring."""


def draw_maps(
    panels: Mapping[str, Sequence[Dot]],
    path: Path,
    title: str,
    names: tuple[str, str, str],
    logs: tuple[bool, bool] = (False, False),
    ring: str = "as good as the best",
) -> Path:
    """Draw a panel for each title, with its points as dots coloured by their values, to `path`, and
    return `path`.

    `names` are the labels of x, y and the value; `logs` says whether x and y are logarithmic;
    `ring` says in the legend what a ring means. Raises InputError where matplotlib is missing, or
    the file cannot be written.
    """
    columns = min(2, len(panels))
    figure, grid = panels_in(columns, len(panels), WIDTH, HEIGHT, MORE)
    from matplotlib.lines import Line2D

    drawn = [dot for dots in panels.values() for dot in dots]
    values = [dot.value for dot in drawn]
    for axes, (name, dots) in zip(grid, panels.items(), strict=True):
        rings = ["black" if dot.good or dot.best else "none" for dot in dots]
        shown = axes.scatter(
            [dot.x for dot in dots],
            [dot.y for dot in dots],
            c=[dot.value for dot in dots],
            vmin=min(values),
            vmax=max(values),
            edgecolors=rings,
            linewidths=1.5,
            s=70,
            cmap="viridis",
        )
        for dot in dots:
            if dot.best:
                axes.plot(dot.x, dot.y, "*", ms=17, mec="black", color="white")
        for scaled, logarithmic in zip((axes.set_xscale, axes.set_yscale), logs, strict=True):
            if logarithmic:
                scaled("log")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.yaxis.set_major_formatter(PLAIN)
        axes.set_xlabel(plainly(names[0]))
        axes.set_ylabel(plainly(names[1]))
        axes.set_title(plainly(name), fontsize="medium")
        axes.grid(alpha=0.3)
        figure.colorbar(shown, ax=axes, label=plainly(names[2]))
    figure.suptitle(title_within(plainly(title), WIDTH * columns))
    signs = ("*", 12, "the best", "best"), ("o", 9, plainly(ring), "good")
    handles = [
        Line2D([], [], ls="", marker=marker, ms=size, mfc="white", mec="black", label=label)
        for marker, size, label, sign in signs
        if any(getattr(dot, sign) for dot in drawn)
    ]
    if handles:
        legend_below(figure, columns=2, handles=handles)
    return save(figure, path)
