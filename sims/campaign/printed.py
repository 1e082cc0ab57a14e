"""The table of a campaign as people read it: all cells, or the best of each line of its picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import frozen

from sims.campaign import Campaign
from sims.campaign.axes import as_toml, told
from sims.campaign.cells import Gauge
from sims.campaign.comparing import Comparison, Line, Verdict
from sims.campaign.intervals import FEWEST_BLOCKS, about, rounded, rounded_ratio
from sims.errors import visible
from sims.telling import amount_of, counted, grid, in_units, units

Cells = Sequence[tuple[Gauge, Comparison]]
"""Comparisons by measure and cell."""

TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        **{it: f"\\{it}" for it in "&%$#_{}"},
    }
)
"""Characters that LaTeX would take for commands."""


@frozen
class Printed:
    """A title, columns of words on the left and of numbers on the right, and rows of texts."""

    title: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def grid(self) -> Any:
        """Return the table as a terminal shows it."""
        from rich.table import Column

        return grid(map(Column, self.left), self.right, self.rows, self.title)

    def tex(self, notes: Iterable[str]) -> str:
        """Return a LaTeX `tabular`, which needs no package; title and notes are comments."""
        lines = [
            *(f"% {visible(line)}" for line in (self.title, *notes)),
            f"\\begin{{tabular}}{{{'l' * len(self.left)}{'r' * len(self.right)}}}",
            "\\hline",
            _tex_row((*self.left, *self.right)),
            "\\hline",
            *map(_tex_row, self.rows),
            "\\hline",
            "\\end{tabular}",
        ]
        return "\n".join(lines) + "\n"


def _tex_row(cells: Iterable[str]) -> str:
    return " & ".join(visible(it).translate(TEX) for it in cells) + r" \\"


def every_cell(asked: Campaign, cells: Cells, title: str, unit: str) -> Printed:
    """Return a row for each measure, cell and variant. What compares variants has columns only
    where there are several."""
    many, compared = len(asked.gauges) > 1, len(asked.variants) > 1
    blocks = sorted({len(cell.paired) for _, cell in cells if cell.speaks})
    rows = []
    for gauge, cell in cells:
        place = (*(as_toml(value) for _, value in cell.point), *([gauge.name] if many else []))
        for line in cell.lines:
            whole = [_whole(gauge, line, unit)] if blocks else []
            mean, *more = _figures(gauge, cell, line, bool(blocks))
            completed = f"{line.as_asked} of {len(line.runs)}"
            figures = (completed, mean, *whole, *(more if compared else ()))
            rows.append((*place, *_who(asked, line.variant), *figures))
    classes, measure = ([asked.by.value] if asked.by else []), (["measure"] if many else [])
    figure = "mean" if many else _with_unit(asked.gauges[0], unit)
    span = f"{blocks[0]} to {blocks[-1]}" if len(blocks) > 1 else "".join(map(str, blocks))
    heads = ("completed", *((f"{figure}, {span} blocks", "all jobs") if blocks else (figure,)))
    return Printed(
        title,
        (*asked.axes, *classes, *measure, *(settings_of(asked) or ["variant"])),
        (*heads, *((asked.effect, "best", "verdict") if compared else ())),
        tuple(rows),
    )


def best_of_lines(asked: Campaign, cells: Cells, title: str, unit: str) -> Printed:
    """Return a row for each line of the picture, with all measures at the place on its x-axis where
    the picture's measure is best, as its star shows."""
    assert asked.picture is not None
    x, compared = asked.picture.x, len(asked.variants) > 1
    shown = asked.gauge(asked.picture.measure)
    at: dict[tuple[str, str], dict[str, Line]] = {}
    best: dict[tuple[str, str], tuple[Comparison, Line]] = {}
    for gauge, cell, line in _lines(cells):
        at.setdefault((told(cell.point), line.variant), {})[gauge.name] = line
        if gauge.name != shown.name or line.left_out or not line.mean.size:
            continue
        rest = told(tuple(it for it in cell.point if it[0] != x)), line.variant
        if rest not in best or _better(shown, line, best[rest][1]):
            best[rest] = cell, line
    rows = []
    for cell, line in best.values():
        own = at[told(cell.point), line.variant]
        means = [rounded(own[it.name].mean) if it.name in own else "-" for it in asked.gauges]
        who = _who(asked, line.variant) if compared else ()
        place = [as_toml(value) for _, value in cell.point]
        rows.append((*place, *who, f"{line.as_asked} of {len(line.runs)}", *means))
    names = [f"best {key}" if key == x else key for key in asked.axes]
    left = (*names, *((settings_of(asked) or ("variant",)) if compared else ()))
    means = [_with_unit(it, unit) for it in asked.gauges]
    return Printed(title, left, ("completed", *means), tuple(rows))


