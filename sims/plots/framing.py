"""What a user may ask of any picture of a log: title, window of time, unit, size, resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sims.durations import SCALES
from sims.errors import InputError
from sims.plots.figure import DPI, PLAIN, blank_figure, number_wholly, title_within
from sims.telling import SLOT, time_axis, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sims.plots.scene import Scene

WIDTH = 13.0
"""Inches."""


@frozen
class Framing:
    """How a picture is framed; by default all of the log, in its own unit."""

    title: str | None = None
    """Default: scenario, seed and policy."""
    since: float = 0
    """Where the picture begins, in the log's unit."""
    until: float | None = None
    """Where it ends; default: at the log's end."""
    unit: str | None = None
    """What the axis of time counts, of a log in seconds: `s`, `min`, `h` or `d`."""
    size: tuple[float, float] | None = None
    """Inches, width and height; default: as many rows need."""
    dpi: int = DPI
    """Pixels per inch of a .png."""

    def window(self, scene: Scene) -> tuple[float, float]:
        """From when to when is drawn; a run of no time has one unit of it. Raises InputError for a
        window without time."""
        whole = scene.end or 1
        start, end = self.since, whole if self.until is None else min(self.until, whole)
        if not start < end:
            problem = f"from {start:g} to {end:g} there is nothing to be drawn"
            accepted = f"--from below --until, within 0 to {scene.end:g}"
            raise InputError("command line", "--from", problem, accepted)
        return start, end

    def figure(self, height: float) -> Figure:
        """A blank figure of the size asked for, or of so many inches."""
        return blank_figure(*(self.size or (WIDTH, height)))

    def heading(self, scene: Scene) -> str:
        """The title, in as many lines as it needs."""
        return title_within(
            self.title or title_of(scene.header), self.size[0] if self.size else WIDTH
        )

    def label(self, axes: Axes, scene: Scene) -> None:
        """Name the axis of time with its unit, and end it with the window; slots have whole
        numbers. Raises InputError as `window`, and for a unit that the log's is not."""
        unit = scene.header.unit
        axes.set_xlim(*self.window(scene))
        axes.set_xlabel(time_axis(self.unit or unit))
        axes.xaxis.set_major_formatter(PLAIN)
        if self.unit is None:
            if unit == SLOT:
                number_wholly(axes, "x")
        elif unit == SLOT:
            problem = f"{self.unit!r}: this log counts slots, whatever they last"
            raise InputError("command line", "--unit", problem, "none")
        else:
            _count_in(axes, SCALES[self.unit])


def _count_in(axes: Axes, scale: float) -> None:
    """Ticks at round numbers of `scale` seconds."""
    from matplotlib.ticker import MaxNLocator

    class Scaled(MaxNLocator):
        """Places that are round in the other unit."""

        def tick_values(self, vmin: float, vmax: float) -> Any:
            return np.asarray(super().tick_values(vmin / scale, vmax / scale)) * scale

    axes.xaxis.set_major_locator(Scaled("auto", steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(lambda t, _: PLAIN.format(x=t / scale))
