"""Draw what a search tried: a curve over one range, a map over two, a panel for each word."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any

from sims.campaign.axes import as_toml
from sims.campaign.dimensions import Dimension
from sims.campaign.search import State, Trial, estimate
from sims.errors import InputError
from sims.intervals import LEVEL, Estimate
from sims.plots.comparisons import draw_panels, draw_spreads
from sims.plots.maps import Dot, draw_maps
from sims.scenario.keys import axis_words
from sims.telling import DAY, HOUR

APART = 0.1
"""Least distance between two labels of an axis, as a part of the axis."""
GOOD = State.BEST, State.AS_GOOD
UNITS = (DAY, "d"), (HOUR, "h"), (60.0, "min"), (1.0, "s")
"""Sizes of units of time in seconds, the largest first."""


def draw_tuning(
    trials: list[Trial],
    dimensions: tuple[Dimension, ...],
    path: Path,
    title: str,
    what: str,
    sign: int,
) -> Path:
    """Draw the points of a search, and return `path`.

    `what` names the measure with its unit; `sign` is -1 where more of it is better. Raises
    InputError where no point has a value, and where matplotlib is missing.
    """
    known = [it for it in trials if not isnan(it.mean)]
    if not known:
        raise InputError("picture", "", "no point has a value", "finished runs")
    ranges = [place for place, it in enumerate(dimensions) if it.ranges]
    if not ranges:
        spreads = {
            _words(it, dimensions, ()): ([sign * v for v in it.sample], _mean(it, sign))
            for it in known
        }
        return draw_spreads({"": spreads}, path, title, f"{what}, of each run")
    first = ranges[0]
    scale, name = _scale(dimensions[first])
    if len(ranges) == 1:
        curves: dict[str, list[tuple[float, Estimate]]] = {}
        for it in sorted(known, key=lambda it: it.point[first]):
            curve = curves.setdefault(_words(it, dimensions, (first,)) or what, [])
            curve.append((scale(it.point[first]), _mean(it, sign)))
        return draw_panels(
            *({"": curves}, path, title, name, what),
            columns=1,
            log_x=dimensions[first].logs,
            log_y=False,
            line=None,
            best=sign < 0,
            ticks=_ticks(dimensions[first], scale, {it.point[first] for it in known}),
        )
    second = ranges[1]
    other, other_name = _scale(dimensions[second])
    panels: dict[str, list[Dot]] = {}
    for it in known:
        dot = Dot(
            scale(it.point[first]),
            other(it.point[second]),
            sign * it.mean,
            it.state in GOOD,
            it.state is State.BEST,
        )
        panels.setdefault(_words(it, dimensions, (first, second)), []).append(dot)
    logs = dimensions[first].logs, dimensions[second].logs
    return draw_maps(panels, path, title, (name, other_name, what), logs)


def _mean(it: Trial, sign: int) -> Estimate:
    found = estimate(it.values, 0, LEVEL)
    return found if sign > 0 else found.negative


def _words(it: Trial, dimensions: tuple[Dimension, ...], but: tuple[int, ...]) -> str:
    """Return a point's settings as text, but for the dimensions that are axes of the picture, whose
    indices are in `but`."""
    pairs = zip(dimensions, it.point, strict=True)
    return ", ".join(f"{one.key}={as_toml(v)}" for k, (one, v) in enumerate(pairs) if k not in but)


def _ticks(it: Dimension, scale: Callable[[Any], float], values: set[float]) -> dict[float, str]:
    """Map each place on an axis to its label, which is empty where it would meet another."""
    labels, last = dict[float, str](), -APART
    for value in sorted(values):
        shown = it.part(value) - last >= APART
        labels[scale(value)] = f"{scale(value):.3g}" if shown else ""
        last = it.part(value) if shown else last
    return labels


def _scale(it: Dimension) -> tuple[Callable[[Any], float], str]:
    """Return the function from a value to its place on an axis, and the axis' name with its
    unit."""
    if not it.timed:
        return float, axis_words(it.key, "")
    size, unit = next(((size, unit) for size, unit in UNITS if it.high >= 2 * size), UNITS[-1])
    return lambda value: float(value) / size, f"{axis_words(it.key, '')}, {unit}"
