"""A campaign's answers as tables: for people, CSV, Parquet and LaTeX; long and wide."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from math import floor, isfinite, log10
from pathlib import Path

from attrs import frozen

from sims.campaign.axes import Settings, as_toml
from sims.campaign.comparing import Line, Verdict, corrected
from sims.campaign.intervals import Estimate
from sims.campaign.results import Results
from sims.exports.tables import write_table
from sims.telling import counted, units
from sims.writing import check_suffix, replacing

SUFFIXES = (".csv", ".parquet", ".tex")
SIGNS = {
    Verdict.BETTER: "+",
    Verdict.WORSE: "-",
    Verdict.TIE: "=",
    Verdict.UNLIKE: "unlike",
    Verdict.UNKNOWN: "?",
}
"""Behind a mean in a wide table."""

Value = str | int | float | None


class Form(enum.Enum):
    """What a row is."""

    LONG = "long"
    """A variant in a cell, and a measure."""
    WIDE = "wide"
    """A cell: all its variants."""


@frozen
class Grid:
    """Rows under heads."""

    heads: tuple[str, ...]
    rows: list[tuple[Value, ...]]
    keys: int
    """The first columns, which say what a row is about."""


def rounded(estimate: Estimate | None) -> str:
    """To two digits of the half-width; both ends where they are not at the same distance; only the
    mean where there is none, a dash without a mean."""
    if estimate is None or not estimate.size:
        return "-"
    mean, low, high = estimate.mean, estimate.low, estimate.high
    half = estimate.half
    if not isfinite(half):
        return f"{mean:,.8g}"
    if half == 0:
        return f"{mean:,.8g} ± 0"
    places = max(0, 1 - floor(log10(half)))
    if abs((high - mean) - (mean - low)) < 1e-6 * half:
        return f"{mean:,.{places}f} ± {half:,.{places}f}"
    return f"{mean:,.{places}f} [{low:,.{places}f}, {high:,.{places}f}]"


# --- for people -------------------------------------------------------------------------------


def shown(results: Results, form: Form) -> Grid:
    """Figures as they are read, with their intervals."""
    campaign = results.campaign
    found = [(it, results.comparisons(it)) for it in campaign.gauges]
    many = len(found) > 1
    rows: list[tuple[Value, ...]] = []
    for gauge, comparisons in found:
        name = (gauge.name,) if many else ()
        for cell in comparisons:
            place = (*map(as_toml, _values(cell.point)), *name)
            if form is Form.WIDE:
                rows.append((*place, *(_sign(line) for line in cell.lines)))
            else:
                rows += [(*place, line.variant, *_figures(line)) for line in cell.lines]
    heads = (*campaign.axes, *(("measure",) if many else ()))
    if form is Form.WIDE:
        return Grid((*heads, *campaign.variants), rows, len(heads))
    unit = f", {units(results.unit)}" if campaign.gauges[0].timed and not many else ""
    figure = "mean" if many else campaign.measures[0]
    heads = (*heads, "variant", "completed", f"{figure}{unit}")
    keys = len(heads) - 2
    if len(campaign.variants) == 1:
        return Grid(heads, [row[: len(heads)] for row in rows], keys)
    return Grid((*heads, "difference", "ratio", "won", "verdict"), rows, keys)


def _values(point: Settings) -> list[object]:
    return [value for _, value in point]


def _sign(line: Line) -> str:
    mark = f" {SIGNS[line.against.verdict]}" if line.against else ""
    return f"{rounded(line.mean)}{mark}"


def _figures(line: Line) -> tuple[str, ...]:
    asked = f"{line.as_asked} of {len(line.runs)}"
    found = line.against
    if found is None:
        return asked, rounded(line.mean), "", "", "", "baseline"
    pairs = found.difference.size if found.difference else 0
    won = f"{found.wins} of {pairs}" if pairs else "-"
    compared = (rounded(found.difference), rounded(found.ratio), won, found.verdict.value)
    return asked, rounded(line.mean), *compared


def notes(results: Results, form: Form) -> Iterator[str]:
    """What a reader has to know of the figures, a line each."""
    campaign = results.campaign
    found = [results.comparisons(it) for it in campaign.gauges]
    many = sum(map(corrected, found[:1]))
    if many:
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
    verdicts = {line.against.verdict for it in found[0] for line in it.lines if line.against}
    if Verdict.UNLIKE in verdicts:
        yield "Unlike, and not compared: other jobs than the baseline's, as some are left out, say."
    yield from dict.fromkeys(it.speaks for cells in found for it in cells if it.speaks)
    missing, raised = results.left(), sum(1 for _ in results.raised())
    if missing:
        yield f"Unfinished: {counted(missing, 'cell')} of {results.asked():,} to go."
    if raised:
        yield f"{counted(raised, 'cell')} raised an error, and are in no figure."


# --- for programs -----------------------------------------------------------------------------

ESTIMATES = ("mean", "difference", "ratio")
LONG = (
    *("runs", "as_asked"),
    *(f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high")),
    *("wins", "losses", "p", "verdict"),
)


def data(results: Results, form: Form) -> Grid:
    """Numbers."""
    rows: list[tuple[Value, ...]] = []
    keys = tuple(results.campaign.axes)
    for gauge in results.campaign.gauges:
        for cell in results.comparisons(gauge):
            place = (*map(_plain, _values(cell.point)), gauge.name)
            if form is Form.WIDE:
                rows.append((*place, *(it for line in cell.lines for it in _few(line))))
            else:
                rows += [(*place, line.variant, *_numbers(line)) for line in cell.lines]
    if form is Form.LONG:
        return Grid((*keys, "measure", "variant", *LONG), rows, len(keys) + 2)
    ends = ("", " low", " high", " verdict")
    variants = [f"{name}{end}" for name in results.campaign.variants for end in ends]
    return Grid((*keys, "measure", *variants), rows, len(keys) + 1)


def _plain(value: object) -> Value:
    return value if isinstance(value, int | float | str) else as_toml(value)


def _few(line: Line) -> tuple[Value, ...]:
    verdict = line.against.verdict.value if line.against else "baseline"
    return (*_ends(line.mean), verdict)


def _ends(it: Estimate | None) -> tuple[Value, ...]:
    values = (None,) * 3 if it is None else (it.mean, it.low, it.high)
    return tuple(None if value is None or not isfinite(value) else value for value in values)


def _numbers(line: Line) -> tuple[Value, ...]:
    found = line.against
    counts = (len(line.runs), line.as_asked)
    if found is None:
        return (*counts, *_ends(line.mean), *_ends(None) * 2, None, None, None, "baseline")
    estimates = (line.mean, found.difference, found.ratio)
    numbers = (value for it in estimates for value in _ends(it))
    return (*counts, *numbers, found.wins, found.losses, found.p, found.verdict.value)


# --- files ------------------------------------------------------------------------------------


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
    table = data(results, form)
    return write_table(_typed(table), _types(table), path)


def _types(table: Grid) -> dict[str, type]:
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.heads)
    return {head: _type(column) for head, column in zip(table.heads, columns, strict=True)}


def _type(column: Sequence[Value]) -> type:
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {int, float, bool} and kinds:
        return next(iter(kinds)) if len(kinds) == 1 else float
    return str if kinds else float


def _typed(table: Grid) -> list[tuple[Value, ...]]:
    """A column of several types is one of strings, or of floats."""
    types = list(_types(table).values())
    return [
        tuple(None if it is None else kind(it) for it, kind in zip(row, types, strict=True))
        for row in table.rows
    ]


ESCAPES = str.maketrans(
    {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "~": r"\textasciitilde{}", "±": r"$\pm$"}
    | {"^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def latex(table: Grid) -> str:
    """A tabular, with booktabs' rules."""

    def line(cells: Sequence[Value]) -> str:
        return " & ".join(str(it).translate(ESCAPES) for it in cells) + r" \\"

    columns = "l" * table.keys + "r" * (len(table.heads) - table.keys)
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(table.heads), r"\midrule"]
    return "\n".join([*body, *map(line, table.rows), r"\bottomrule", r"\end{tabular}", ""])
