"""New figures, their axes and where they are saved: the only place that makes matplotlib's
figures."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sims import writing
from sims.errors import imported
from sims.writing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
DPI = 150
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
PLAIN = "{x:,.10g}"
"""Ticks without powers of ten beside the axis."""
LETTERS = 10.0
"""Letters of a title that fit into an inch."""


def check_installed() -> None:
    """Raises InputError, naming the pip command, where matplotlib is missing."""
    imported("matplotlib", "pictures", "pip install 'holdfast[plot]'")


def blank_figure(width: float = 9, height: float = 5) -> Figure:
    """A figure of `width` x `height` inches, without axes.

    Raises InputError, naming the pip command, where matplotlib is missing.
    """
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
