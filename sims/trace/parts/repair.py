"""Words for how many faults struck what is repaired, and what became of the repairs."""

from __future__ import annotations

from collections.abc import Iterator

from actors.events import RepairOutcome
from sims.history.summary import Repairs
from sims.telling import counted


def rows(repairs: Repairs) -> Iterator[tuple[str, str]]:
    """Yield the numbers of faults, repairs and units that retired, where there are any."""
    if repairs.failed:
        laws = sorted(repairs.failed.items())
        by_law = f" ({', '.join(f'{count:,} of law {law}' for law, count in laws)})"
        total = sum(repairs.failed.values())
        yield "faults", f"{total:,} of what was not in repair{by_law if laws[1:] else ''}"
    if repairs.blamed:
        yield "blamed", ", ".join(f"{count:,} on {how}" for how, count in repairs.blamed.items())
    for stage in sorted({stage for stage, _ in repairs.ended}):
        counts = ((it, repairs.ended[stage, it]) for it in RepairOutcome)
        words = (f"{count:,} {it.value.replace('-', ' ')}" for it, count in counts if count)
        yield f"repairs {stage + 1}", ", ".join(words)
    if repairs.retired:
        yield "retired", f"{counted(repairs.retired, 'unit')}"
