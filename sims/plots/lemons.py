"""Draws how many nodes of a fleet have failed how often, beside what two rates and one expect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from sims.plots import CYCLE, GREY
from sims.plots.figure import blank_figure, legend_below, number_wholly, plainly, save, title_within

WIDTH, HEIGHT = 8.0, 4.5
"""Size of the picture, in inches."""


@frozen
class Numbers:
    """Numbers of nodes that have failed so often: found, and expected by two rates and by one."""

    failures: Sequence[int]
    found: Sequence[int]
    two: Sequence[float]
    one: Sequence[float]


def draw_lemons(numbers: Numbers, path: Path, title: str) -> Path:
    """Draw the numbers to `path`, which is returned. Raises InputError where matplotlib is missing,
    or the file cannot be written."""
    figure = blank_figure(WIDTH, HEIGHT)
    axes = figure.subplots()
    axes.bar(numbers.failures, numbers.found, 0.8, color=GREY, label="nodes of the log")
    lines = (
        (numbers.two, CYCLE[0], "two rates expect"),
        (numbers.one, CYCLE[1], "one rate expects"),
    )
    for values, colour, label in lines:
        axes.plot(numbers.failures, values, color=colour, marker="o", ms=3, lw=1, label=label)
    axes.set_xlabel("failures of a node")
    axes.set_ylabel("nodes")
    number_wholly(axes, "x")
    number_wholly(axes, "y")
    axes.grid(alpha=0.3, axis="y")
    figure.suptitle(title_within(plainly(title), WIDTH))
    legend_below(figure)
    return save(figure, path)
