"""Where the processor-time went: the ledger as bars, in all and by worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sims.errors import InputError
from sims.ledger import Use
from sims.plots.boxes import Raster, coverage
from sims.plots.figure import Framing, number_wholly
from sims.plots.gantt import draw_legend
from sims.plots.palette import GREY, USE_PAINTS, USES, Paint
from sims.plots.scene import Scene
from sims.telling import counted, in_units, row_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = 64
"""Bars side by side at most; more processors are grouped by number."""
NUMBERED = 16
"""Numbers below such bars, at most."""


def draw_ledger(scene: Scene, framing: Framing) -> Figure:
    """Shares of processors x makespan by use, and the same by worker or group of processors.

    It is that of the whole run: InputError where the framing has a window.
    """
    if framing.window(scene) != Framing().window(scene):
        problem = "the ledger is that of the whole run"
        raise InputError("command line", "--from, --until", problem, "none of them")
    figure = framing.figure(5.5)
    whole, groups = figure.subplots(1, 2, width_ratios=(1, 1.6))
    shares = _draw_whole(whole, scene)
    # The bars of `groups` leave blank what was idle.
    idle = [USES[it] for it in shares if it == Use.IDLE.value]
    draw_legend(figure, sorted([*_draw_groups(groups, scene), *idle], key=USE_PAINTS.index))
    figure.suptitle(framing.heading(scene))
    return figure


def _draw_whole(axes: Axes, scene: Scene) -> dict[str, float]:
    shares = scene.shares()
    colours = [USES[use].colour for use in shares]
    bars = axes.barh([*shares], [*shares.values()], color=colours, edgecolor=GREY, linewidth=0.6)
    axes.bar_label(bars, [f" {it:.3g} %" for it in shares.values()], fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.25)
    processors, unit = scene.header.processors, scene.header.unit
    axes.set_xlabel(f"% of {counted(processors, 'processor')} x {in_units(scene.end, unit)}")
    return shares


def _draw_groups(axes: Axes, scene: Scene) -> list[Paint]:
    """Returns what was drawn."""
    header, rows = scene.header, scene.header.processors
    groups = min(rows, GROUPS)
    areas = coverage(scene.uses, Raster(groups, 1, rows, scene.end or 1))
    kinds = sorted(areas, key=lambda kind: USE_PAINTS[kind].state)  # states on top
    edges, bottom = np.linspace(0, rows, groups + 1), np.zeros(groups)
    for kind in kinds:
        height = 100 * areas[kind][:, 0]
        axes.bar(
            *(edges[:-1], height, np.diff(edges), bottom),
            align="edge",
            color=USE_PAINTS[kind].colour,
            edgecolor="white",
            linewidth=0.3,
        )
        bottom += height
    each, what = ("each one's", "") if groups == rows else ("each group's", f", {groups} groups")
    axes.set(ylim=(0, 100), xlim=(0, rows), ylabel=f"% of {each} time")
    axes.set_xlabel(f"{row_of(header)}{what}")
    if rows > GROUPS:
        number_wholly(axes, "x")
    else:
        step = 1 if header.workers else -(-rows // NUMBERED)
        turned = 90 if header.workers and rows > 12 else 0
        places = np.arange(0, rows, step) + 0.5
        axes.set_xticks(places, scene.workers[::step], rotation=turned, fontsize="small")
    return [USE_PAINTS[kind] for kind in kinds]
