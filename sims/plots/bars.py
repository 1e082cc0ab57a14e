"""Bars side by side, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sims.plots.figure import CYCLE, new_figure, save
from sims.statistics import Interval

WIDTH = 0.4


def draw_pairs(
    pairs: Mapping[str, tuple[Interval, Interval]],
    path: Path,
    title: str,
    y: str,
    labels: tuple[str, str],
) -> Path:
    """Draw two bars per name; `labels` tell which is which. Returns `path`."""
    figure, axes = new_figure()
    for side, label in enumerate(labels):
        values = [pair[side] for pair in pairs.values()]
        axes.bar(
            [k + (side - 0.5) * WIDTH for k in range(len(values))],
            [value.mean for value in values],
            WIDTH,
            yerr=[value.half for value in values],
            capsize=3,
            color=CYCLE[side],
            label=label,
        )
    axes.axhline(0, color="black", lw=0.8)
    axes.set_xticks(range(len(pairs)), list(pairs))
    axes.set(title=title, ylabel=y)
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    return save(figure, path)
