"""What a reader has to know of a table's figures, a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sims.campaign.axes import told
from sims.campaign.campaign import Campaign
from sims.campaign.cells import RunStatus
from sims.campaign.comparing import Comparison, Verdict, corrected
from sims.campaign.results import Results
from sims.telling import counted


def notes(results: Results, cells: Sequence[Comparison]) -> Iterator[str]:
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
