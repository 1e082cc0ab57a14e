"""Show the result of a campaign or a comparison: as a table for people, a frame, JSON, in a
notebook or as a picture.

The table for people comes with the notes that a reader needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from attrs import define, evolve

from sims.campaign import Campaign
from sims.campaign.answers import Answer, answer, assumptions, ends
from sims.campaign.axes import settings_text
from sims.campaign.batches import AnyMeasure, RunStatus
from sims.campaign.comparing import Comparison, Line, Verdict, corrected, judged
from sims.campaign.picture import draw, draw_runs
from sims.campaign.printed import Printed, best_of_lines, every_cell
from sims.campaign.results import Results, plain
from sims.errors import COMMAND_LINE
from sims.exports import tables as exports
from sims.intervals import FEWEST_BLOCKS, estimate_as_json
from sims.plots.pictures import Picture
from sims.telling import counted
from sims.writing import replacing

TEX = ".tex"
SUFFIXES = (*exports.SUFFIXES, TEX)
"""Suffixes of files to which a table can be written."""
MOST = 100
"""Largest number of rows that a campaign prints without being asked for all."""


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
        asked = self.results.campaign
        found = [cell for gauge in asked.gauges for cell in self.results.compared(gauge)]
        return judged(found, asked.level)

    def comparisons(self) -> list[Comparison]:
        """Return the comparisons of the first measure, one for each cell and class of jobs."""
        return [cell for cell in self.cells if cell.gauge == self.results.campaign.gauges[0]]

    def runs(self) -> Any:
        """Return a frame of polars with a row for each run."""
        return self.results.runs()

    # --- for people ---------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """Title of the table: campaign, measures, seeds and level."""
        asked = self.results.campaign
        text = f"{asked.name}: {', '.join(asked.measures)}"
        if asked.precision is not None:
            ran = counted(self._most_runs, "run")
            return f"{text}, {ran} of each variant, 95 % intervals"
        if asked.seed is None:
            return f"{text}, 95 % intervals"
        first, last = asked.seed, asked.seed + asked.replications - 1
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
        notes = list(_notes(self.results, self.comparisons(), corrected(shown)))
        return [*notes, *self._shortened(), *self._answer()]

    def _answer(self) -> Iterator[str]:
        """Yield a sentence on what the first measure shows, and one on what the scenarios assume;
        nothing where no interval gives a verdict."""
        results = self.results
        found = answer(self.comparisons(), results.campaign.reference)
        if found is not None:
            yield found
            each = dict.fromkeys(assumptions(case.scenario(0)) for case in results.plan)
            first, *others = each
            rest = (
                "otherwise as the rows say" if others[1:] else "".join(f"or {it}" for it in others)
            )
            yield f"Assumed: {'; '.join(filter(None, (first, rest)))}."

    def _shortened(self) -> Iterator[str]:
        """Yield a note on the rows that are not printed, if there are such rows, with the command
        that prints them."""
        asked, shown = self.results.campaign, len(self.printed.rows)
        if not self.short and shown == self._rows:
            return
        load = "--load " if asked.made else ""
        best = f"At the {self._along} with the best {self._judged.value}: "
        yield (
            f"{best if self.short else 'The first '}{shown} of {self._rows:,} rows; "
            f"`holdfast campaign table {asked.source} {load}--all` prints all."
        )

    @cached_property
    def printed(self) -> Printed:
        """The table for people: with every cell or, where `short`, only with the best place on each
        line along an axis. Without `whole`, a campaign file prints no more than MOST rows."""
        arguments = self.results.campaign, self.cells, self.title, self.results.unit
        if self._along and self.short:
            table = best_of_lines(*arguments, self._along, self._judged)
        else:
            table = every_cell(*arguments)
        return evolve(table, rows=table.rows[:MOST]) if self._many else table

    @property
    def short(self) -> bool:
        """Whether only the best place on each line along an axis is printed: the campaign's picture
        marks it, or the rows are too many, and `whole` does not ask for all."""
        picture = self.results.campaign.picture
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
        return not self.whole and self.results.campaign.source != COMMAND_LINE and self._rows > MOST

    @property
    def _along(self) -> str | None:
        """The axis along which the best value of a line is sought: the picture's x if there is a
        picture, else the axis with the most values; None without axes."""
        asked = self.results.campaign
        if asked.picture is not None:
            return asked.picture.x
        return max(asked.axes, key=lambda it: len(asked.axes[it]), default=None)

    @property
    def _judged(self) -> AnyMeasure:
        """The measure by which the best value of a line is found."""
        asked = self.results.campaign
        return asked.gauge(asked.picture.measure if asked.picture else None)

    def write(self, path: Path) -> int:
        """Write the table to the file that the suffix says, and return its number of rows.

        LaTeX has the table as it is printed; CSV and Parquet have every cell, and the ends of
        intervals as columns. Raises InputError for another suffix, and where the file cannot be
        written.
        """
        if path.suffix != TEX:
            return super().write(path)
        with replacing(path) as new:
            new.write_text(self.printed.tex(self.notes), encoding="utf-8")
        return len(self.printed.rows)

    def grid(self) -> Any:
        return self.printed.grid()

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
        """Return the comparisons of the first measure as data, with the value of every run. They
        are a list under `cells` where the campaign has axes or `by`; else the one comparison's
        entries stand beside the others."""
        asked, gauge = self.results.campaign, self.results.campaign.gauges[0]
        first = asked.seed or 0
        cells = [self._cell_as_json(it) for it in self.comparisons()]
        ran = self._most_runs if asked.precision else asked.replications
        shared: dict[str, object] = {
            "scenario": asked.name,
            "measure": gauge.value,
            "unit": self.results.unit if gauge.timed else None,
            "higher_is_better": gauge.higher_is_better,
            "until": asked.until,
            "seeds": list(range(first, first + ran)),
            "baseline": asked.reference,
        }
        return shared | ({"cells": cells} if asked.axes or asked.by else cells[0])

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
        settings = self.results.campaign.variants[line.variant]
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

        If the file describes no picture, draw the distribution of the first measure over runs, or
        over blocks of their time, for each variant. Raises InputError where matplotlib is missing,
        and where there is nothing to draw.
        """
        if path is None:
            with TemporaryDirectory(prefix="holdfast-") as folder:
                new = self.plot(Path(folder, "picture.png"))
                assert isinstance(new, Path)
                return Picture(new.read_bytes())
        if self.results.campaign.picture is not None:
            return draw(self.results, Path(path))
        return draw_runs(self.comparisons(), Path(path), self.title, self.results.unit)


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


