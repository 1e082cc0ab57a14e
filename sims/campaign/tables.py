"""A campaign's answers: tables for people, CSV, Parquet and LaTeX, long and wide; and its picture,
curves with intervals over an axis, in panels."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from math import floor, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sims.campaign.axes import as_toml
from sims.campaign.campaign import Campaign, PictureSection
from sims.campaign.cells import Gauge
from sims.campaign.comparing import Comparison, Line, Verdict, corrected
from sims.campaign.intervals import Estimate
from sims.campaign.results import Results, plain
from sims.campaign.store import polars_or_error, write_frame
from sims.errors import InputError
from sims.plots.panels import draw_panels
from sims.telling import counted, units
from sims.writing import check_suffix, replacing

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".parquet", ".tex")
SIGNS = {
    Verdict.BETTER: "+",
    Verdict.WORSE: "-",
    Verdict.TIE: "=",
    Verdict.UNLIKE: "unlike",
    Verdict.UNKNOWN: "?",
}
"""Behind a mean in a wide table."""


class Form(enum.Enum):
    """What a row is."""

    LONG = "long"
    """A variant in a cell, and a measure."""
    WIDE = "wide"
    """A cell: all its variants."""


@frozen
class Grid:
    """Rows of words under heads."""

    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    keys: int
    """The first columns, which say what a row is about."""


def rounded(estimate: Estimate | None) -> str:
    """To two digits of the half-width; both ends where they are not at the same distance; only the
    mean where there is none, a dash without a mean."""
    if estimate is None or not estimate.size:
        return "-"
    mean, low, high, half = estimate.mean, estimate.low, estimate.high, estimate.half
    if not isfinite(half):
        return f"{mean:,.8g}"
    if half == 0:
        return f"{mean:,.8g} ± 0"
    places = max(0, 1 - floor(log10(half)))
    if abs((high - mean) - (mean - low)) < 1e-6 * half:
        return f"{mean:,.{places}f} ± {half:,.{places}f}"
    return f"{mean:,.{places}f} [{low:,.{places}f}, {high:,.{places}f}]"


def completed(line: Line) -> str:
    """How many of its runs have a value."""
    return f"{line.as_asked} of {len(line.runs)}"


# --- for people -------------------------------------------------------------------------------


def shown(results: Results, form: Form) -> Grid:
    """Figures as they are read, with their intervals."""
    campaign = results.campaign
    many = len(campaign.gauges) > 1
    rows: list[tuple[str, ...]] = []
    for gauge, cell in _cells(results):
        place = (*(as_toml(value) for _, value in cell.point), *([gauge.name] if many else []))
        if form is Form.WIDE:
            rows.append((*place, *(_signed(line) for line in cell.lines)))
        else:
            rows += [(*place, line.variant, *_figures(line)) for line in cell.lines]
    keys = (*campaign.axes, *(["measure"] if many else []))
    if form is Form.WIDE:
        return Grid((*keys, *campaign.variants), rows, len(keys))
    unit = f", {units(results.unit)}" if campaign.gauges[0].timed and not many else ""
    figure = "mean" if many else campaign.measures[0]
    heads = (*keys, "variant", "completed", f"{figure}{unit}")
    if len(campaign.variants) == 1:
        return Grid(heads, [row[: len(heads)] for row in rows], len(keys) + 1)
    return Grid((*heads, "difference", "ratio", "won", "verdict"), rows, len(keys) + 1)


def _cells(results: Results) -> Iterator[tuple[Gauge, Comparison]]:
    for gauge in results.campaign.gauges:
        yield from ((gauge, cell) for cell in results.comparisons(gauge))


def _signed(line: Line) -> str:
    return f"{rounded(line.mean)} {SIGNS.get(line.verdict, '')}".rstrip()


def _figures(line: Line) -> tuple[str, ...]:
    if line.verdict is Verdict.BASELINE:
        return completed(line), rounded(line.mean), "", "", "", "baseline"
    difference, ratio = line.difference, rounded(line.ratio)
    won = f"{line.wins} of {difference.size}" if difference else "-"
    return completed(line), rounded(line.mean), rounded(difference), ratio, won, line.verdict.value


def notes(results: Results, form: Form) -> Iterator[str]:
    """What a reader has to know of the figures, a line each."""
    campaign = results.campaign
    first = results.comparisons()
    if many := corrected(first):
        signs = f"; {', '.join(f'{s} {v.value}' for v, s in SIGNS.items())}"
        yield (
            f"± and [ ] are 95 % intervals. Against {campaign.reference}, in each cell on the same "
            f"seeds: {counted(many, 'comparison')} of a measure hold at 95 % all together (Holm); "
            f"a tie's interval covers no difference{signs if form is Form.WIDE else ''}."
        )
    if campaign.precision is not None:
        looks = len(campaign.precision.looks())
        yield (
            f"Replications ended when intervals were narrow enough: all are at "
            f"{campaign.level:.2%}, for {looks} looks to hold at 95 % (Bonferroni)."
        )
    if any(line.verdict is Verdict.UNLIKE for cell in first for line in cell.lines):
        yield "Unlike, and not compared: other jobs than the baseline's, as some are left out, say."
    yield from dict.fromkeys(cell.speaks for _, cell in _cells(results) if cell.speaks)
    missing, raised = results.left(), sum(1 for _ in results.raised())
    if missing:
        yield f"Unfinished: {counted(missing, 'cell')} of {results.asked():,} to go."
    if raised:
        yield f"{counted(raised, 'cell')} raised an error, and are in no figure."


# --- for programs -----------------------------------------------------------------------------


def data(results: Results, form: Form) -> pl.DataFrame:
    """Numbers. Raises InputError without polars."""
    rows = [
        {key: plain(value) for key, value in cell.point} | {"measure": gauge.name} | figures
        for gauge, cell in _cells(results)
        for figures in ([_wide(cell)] if form is Form.WIDE else map(_long, cell.lines))
    ]
    polars = polars_or_error()
    frame: pl.DataFrame = polars.DataFrame(rows, infer_schema_length=None, strict=False)
    return frame.cast({polars.Null: polars.Float64})


def _wide(cell: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in cell.lines:
        verdict = {f"{line.variant} verdict": line.verdict.value}
        found |= _ends(line.variant, line.mean, " ") | verdict
    return found


def _long(line: Line) -> dict[str, Any]:
    base = line.verdict is Verdict.BASELINE
    counts = {"wins": line.wins, "losses": line.losses, "p": line.p}
    return {
        "variant": line.variant,
        "runs": len(line.runs),
        "as_asked": line.as_asked,
        **_ends("mean", line.mean),
        **_ends("difference", line.difference),
        **_ends("ratio", None if base else line.ratio),
        **(dict.fromkeys(counts) if base else counts),
        "verdict": line.verdict.value,
    }


def _ends(name: str, it: Estimate | None, gap: str = "_") -> dict[str, float | None]:
    values = (it.mean, it.low, it.high) if it else (None,) * 3
    heads = (name, f"{name}{gap}low", f"{name}{gap}high")
    known = (value if value is not None and isfinite(value) else None for value in values)
    return dict(zip(heads, known, strict=True))


def write(results: Results, form: Form, path: Path) -> int:
    """Write the table; its suffix says how: numbers for .csv and .parquet, what people read for
    .tex. Returns how many rows. Raises InputError for another suffix, without polars, and where it
    cannot be written."""
    check_suffix(path, "table", SUFFIXES)
    if path.suffix == ".tex":
        table = shown(results, form)
        with replacing(path) as new:
            new.write_text(latex(table), encoding="utf-8")
        return len(table.rows)
    frame = data(results, form)
    write_frame(frame, path)
    return len(frame)


ESCAPES = str.maketrans(
    {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "~": r"\textasciitilde{}", "±": r"$\pm$"}
    | {"^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def latex(table: Grid) -> str:
    """A tabular, with booktabs' rules."""
    heads, *rows = (
        " & ".join(cell.translate(ESCAPES) for cell in row) + r" \\"
        for row in (table.heads, *table.rows)
    )
    columns = "l" * table.keys + "r" * (len(table.heads) - table.keys)
    body = (r"\toprule", heads, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}")
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, ""])


