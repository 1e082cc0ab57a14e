"""Draw what a search tried: a curve over one range, a map over two, a panel for each word."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from sims.campaign.axes import settings_text
from sims.campaign.dimensions import Dimension
from sims.campaign.search import Search, State, Trial, estimate
from sims.errors import InputError
from sims.intervals import LEVEL, Estimate, mean_of
from sims.plots.comparisons import draw_panels, draw_spreads
from sims.plots.maps import Dot, draw_maps
from sims.scenario.keys import axis_words
from sims.telling import amount_of

APART = 0.15
"""Least distance between two labels of an axis, as a part of the axis."""
GOOD = State.BEST, State.AS_GOOD
BESIDE = "\npoints and bars: differences from the best on the same seeds"


def draw_tuning(search: Search, path: Path, title: str, what: str, unit: str) -> Path:
    """Draw the points of a search to `path`, and return `path`: curves over one range, a map over
    the first two ranges, or the spread of runs for words alone.

    There is a curve or a panel for each combination of the other keys' values. `what` names the
    measure with its unit, and `unit` is the scenario's. Points of curves and maps stand as far from
    the best one as they are on the same seeds. Raises InputError where no point has a value, and
    where matplotlib is missing.
    """
    dimensions = search.dimensions
    known = [it for it in search.trials.values() if not isnan(it.mean)]
    if not known:
        raise InputError("picture", "", "no point has a value", "finished runs")
    axes = [place for place, it in enumerate(dimensions) if it.ranges][:2]
    ranged = [dimensions[place] for place in axes]
    alike: dict[str, list[Trial]] = {}
    for it in known:
        pairs = enumerate(zip(dimensions, it.point, strict=True))
        others = tuple((one.key, value) for k, (one, value) in pairs if k not in axes)
        alike.setdefault(settings_text(others) if others else "", []).append(it)
    if not ranged:
        spreads = {
            words: (it.sample, estimate(it.values, 0, LEVEL)) for words, [it] in alike.items()
        }
        return draw_spreads({"": spreads}, path, title, f"{what}, of each run")
    sizes, names = zip(*(_scale(it, unit) for it in ranged), strict=True)
    [best] = (it for it in known if it.state is State.BEST)
    if len(ranged) == 1:
        (place, size), along = (axes[0], sizes[0]), ranged[0]
        curves = {
            words or what: sorted((it.point[place] / size, _beside(it, best)) for it in group)
            for words, group in alike.items()
        }
        star = {
            words or what: it.point[place] / size
            for words, group in alike.items()
            for it in group
            if it.state is State.BEST
        }
        return draw_panels(
            *({"": curves}, path, title, names[0], what),
            columns=1,
            log_x=along.logs,
            log_y=False,
            line=None,
            stars={"": star},
            ticks=_ticks(along, size, {it.point[place] for it in known}),
            note=BESIDE,
        )
    panels = {
        words: [
            Dot(
                it.point[axes[0]] / sizes[0],
                it.point[axes[1]] / sizes[1],
                _beside(it, best).mean,
                it.state in GOOD,
                it.state is State.BEST,
            )
            for it in group
        ]
        for words, group in alike.items()
    }
    logs = ranged[0].logs, ranged[1].logs
    return draw_maps(panels, path, title, (*names, what), logs)


def _beside(it: Trial, best: Trial) -> Estimate:
    """Return the mean at `best` plus the difference of `it` from it on the seeds of both, with the
    interval of that difference.

    By the means of their own runs, points that are worse could lie below the best: they have fewer
    runs, which may be of lucky seeds.
    """
    pairs = zip(it.sample, best.sample, strict=False)
    return mean_of([best.mean + (ours - theirs) for ours, theirs in pairs], LEVEL)


def _ticks(it: Dimension, size: float, values: set[float]) -> dict[float, str]:
    """Map each place on an axis, a value over the unit's `size`, to its label. The label is empty
    where it would be closer than APART of the axis to the one before."""
    labels, last = dict[float, str](), -APART
    for value in sorted(values):
        shown = it.part(value) - last >= APART
        labels[value / size] = amount_of(float(f"{value / size:.3g}"), 6) if shown else ""
        last = it.part(value) if shown else last
    return labels


def _scale(it: Dimension, unit: str) -> tuple[float, str]:
    """Return the size of an axis' unit in seconds, and the axis' name with the unit if it is of
    times; 1 and the scenario's `unit` where the range's ends name no unit."""
    size, unit = it.unit if it.timed else (1.0, unit)
    return size, axis_words(it.key, unit)
