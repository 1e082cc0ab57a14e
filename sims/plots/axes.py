"""What pictures over time, and those of numbered things, share: ticks that are read as written."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.events import ScenarioStarted
from sims.durations import SCALES
from sims.telling import SLOT, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN = "{x:,.10g}"
"""Ticks without powers of ten beside the axis."""
LETTERS = 10.0
"""Letters of a title that fit into an inch."""


def label_time(axes: Axes, started: ScenarioStarted, unit: str | None = None) -> None:
    """Name the axis of time with its unit, or with `unit`, one of SCALES; slots have whole
    numbers."""
    axes.set_xlabel(time_axis(unit or started.unit))
    axes.xaxis.set_major_formatter(PLAIN)
    if started.unit == SLOT:
        number_wholly(axes, "x")
    elif unit is not None:
        _count_in(axes, SCALES[unit])


def _count_in(axes: Axes, scale: float) -> None:
    """Ticks at round numbers of `scale` seconds."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    class ScaledLocator(MaxNLocator):
        """Places that are round in the other unit."""

        def tick_values(self, vmin: float, vmax: float) -> Any:
            return np.asarray(super().tick_values(vmin / scale, vmax / scale)) * scale

    axes.xaxis.set_major_locator(ScaledLocator(nbins="auto", steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda t, _: PLAIN.format(x=t / scale)))


def number_wholly(axes: Axes, which: str) -> None:
    """Whole numbers only at the axis `x` or `y`."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(PLAIN)


def title_within(title: str, inches: float) -> str:
    """The title in as many lines as it needs on a picture of that width."""
    return textwrap.fill(title, int(inches * LETTERS))
