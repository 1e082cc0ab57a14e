"""Draw a campaign as curves with intervals over an axis, in panels; and what a search tried: a
curve over one range, a map over two, the spread of runs for words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isnan
from pathlib import Path
from typing import Any

from sims.campaign.axes import Dimension, as_toml, settings_text
from sims.campaign.comparing import Comparison, Line, Verdict
from sims.campaign.question import Question
from sims.campaign.results import Results
from sims.campaign.search import SURE, Search, State, Trial
from sims.campaign.sections import PictureSection
from sims.campaign.values import estimate
from sims.durations import seconds
from sims.errors import InputError
from sims.intervals import LEVEL, Estimate
from sims.plots.comparisons import Spread, draw_panels, draw_spreads
from sims.plots.maps import Dot, draw_maps
from sims.scenario.builders.jobs import period_by
from sims.scenario.keys import axis_words
from sims.telling import amount_of, counted, units

VARIANT = "variant"
SHOWN = {"mean": ("", None), "ratio": (" / {0}'s", 1.0), "difference": (" less {0}'s", 0.0)}
"""Maps each thing that is shown of a measure to the text after the measure's name and to the value
of no difference to the baseline."""
LEFT_OUT = "left out: places where a run did not complete"
"""Note below a picture in which points are missing."""
Panels = dict[str, dict[str, list[tuple[float, Estimate]]]]
"""Maps each panel and each line in it to points (x, estimate)."""


def draw(results: Results, path: Path) -> Path:
    """Draw the picture that the campaign file asks for, and return `path`.

    Raises InputError where the campaign file has no [picture], where matplotlib is missing, and
    where there is nothing to draw.
    """
    question, picture = results.question, results.question.picture
    if picture is None:
        raise InputError(question.door.source, "picture", "missing", "[picture] with x")
    gauge = question.measured.gauge(picture.measure)
    cells = results.comparisons(gauge, None if picture.show == "mean" else picture.show)
    panels = panels_of(question, picture, cells)
    if not panels:
        raise InputError(question.door.source, "picture", "no cell has a value", "finished runs")
    names, (beside, level) = picture.labels, SHOWN[picture.show]
    values = question.varied.axes[picture.x]
    ticks = {_number(it, question.door.source, picture): it for it in values if isinstance(it, str)}
    unit = f", {units(results.unit)}" if gauge.timed and picture.show != "ratio" else ""
    best = max if gauge.higher_is_better else min
    stars = {
        panel: {name: best(curve, key=lambda at: at[1].mean)[0] for name, curve in curves.items()}
        for panel, curves in (panels if picture.best else {}).items()
    }
    baseline = names.get(question.varied.reference, question.varied.reference)
    return draw_panels(
        panels,
        path,
        picture.title or question.name,
        names.get(picture.x) or axis_words(picture.x, "" if ticks else results.unit),
        names.get(picture.measure or question.measured.names[0], gauge.words)
        + beside.format(baseline)
        + unit,
        columns=min(picture.columns, len(panels)),
        log_x=picture.log_x,
        log_y=picture.log_y,
        line=level,
        stars=stars,
        marks=_periods(results, picture),
        ticks=ticks,
        note=LEFT_OUT if any(line.left_out for cell in cells for line in cell.lines) else "",
    )


def panels_of(question: Question, picture: PictureSection, cells: Iterable[Comparison]) -> Panels:
    """Return the points (x, estimate) of each line in each panel, in order of x.

    Estimates are the means of the measure, or the effects against the baseline, which then has no
    points. A place where a run has no value has none either: the mean of the other runs would be
    too good. Raises InputError where an axis is in neither x, lines nor panels, so that points
    would lie on each other, and where x is no number.
    """
    found: Panels = {}
    for cell in cells:
        for line in cell.lines:
            estimate = line.mean if picture.show == "mean" else line.effect
            base = line.verdict is Verdict.BASELINE and picture.show != "mean"
            # Where some runs did not end, the mean of the others would be too good.
            if base or estimate is None or not estimate.size or line.left_out:
                continue
            place = dict(cell.point) | {VARIANT: line.variant}
            curves = found.setdefault(_named(picture.panels, place, picture), {})
            curve = curves.setdefault(_named(picture.lines, place, picture), [])
            at = _number(place[picture.x], question.door.source, picture)
            if any(at == other for other, _ in curve):
                problem = "several values at one place: an axis, or `variant`, is in no key"
                raise InputError(
                    question.door.source, "picture", problem, "x, lines, panels with all"
                )
            curve.append((at, estimate))
            curve.sort(key=lambda point: point[0])
    return found


def _periods(results: Results, picture: PictureSection) -> dict[str, dict[str, float]]:
    """Map each panel to the checkpoint periods that are marked in it: the formulas of
    `picture.periods` as labels, each with its period, in units of work, for the panel's first
    scenario. Where checkpoints do not stop its job, the labels say that the formulas assume it.

    The result is empty where no formulas are asked for.
    """
    found: dict[str, dict[str, float]] = {}
    for case in results.plan if picture.periods else ():
        panel = _named(picture.panels, dict(case.point) | {VARIANT: case.variant}, picture)
        if panel not in found:
            found[panel] = {}
            for it in picture.periods:
                period, stops = period_by(it, case.scenario(0), results.plan.folder)
                name = it.capitalize() + ("" if stops else ", if saves stopped the job")
                found[panel][f"{name}: {period:,.0f} {units(results.unit)}"] = period
    return found


def _named(key: str | None, place: dict[str, Any], picture: PictureSection) -> str:
    """Return the name of a line or a panel: the value that the axis `key`, or `variant`, has at
    this place, with the names of `picture.labels`.

    `place` maps each axis and `variant` to its value. The name is empty where `key` is None.
    """
    if key is None:
        return ""
    value = as_toml(place[key])
    text = picture.labels.get(value, value)
    return text if key == VARIANT else f"{picture.labels.get(key) or axis_words(key, '')} = {text}"


def _number(value: object, source: str, picture: PictureSection) -> float:
    """Return a value of the x-axis as a number, a time in seconds.

    Raises InputError, naming the campaign's file `source`, for any other value, and on a
    logarithmic axis for one that is not above 0.
    """
    try:
        number = seconds(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not isinstance(number, int | float):
        raise InputError(source, "picture.x", f"{picture.x} = {value!r} is no number", "numbers")
    if picture.log_x and number <= 0:
        raise InputError(source, "picture.log_x", f"{picture.x} = {value}", "values above 0")
    return float(number)


def draw_runs(cells: Sequence[Comparison], path: Path, title: str, unit: str) -> Path:
    """Draw to `path` how measures spread over runs, or over blocks of their time, for each variant,
    with the mean and its interval. Return `path`.

    There is a panel for each measure and cell; a variant of which not all runs have a value says
    how many have one. `unit` is the unit of times. Raises InputError where matplotlib is missing,
    and where no run has a value.
    """
    panels: dict[str, dict[str, Spread]] = {}
    figures = {it.gauge.words: units(unit) if it.gauge.timed else "" for it in cells}
    several, each = len(figures) > 1, "of each run"
    for cell in cells:
        if cell.speaks:  # numbers whose mean is the measure, and which may be below 0 (blocks.py)
            each = "by block of time (may be below 0)"
        place = [settings_text(cell.point)] if cell.point else []
        words = [_with_unit(cell.gauge.words, figures)] if several else []
        panels[": ".join(words + place)] = {
            _of_how_many(it): (_values(cell, it), cell.known_mean(it)) for it in cell.lines
        }
    if not any(values for panel in panels.values() for values, _ in panel.values()):
        raise InputError("picture", "", "no run has a value", "finished runs")
    what = each if several else f"{_with_unit(cells[0].gauge.words, figures)}, {each}"
    return draw_spreads(panels, path, title, what, apart=several)


def _with_unit(words: str, figures: Mapping[str, str]) -> str:
    return ", ".join(filter(None, (words, figures[words])))


def _of_how_many(line: Line) -> str:
    """Return the variant's name, and how many of its runs have a value where not all have."""
    known = sum(run.value is not None for run in line.runs)
    return f"{line.variant} ({known} of {len(line.runs)} runs)" if line.left_out else line.variant


