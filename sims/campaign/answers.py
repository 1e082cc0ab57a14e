"""What a question's results answer: a table for each cell, notes on it, and all of it as data."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from sims.campaign.axes import as_toml, told
from sims.campaign.cells import RunStatus
from sims.campaign.comparing import Comparison, Line, Verdict
from sims.campaign.intervals import Estimate
from sims.campaign.question import Question
from sims.campaign.results import Results
from sims.campaign.tables import Grid, rounded
from sims.telling import units


def title(question: Question, comparison: Comparison) -> str:
    """What is compared in a cell."""
    place = f", {told(comparison.point)}" if comparison.point else ""
    first, last = question.seeds[0], question.seeds[-1]
    seeds = f"seeds {first} to {last}" if first < last else f"seed {first}"
    name, measure = question.campaign.name, question.measure.value
    return f"{name}{place}: {measure}, {seeds}, 95 % intervals"


def table(question: Question, results: Results, comparison: Comparison) -> Grid:
    """A row for each variant in a cell."""
    keys = [key for key, _ in next(iter(question.variants.values()))] or ["variant"]
    measure, unit = question.measure.value, question.unit(results)
    heads = ("completed", f"{measure}, {units(unit)}" if unit else measure, "ratio", "best", "")
    rows = [(*_settings(question, line), *_cells(line, comparison)) for line in comparison.lines]
    return Grid((*keys, *heads), [*rows], len(keys))


def _settings(question: Question, line: Line) -> list[str]:
    return [as_toml(it) for _, it in question.variants[line.variant]] or ["as it is"]


def _cells(line: Line, comparison: Comparison) -> Iterator[str]:
    yield f"{line.as_asked} of {len(line.runs)}"
    yield rounded(line.mean)
    yield rounded(line.ratio)
    yield f"{line.best} of {len(comparison.paired)}" if comparison.paired else "-"
    yield _verdict(line)


def _verdict(line: Line) -> str:
    return line.against.verdict.value if line.against else "baseline"


def notes(comparison: Comparison) -> Iterator[str]:
    """What a reader has to know of the figures, a line each."""
    measure = comparison.gauge.name
    out = [line for line in comparison.lines if line.left_out]
    if out:
        paired, seeds = len(comparison.paired), comparison.seeds
        said = "; ".join(f"{line.variant}: {_left_out(line, measure)}" for line in out)
        yield (
            f"Not completed, and in no mean: {said}. A ratio is over the seeds on which both "
            f"did, best over the {paired} of {seeds} on which all did."
        )
    unlike = [it.variant for it in comparison.lines if _verdict(it) == Verdict.UNLIKE.value]
    if unlike:
        yield (
            f"Unlike, and not compared: {'; '.join(unlike)}: other jobs than the baseline's, as "
            "some are left out, say."
        )
    base = next(line for line in comparison.lines if line.against is None)
    if base.ratio is None and base.as_asked:
        yield f"No ratio: the baseline's mean {measure} is 0."
    if comparison.seeds == 1 and not comparison.speaks:
        yield "One run each: no intervals."
    if comparison.alike:
        yield "All runs of a variant are alike: the seed changes nothing in this scenario."
    if comparison.speaks:
        yield comparison.speaks


def _left_out(line: Line, measure: str) -> str:
    without = {RunStatus.COMPLETED: f"without a {measure}"}
    return ", ".join(
        f"{n} {without.get(status, status.value)}" for status, n in line.left_out.items()
    )


# --- for programs -----------------------------------------------------------------------------


def as_json(question: Question, results: Results) -> dict[str, object]:
    """All of it, with every run's value."""
    cells = [_cell_as_json(question, results, it) for it in results.comparisons()]
    shared = {
        "scenario": question.campaign.name,
        "measure": question.measure.value,
        "unit": question.unit(results) or None,
        "higher_is_better": question.measure.higher_is_better,
        "until": question.campaign.until,
        "seeds": list(question.seeds),
        "baseline": question.campaign.reference,
    }
    return shared | ({"cells": cells} if question.campaign.axes else cells[0])


def _cell_as_json(question: Question, results: Results, cell: Comparison) -> dict[str, object]:
    lines = [_line_as_json(question, results, line) for line in cell.lines]
    place = {"at": dict(cell.point)} if cell.point else {}
    blocks = {"blocks": len(cell.paired), "speaks_for": cell.speaks} if cell.speaks else {}
    paired = list(question.seeds) if cell.speaks else list(cell.paired)
    return {**place, **blocks, "paired": paired, "variants": lines}


def _line_as_json(question: Question, results: Results, line: Line) -> dict[str, object]:
    case = next(it for it in results.plan if it.variant == line.variant)
    return {
        "settings": dict(question.variants[line.variant]),
        "policy": case.scenario(0).policy.name,
        "as_asked": line.as_asked,
        "mean": _estimate_as_json(line.mean),
        "ratio": _estimate_as_json(line.ratio),
        "difference": _estimate_as_json(line.difference),
        "verdict": _verdict(line),
        "best": line.best,
        "runs": [{"seed": it.seed, "end": it.status.value, "value": it.value} for it in line.runs],
    }


def _estimate_as_json(it: Estimate | None) -> dict[str, object] | None:
    if it is None or not it.size:
        return None
    ends = {"half": it.half, "low": it.low, "high": it.high}
    known = {key: value if isfinite(value) else None for key, value in ends.items()}
    return {"mean": it.mean, **known, "size": it.size}
