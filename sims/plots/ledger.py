"""Where the processor-time went: the ledger as bars, in all and by worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sims.errors import InputError
from sims.ledger import Use
from sims.plots.axes import number_wholly
from sims.plots.boxes import Boxes, Floats
from sims.plots.chart import draw_legend
from sims.plots.figure import check_suffix, save
from sims.plots.framing import Framing
from sims.plots.gantt import ALL, WIDTH
from sims.plots.palette import GREY, KIND, USE_PAINTS, USES
from sims.plots.scene import Scene
from sims.telling import counted, in_units, row_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUPS = 64
"""Bars side by side at most; more processors are grouped by number."""
NUMBERED = 16
"""Numbers below such bars, at most."""


def draw_ledger(scene: Scene, path: Path, framing: Framing = ALL) -> Path:
    """Shares of processors x makespan by use, and the same by worker or group of processors.

    `scene` has kept its ledger, which is that of the whole run: InputError where the framing has a
    window; else as `save` does. Returns `path`.
    """
    check_suffix(path)
    if framing.window(scene) != ALL.window(scene):
        problem = "the ledger is that of the whole run"
        raise InputError("command line", "--from, --until", problem, "none of them")
    figure = framing.figure(WIDTH, 5.5)
    whole, parts = figure.subplots(1, 2, width_ratios=(1, 1.6))
    _draw_whole(whole, scene)
    shown = _draw_parts(parts, scene)
    if scene.ledger.total[Use.IDLE]:
        shown.add(KIND[Use.IDLE])  # what the bars of `parts` leave blank
    draw_legend(figure, USE_PAINTS, shown, set())
    figure.suptitle(framing.heading(scene, WIDTH))
    return save(figure, path, framing.dpi)


def _draw_whole(axes: Axes, scene: Scene) -> None:
    uses = [use for use in USES if scene.ledger.total[use]]
    shares = [100 * scene.ledger.share(use) for use in uses]
    colours = [USES[use].colour for use in uses]
    labels = [use.value for use in uses]
    bars = axes.barh(labels, shares, color=colours, edgecolor=GREY, linewidth=0.6)
    axes.bar_label(bars, [f" {share:.3g} %" for share in shares], fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.25)
    processors, unit = scene.header.processors, scene.header.unit
    axes.set_xlabel(f"% of {counted(processors, 'processor')} x {in_units(scene.end, unit)}")


def _draw_parts(axes: Axes, scene: Scene) -> set[int]:
    """Returns the kinds that were drawn."""
    rows = scene.header.processors
    groups = min(rows, GROUPS)
    areas = by_group(scene.uses.boxes(), rows, groups)
    edges = np.linspace(0, rows, groups + 1)
    whole = 100 / (np.diff(edges) * (scene.end or 1))
    bottom, drawn = np.zeros(groups), set[int]()
    for kind in _kinds():
        height = areas[kind] * whole
        if height.any():
            colour = USE_PAINTS[kind].colour
            drawn.add(kind)
            middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
            axes.bar(
                *(middle, height, width, bottom), color=colour, edgecolor="white", linewidth=0.3
            )
            bottom += height
    _name_parts(axes, scene, groups)
    return drawn


def _name_parts(axes: Axes, scene: Scene, groups: int) -> None:
    header, rows = scene.header, scene.header.processors
    each, what = ("each one's", "") if groups == rows else ("each group's", f", {groups} groups")
    axes.set(ylim=(0, 100), xlim=(0, rows), ylabel=f"% of {each} time")
    axes.set_xlabel(f"{row_of(header)}{what}")
    if rows > GROUPS:
        number_wholly(axes, "x")
        return
    names = header.workers or tuple(map(str, range(rows)))
    step = 1 if header.workers else -(-rows // NUMBERED)
    middles = [k + 0.5 for k in range(0, rows, step)]
    turned = 90 if header.workers and rows > 12 else 0
    axes.set_xticks(middles, names[::step], rotation=turned, fontsize="small")


def _kinds() -> list[int]:
    """Kinds of boxes from the bottom of a bar up: states last."""
    return sorted(range(len(USE_PAINTS)), key=lambda kind: USE_PAINTS[kind].state)


def by_group(boxes: Boxes, rows: int, groups: int) -> Floats:
    """(kinds, groups): the area of each kind of box on each of `groups` equal parts of `rows`."""
    areas = np.zeros((len(USE_PAINTS), groups))
    width = rows / groups
    area = (boxes.end - boxes.start) * boxes.share
    for kind in range(len(USE_PAINTS)):
        mine = boxes.kind == kind
        # The running sum over numbers below each edge; its differences are the groups' areas.
        edges = np.arange(groups + 1) * width
        below = [
            float((np.clip(edge, boxes.low[mine], boxes.high[mine]) - boxes.low[mine]) @ area[mine])
            for edge in edges
        ]
        areas[kind] = np.diff(below)
    return areas
