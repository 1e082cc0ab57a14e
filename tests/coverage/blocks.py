"""How often intervals over blocks of time cover the truth, whose neighbours go together, and how
often two variants that do not differ get a verdict."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import evolve
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from sims.campaign.batches import RunStatus
from sims.campaign.comparing import compare, judged
from sims.campaign.observations import Compared
from sims.intervals import LEVEL, Known, mean_of
from sims.metrics.measures import Measure

SIZES = 6, 8, 12, 30, 52
ALIKE = 0.0, 0.3, 0.6
"""Correlations of neighbouring blocks."""


def blocks(rng: Generator, studies: int, size: int, alike: float) -> NDArray[np.float64]:
    """Return blocks with normal values of mean 0, each correlated with the one before: a row for
    each study, a column for each block."""
    found = rng.normal(0, 1, (studies, size))
    for k in range(1, size):
        found[:, k] = alike * found[:, k - 1] + np.sqrt(1 - alike**2) * found[:, k]
    return found


def covered(size: int, alike: float, studies: int) -> float:
    """Return the share of studies in which the interval of the mean covers it."""
    rng = default_rng([size, int(10 * alike)])
    found = (
        mean_of(row.tolist(), LEVEL, Known(serial=True))
        for row in blocks(rng, studies, size, alike)
    )
    return sum(it.low <= 0 <= it.high for it in found) / studies


def false_verdicts(size: int, studies: int) -> float:
    """Return the share of studies in which one of two variants is called better or worse, although
    all their blocks are independent and lognormal(1.0)."""
    rng, found = default_rng(size), 0
    for _ in range(studies):
        run = Compared(0, RunStatus.COMPLETED, 1.0)
        rows = {
            name: [evolve(run, blocks=tuple(rng.lognormal(0, 1, size).tolist()))]
            for name in ("a", "b")
        }
        [cell] = judged([compare((), Measure.WAIT, rows, "a")], LEVEL)
        found += cell.lines[1].differs
    return found / studies


def rows(studies: int) -> Iterator[str]:
    """Yield the table: how often intervals cover, by the number of blocks and the correlation of
    neighbours, and how often there is a false verdict."""
    yield f"| blocks | {' | '.join(f'correlation {it}' for it in ALIKE)} | false verdicts |"
    yield "| --- " * (2 + len(ALIKE)) + "|"
    for size in SIZES:
        cells = [f"{100 * covered(size, alike, studies):.1f} %" for alike in ALIKE]
        yield f"| {size} | {' | '.join(cells)} | {100 * false_verdicts(size, studies):.1f} % |"
