"""Show the result of a campaign or a comparison: as a table for people, a frame, JSON, in a
notebook or as a picture.

The table for people comes with the notes that a reader needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from attrs import define

from sims.campaign.answers import (
    Answer,
    answer,
    assumptions,
    ends,
    lacking,
    losers,
    loss,
    notes_on,
)
from sims.campaign.axes import as_toml, settings_text
from sims.campaign.batches import AnyMeasure
from sims.campaign.comparing import Comparison, Line, Verdict, judged
from sims.campaign.figures import all_jobs, figures_of, with_unit
from sims.campaign.picture import draw, draw_runs
from sims.campaign.results import Results, plain
from sims.durations import seconds
from sims.errors import visible
from sims.estimates import estimate_as_json, rounded
from sims.exports import tables as exports
from sims.plots.pictures import Picture
from sims.telling import counted, grid
from sims.writing import replacing

TEX = ".tex"
SUFFIXES = (*exports.SUFFIXES, TEX)
"""Suffixes of files to which a table can be written."""
MOST = 100
"""Largest number of rows that a campaign prints without being asked for all."""


ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        **{it: f"\\{it}" for it in "&%$#_{}"},
    }
)
"""Maps characters that LaTeX would take for commands to their escaped form."""


Layout = tuple[Sequence[str], Sequence[str], Sequence[tuple[str, ...]]]
"""Heads of the columns of words, heads of those of numbers, and rows of a table for people."""


@define(slots=False, repr=False)
class Table(Answer):
    """The variants of a campaign in each cell (a point on its axes), beside the baseline, with 95 %
    intervals.

    A notebook shows it, `print` prints it; numbers are in `frame`, and `results` has every run.
    """

    SUFFIXES: ClassVar[tuple[str, ...]] = SUFFIXES
    results: Results
    whole: bool = False
    """Whether all cells are printed, even if they are many, or the picture marks the best of each
    line."""

    @cached_property
    def cells(self) -> list[Comparison]:
        """Comparisons of all measures, one for each cell and class of jobs, measure by measure.
        Their intervals hold together over all measures."""
        asked = self.results.question
        found = [cell for gauge in asked.measured.gauges for cell in self.results.compared(gauge)]
        cells = judged(found, asked.surely.level)
        return self._by_loss(cells) if asked.measured.by else cells

    def _by_loss(self, cells: list[Comparison]) -> list[Comparison]:
        """Return the comparisons of classes of jobs with those first that lose the most, of each
        measure and each point on the axes."""
        places = {place: k for k, place in enumerate(dict.fromkeys(map(_place, cells)))}
        most = {
            id(cell): max(loss(cell, it) for it in cell.lines[1:] or cell.lines) for cell in cells
        }
        return sorted(cells, key=lambda cell: (places[_place(cell)], -most[id(cell)]))

    def comparisons(self) -> list[Comparison]:
        """Return the comparisons of the first measure, one for each cell and class of jobs."""
        first = self.results.question.measured.gauges[0]
        return [cell for cell in self.cells if cell.gauge == first]

    @property
    def _told(self) -> list[list[Comparison]]:
        """Comparisons of each measure that has sentences: of a campaign file the first one, else
        all."""
        asked = self.results.question
        gauges = asked.measured.gauges[: 1 if asked.door.filed else None]
        return [[cell for cell in self.cells if cell.gauge == it] for it in gauges]

    def runs(self) -> Any:
        """Return a frame of polars with a row for each run."""
        return self.results.runs()

    # --- for people ---------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """Title of the table: campaign, measures, seeds and level."""
        asked, surely = self.results.question, self.results.question.surely
        text = f"{asked.name}: {', '.join(asked.measured.names)}"
        if surely.precision is not None:
            ran = counted(self._most_runs, "run")
            return f"{text}, {ran} of each variant, 95 % intervals"
        if surely.seed is None:
            return f"{text}, 95 % intervals"
        first, last = surely.seed, surely.seed + surely.runs - 1
        seeds = f"seeds {first} to {last}" if first < last else f"seed {first}"
        return f"{text}, {seeds}, 95 % intervals"

    @property
    def _most_runs(self) -> int:
        """Largest number of runs of a variant in a cell."""
        return max((len(line.runs) for cell in self.cells for line in cell.lines), default=0)

    @property
    def notes(self) -> list[str]:
        """Notes that a reader of the figures needs, a line each."""
        shown = [] if self.short else self.cells
        notes = [*notes_on(self.results, self.comparisons(), shown), *self._lacking()]
        return [*dict.fromkeys(notes), *self._shortened(), *self._answer(), *self._losers()]

    def _lacking(self) -> Iterator[str]:
        """Yield notes on why figures of a command's further measures are missing."""
        for cells in self._told[1:]:
            yield from lacking(cells, self.results.question)

    def _losers(self) -> Iterator[str]:
        """Yield, where classes of jobs are compared, which of them lose, at each point on the
        axes."""
        asked, by = self.results.question.varied, self.results.question.measured.by
        if by is None or len(asked.variants) < 2:
            return
        for _, group in groupby(chain(*self._told), _place):
            listed = list(group)
            at = settings_text(listed[0].point[:-1]) if asked.axes else ""
            for text in losers(listed, by.value, self.results.unit):
                yield f"{at}: {text}" if at else text

    def _answer(self) -> Iterator[str]:
        """Yield a sentence on what each measure of a command shows, or the first one of a campaign
        file, and one on what the scenarios assume; nothing where no interval gives a verdict."""
        results, reference = self.results, self.results.question.varied.reference
        if found := [it for cells in self._told if (it := answer(cells, reference))]:
            yield from found
            each = dict.fromkeys(assumptions(case.scenario(0)) for case in results.plan)
            first, *others = each
            rest = (
                "otherwise as the rows say" if others[1:] else "".join(f"or {it}" for it in others)
            )
            yield f"Assumed: {'; '.join(filter(None, (first, rest)))}."

    def _shortened(self) -> Iterator[str]:
        """Yield a note on the rows that are not printed, if there are such rows, with the command
        that prints them."""
        asked, shown = self.results.question, self.printed.row_count
        if not self.short and shown == self._rows:
            return
        load = "--load " if asked.subject.made else ""
        best = f"At the {self._along} with the best {self._judged.value}: "
        yield (
            f"{best if self.short else 'The first '}{shown} of {self._rows:,} rows; "
            f"`holdfast campaign table {asked.door.source} {load}--all` prints all."
        )
        if self.short and self._along is not None:
            yield from self._at_ends(self._along)

    @cached_property
    def printed(self) -> Any:
        """The table for people, as an object that rich prints: with every cell or, where `short`,
        only with the best place on each line along an axis. Without `whole`, a campaign file prints
        no more than MOST rows."""
        best = self._along if self.short else None
        left, right, rows = self._best_of_lines(best) if best else self._every_cell()
        return grid(left, right, rows[:MOST] if self._many else rows, self.title)

    @property
    def short(self) -> bool:
        """Whether only the best place on each line along an axis is printed: the campaign's picture
        marks it, or the rows are too many, and `whole` does not ask for all."""
        picture = self.results.question.picture
        marked = picture is not None and picture.best and not self.whole
        return marked or (self._many and self._along is not None)

    @cached_property
    def _rows(self) -> int:
        """Number of rows of the table of every cell."""
        return sum(len(cell.lines) for cell in self.cells)

    @property
    def _many(self) -> bool:
        """Whether a campaign file has more rows than MOST while `whole` asks for no more than
        those."""
        return not self.whole and self.results.question.door.filed and self._rows > MOST

    @property
    def _along(self) -> str | None:
        """The axis along which the best value of a line is sought: the picture's x if there is a
        picture, else the axis with the most values; None without axes."""
        asked, axes = self.results.question, self.results.question.varied.axes
        if asked.picture is not None:
            return asked.picture.x
        return max(axes, key=lambda it: len(axes[it]), default=None)

    @property
    def _judged(self) -> AnyMeasure:
        """The measure by which the best value of a line is found."""
        asked = self.results.question
        return asked.measured.gauge(asked.picture.measure if asked.picture else None)

    def write(self, path: Path) -> int:
        """Write the table to the file that the suffix says, and return its number of rows.

        LaTeX has the table as it is printed; CSV and Parquet have every cell, and the ends of
        intervals as columns. Raises InputError for another suffix, and where the file cannot be
        written.
        """
        if path.suffix != TEX:
            return super().write(path)
        with replacing(path) as new:
            new.write_text(_as_tex(self.printed, self.notes), encoding="utf-8")
        return int(self.printed.row_count)

    def grid(self) -> Any:
        return self.printed

    # --- its layout ---------------------------------------------------------------------------

    def _every_cell(self) -> Layout:
        """Return a table with a row for each measure, cell and variant. Columns that compare
        variants are left out if there is only one variant."""
        varied, unit = self.results.question.varied, self.results.unit
        asked = self.results.question.measured
        many, compared = len(asked.gauges) > 1, len(varied.variants) > 1
        blocks = sorted({len(cell.paired) for cell in self.cells if cell.speaks})
        rows = []
        for cell in self.cells:
            measured = [with_unit(cell.gauge, unit)] if many else []
            place = (*(as_toml(value) for _, value in cell.point), *measured)
            for line in cell.lines:
                whole = [all_jobs(cell.gauge, line, unit)] if blocks else []
                mean, *more = figures_of(cell, line, bool(blocks))
                completed = f"{line.completed} of {len(line.runs)}"
                figures = (completed, mean, *whole, *(more if compared else ()))
                rows.append((*place, *self._variant_cells(line.variant), *figures))
        classes, measure = ([asked.by.value] if asked.by else []), (["measure"] if many else [])
        figure = "mean" if many else with_unit(asked.gauges[0], unit)
        span = f"{blocks[0]} to {blocks[-1]}" if len(blocks) > 1 else "".join(map(str, blocks))
        heads = ("completed", *((f"{figure}, {span} blocks", "all jobs") if blocks else (figure,)))
        return (
            (*varied.axes, *classes, *measure, *(self._varied or ["variant"])),
            (*heads, *((asked.effect, "best", "verdict") if compared else ())),
            rows,
        )

    def _best_of_lines(self, x: str) -> Layout:
        """Return a table with a row for each line along the axis `x`, at the value of `x` where the
        mean of the measure that is judged is best.

        A line is a variant at fixed values of the other axes. Its row has the means of all measures
        at that place, which a picture may mark by a star.
        """
        asked, varied = self.results.question.measured, self.results.question.varied
        compared = len(varied.variants) > 1
        lines = ((cell, line) for cell in self.cells for line in cell.lines)
        at = {(settings_text(cell.point), it.variant, cell.gauge.value): it for cell, it in lines}
        rows = []
        for cell, line in self._bests:
            place = settings_text(cell.point), line.variant
            found = (at.get((*place, it.value)) for it in asked.gauges)
            means = (rounded(it.mean if it else None) for it in found)
            variant = self._variant_cells(line.variant) if compared else ()
            values = (as_toml(value) for _, value in cell.point)
            rows.append((*values, *variant, f"{line.completed} of {len(line.runs)}", *means))
        names = [f"best {key}" if key == x else key for key in varied.axes]
        names += [asked.by.value] if asked.by else []
        left = (*names, *((self._varied or ("variant",)) if compared else ()))
        heads = (with_unit(it, self.results.unit) for it in asked.gauges)
        return left, ("completed", *heads), rows

    @cached_property
    def _bests(self) -> list[tuple[Comparison, Line]]:
        """The best place of each line along the axis `_along`, by the measure that is judged.
        Places where a run has no value are passed over."""
        shown, x = self._judged, self._along
        along = dict[tuple[str, str], list[tuple[Comparison, Line]]]()
        for cell in self.cells:
            for line in cell.lines:
                if cell.gauge.value == shown.value and not line.left_out and line.mean.size:
                    rest = settings_text(tuple(it for it in cell.point if it[0] != x))
                    along.setdefault((rest, line.variant), []).append((cell, line))
        best = max if shown.higher_is_better else min
        return [best(group, key=lambda it: it[1].mean.mean) for group in along.values()]

    def _at_ends(self, x: str) -> Iterator[str]:
        """Yield a note on the lines whose best value of `x` is the least or the greatest of the
        axis; nothing where its values are words, beyond which there is nothing."""
        values = self.results.question.varied.axes[x]
        try:
            sizes = {it: seconds(str(it)) for it in values}
        except ValueError:
            return
        ends = min(sizes.values()), max(sizes.values())
        best = [sizes[dict(cell.point)[x]] for cell, _ in self._bests]
        at = sum(it in ends for it in best)
        if at and len(values) > 1:
            yield (
                f"In {at:,} of {counted(len(best), 'row')} the best {x} is at an end of its axis: "
                "a better one may lie beyond."
            )

    @cached_property
    def _varied(self) -> tuple[str, ...]:
        """Keys that the variants set, if all set the same keys and are named by their settings, so
        that each key can be a column; otherwise an empty tuple."""
        variants = self.results.question.varied.variants
        keys = {tuple(settings) for settings in variants.values()}
        own = all(name == settings_text(tuple(it.items())) for name, it in variants.items())
        return next(iter(keys)) if own and len(keys) == 1 else ()

    def _variant_cells(self, variant: str) -> tuple[str, ...]:
        """Return the texts that identify a variant in a row: a value for each key of `_varied`, or
        its name if there are none."""
        if not self._varied:
            return (variant,)
        return tuple(map(as_toml, self.results.question.varied.variants[variant].values()))

    # --- for programs -------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure, cell and variant: its place on the axes, its numbers of
        runs, its mean and effect with the ends of their intervals, and its verdict."""
        return [
            {key: plain(value) for key, value in cell.point}
            | {"measure": cell.gauge.value}
            | _row(cell, it)
            for cell in self.cells
            for it in cell.lines
        ]

    def as_json(self) -> dict[str, object]:
        """Return the comparisons as data, with the value of every run. They are a list under
        `cells` where the campaign has axes, `by` or several measures, each of which then has its
        measure; else the one comparison's entries stand beside the others."""
        asked, surely = self.results.question, self.results.question.surely
        gauges, many = asked.measured.gauges, len(asked.measured.gauges) > 1
        first = surely.seed or 0
        cells = [
            (self._measure_as_json(it.gauge) if many else {}) | self._cell_as_json(it)
            for it in self.cells
        ]
        ran = self._most_runs if surely.precision else surely.runs
        shared: dict[str, object] = {
            "scenario": asked.name,
            **({} if many else self._measure_as_json(gauges[0])),
            "until": surely.until,
            "seeds": list(range(first, first + ran)),
            "baseline": asked.varied.reference,
        }
        listed = many or asked.varied.axes or asked.measured.by
        return shared | ({"cells": cells} if listed else cells[0])

    def _measure_as_json(self, gauge: AnyMeasure) -> dict[str, object]:
        """Return what a measure is as data: its name, its unit, and whether more is better."""
        unit = self.results.unit if gauge.timed else None
        return {
            "measure": gauge.value,
            "unit": unit,
            "higher_is_better": gauge.higher_is_better,
        }

    def _cell_as_json(self, cell: Comparison) -> dict[str, object]:
        """Return one cell's comparison as data: its place on the axes, its seeds, and its
        variants."""
        lines = [self._line_as_json(cell, line) for line in cell.lines]
        place = {"at": dict(cell.point)} if cell.point else {}
        blocks = {"blocks": len(cell.paired), "speaks_for": cell.speaks} if cell.speaks else {}
        paired = [it.seed for it in cell.lines[0].runs] if cell.speaks else list(cell.paired)
        return {**place, **blocks, "paired": paired, "variants": lines}

    def _line_as_json(self, cell: Comparison, line: Line) -> dict[str, object]:
        """Return a variant's figures in a cell as data: its settings, mean, effect and verdict, and
        each run."""
        case = next(it for it in self.results.plan if it.variant == line.variant)
        settings = self.results.question.varied.variants[line.variant]
        runs = [{"seed": it.seed, "end": it.status.value, "value": it.value} for it in line.runs]
        otherwise = line.otherwise.value if line.otherwise else None
        of_blocks = {"informed": line.informed, "all_jobs": otherwise}
        return {
            "settings": settings,
            "policy": case.scenario(0).policy.name,
            "as_asked": line.as_asked,
            "mean": estimate_as_json(cell.known_mean(line)),
            cell.effect: estimate_as_json(cell.known_effect(line)),
            "verdict": line.verdict.value,
            **(of_blocks if cell.speaks else {}),
            "best": line.best,
            "runs": runs,
        }

    # --- pictures -----------------------------------------------------------------------------

    def plot(self, path: str | Path | None = None) -> Picture | Path:
        """Draw the picture that the campaign's file describes to `path`, and return `path`. Where
        `path` is None, return the picture for a notebook to show.

        If the file describes no picture, draw the distribution of each measure over runs, or over
        blocks of their time, for each variant; of a campaign file's, the first measure's.
        Raises InputError where matplotlib is missing, and where there is nothing to draw.
        """
        if path is None:
            with TemporaryDirectory(prefix="holdfast-") as folder:
                new = self.plot(Path(folder, "picture.png"))
                assert isinstance(new, Path)
                return Picture(new.read_bytes())
        if self.results.question.picture is not None:
            return draw(self.results, Path(path))
        cells, reference = [*chain(*self._told)], self.results.question.varied.reference
        found = answer(cells, reference) if len(self._told) == 1 else None
        return draw_runs(cells, Path(path), found or self.title, self.results.unit)


