"""New figures, their axes and where they are saved: the only place that makes matplotlib's figures;
and what a user may ask of any picture of a log."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from sims import writing
from sims.durations import SCALES
from sims.errors import COMMAND_LINE, InputError, imported, visible
from sims.telling import SECOND, SLOT, time_axis, title_of
from sims.writing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from sims.plots.scene import Scene

SUFFIXES = (".png", ".svg", ".pdf")
DPI = 150
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
PLAIN = "{x:,.10g}"
"""Ticks without powers of ten beside the axis."""
LETTERS = 10.0
"""Letters of a title that fit into an inch."""
WIDTH = 13.0
"""Inches of a picture of a log."""
LONG = 2 * SCALES["d"]
"""Seconds from which on an axis counts days."""


def check_installed() -> None:
    """Raises InputError, naming the pip command, where matplotlib is missing.

    As it is imported, matplotlib reads the settings of a `matplotlibrc` in the current folder,
    which nothing names: meanwhile that is another folder. Settings of the user's own stay.
    """
    if "matplotlib" in sys.modules:
        return
    with chdir(Path(__file__).parent):
        imported("matplotlib", "pictures", "pip install 'holdfast[plot]'")


def blank_figure(width: float = 9, height: float = 5) -> Figure:
    """A figure of `width` x `height` inches, without axes. Raises as `check_installed`."""
    check_installed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def check_suffix(path: Path) -> None:
    """Raises InputError unless `path` ends as a picture that can be written."""
    writing.check_suffix(path, "picture", SUFFIXES)


def save(figure: Figure, path: Path, dpi: int = DPI) -> Path:
    """Write the figure; the suffix chooses the format. Raises InputError for another suffix, and
    where the file cannot be written."""
    from matplotlib import rc_context

    check_suffix(path)
    # The same log gives the same file: no dates, and names in SVG that are not drawn by lot.
    with replacing(path) as new, rc_context({"svg.hashsalt": "holdfast"}):
        figure.savefig(new, dpi=dpi, metadata=UNDATED.get(path.suffix))
    return path


def title_within(title: str, inches: float) -> str:
    """The title in as many lines as it needs on a picture of that width."""
    return textwrap.fill(title, int(inches * LETTERS))


def plainly(text: str) -> str:
    """The text with control characters escaped, and no `$` in it that begins a formula."""
    return "\n".join(map(visible, text.split("\n"))).replace("$", r"\$")


def number_wholly(axes: Axes, which: Literal["x", "y"]) -> None:
    """Whole numbers only at an axis, and none with a power of ten beside it."""
    axes.locator_params(which, integer=True)
    (axes.xaxis if which == "x" else axes.yaxis).set_major_formatter(PLAIN)


def legend_below(
    figure: Figure, title: str = "", columns: int = 3, handles: Sequence[Any] | None = None
) -> None:
    """What is drawn, below the axes: within them it hides some of it sooner or later. `handles`;
    default: all that the figure has."""
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        fontsize="small",
        title=title,
        title_fontsize="small",
    )


# --- pictures of a log ----------------------------------------------------------------------------


@frozen
class Framing:
    """How a picture is framed; by default all of the log."""

    title: str | None = None
    """Default: scenario, seed and policy."""
    since: float = 0
    """Where the picture begins, in the log's unit."""
    until: float | None = None
    """Where it ends; default: at the log's end."""
    unit: str | None = None
    """What the axis of time counts, of a log in seconds: `s`, `min`, `h` or `d`; default: dates,
    where the log knows them, else days of a long one."""
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
            raise InputError(COMMAND_LINE, "--from", problem, accepted)
        return start, end

    def figure(self, height: float) -> Figure:
        """A blank figure of the size asked for, or of so many inches."""
        return blank_figure(*(self.size or (WIDTH, height)))

    def heading(self, scene: Scene) -> str:
        """The title, in as many lines as it needs."""
        title = self.title or title_of(scene.header)
        return title_within(title, self.size[0] if self.size else WIDTH)

    def label(self, axes: Axes, scene: Scene) -> None:
        """Name the axis of time with its unit, and end it with the window; slots have whole
        numbers. Raises InputError as `window`, and for a unit that the log's is not."""
        logs, asked, (start, end) = scene.header.unit, self.unit, self.window(scene)
        if asked is not None and logs == SLOT:
            problem = f"{asked!r}: this log counts slots, whatever they last"
            raise InputError(COMMAND_LINE, "--unit", problem, "none")
        unit = asked or ("d" if logs == SECOND and end - start >= LONG else logs)
        axes.set_xlim(start, end)
        axes.set_xlabel(time_axis(unit))
        axes.xaxis.set_major_formatter(PLAIN)
        if logs == SLOT:
            number_wholly(axes, "x")
        elif asked is None and scene.begins is not None:
            _date(_recount(axes, scene.begins, SCALES["d"], "date, UTC"))
        elif unit != logs:
            _recount(axes, 0, SCALES[unit], time_axis(unit)).set_major_formatter(PLAIN)


def _recount(axes: Axes, begins: float, scale: float, label: str) -> Axis:
    """In place of the axis of time one that counts `scale` seconds, from so many before time 0."""
    functions = (lambda t: (begins + t) / scale, lambda it: it * scale - begins)
    other = axes.secondary_xaxis("bottom", functions=functions)
    other.set_xlabel(label)
    axes.set_xlabel("")
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    return other.xaxis


FIRST = {365: "%Y", 28: "%b\n%Y", 1: "%d\n%b %Y", 1 / 1440: "%H:%M\n%d %b %Y"}
"""By the least days between two ticks: what the first one says; SECONDS, where they are closer."""
SECONDS = "%H:%M:%S\n%d %b %Y"


def _date(axis: Axis) -> None:
    """Ticks at days and hours, of an axis that counts days since 1970; the first one that is seen
    says its month and year, too."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date

    class Dates(ConciseDateFormatter):
        def format_ticks(self, values: Sequence[float]) -> list[str]:
            shown: list[str] = super().format_ticks(values)  # type: ignore[no-untyped-call]
            low, high = sorted(axis.get_view_interval())
            seen = [k for k, value in enumerate(values) if low <= value <= high]
            if seen:
                first = seen[0]
                step = values[1] - values[0] if len(values) > 1 else 0.0
                form = next(
                    (it for days, it in FIRST.items() if step >= days), "%H:%M:%S\n%d %b %Y"
                )
                moment = num2date(values[first])  # type: ignore[no-untyped-call]
                shown[first] = moment.strftime(form)
            return shown

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(Dates(locator, show_offset=False))  # type: ignore[no-untyped-call]
