"""What a campaign, or a comparison, answers: a table for people, with what they have to know of it;
the same as a frame, as JSON and in a notebook; and its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import define

from sims.campaign import Campaign
from sims.campaign.axes import as_toml, told
from sims.campaign.cells import Gauge, RunStatus
from sims.campaign.comparing import Comparison, Line, Verdict, corrected
from sims.campaign.intervals import estimate_as_json, rounded
from sims.campaign.picture import draw, draw_runs
from sims.campaign.results import Results, plain
from sims.errors import imported, visible
from sims.exports.tables import Library, library_or_default
from sims.plots.pictures import Picture
from sims.telling import amount_of, as_html, as_text, counted, grid, in_units, units


@define(slots=False, repr=False)
class Table:
    """The variants of a campaign in each cell, beside the baseline, with 95 % intervals. A notebook
    shows it, `print` prints it; numbers are in `frame`, and `results` has every run."""

    results: Results

    @cached_property
    def cells(self) -> list[tuple[Gauge, Comparison]]:
        """By measure and cell."""
        found = self.results
        return [(it, cell) for it in found.campaign.gauges for cell in found.comparisons(it)]

    def comparisons(self) -> list[Comparison]:
        """Of the first measure, a comparison for each cell."""
        return [cell for gauge, cell in self.cells if gauge == self.results.campaign.gauges[0]]

    def runs(self) -> Any:
        """A row for each run, as a frame of polars."""
        return self.results.runs()

    # --- for people ---------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What is compared."""
        asked = self.results.campaign
        told = f"{asked.name}: {', '.join(asked.measures)}"
        if asked.seed is None or asked.precision is not None:
            return f"{told}, 95 % intervals"
        first, last = asked.seed, asked.seed + asked.replications - 1
        seeds = f"seeds {first} to {last}" if first < last else f"seed {first}"
        return f"{told}, {seeds}, 95 % intervals"

    @property
    def notes(self) -> list[str]:
        """What a reader has to know of the figures, a line each."""
        return list(_notes(self.results, self.comparisons()))

    def _printed(self) -> Any:
        """A row for each variant in a cell, and measure."""
        from rich.table import Column

        asked, many = self.results.campaign, len(self.results.campaign.gauges) > 1
        settled = _settings(asked.variants)
        blocks = sorted({len(cell.paired) for _, cell in self.cells if cell.speaks})
        rows = []
        for gauge, cell in self.cells:
            place = (*(as_toml(value) for _, value in cell.point), *([gauge.name] if many else []))
            for line in cell.lines:
                who = map(as_toml, asked.variants[line.variant].values())
                runs = f"{line.as_asked} of {len(line.runs)}"
                mean, *more = _figures(cell, line)
                whole = [self._whole(gauge, line)] if blocks else []
                rows.append(
                    (*place, *(who if settled else [line.variant]), runs, mean, *whole, *more)
                )
        classes, measure = ([asked.by.value] if asked.by else []), (["measure"] if many else [])
        keys = (*asked.axes, *classes, *measure, *(settled or ["variant"]))
        told = (f"{'/'.join(map(str, blocks))} blocks", "all jobs") if blocks else ()
        heads = ("completed", ", ".join(filter(None, (self._figure, *told[:1]))), *told[1:])
        compared = (asked.effect, "best", "") if len(asked.variants) > 1 else ()
        return grid(map(Column, keys), (*heads, *compared), rows, self.title)

    def _whole(self, gauge: Gauge, line: Line) -> str:
        """Of all jobs of its first run, as `summary` tells it."""
        value = line.runs[0].value
        if value is None:
            return "-"
        return in_units(value, self.results.unit, 6) if gauge.timed else amount_of(value, 6)

    @property
    def _figure(self) -> str:
        """What is estimated, and its unit."""
        gauges = self.results.campaign.gauges
        unit = f", {units(self.results.unit)}" if gauges[0].timed else ""
        return "mean" if len(gauges) > 1 else gauges[0].name + unit

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        return Group(self._printed(), *(Text(visible(it)) for it in self.notes))

    def __str__(self) -> str:
        return as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._printed(), self.notes)

    # --- for programs -------------------------------------------------------------------------

    def frame(self, library: Library | str | None = None) -> Any:
        """A row for each variant in each cell, and measure, with the ends of intervals: of polars,
        or of pandas if asked or where polars is missing. Raises InputError without either."""
        rows = [
            {key: plain(value) for key, value in cell.point}
            | {"measure": gauge.name}
            | _row(cell, it)
            for gauge, cell in self.cells
            for it in cell.lines
        ]
        if library_or_default(library) is Library.PANDAS:
            return imported("pandas", "tables", "pip install pandas").DataFrame(rows)
        polars = imported("polars", "tables", "pip install 'holdfast[results]'")
        frame = polars.DataFrame(rows, infer_schema_length=None, strict=False)
        return frame.cast({polars.Null: polars.Float64})

    def as_json(self) -> dict[str, object]:
        """All of it, with every run's value; of the first measure."""
        asked, gauge = self.results.campaign, self.results.campaign.gauges[0]
        first = asked.seed or 0
        cells = [self._cell_as_json(it) for it in self.comparisons()]
        shared: dict[str, object] = {
            "scenario": asked.name,
            "measure": gauge.name,
            "unit": self.results.unit if gauge.timed else None,
            "higher_is_better": gauge.higher_is_better,
            "until": asked.until,
            "seeds": list(range(first, first + asked.replications)),
            "baseline": asked.reference,
        }
        return shared | ({"cells": cells} if asked.axes or asked.by else cells[0])

    def _cell_as_json(self, cell: Comparison) -> dict[str, object]:
        lines = [self._line_as_json(cell, line) for line in cell.lines]
        place = {"at": dict(cell.point)} if cell.point else {}
        blocks = {"blocks": len(cell.paired), "speaks_for": cell.speaks} if cell.speaks else {}
        paired = [it.seed for it in cell.lines[0].runs] if cell.speaks else list(cell.paired)
        return {**place, **blocks, "paired": paired, "variants": lines}

    def _line_as_json(self, cell: Comparison, line: Line) -> dict[str, object]:
        case = next(it for it in self.results.plan if it.variant == line.variant)
        settings = self.results.campaign.variants[line.variant]
        runs = [{"seed": it.seed, "end": it.status.value, "value": it.value} for it in line.runs]
        return {
            "settings": settings,
            "policy": case.scenario(0).policy.name,
            "as_asked": line.as_asked,
            "mean": estimate_as_json(line.mean),
            cell.effect: estimate_as_json(line.effect),
            "verdict": line.verdict.value,
            "best": line.best,
            "runs": runs,
        }

    # --- pictures -----------------------------------------------------------------------------

    def plot(self, path: str | Path | None = None) -> Picture | Path:
        """Draw what the campaign's file asks for; else the distribution of the first measure over
        runs, or blocks, for each variant. To `path`, or for the notebook to show.

        Raises InputError without matplotlib, and where nothing is there to draw.
        """
        if path is None:
            with TemporaryDirectory(prefix="holdfast-") as folder:
                new = self.plot(Path(folder, "picture.png"))
                assert isinstance(new, Path)
                return Picture(new.read_bytes())
        if self.results.campaign.picture is not None:
            return draw(self.results, Path(path))
        return draw_runs(self.comparisons(), Path(path), self.title, self._figure)


