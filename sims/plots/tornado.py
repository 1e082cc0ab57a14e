"""Draws a tornado: how much less and more of each number change a measure, the largest on top."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from sims.plots import CYCLE
from sims.plots.figure import PLAIN, blank_figure, legend_below, plainly, save, title_within

if TYPE_CHECKING:
    from sims.intervals import Estimate

ROW, WIDTH, MORE = 0.42, 8.0, 2.0
"""Height of a bar, and width and further height of the picture, in inches."""


@frozen
class Bar:
    """A row of a tornado: a number of a scenario by its name, and the ratios of a measure to its
    mean as it is where the number is smaller (`less`) and larger (`more`). A ratio that is not
    known is None."""

    name: str
    less: Estimate | None
    more: Estimate | None


def draw_tornado(bars: Sequence[Bar], path: Path, title: str, what: str, part: str) -> Path:
    """Draw the bars to `path`, the first on top, each from the ratio 1 to its ratios and with their
    intervals. Return `path`.

    `what` labels the axis of ratios, and `part` is the change of each number as text, such as `20
    %`. Raises InputError where matplotlib is missing, or the file cannot be written.
    """
    figure = blank_figure(WIDTH, ROW * len(bars) + MORE)
    axes = figure.subplots()
    handles = []
    for word, colour, beside in (("less", CYCLE[0], -0.18), ("more", CYCLE[1], 0.18)):
        known = [(row, it) for row, bar in enumerate(bars) if (it := getattr(bar, word))]
        rows = [row + beside for row, _ in known]
        means = [it.mean - 1 for _, it in known]
        label = plainly(f"{part} {word}")
        handles.append(axes.barh(rows, means, 0.34, left=1, color=colour, label=label))
        wide = [(row + beside, it) for row, it in known if isfinite(it.half) and it.half]
        ends = [[it.mean - it.low for _, it in wide], [it.high - it.mean for _, it in wide]]
        rows, places = [row for row, _ in wide], [it.mean for _, it in wide]
        axes.errorbar(places, rows, xerr=ends, fmt="none", color="black", capsize=2, lw=1)
    axes.axvline(1, color="black", lw=0.8)
    axes.set_yticks(range(len(bars)), [plainly(it.name) for it in bars])
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(PLAIN)
    axes.set_xlabel(plainly(what))
    axes.grid(alpha=0.3, axis="x")
    figure.suptitle(title_within(plainly(title), WIDTH))
    effects = [it for bar in bars for it in (bar.less, bar.more) if it]
    exact = all(it.half == 0 for it in effects)
    lines = "exact" if exact else "lines: intervals that hold together at 95 %"
    legend_below(figure, lines, 2, handles)
    return save(figure, path)