# --- notes -------------------------------------------------------------------------------------


def _notes(results: Results, cells: Sequence[Comparison], many: int) -> Iterator[str]:
    """Yield the notes that explain the comparisons `cells` of a campaign's first measure. `many` is
    the number of comparisons in the whole table by which the level is corrected."""
    yield from _lacking(cells, results.campaign.measures[0])
    yield from _of_blocks(cells, results.campaign.measures[0])
    pairs = {"block" if it.speaks else "seed" for it in cells if any(_.tested for _ in it.lines)}
    yield from _levels(results.campaign, many, " or ".join(sorted(pairs)))
    if wide := results.wide():
        most = counted(results.campaign.most, "run")
        where = f" in {counted(wide, 'cell')}" if results.plan.places > 1 else ""
        yield f"{most} were not enough for intervals as narrow as asked{where}."
    missing, raised = results.left(), sum(1 for _ in results.raised())
    if missing:
        yield f"Unfinished: {counted(missing, 'run')} of {results.asked():,} to go."
    if raised:
        yield f"{counted(raised, 'run')} raised an error, and are in no figure."


def _of_blocks(cells: Sequence[Comparison], measure: str) -> Iterator[str]:
    """Yield notes on the evidence behind intervals over blocks of time, and on why some intervals
    are missing. `measure` is the compared measure's name."""
    over = [cell for cell in cells if cell.speaks]
    yield from dict.fromkeys(cell.speaks for cell in over)
    lines = [line for cell in over for line in cell.lines]
    few = any(it.verdict is Verdict.UNKNOWN and it.informed < it.needed for it in lines)
    short = [cell for cell in cells if cell.too_short]
    if few or (over and short):
        yield (
            f"A verdict needs {FEWEST_BLOCKS} blocks with information, in which some job has a "
            f"{measure} other than 0 in either variant; the last column says how many have it. A "
            "shorter `measures.block` gives more of them, which are less independent."
        )
    elif short:
        yield (
            f"No intervals, no verdict{_at(short, cells)}: the run has fewer than 2 whole blocks "
            "(`measures.block`) after its warm-up (`measures.warm_up`)."
        )
    if any(line.otherwise for line in lines):
        yield (
            "`all jobs: better` or `worse`: over all jobs, those of the warm-up and of the last "
            "block among them, the variant is on the other side of the baseline than over the "
            "blocks. The verdict is about the blocks."
        )