def _settings(variants: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    """The keys that variants differ in, where they are called by them: a column for each."""
    keys = {tuple(settings) for settings in variants.values()}
    own = all(name == told(tuple(it.items())) for name, it in variants.items())
    return next(iter(keys)) if own and len(keys) == 1 else ()


def _figures(cell: Comparison, line: Line) -> tuple[str, ...]:
    # Runs that are all the same are one observation.
    mean = f"{line.mean.mean:,.8g}" if cell.alike and not cell.speaks else rounded(line.mean)
    pairs = len(cell.paired)
    best = f"{line.best} of {pairs}" if pairs else "-"
    return mean, rounded(line.effect), best, line.verdict.value


def _row(cell: Comparison, line: Line) -> dict[str, Any]:
    row = {"variant": line.variant, "runs": len(line.runs), "as_asked": line.as_asked}
    effect = None if line.verdict is Verdict.BASELINE else line.effect
    for name, estimate in (("mean", line.mean), (cell.effect, effect)):
        told = estimate_as_json(estimate) or {}
        row |= {
            name: told.get("mean"),
            f"{name}_low": told.get("low"),
            f"{name}_high": told.get("high"),
        }
    return {**row, "verdict": line.verdict.value}


# --- notes -------------------------------------------------------------------------------------


def _notes(results: Results, cells: Sequence[Comparison]) -> Iterator[str]:
    """Of the comparisons of a campaign's first measure."""
    yield from _lacking(cells, results.campaign.measures[0])
    yield from dict.fromkeys(cell.speaks for cell in cells if cell.speaks)
    yield from _levels(results.campaign, corrected(cells))
    missing, raised = results.left(), sum(1 for _ in results.raised())
    if missing:
        yield f"Unfinished: {counted(missing, 'cell')} of {results.asked():,} to go."
    if raised:
        yield f"{counted(raised, 'cell')} raised an error, and are in no figure."


def _levels(asked: Campaign, many: int) -> Iterator[str]:
    """At which intervals are; `many`: comparisons."""
    if many:
        none = "1" if asked.effect == "ratio" else "0"
        yield (
            f"Intervals of {asked.effect}s to {asked.reference}, paired by seed, hold all "
            f"together at 95 % ({counted(many, 'comparison')}, Bonferroni): better or worse is "
            f"one that excludes {none}."
        )
    if asked.precision is not None:
        yield (
            f"Replications ended when intervals were narrow enough: all are at "
            f"{asked.level:.2%}, for {len(asked.precision.looks())} looks to hold at 95 % "
            "(Bonferroni)."
        )


def _lacking(cells: Sequence[Comparison], measure: str) -> Iterator[str]:
    """Why figures, intervals and verdicts are not there."""
    lines = [line for cell in cells for line in cell.lines]
    out: dict[str, Counter[RunStatus]] = {}
    for line in lines:
        if line.left_out:
            out.setdefault(line.variant, Counter()).update(line.left_out)
    if out:
        paired, seeds = sum(len(it.paired) for it in cells), sum(it.seeds for it in cells)
        said = "; ".join(f"{name}: {_left_out(ends, measure)}" for name, ends in out.items())
        yield (
            f"Not completed, and in no mean: {said}. Variants are compared over the seeds on which "
            f"both did, best is over the {paired} of {seeds} on which all did."
        )
    if unlike := dict.fromkeys(it.variant for it in lines if it.verdict is Verdict.UNLIKE):
        yield (
            f"Unlike, and not compared: {'; '.join(unlike)}: other jobs than the baseline's, as "
            "some are left out, say."
        )
    if any(it.verdict is Verdict.BASELINE and it.as_asked and not it.effect for it in lines):
        yield f"No ratio: the baseline's mean {measure} is 0. `difference` compares such means."
    if any(cell.seeds == 1 and not cell.speaks for cell in cells):
        yield "One run each: no intervals, no verdict."
    if alike := [cell for cell in cells if cell.alike]:
        some = "; ".join(told(cell.point) for cell in alike)
        where = f": the seed does not change it{'' if len(alike) == len(cells) else f' at {some}'}"
        once = "they are one observation, without an interval and a verdict"
        blocks = all(cell.speaks for cell in alike)
        why = "" if blocks else f"; {once}"
        yield f"All runs of a variant have the same {measure}{where}{why}."


def _left_out(ends: Counter[RunStatus], measure: str) -> str:
    without = {RunStatus.COMPLETED: f"without a {measure}"}
    return ", ".join(f"{n} {without.get(it, it.value)}" for it, n in ends.items())