# --- the picture ------------------------------------------------------------------------------

VARIANT = "variant"
SHOWN = {"mean": ("", None), "ratio": (" / {0}'s", 1.0), "difference": (" less {0}'s", 0.0)}
"""What is shown of a measure: beside its name, and where there is no difference to the baseline."""
LEFT_OUT = "left out: places where a run did not complete"
Panels = dict[str, dict[str, list[tuple[float, Estimate]]]]


def draw(results: Results, path: Path) -> Path:
    """Draw it. Raises InputError where the campaign file asks for none, without matplotlib, and
    where nothing is there to draw. Returns `path`."""
    campaign, picture = results.campaign, results.campaign.picture
    if picture is None:
        raise InputError(campaign.source, "picture", "missing", "[picture] with x")
    name = picture.measure or campaign.measures[0]
    gauge = next(it for it in campaign.gauges if it.name == name)
    cells = results.comparisons(gauge)
    panels = panels_of(campaign, picture, cells)
    if not panels:
        raise InputError(campaign.source, "picture", "no cell has a value", "finished cells")
    names, (told, level) = picture.labels, SHOWN[picture.show]
    unit = f", {units(results.unit)}" if gauge.timed and picture.show != "ratio" else ""
    baseline = names.get(campaign.reference, campaign.reference)
    return draw_panels(
        panels,
        path,
        picture.title or campaign.name,
        names.get(picture.x, picture.x),
        names.get(name, name) + told.format(baseline) + unit,
        columns=min(picture.columns, len(panels)),
        log_x=picture.log_x,
        log_y=picture.log_y,
        line=level,
        note=LEFT_OUT if any(line.left_out for cell in cells for line in cell.lines) else "",
    )


