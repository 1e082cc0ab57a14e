"""Curves with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sims.plots.figure import CYCLE, new_figure, save
from sims.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX"

Curve = Sequence[tuple[float, Interval]]


def _plain_log(axes: Axes, ticks: Sequence[float]) -> None:
    from matplotlib.ticker import LogLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def draw_curves(
    curves: Mapping[str, Curve], path: Path, title: str, x: str, y: str, log: bool = False
) -> Path:
    """Draw one curve per name, its 95 % intervals as bars; `log` for both axes. Returns `path`."""
    figure, axes = new_figure()
    for k, (name, points) in enumerate(curves.items()):
        axes.errorbar(
            [at for at, _ in points],
            [value.mean for _, value in points],
            yerr=[value.half for _, value in points],
            label=name,
            color=CYCLE[k % len(CYCLE)],
            marker=MARKERS[k % len(MARKERS)],
            capsize=3,
        )
    if log:
        _plain_log(axes, sorted({at for points in curves.values() for at, _ in points}))
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    axes.legend()
    return save(figure, path)
