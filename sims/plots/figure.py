"""New figures and where they are saved: the only place that makes matplotlib's figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sims import writing
from sims.errors import InputError
from sims.plots.palette import CYCLE
from sims.writing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CYCLE", "SUFFIXES", "blank_figure", "new_figure", "save"]

SUFFIXES = (".png", ".svg", ".pdf")
DPI = 150
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def blank_figure(width: float = 9, height: float = 5) -> Figure:
    """A figure of `width` x `height` inches, without axes.

    Raises InputError, naming the pip command, where matplotlib is missing.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "pictures", "", "matplotlib is missing", "pip install 'holdfast[plot]'"
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_figure(width: float = 9, height: float = 5) -> tuple[Figure, Axes]:
    """A figure with one set of axes. Raises InputError where matplotlib is missing."""
    figure = blank_figure(width, height)
    return figure, figure.add_subplot()


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
