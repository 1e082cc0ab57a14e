"""Draws pictures that compare many runs: curves with confidence intervals in panels, one panel per
case; distributions of values; predicted and measured makespans of the same runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, inf, isfinite, log
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from sims.history.rows import Use
from sims.plots import CYCLE, GREY, USES
from sims.plots.figure import (
    PLAIN,
    blank_figure,
    legend_below,
    number_wholly,
    panels_in,
    plainly,
    save,
    title_within,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sims.intervals import Estimate

ROW, LOG_RATIO = 0.35, 30.0
"""Height of a distribution in inches; ratio of largest to smallest value from which on the axis is
logarithmic."""
WIDTH, HEIGHT, MORE = 4.6, 3.5, 1.2
"""Width and height of a panel, and height of title and legend, in inches."""
BELOW = 0.35
"""Distance between a distribution and its mean, in rows."""
MARKERS = "osD^vPX*"
STYLES = ("-", "--", ":")
"""Line styles of the curves; the next one is used each time the colours begin anew, so that no two
curves look alike."""
APART, SPREAD = 0.02, 0.1
"""Largest distances, as parts of the x-axis, between the bars of two adjacent curves and between
those of the first and the last: bars that lie on each other cannot be read."""
FOOT = 2.0
"""Ratio of the least value on a logarithmic axis to the end of the bars that reach 0."""
BARS = "bars: 95 % confidence intervals"
BOXED = 5
"""Fewest values of which a box is drawn: quartiles of fewer say nothing."""
BOXES = "boxes: middle half of the values; orange: median; whiskers: the rest but for outliers"
Spans = Mapping[str, tuple[float, float]]
"""Maps the title of each panel to the ends of what is shaded in it."""

Curve = Sequence[tuple[float, "Estimate"]]
"""Points (x, mean with its interval) of a curve."""
Panels = Mapping[str, Mapping[str, Curve]]
"""Maps the title of each panel to its curves by name."""
NONE: Mapping[Any, Any] = MappingProxyType({})


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
    stars: Mapping[str, Mapping[str, float]] = NONE,
    marks: Mapping[str, Mapping[str, float]] = NONE,
    ticks: Mapping[float, str] = NONE,
    spans: Spans = NONE,
    bars: str = BARS,
) -> Path:
    """Draw the curves of each panel, with their intervals as bars, into a picture at `path`, and
    return `path`.

    `x` and `y`: labels of the axes; `line`: height of a horizontal line, such as the ratio 1 that
    means no difference; `stars`: maps each panel to the names of curves, and these to the value of
    x at which a star marks the best; `marks`: maps each panel to names of places on its x-axis;
    `ticks`: maps values of x to their names; `spans`: values of x that are shaded, as good as the
    best; `bars`: what the bars are; `note`: text in the legend.

    All panels have the same axes, since they are compared. Every panel has the same curves, which
    are drawn a little apart so that their bars can be read. Raises InputError where matplotlib is
    missing, or the file cannot be written.
    """
    figure, grid = panels_in(columns, len(panels), WIDTH, HEIGHT, MORE, "all")
    for place, (axes, (name, curves)) in enumerate(zip(grid, panels.items(), strict=True)):
        if line is not None:
            axes.axhline(line, color="black", lw=0.8, ls=(0, (5, 3)))
        if span := spans.get(name):
            axes.axvspan(*span, color=GREY, alpha=0.25, lw=0)
        _mark(axes, curves, marks.get(name, NONE))
        _draw_curves(axes, curves, log_x, log_y, stars.get(name, NONE))
        _number(axes, curves, log_x, log_y, ticks)
        axes.set_title(plainly(name), fontsize="medium")
        axes.grid(alpha=0.3)
        # Axes are named at the outer edges: a name for the whole picture would overlap the legend.
        axes.set_ylabel("" if place % columns else plainly(y))
        axes.set_xlabel(plainly(x) if place + columns >= len(panels) else "")
    figure.suptitle(title_within(plainly(title), WIDTH * columns))
    values = [it for curves in panels.values() for points in curves.values() for _, it in points]
    star = "star: best of its line" if stars else ""
    shaded = "shaded: as good as the best" if spans else ""
    about = about_bars(values, bars), star, shaded, note
    handles, _ = grid[0].get_legend_handles_labels()
    # Small letters, half as many again to an inch as those of the title.
    text = title_within("; ".join(filter(None, about)), 1.5 * WIDTH * columns)
    legend_below(figure, text, len(handles) if len(handles) < 5 else 3, handles)
    return save(figure, path)


def _mark(axes: Axes, curves: Mapping[str, Curve], marks: Mapping[str, float]) -> None:
    """Draw a vertical line at each place of `marks`, with its name on the side towards the panel's
    middle."""
    places = sorted(at for points in curves.values() for at, _ in points)
    for k, (name, at) in enumerate(marks.items()):
        axes.axvline(at, color="grey", lw=0.8, ls=":")
        side: Literal["left", "right"] = "right" if at > places[len(places) // 2] else "left"
        height = 0.02 + 0.06 * k
        axes.text(at, height, f" {plainly(name)} ", ha=side, transform=axes.get_xaxis_transform())


def _draw_curves(
    axes: Axes,
    curves: Mapping[str, Curve],
    log_x: bool,
    log_y: bool,
    stars: Mapping[str, float],
) -> None:
    """Draw each curve with its own colour and marker, a little beside the others, and its star at
    the value of x in `stars`.

    On a logarithmic y-axis, a bar that reaches 0 or less ends at the foot of the axis.
    """
    ends = [end for points in curves.values() for _, it in points for end in (it.low, it.mean)]
    foot = min((end for end in ends if end > 0), default=0.0) / FOOT if log_y else -inf
    places = [at for points in curves.values() for at, _ in points] or [1.0]
    span = log(max(places) / min(places)) if log_x else max(places) - min(places)
    step = span * min(APART, SPREAD / max(len(curves), 1))
    for k, (name, points) in enumerate(curves.items()):
        rows = [(at, it.mean, it.low, it.high) for at, it in points]
        x, mean, low, high = np.array(rows).reshape(-1, 4).T
        low = np.where(np.isfinite(low), np.maximum(low, foot), low)
        star = x == stars.get(name)
        beside = step * (k - (len(curves) - 1) / 2)
        x, colour = x * exp(beside) if log_x else x + beside, CYCLE[k % len(CYCLE)]
        axes.errorbar(
            *(x, mean, (mean - low, high - mean)),
            label=plainly(name),
            color=colour,
            marker=MARKERS[k % len(MARKERS)],
            ls=STYLES[k // len(CYCLE) % len(STYLES)],
            capsize=3,
            elinewidth=1,
        )
        axes.plot(x[star], mean[star], "*", ms=15, mec="black", color=colour)


def _number(
    axes: Axes,
    curves: Mapping[str, Curve],
    log_x: bool,
    log_y: bool,
    ticks: Mapping[float, str],
) -> None:
    """Show ticks as plain numbers. On a logarithmic x-axis, and where `ticks` names values of x,
    there is one at each point of the curves."""
    from matplotlib.ticker import LogLocator

    places = sorted({at for points in curves.values() for at, _ in points})
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    if log_x:
        axes.set_xscale("log")
        axes.xaxis.minorticks_off()
    if log_x or ticks:
        size = "small" if ticks else None
        axes.set_xticks(places, [ticks.get(it, f"{it:,g}") for it in places], fontsize=size)
    elif all(at == int(at) for at in places):
        number_wholly(axes, "x")
    if log_y:
        axes.set_yscale("log")
        axes.yaxis.minorticks_off()
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.tick_params(labelbottom=True, labelleft=True)


def about_bars(values: Iterable[Estimate], bars: str = BARS) -> str:
    """Return the legend's text on what the bars mean, and on missing bars where a value has no
    interval."""
    known = all(isfinite(value.high) for value in values)
    return bars if known else f"{bars}, none where there is one sample only"


Spread = tuple[Sequence[float], "Estimate"]
"""The values of one sample, and their mean with its interval."""


def draw_spreads(
    panels: Mapping[str, Mapping[str, Spread]],
    path: Path,
    title: str,
    x: str,
    apart: bool = False,
) -> Path:
    """Draw a box plot for each sample of BOXED values or more, with every value on it and the mean
    with its interval below. Return `path`.

    There is a panel for each title that has values, with samples by name. `x` labels the axis of
    values, which is logarithmic where they are above 0 and differ by a ratio above LOG_RATIO; the
    panels share it unless they are of quantities that are `apart`. Raises InputError where
    matplotlib is missing, or the file cannot be written.
    """
    panels = {name: it for name, it in panels.items() if any(values for values, _ in it.values())}
    rows = max(map(len, panels.values()))
    figure = blank_figure(2 * WIDTH, (MORE + ROW * rows) * len(panels) + MORE)
    every = [spread for panel in panels.values() for spread in panel.values()]
    for axes, (name, panel) in zip(
        figure.subplots(len(panels), 1, sharex=not apart, squeeze=False).flat,
        panels.items(),
        strict=True,
    ):
        shown = panel.values() if apart else every
        known = [value for values, _ in shown for value in values]
        far = 0 < LOG_RATIO * min(known) < max(known)
        axes.boxplot(
            [values if len(values) >= BOXED else [] for values, _ in panel.values()],
            orientation="horizontal",
            showfliers=False,
        )
        for k, (values, mean) in enumerate(panel.values(), start=1):
            axes.plot(values, [k] * len(values), "o", color=CYCLE[(k - 1) % len(CYCLE)], alpha=0.5)
            _draw_mean(axes, mean, k + BELOW, min(known) / FOOT if far else -inf)
        axes.set_yticks(range(1, len(panel) + 1), list(map(plainly, panel)))
        axes.invert_yaxis()
        axes.set_title(plainly(name), fontsize="medium")
        if far:
            axes.set_xscale("log")
        axes.xaxis.set_major_formatter(PLAIN)
    means = [mean for _, mean in every if mean.size]
    boxed = f"\n{BOXES}" if any(len(values) >= BOXED for values, _ in every) else ""
    about = f"diamonds: means; {about_bars(means)}{boxed}"
    figure.supxlabel(f"{plainly(x)}\n{about}", fontsize="medium")
    figure.suptitle(title_within(plainly(title), 2 * WIDTH))
    return save(figure, path)


def _draw_mean(axes: Axes, mean: Estimate, y: float, foot: float) -> None:
    """Draw the mean at height `y`, and its interval if that is finite. An interval goes no lower
    than `foot`, the foot of a logarithmic axis."""
    if not mean.size:
        return
    low, high = max(mean.low, foot), mean.high
    bars = [[mean.mean - low], [high - mean.mean]] if isfinite(high - low) else None
    axes.errorbar([mean.mean], [y], xerr=bars, fmt="D", ms=5, color="black", capsize=4)


# --- predicted and measured ----------------------------------------------------------------------

POINTS = "os^Dv<>"
"""Markers of the variants."""


class Compared(Protocol):
    """Interface of predicted and measured runs of the same variants, as `draw_reality` draws
    them."""

    @property
    def unit(self) -> str:
        """Unit of time."""

    @property
    def variants(self) -> list[str]:
        """Names of the variants, in the order of their first runs."""

    def makespans(self, variant: str) -> tuple[list[float], list[float]]:
        """Return the predicted and the measured makespans of a variant, run by run."""

    def uses(self, variant: str) -> Iterator[tuple[str, float, Estimate]]:
        """Yield (use, predicted mean, measured estimate) of a variant's processor-time, for each
        use that occurs."""


def draw_reality(compared: Compared, title: str, path: Path) -> Path:
    """Draw a comparison of predictions and measurements, and return `path`.

    A point stands for each run, beside the line on which both makespans are equal; a pair of bars
    for each variant's uses. Raises InputError without matplotlib, and where the file cannot be
    written.
    """
    figure = blank_figure(11, 5)
    runs, bars = figure.subplots(1, 2, width_ratios=(1, 1.2))
    _draw_runs(runs, compared)
    _draw_uses(bars, compared)
    figure.suptitle(f"{plainly(title)}: predicted and measured")
    legend_below(figure, columns=6)
    return save(figure, path)


def _draw_runs(axes: Axes, compared: Compared) -> None:
    for it, colour, marker in zip(compared.variants, CYCLE, POINTS, strict=False):
        predicted, measured = compared.makespans(it)
        axes.plot(predicted, measured, marker, color=colour, alpha=0.7, label=plainly(it), zorder=3)
    low, high = axes.get_xlim()
    axes.plot([low, high], [low, high], color=GREY, zorder=1, label="equal")
    axes.set_xlabel(f"predicted makespan, {compared.unit}")
    axes.set_ylabel(f"measured makespan, {compared.unit}")


def _draw_uses(axes: Axes, compared: Compared) -> None:
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
    names = list(map(plainly, compared.variants))
    places = [3 * row + k for row in range(len(names)) for k in (0, 1)]
    axes.set_yticks(places, [it for name in names for it in (f"{name}, predicted", "measured")])
    axes.invert_yaxis()
    axes.set_xlabel(f"mean processor-time, {compared.unit} (idle left out)")
