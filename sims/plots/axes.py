"""What pictures over time, and those of numbered things, share: ticks that are read as written."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from actors.events import ScenarioStarted
from sims.telling import SLOT, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN = "{x:,.10g}"
"""Ticks without powers of ten beside the axis."""
LETTERS = 10.0
"""Letters of a title that fit into an inch."""


def label_time(axes: Axes, started: ScenarioStarted) -> None:
    """Name the axis of time with its unit; slots have whole numbers."""
    axes.set_xlabel(time_axis(started.unit))
    axes.xaxis.set_major_formatter(PLAIN)
    if started.unit == SLOT:
        number_wholly(axes, "x")


def number_wholly(axes: Axes, which: str) -> None:
    """Whole numbers only at the axis `x` or `y`."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(PLAIN)


def title_within(title: str, inches: float) -> str:
    """The title in as many lines as it needs on a picture of that width."""
    return textwrap.fill(title, int(inches * LETTERS))