def _levels(asked: Campaign, many: int, pairs: str) -> Iterator[str]:
    """Yield notes on the confidence level at which the intervals of `many` comparisons hold, and on
    the looks at them that `precision` takes.

    `pairs` says by what the variants' runs are paired: seed, block or both.
    """
    if many:
        none = "1" if asked.effect == "ratio" else "0"
        yield (
            f"Intervals of {asked.effect}s to {asked.reference}, paired by {pairs}, hold all "
            f"together at 95 % ({counted(many, 'comparison')}, Bonferroni): better or worse is "
            f"one that excludes {none}."
        )
    if asked.precision is not None:
        yield (
            f"Runs were added until intervals were narrow enough: all are at {asked.level:.2%}, "
            f"for {len(asked.precision.looks())} looks to hold at 95 % (Bonferroni)."
        )


def _lacking(cells: Sequence[Comparison], measure: str) -> Iterator[str]:
    """Yield notes on why figures, intervals and verdicts of the compared measure are missing."""
    lines = [line for cell in cells for line in cell.lines]
    out: dict[str, Counter[RunStatus]] = {}
    for line in lines:
        if line.left_out:
            out.setdefault(line.variant, Counter()).update(line.left_out)
    if out:
        paired, seeds = sum(len(it.paired) for it in cells), sum(it.seeds for it in cells)
        text = "; ".join(f"{name}: {_left_out(ends, measure)}" for name, ends in out.items())
        yield (
            f"Not completed, and in no mean: {text}. Variants are compared over the seeds on which "
            f"both did, best is over the {paired} of {seeds} on which all did."
        )
    if unlike := dict.fromkeys(it.variant for it in lines if it.verdict is Verdict.UNLIKE):
        yield (
            f"Unlike, and not compared: {'; '.join(unlike)}: other jobs than the baseline's, as "
            "some are left out, say."
        )
    if any(it.verdict is Verdict.BASELINE and it.as_asked and not it.effect for it in lines):
        yield (
            f"No ratio where the baseline's mean {measure} is 0. `difference` compares such means."
        )
    if any(cell.seeds == 1 and not cell.speaks and not cell.too_short for cell in cells):
        yield "One run each: no intervals, no verdict."
    if alike := [cell for cell in cells if cell.alike]:
        where = f": the seed does not change it in these runs{_at(alike, cells)}"
        once = "they are one observation, without an interval and a verdict"
        blocks = all(cell.speaks for cell in alike)
        why = "" if blocks else f"; {once}"
        yield f"All runs of a variant have the same {measure}{where}{why}."


def _at(some: Sequence[Comparison], cells: Sequence[Comparison]) -> str:
    """Return words that name these cells, where they are not all."""
    points = "; ".join(settings_text(cell.point) for cell in some)
    return "" if len(some) == len(cells) else f" at {points}"


def _left_out(ends: Counter[RunStatus], measure: str) -> str:
    """Return, as text, how many runs are left out for which reason, from numbers by status; a run
    that completed lacks the measure."""
    without = {RunStatus.COMPLETED: f"without a {measure}"}
    return ", ".join(f"{n} {without.get(it, it.value)}" for it, n in ends.items())