def _place(cell: Comparison) -> str:
    """Return the measure of a comparison of one class of jobs, and its point on the axes, as
    text."""
    return f"{cell.gauge.value} {settings_text(cell.point[:-1])}"


def _row(cell: Comparison, line: Line) -> dict[str, Any]:
    """Return a variant's figures in a cell as a row of the frame: a mapping from columns to values,
    without its place on the axes and its measure."""
    row: dict[str, Any] = {
        "variant": line.variant,
        "runs": len(line.runs),
        "as_asked": line.as_asked,
    }
    effect = None if line.verdict is Verdict.BASELINE else cell.known_effect(line)
    for name, estimate in (("mean", cell.known_mean(line)), (cell.effect, effect)):
        row |= ends(estimate, name, f"{name}_low", f"{name}_high")
    return {**row, "verdict": line.verdict.value}


# --- as LaTeX ------------------------------------------------------------------------------------


def _as_tex(table: Any, notes: Iterable[str]) -> str:
    """Return a table of rich's as a LaTeX `tabular`, which needs no package; the title and `notes`
    are comments above it."""
    lines = [
        *(f"% {visible(str(line))}" for line in (table.title, *notes)),
        f"\\begin{{tabular}}{{{''.join(column.justify[0] for column in table.columns)}}}",
        "\\hline",
        _tex_row(column.header for column in table.columns),
        "\\hline",
        *map(_tex_row, zip(*(column.cells for column in table.columns), strict=True)),
        "\\hline",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _tex_row(cells: Iterable[object]) -> str:
    return " & ".join(visible(str(it)).translate(ESCAPED) for it in cells) + r" \\"
