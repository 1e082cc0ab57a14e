"""Curves with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, isfinite, log
from typing import TYPE_CHECKING, Protocol

from sims.plots.axes import PLAIN, number_wholly
from sims.plots.figure import CYCLE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*"
STYLES = ("-", "--", ":")
"""The next one from where the colours begin anew: no two curves look alike."""
WIDTH, HEIGHT = 9.0, 5.6
"""Inches."""
APART, SPREAD = 0.02, 0.1
"""Parts of the x-axis between the bars of two curves, and between those of the first and last, at
most: bars that lie on each other cannot be read."""
BARS = "bars: 95 % confidence intervals"


class Ranged(Protocol):
    """A mean and the ends of its interval."""

    @property
    def mean(self) -> float:
        """Where it is drawn."""

    @property
    def low(self) -> float:
        """Lower end."""

    @property
    def high(self) -> float:
        """Upper end."""


Curve = Sequence[tuple[float, Ranged]]


def plot_curves(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """One curve per name, each with a colour and a marker of its own."""
    for k, (name, points) in enumerate(curves.items()):
        axes.errorbar(
            [at for at, _ in points],
            [value.mean for _, value in points],
            yerr=[
                [value.mean - value.low for _, value in points],
                [value.high - value.mean for _, value in points],
            ],
            label=name,
            color=CYCLE[k % len(CYCLE)],
            marker=MARKERS[k % len(MARKERS)],
            ls=STYLES[k // len(CYCLE) % len(STYLES)],
            capsize=3,
            elinewidth=1,
        )


def apart(curves: Mapping[str, Curve], log_x: bool) -> dict[str, Curve]:
    """The curves, each a little beside the others: their bars are seen one by one."""
    places = [at for points in curves.values() for at, _ in points] or [1.0]
    span = log(max(places) / min(places)) if log_x else max(places) - min(places)
    step = min(APART, SPREAD / len(curves))
    steps = [(k - (len(curves) - 1) / 2) * step for k in range(len(curves))]
    return {
        name: [(at * exp(step * span) if log_x else at + step * span, it) for at, it in points]
        for (name, points), step in zip(curves.items(), steps, strict=True)
    }


def format_places(axes: Axes, curves: Mapping[str, Curve], log_x: bool) -> None:
    """Ticks as plain numbers; on a logarithmic x-axis one at each place of the curves."""
    places = sorted({at for points in curves.values() for at, _ in points})
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    if log_x:
        _log_x(axes, places)
    elif all(at == int(at) for at in places):
        number_wholly(axes, "x")


def about_bars(values: Iterable[Ranged]) -> str:
    """What the bars are, and why some are not there."""
    known = all(isfinite(value.high) for value in values)
    return BARS if known else f"{BARS}, none where there is one sample only"


def legend_below(
    figure: Figure,
    title: str,
    columns: int = 3,
    entries: tuple[list[Artist], list[str]] | None = None,
) -> None:
    """What each curve is, below the axes: within them it hides one sooner or later. `entries`:
    handles and names; default: all of the figure's."""
    figure.legend(
        *(entries or ()),
        loc="outside lower center",
        ncols=columns,
        fontsize="small",
        title=title,
        title_fontsize="small",
    )


def _log_x(axes: Axes, ticks: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.xaxis.minorticks_off()


def plain_log_y(axes: Axes) -> None:
    """A logarithmic axis whose ticks are plain numbers."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    axes.yaxis.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