def _lines(cells: Cells) -> Iterator[tuple[Gauge, Comparison, Line]]:
    return ((gauge, cell, line) for gauge, cell in cells for line in cell.lines)


def _better(gauge: Gauge, line: Line, other: Line) -> bool:
    more = line.mean.mean - other.mean.mean
    return more > 0 if gauge.higher_is_better else more < 0


def settings_of(asked: Campaign) -> tuple[str, ...]:
    """The keys that variants differ in, where they are called by them: a column for each."""
    keys = {tuple(settings) for settings in asked.variants.values()}
    own = all(name == told(tuple(it.items())) for name, it in asked.variants.items())
    return next(iter(keys)) if own and len(keys) == 1 else ()


def _who(asked: Campaign, variant: str) -> tuple[str, ...]:
    """The variant's name, or what it sets."""
    if not settings_of(asked):
        return (variant,)
    return tuple(map(as_toml, asked.variants[variant].values()))


def _with_unit(gauge: Gauge, unit: str) -> str:
    return f"{gauge.name}, {units(unit)}" if gauge.timed else gauge.name


def _whole(gauge: Gauge, line: Line, unit: str) -> str:
    """Of all jobs of its first run, as `summary` tells it."""
    value = line.runs[0].value
    if value is None:
        return "-"
    return in_units(value, unit, 6) if gauge.timed else amount_of(value, 6)


def _figures(gauge: Gauge, cell: Comparison, line: Line, blocks: bool) -> tuple[str, ...]:
    """Mean, effect, best and verdict; `blocks`: whether the table's intervals are over blocks."""
    if blocks and cell.too_short:
        verdict = line.verdict is Verdict.UNKNOWN
        words = "no verdict: fewer than 2 blocks" if verdict else line.verdict.value
        return "-", "-", "-", words
    pairs = len(cell.paired)
    best = f"{line.best} of {pairs}" if pairs else "-"
    return _mean(cell, line), _effect(cell, line), best, _verdict(cell, line)


def _mean(cell: Comparison, line: Line) -> str:
    if cell.speaks and len(cell.paired) < FEWEST_BLOCKS:
        return amount_of(line.mean.mean, 4)
    # Runs that are all the same are one observation.
    return f"{line.mean.mean:,.8g}" if cell.alike and not cell.speaks else rounded(line.mean)


def _effect(cell: Comparison, line: Line) -> str:
    effect = line.effect
    if effect is None or line.verdict is Verdict.BASELINE:
        return rounded(effect)
    if cell.speaks and not line.tested:
        return f"{about(effect.mean)}, no interval"
    return rounded_ratio(effect) if cell.effect == "ratio" else rounded(effect)


def _verdict(cell: Comparison, line: Line) -> str:
    """Return the verdict, with how many blocks there were where they are too few, and with what the
    mean over all jobs says where it contradicts them."""
    said = line.verdict.value
    if cell.speaks and line.verdict is Verdict.UNKNOWN:
        said = f"{said}: {counted(line.informed, 'block')}, needs {line.needed}"
    return f"{said}; all jobs: {line.otherwise.value}" if line.otherwise else said
