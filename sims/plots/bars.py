"""Bars side by side, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sims.plots.axes import title_within
from sims.plots.curves import HEIGHT, WIDTH, about_bars, legend_below
from sims.plots.figure import CYCLE, new_figure, save
from sims.statistics import Interval

BAR = 0.4


def draw_pairs(
    pairs: Mapping[str, tuple[Interval, Interval]],
    path: Path,
    title: str,
    y: str,
    labels: tuple[str, str],
) -> Path:
    """Draw two bars per name; `labels` tell which is which. Returns `path`."""
    figure, axes = new_figure(WIDTH, HEIGHT)
    for side, label in enumerate(labels):
        values = [pair[side] for pair in pairs.values()]
        axes.bar(
            [k + (side - 0.5) * BAR for k in range(len(values))],
            [value.mean for value in values],
            BAR,
            yerr=[value.half for value in values],
            capsize=3,
            color=CYCLE[side],
            label=label,
        )
    axes.axhline(0, color="black", lw=0.8)
    axes.set_xticks(range(len(pairs)), list(pairs))
    axes.set(title=title_within(title, WIDTH), ylabel=y)
    axes.grid(axis="y", alpha=0.3)
    axes.tick_params(axis="x", length=0)
    legend_below(figure, about_bars(value for pair in pairs.values() for value in pair))
    return save(figure, path)
