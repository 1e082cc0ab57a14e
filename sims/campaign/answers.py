"""Says what a comparison shows in one sentence, and what a scenario assumes in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sims.campaign.comparing import Comparison, Line, Verdict
from sims.intervals import rounded, rounded_ratio
from sims.telling import about, counted

if TYPE_CHECKING:
    from sims.scenario import Scenario


def answer(cells: Sequence[Comparison], baseline: str) -> str | None:
    """Return what the comparisons of one measure show of all variants beside the baseline, in one
    sentence; None where nothing was compared."""
    tested = [line for cell in cells for line in cell.lines if line.tested]
    if not tested:
        return None
    runs = counted(max(cell.seeds for cell in cells), "run")
    if len(cells) > 1:
        return f"{_over_cells(cells, baseline)}; {runs} of each variant in each cell."
    return f"{_in_one(cells[0], baseline)}; {runs} of each variant."


def _in_one(cell: Comparison, baseline: str) -> str:
    better = [line for line in cell.lines if line.verdict is Verdict.BETTER]
    worse = [line.variant for line in cell.lines if line.verdict is Verdict.WORSE]
    name = cell.gauge.name
    if better:
        sign = -1 if cell.gauge.higher_is_better else 1
        best = min(better, key=lambda line: sign * (line.effect.mean if line.effect else 0.0))
        more = f", and so {'is' if len(better) == 2 else 'are'} "
        others = [line.variant for line in better if line is not best]
        text = f"{best.variant} is better than {baseline}: {name} {_beside(cell, best)}"
        return text + (more + ", ".join(others) if others else "")
    if worse:
        text = f"No variant is shown to be better than {baseline} by its {name}"
        return f"{text}; worse: {', '.join(worse)}"
    return f"Nothing shows that any variant's {name} differs from {baseline}'s"


def _beside(cell: Comparison, line: Line) -> str:
    if cell.effect == "ratio":
        return f"{rounded_ratio(line.effect)} of its"
    return f"differs by {rounded(line.effect)}"


def _over_cells(cells: Sequence[Comparison], baseline: str) -> str:
    """Return in how many cells each variant is better, or worse, than the baseline."""
    found = Counter((line.variant, line.verdict) for cell in cells for line in cell.lines)
    variants = dict.fromkeys(line.variant for cell in cells for line in cell.lines if line.tested)
    many = counted(len(cells), "cell")
    clauses = [
        f"{name} is better than {baseline} in {found[name, Verdict.BETTER]:,} and worse in "
        f"{found[name, Verdict.WORSE]:,} of {many}"
        for name in variants
    ]
    return "; ".join(clauses)


def assumptions(scenario: Scenario) -> str:
    """Return what a scenario assumes of faults, owners and starts, in a line."""
    laws = scenario.faults.laws
    kinds = ", ".join(dict.fromkeys(f"{law.kind} faults" for law in laws)) or "no faults"
    ages = [law.starts.value for law in laws]
    age = f" of {', '.join(dict.fromkeys(ages))} units" if ages else ""
    owners = ", owners as given" if scenario.full_platform.owned else ""
    startup = scenario.job.startup or 0
    start = f"a start-up of {about(startup, scenario.times.value)}" if startup else "no start-up"
    return f"{kinds}{age}{owners}, {start}"
