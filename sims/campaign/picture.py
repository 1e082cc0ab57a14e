"""The picture that a campaign file asks for: curves with intervals over an axis, in panels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sims.campaign.axes import as_toml
from sims.campaign.campaign import PictureSection
from sims.campaign.cells import Gauge
from sims.campaign.comparing import Line
from sims.campaign.intervals import Estimate
from sims.campaign.results import Results
from sims.errors import InputError
from sims.plots.panels import draw_panels
from sims.telling import units

VARIANT = "variant"
SHOWN = {"mean": "", "ratio": " / {0}'s", "difference": " less {0}'s"}
"""What is shown of a measure, beside its name."""
LEVELS = {"mean": None, "ratio": 1.0, "difference": 0.0}
"""Where there is no difference to the baseline."""

LEFT_OUT = "left out: places where a run did not complete"

Panels = dict[str, dict[str, list[tuple[float, Estimate]]]]


def draw(results: Results, path: Path) -> Path:
    """Draw it. Raises InputError where the campaign file asks for none, without matplotlib, and
    where nothing is there to draw. Returns `path`."""
    picture = results.campaign.picture
    if picture is None:
        raise InputError(results.campaign.source, "picture", "missing", "[picture] with x")
    panels = panels_of(results, picture)
    if not panels:
        raise InputError(
            results.campaign.source, "picture", "no cell has a value", "finished cells"
        )
    names = picture.labels
    return draw_panels(
        panels,
        path,
        picture.title or results.campaign.name,
        names.get(picture.x, picture.x),
        _y(results, picture),
        columns=min(picture.columns, len(panels)),
        log_x=picture.log_x,
        log_y=picture.log_y,
        line=LEVELS[picture.show],
        note=LEFT_OUT if _cut(results, picture) else "",
    )


def _y(results: Results, picture: PictureSection) -> str:
    campaign, gauge = results.campaign, _gauge(results, picture)
    baseline = picture.labels.get(campaign.reference, campaign.reference)
    unit = units(results.unit)
    known = f", {unit}" if gauge.timed and picture.show != "ratio" else ""
    return picture.labels.get(gauge.name, gauge.name) + SHOWN[picture.show].format(baseline) + known


def panels_of(results: Results, picture: PictureSection) -> Panels:
    """By panel and line: (x, what is shown). What the picture does not tell apart is refused.

    Raises InputError where an axis is in neither x, lines nor panels, or x is no number.
    """
    found: Panels = {}
    for cell in results.comparisons(_gauge(results, picture)):
        for line in cell.lines:
            estimate = _shown(line, picture.show)
            if estimate is None or not estimate.size or line.left_out:
                continue  # a mean of those runs alone that were short enough to end
            place = dict(cell.point) | {VARIANT: line.variant}
            panel = "" if picture.panels is None else _named(picture.panels, place, picture)
            curve = found.setdefault(panel, {}).setdefault(
                _named(picture.lines, place, picture), []
            )
            curve.append((_number(place[picture.x], results, picture), estimate))
    for curves in found.values():
        for curve in curves.values():
            _refuse_twice([at for at, _ in curve], results)
            curve.sort(key=lambda point: point[0])
    return found


def _cut(results: Results, picture: PictureSection) -> bool:
    gauge = _gauge(results, picture)
    return any(line.left_out for cell in results.comparisons(gauge) for line in cell.lines)


def _gauge(results: Results, picture: PictureSection) -> Gauge:
    name = picture.measure or results.campaign.measures[0]
    return next(it for it in results.campaign.gauges if it.name == name)


def _shown(line: Line, show: str) -> Estimate | None:
    if show == "mean":
        return line.mean
    if line.against is None:
        return None  # the baseline is the line where there is no difference
    return line.against.ratio if show == "ratio" else line.against.difference


def _named(key: str, place: dict[str, Any], picture: PictureSection) -> str:
    value = as_toml(place[key])
    told = picture.labels.get(value, value)
    return told if key == VARIANT else f"{picture.labels.get(key, key)} = {told}"


def _number(value: object, results: Results, picture: PictureSection) -> float:
    source = results.campaign.source
    if isinstance(value, int | float):
        if picture.log_x and value <= 0:
            raise InputError(source, "picture.log_x", f"{picture.x} = {value}", "values above 0")
        return float(value)
    raise InputError(source, "picture.x", f"{picture.x} = {value!r} is no number", "numbers")


def _refuse_twice(places: list[float], results: Results) -> None:
    if len(set(places)) < len(places):
        problem = "several values at one place: an axis, or `variant`, is in none of its keys"
        raise InputError(results.campaign.source, "picture", problem, "x, lines, panels with all")