def panels_of(campaign: Campaign, picture: PictureSection, cells: Iterable[Comparison]) -> Panels:
    """By panel and line: (x, what is shown). What the picture does not tell apart is refused.

    Raises InputError where an axis is in neither x, lines nor panels, or x is no number.
    """
    found: Panels = {}
    for cell in cells:
        for line in cell.lines:
            estimate = getattr(line, picture.show)
            base = line.verdict is Verdict.BASELINE and picture.show != "mean"
            if base or estimate is None or not estimate.size or line.left_out:
                continue  # a mean of those runs alone that were short enough to end
            place = dict(cell.point) | {VARIANT: line.variant}
            panel = _named(picture.panels, place, picture) if picture.panels else ""
            curves = found.setdefault(panel, {})
            curve = curves.setdefault(_named(picture.lines, place, picture), [])
            at = _number(place[picture.x], campaign.source, picture)
            if any(at == other for other, _ in curve):
                problem = "several values at one place: an axis, or `variant`, is in no key"
                raise InputError(campaign.source, "picture", problem, "x, lines, panels with all")
            curve.append((at, estimate))
            curve.sort(key=lambda point: point[0])
    return found


def _named(key: str, place: dict[str, Any], picture: PictureSection) -> str:
    value = as_toml(place[key])
    told = picture.labels.get(value, value)
    return told if key == VARIANT else f"{picture.labels.get(key, key)} = {told}"


def _number(value: object, source: str, picture: PictureSection) -> float:
    if not isinstance(value, int | float):
        raise InputError(source, "picture.x", f"{picture.x} = {value!r} is no number", "numbers")
    if picture.log_x and value <= 0:
        raise InputError(source, "picture.log_x", f"{picture.x} = {value}", "values above 0")
    return float(value)
