"""What a user may ask of any picture of a log: title, window of time, unit, size, resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from sims.errors import InputError
from sims.plots.axes import label_time, title_within
from sims.plots.figure import DPI, blank_figure
from sims.telling import SLOT, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sims.plots.scene import Scene


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

    def check(self, scene: Scene) -> None:
        """Raises InputError for a window without time, or a unit that the log's is not."""
        start, end = self.window(scene)
        if not start < end:
            problem = f"from {start:g} to {end:g} there is nothing to be drawn"
            accepted = f"--from below --until, within 0 to {scene.end:g}"
            raise InputError("command line", "--from", problem, accepted)
        if self.unit is not None and scene.header.unit == SLOT:
            problem = f"{self.unit!r}: this log counts slots, whatever they last"
            raise InputError("command line", "--unit", problem, "none")

    def window(self, scene: Scene) -> tuple[float, float]:
        """From when to when is drawn; a run of no time has one unit of it."""
        end = scene.end or 1
        return self.since, end if self.until is None else min(self.until, end)

    def figure(self, width: float, height: float) -> Figure:
        """A blank figure of the size asked for, or of `width` x `height` inches."""
        return blank_figure(*(self.size or (width, height)))

    def heading(self, scene: Scene, width: float) -> str:
        """The title, in as many lines as it needs."""
        asked = self.size[0] if self.size else width
        return title_within(self.title or title_of(scene.header), asked)

    def label(self, axes: Axes, scene: Scene) -> None:
        """Name the axis of time, and end it with the window."""
        axes.set_xlim(*self.window(scene))
        label_time(axes, scene.header, self.unit)