def _values(cell: Comparison, line: Line) -> list[float]:
    """Return the observations of a variant: the numbers of its first run's blocks where the cell is
    compared over blocks, else the values of the runs that have one."""
    if cell.speaks:
        return list(line.runs[0].blocks)
    return [run.value for run in line.runs if run.value is not None]


# --- a search ---------------------------------------------------------------------------------

APART = 0.15
"""Least distance between two labels of an axis, as a part of the axis."""
GOOD = State.BEST, State.AS_GOOD
BESIDE = "points and bars: differences from the best on the same seeds, as in the table"


def draw_tuning(search: Search, mean: float, path: Path, title: str, what: str, unit: str) -> Path:
    """Draw the points of a search to `path`, and return `path`: curves over one range, a map over
    the first two ranges, or the spread of runs for words alone, the best first.

    There is a curve or a panel for each combination of the other keys' values. `what` names the
    measure with its unit, and `unit` is the scenario's. The best point stands at its `mean` on
    fresh seeds, which the title tells; the points of curves and maps stand as far from it as the
    table says. Raises InputError where matplotlib is missing.
    """
    dimensions = search.dimensions
    known = [it for it in search.trials.values() if not isnan(it.mean)]
    unknown = len(search.trials) - len(known)
    left_out = f"; left out: {counted(unknown, 'point')} without an answer" if unknown else ""
    axes = [place for place, it in enumerate(dimensions) if it.ranges][:2]
    ranged = [dimensions[place] for place in axes]
    alike: dict[str, list[Trial]] = {}
    for it in known:
        pairs = enumerate(zip(dimensions, it.point, strict=True))
        others = tuple((one.key, value) for k, (one, value) in pairs if k not in axes)
        alike.setdefault(settings_text(others) if others else "", []).append(it)
    if not ranged:
        order, sign = list(State), search.sign
        listed = sorted(
            ((words, it) for words, [it] in alike.items()),
            key=lambda at: (order.index(at[1].state), sign * at[1].mean),
        )
        spreads = {
            f"{words}: {it.state.value}": (it.sample, estimate(it.values, 0, LEVEL))
            for words, it in listed
        }
        return draw_spreads({"": spreads}, path, title, f"{what}, of each run{left_out}")
    sizes, names = zip(*(_scale(it, unit) for it in ranged), strict=True)
    [best] = (it for it in known if it.state is State.BEST)
    if len(ranged) == 1:
        (place, size), along = (axes[0], sizes[0]), ranged[0]
        curves = {
            words or what: sorted(
                (it.point[place] / size, _beside(it, best, mean, search.sign)) for it in group
            )
            for words, group in alike.items()
        }
        low, high = search.region(best)[along.key]
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
            spans={"": (low / size, high / size)} if low < high else {},
            bars=f"bars: {100 * SURE:g} % confidence intervals",
            note=BESIDE + left_out,
        )
    panels = {
        words: [
            Dot(
                it.point[axes[0]] / sizes[0],
                it.point[axes[1]] / sizes[1],
                _beside(it, best, mean, search.sign).mean,
                it.state in GOOD,
                it.state is State.BEST,
            )
            for it in group
        ]
        for words, group in alike.items()
    }
    logs = ranged[0].logs, ranged[1].logs
    return draw_maps(panels, path, title, (*names, f"{what}{left_out}"), logs)


def _beside(it: Trial, best: Trial, mean: float, sign: int) -> Estimate:
    """Return the `mean` of the best point plus the difference of `it` from it that the table has,
    with the interval of that difference; without one where there is none.

    By the means of their own runs, points that are worse could lie below the best: they have fewer
    runs, which may be of lucky seeds.
    """
    if it is best:
        return Estimate(mean, mean, mean, len(it.values))
    if it.more is None or not it.more.size:
        return Estimate(mean + it.mean - best.mean, -inf, inf, len(it.values))
    more = it.more
    low, high = sorted((mean + sign * more.low, mean + sign * more.high))
    return Estimate(mean + sign * more.mean, low, high, more.size)


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


# --- before a campaign --------------------------------------------------------------------------


def prepare_pictures(folder: Path) -> None:
    """Make the folder for pictures, and check that matplotlib is installed.

    Raises InputError where either fails. A campaign of hours should not end with an error that can
    be found before it begins.
    """
    from sims.plots.figure import blank_figure

    blank_figure()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made: {error.strerror}"
        raise InputError(str(folder), "", problem, "a folder of yours") from None
