"""Write the figures of a variant's line as text, with the digits that their intervals allow."""

from __future__ import annotations

from sims.campaign.batches import AnyMeasure
from sims.campaign.comparing import Comparison, Line, Verdict
from sims.estimates import about, rounded, rounded_ratio
from sims.telling import amount_of, counted, in_units, units


def with_unit(gauge: AnyMeasure, unit: str) -> str:
    """Return the name of a measure with its unit, if it has one."""
    return f"{gauge.value}, {units(unit)}" if gauge.timed else gauge.value


def all_jobs(gauge: AnyMeasure, line: Line, unit: str) -> str:
    """Return, as text, the measure's value over all jobs of the variant's first run, as `summary`
    shows it; a dash if it has none."""
    value = line.runs[0].value
    if value is None:
        return "-"
    return in_units(value, unit, 6) if gauge.timed else amount_of(value, 6)


def figures_of(cell: Comparison, line: Line, blocks: bool) -> tuple[str, ...]:
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


def _as_many(line: Line) -> str:
    """Return words on how many independent blocks a line's blocks are as good as, if fewer."""
    return f" worth {line.independent}" if line.independent < line.informed else ""


def _verdict(cell: Comparison, line: Line) -> str:
    """Return the verdict as text, with the number of blocks if they are too few, and with the
    verdict over all jobs if that contradicts the one over blocks."""
    text = line.verdict.value
    if cell.speaks and line.verdict is Verdict.UNKNOWN:
        text = f"{text}: {counted(line.informed, 'block')}{_as_many(line)}, needs {line.needed}"
    return f"{text}; all jobs: {line.otherwise.value}" if line.otherwise else text
