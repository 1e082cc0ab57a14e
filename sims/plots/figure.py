"""New figures and where they are saved: the only place that imports matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sims.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")

# Okabe and Ito's palette: told apart with any colour vision.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE, GREY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#BBBBBB"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)


def new_figure(width: float = 9, height: float = 5) -> tuple[Figure, Axes]:
    """An empty figure of `width` x `height` inches.

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
    return figure, figure.add_subplot()


def save(figure: Figure, path: Path) -> Path:
    """Write the figure; the suffix chooses the format. Raises InputError for another suffix."""
    if path.suffix not in SUFFIXES:
        raise InputError(str(path), "", f"{path.suffix!r} is no picture", ", ".join(SUFFIXES))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path
