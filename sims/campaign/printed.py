"""Lay out the table of a campaign for people: all cells, or the best of each line of its
picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from sims.campaign import Campaign
from sims.campaign.axes import as_toml, settings_text
from sims.campaign.batches import AnyMeasure
from sims.campaign.comparing import Comparison, Line, Verdict
from sims.errors import visible
from sims.intervals import about, rounded, rounded_ratio
from sims.telling import amount_of, counted, grid, in_units, units

TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        **{it: f"\\{it}" for it in "&%$#_{}"},
    }
)
"""Maps characters that LaTeX would take for commands to their escaped form."""


@frozen
class Printed:
    """A table as text: a title, left-aligned columns of words, right-aligned columns of numbers,
    and rows."""

    title: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def grid(self) -> Any:
        """Return the table as rich prints it on a terminal."""
        return grid(self.left, self.right, self.rows, self.title)

    def tex(self, notes: Iterable[str]) -> str:
        """Return a LaTeX `tabular`, which needs no package, as text; the title and `notes` are
        comments above it."""
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


def every_cell(asked: Campaign, cells: Sequence[Comparison], title: str, unit: str) -> Printed:
    """Return a table with a row for each measure, cell and variant of the campaign `asked`. Columns
    that compare variants are left out if there is only one variant.

    `unit` is the scenario's unit of time.
    """
    many, compared = len(asked.gauges) > 1, len(asked.variants) > 1
    blocks = sorted({len(cell.paired) for cell in cells if cell.speaks})
    rows = []
    for cell in cells:
        place = (
            *(as_toml(value) for _, value in cell.point),
            *([cell.gauge.value] if many else []),
        )
        for line in cell.lines:
            whole = [_whole(cell.gauge, line, unit)] if blocks else []
            mean, *more = _figures(cell, line, bool(blocks))
            completed = f"{line.as_asked} of {len(line.runs)}"
            figures = (completed, mean, *whole, *(more if compared else ()))
            rows.append((*place, *_variant_cells(asked, line.variant), *figures))
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


def best_of_lines(
    asked: Campaign, cells: Sequence[Comparison], title: str, unit: str, x: str, shown: AnyMeasure
) -> Printed:
    """Return a table with a row for each line along the axis `x`, at the value of `x` where the
    mean of the measure `shown` is best.

    A line is a variant at fixed values of the other axes. Its row has the means of all measures at
    that place, which a picture may mark by a star. Places where a run has no value are passed over.
    """
    compared = len(asked.variants) > 1
    lines = [(cell, line) for cell in cells for line in cell.lines]
    at = {(settings_text(cell.point), it.variant, cell.gauge.value): it for cell, it in lines}
    along: dict[tuple[str, str], list[tuple[Comparison, Line]]] = {}
    for cell, line in lines:
        if cell.gauge.value == shown.value and not line.left_out and line.mean.size:
            rest = settings_text(tuple(it for it in cell.point if it[0] != x))
            along.setdefault((rest, line.variant), []).append((cell, line))
    best = max if shown.higher_is_better else min
    rows = []
    for cell, line in (best(group, key=lambda it: it[1].mean.mean) for group in along.values()):
        place = settings_text(cell.point), line.variant
        found = (at.get((*place, it.value)) for it in asked.gauges)
        means = (rounded(it.mean if it else None) for it in found)
        variant = _variant_cells(asked, line.variant) if compared else ()
        values = (as_toml(value) for _, value in cell.point)
        rows.append((*values, *variant, f"{line.as_asked} of {len(line.runs)}", *means))
    names = [f"best {key}" if key == x else key for key in asked.axes]
    names += [asked.by.value] if asked.by else []
    left = (*names, *((settings_of(asked) or ("variant",)) if compared else ()))
    heads = (_with_unit(it, unit) for it in asked.gauges)
    return Printed(title, left, ("completed", *heads), tuple(rows))


def settings_of(asked: Campaign) -> tuple[str, ...]:
    """Return the keys that the variants set, if all set the same keys and are named by their
    settings, so that each key can be a column; otherwise an empty tuple."""
    keys = {tuple(settings) for settings in asked.variants.values()}
    own = all(name == settings_text(tuple(it.items())) for name, it in asked.variants.items())
    return next(iter(keys)) if own and len(keys) == 1 else ()


def _variant_cells(asked: Campaign, variant: str) -> tuple[str, ...]:
    """Return the texts that identify a variant in a row: a value for each key of `settings_of`, or
    its name if there are none."""
    if not settings_of(asked):
        return (variant,)
    return tuple(map(as_toml, asked.variants[variant].values()))


def _with_unit(gauge: AnyMeasure, unit: str) -> str:
    """Return the name of a measure with its unit, if it has one."""
    return f"{gauge.value}, {units(unit)}" if gauge.timed else gauge.value


def _whole(gauge: AnyMeasure, line: Line, unit: str) -> str:
    """Return, as text, the measure's value over all jobs of the variant's first run, as `summary`
    shows it; a dash if it has none."""
    value = line.runs[0].value
    if value is None:
        return "-"
    return in_units(value, unit, 6) if gauge.timed else amount_of(value, 6)


def _figures(cell: Comparison, line: Line, blocks: bool) -> tuple[str, ...]:
    """Return four texts of a line of the table: its mean, its effect, on how many paired seeds or
    blocks it was the best (`3 of 5`), and its verdict.

    `blocks`: the table's intervals are over blocks of a run's time; a cell with fewer than two
    blocks then has dashes and no verdict.
    """
    if blocks and cell.too_short:
        verdict = line.verdict is Verdict.UNKNOWN
        words = "no verdict: fewer than 2 blocks" if verdict else line.verdict.value
        return "-", "-", "-", words
    pairs = len(cell.paired)
    best = f"{line.best} of {pairs}" if pairs else "-"
    return _mean(cell, line), _effect(cell, line), best, _verdict(cell, line)


def _mean(cell: Comparison, line: Line) -> str:
    """Return the mean of a variant as text, with its interval where it has one."""
    return amount_of(line.mean.mean, 4) if cell.few else rounded(cell.known_mean(line))


def _effect(cell: Comparison, line: Line) -> str:
    """Return the effect of a variant against the baseline as text, with its interval where it has
    one; a dash where there is no effect."""
    effect = cell.known_effect(line)
    if effect is None or line.verdict is Verdict.BASELINE:
        return rounded(effect)
    if cell.speaks and not line.tested:
        return f"{about(effect.mean)}, no interval"
    return rounded_ratio(effect) if cell.effect == "ratio" else rounded(effect)


def _verdict(cell: Comparison, line: Line) -> str:
    """Return the verdict as text, with the number of blocks if they are too few, and with the
    verdict over all jobs if that contradicts the one over blocks."""
    text = line.verdict.value
    if cell.speaks and line.verdict is Verdict.UNKNOWN:
        text = f"{text}: {counted(line.informed, 'block')}, needs {line.needed}"
    return f"{text}; all jobs: {line.otherwise.value}" if line.otherwise else text
