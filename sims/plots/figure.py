"""Makes, labels and saves figures, and holds the options of every picture of a log. No other module
makes figures of matplotlib."""

from __future__ import annotations

import logging
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from math import ceil
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
"""Format of ticks without a power of ten beside the axis."""
LETTERS_PER_INCH = 10.0
"""Number of letters of a title that fit into an inch."""
WIDTH = 13.0
"""Width of a picture of a log, in inches."""
LONG = 2 * SCALES["d"]
"""Length of a window, in seconds, from which on its axis counts days."""


def check_installed() -> None:
    """Import matplotlib, or raise InputError with the pip command where it is missing.

    On import, matplotlib reads a `matplotlibrc` from the current folder, which could change every
    picture without being asked for. The import therefore happens in another folder; the settings
    in the user's home stay in force.
    """
    if sys.modules.get("matplotlib") is not None:
        return
    # Where the user's home cannot be written, it says so in two lines of its own.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with chdir(Path(__file__).parent):
        imported("matplotlib", "pictures", "pip install 'holdfast[plot]'")


def blank_figure(width: float = 9, height: float = 5) -> Figure:
    """Return a figure of `width` x `height` inches without axes. Raises InputError without
    matplotlib."""
    check_installed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def panels_in(
    columns: int,
    count: int,
    width: float,
    height: float,
    more: float,
    share: Literal["none", "all", "col"] = "none",
) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels in rows of `columns`, and the panels row by row.

    Each panel has `width` x `height` inches, and the figure is `more` inches higher. `share` says
    whether no panels, all, or those of one column have the same axes.
    """
    rows = ceil(count / columns)
    figure = blank_figure(width * columns, height * rows + more)
    grid = list(figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False).flat)
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def check_suffix(path: Path) -> None:
    """Raise InputError unless the suffix of `path` is that of a picture format."""
    writing.check_suffix(path, "picture", SUFFIXES)


@contextmanager
def with_text() -> Iterator[None]:
    """Return a context in which SVG pictures keep their texts as texts, not as shapes: they are
    smaller by 20 to 40 kB, and are shown in the viewer's font."""
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none"}):
        yield


def save(figure: Figure, path: Path, dpi: int = DPI) -> Path:
    """Write the figure to `path`, in the format that its suffix names, and return `path`. `dpi` is
    the resolution of a .png.

    The same figure gives the same file. Raises InputError for another suffix, and where the file
    cannot be written.
    """
    from matplotlib import rc_context

    check_suffix(path)
    # The same log gives the same file: no dates, and no random ids in SVG.
    with replacing(path) as new, rc_context({"svg.hashsalt": "holdfast"}):
        figure.savefig(new, dpi=dpi, metadata=UNDATED.get(path.suffix))
    return path


def title_within(title: str, inches: float) -> str:
    """Return the title, broken into the lines that it needs on a picture that is `inches` wide."""
    return textwrap.fill(title, int(inches * LETTERS_PER_INCH))


def plainly(text: str) -> str:
    """Return the text as matplotlib shows it literally: with unprintable characters other than
    line breaks escaped, and also `$`, which would begin a formula."""
    return "\n".join(map(visible, text.split("\n"))).replace("$", r"\$")


def number_wholly(axes: Axes, which: Literal["x", "y"]) -> None:
    """Have an axis show ticks at whole numbers only, and no power of ten beside it."""
    axes.locator_params(which, integer=True)
    (axes.xaxis if which == "x" else axes.yaxis).set_major_formatter(PLAIN)


def legend_below(
    figure: Figure, title: str = "", columns: int = 3, handles: Sequence[Any] | None = None
) -> None:
    """Add a legend of so many columns below the axes, since within them it could hide parts of the
    drawing.

    `handles` are the entries of the legend; default: all labelled parts of the figure.
    """
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
    """The title, window, unit and size of a picture; the default shows all of the log."""

    title: str | None = None
    """Title of the picture; default: scenario, seed and policy."""
    since: float = 0
    """Time at which the picture begins, in the log's unit."""
    until: float | None = None
    """Time at which the picture ends, in the log's unit; default: the log's end."""
    unit: str | None = None
    """Unit of the axis of time, for a log in seconds: `s`, `min`, `h` or `d`; default: dates where
    the log knows them, else days for a long log."""
    size: tuple[float, float] | None = None
    """Width and height in inches; default: a size that fits the number of rows."""
    dpi: int = DPI
    """Resolution of a .png, pixels per inch."""

    def window(self, scene: Scene) -> tuple[float, float]:
        """Return the first and the last time that the picture shows: `since`, and `until` but not
        beyond the log's end. For a run without duration the end is 1.

        Raises InputError for an empty window.
        """
        whole = scene.end or 1
        start, end = self.since, whole if self.until is None else min(self.until, whole)
        if not start < end:
            problem = f"from {start:g} to {end:g} there is nothing to be drawn"
            accepted = f"--from below --until, within 0 to {scene.end:g}"
            raise InputError(COMMAND_LINE, "--from", problem, accepted)
        return start, end

    def figure(self, height: float) -> Figure:
        """Return a blank figure of the chosen size, or of the default width and this height in
        inches."""
        return blank_figure(*(self.size or (WIDTH, height)))

    def heading(self, scene: Scene) -> str:
        """Return the picture's title, by default the run's scenario, seed and policy, broken into
        lines that fit the picture."""
        title = self.title or title_of(scene.header)
        return title_within(title, self.size[0] if self.size else WIDTH)

    def label(self, axes: Axes, scene: Scene) -> None:
        """Limit the axis of time to the window, and label it with its unit: `unit`; by default
        dates where the log knows them, days for a window of LONG seconds or more, and else the
        log's unit.

        Slots are counted in whole numbers. Raises InputError for an empty window, and for a unit of
        seconds in a log that counts slots.
        """
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
    """Replace the axis of time by one that counts units of `scale` seconds from the date `begins`
    (seconds) on, and return it.

    Other panels of that time lose their ticks, too, which would be at other places.
    """
    functions = (lambda t: (begins + t) / scale, lambda it: it * scale - begins)
    other = axes.secondary_xaxis("bottom", functions=functions)
    other.set_xlabel(label)
    axes.set_xlabel("")
    for it in axes.get_shared_x_axes().get_siblings(axes):
        it.tick_params(axis="x", bottom=False, labelbottom=False)
    return other.xaxis


FIRST = {365: "%Y", 28: "%b\n%Y", 1: "%d\n%b %Y", 1 / 1440: "%H:%M\n%d %b %Y"}
"""Maps the least distance between two ticks, in days, to the date format of the first visible tick;
closer ticks use SECONDS."""
SECONDS = "%H:%M:%S\n%d %b %Y"
"""Date format of the first visible tick where ticks are less than a minute apart."""


def _date(axis: Axis) -> None:
    """Put ticks at dates and hours on an axis that counts days since 1970.

    The first visible tick also shows its month and year, which the concise format leaves out.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date

    class Dates(ConciseDateFormatter):
        def format_ticks(self, values: Sequence[float]) -> list[str]:
            shown: list[str] = super().format_ticks(values)  # type: ignore[no-untyped-call]
            low, high = sorted(axis.get_view_interval())
            seen = [k for k, value in enumerate(values) if low <= value <= high]
            if seen:
                first = seen[0]
                step = values[1] - values[0] if len(values) > 1 else 0.0
                form = next((it for days, it in FIRST.items() if step >= days), SECONDS)
                moment = num2date(values[first])  # type: ignore[no-untyped-call]
                shown[first] = moment.strftime(form)
            return shown

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(Dates(locator, show_offset=False))  # type: ignore[no-untyped-call]
