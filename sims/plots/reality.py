"""Predicted and measured makespans of the same runs, and what the processor-time went to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sims.ledger import Use
from sims.plots.figure import blank_figure, legend_below, save
from sims.plots.palette import CYCLE, GREY, USES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sims.live.reality import Comparison

MARKERS = "os^Dv<>"


def draw_reality(compared: Comparison, title: str, path: Path) -> Path:
    """Draw it: a point for each run beside the line on which both are equal; and by variant a pair
    of bars. Raises InputError without matplotlib, and where the file cannot be written."""
    figure = blank_figure(11, 5)
    runs, bars = figure.subplots(1, 2, width_ratios=(1, 1.2))
    _draw_runs(runs, compared)
    _draw_uses(bars, compared)
    figure.suptitle(f"{title}: predicted and measured")
    legend_below(figure, columns=6)
    return save(figure, path)


def _draw_runs(axes: Axes, compared: Comparison) -> None:
    for it, colour, marker in zip(compared.variants, CYCLE, MARKERS, strict=False):
        predicted, measured = compared.makespans(it)
        axes.plot(predicted, measured, marker, color=colour, alpha=0.7, label=it, zorder=3)
    low, high = axes.get_xlim()
    axes.plot([low, high], [low, high], color=GREY, zorder=1, label="equal")
    axes.set_xlabel(f"predicted makespan, {compared.unit}")
    axes.set_ylabel(f"measured makespan, {compared.unit}")


def _draw_uses(axes: Axes, compared: Comparison) -> None:
    shown: set[str] = set()
    for row, it in enumerate(compared.variants):
        left = np.zeros(2)
        for use, predicted, measured in compared.uses(it):
            if use == Use.IDLE.value:
                continue
            widths, paint = [predicted, measured.mean], USES[use]
            axes.barh(
                *((3 * row, 3 * row + 1), widths),
                left=left,
                color=paint.colour,
                edgecolor=GREY,
                linewidth=0.6,
                label="" if use in shown else paint.label,
            )
            shown.add(use)
            left = left + widths
    names = compared.variants
    places = [3 * row + k for row in range(len(names)) for k in (0, 1)]
    axes.set_yticks(places, [it for name in names for it in (f"{name}, predicted", "measured")])
    axes.invert_yaxis()
    axes.set_xlabel(f"mean processor-time, {compared.unit} (idle left out)")
