"""Means, medians and tails: of a run's jobs, and of classes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from attrs import asdict, astuple, frozen

from sims.errors import visible
from sims.metrics.jobs import Floats, Jobs, Mask
from sims.telling import amount_of

STATISTICS = ("mean", "median", "p90", "p95", "p99")
"""Of a Spread, by name."""


@frozen
class SpreadNumbers:
    """Some numbers of a set of numbers."""

    mean: float
    median: float
    p90: float
    """90th percentile, interpolated."""
    p95: float
    p99: float

    @classmethod
    def of(cls, values: Floats | Sequence[float]) -> SpreadNumbers | None:
        """Of the `values` that are numbers; None where there is none."""
        array = np.asarray(values, dtype=float)
        known = array[~np.isnan(array)]
        if not known.size:
            return None
        return cls(float(known.mean()), *np.percentile(known, (50, 90, 95, 99)).tolist())

    def __str__(self) -> str:
        return self.told(partial(amount_of, digits=6))

    def told(self, number: Callable[[float], str]) -> str:
        """For people; `number` says how each is told."""
        mean, median, *tail = map(number, astuple(self))
        return f"mean {mean}, median {median}, 90 % {tail[0]}, 95 % {tail[1]}, 99 % {tail[2]}"


def as_json(spreads: Mapping[str, SpreadNumbers | None]) -> dict[str, dict[str, float] | None]:
    """As data, by name."""
    return {name: asdict(spread) if spread else None for name, spread in spreads.items()}


@frozen
class JobClass:
    """Some of a run's jobs in numbers."""

    jobs: int
    spreads: Mapping[str, SpreadNumbers | None]
    """As `Report.spreads` has them."""

    @classmethod
    def of(cls, jobs: Jobs, which: Mask) -> JobClass:
        """Of the jobs of a mask."""
        values = jobs.quantities().items()
        return cls(int(which.sum()), {name: SpreadNumbers.of(each[which]) for name, each in values})

    def as_json(self) -> dict[str, object]:
        """As data."""
        return {"jobs": self.jobs, **as_json(self.spreads)}


def table(classes: Mapping[str, JobClass]) -> Iterator[str]:
    """One line per class of jobs: how long they waited, and how much that slowed them down."""
    if not classes:
        return
    rows = {visible(name): told for name, told in classes.items()}
    width = max(16, *map(len, rows))
    columns = [(name, it) for name in ("wait", "bounded_slowdown") for it in STATISTICS]
    yield f"{'':<{width + 9}}{'wait':<60}bounded slowdown".rstrip()
    heads = "".join(f"{it:>12}" for _, it in columns)
    yield f"{'':<{width}}{'jobs':>9}{heads}"
    for name, told in rows.items():
        spreads = ((told.spreads[quantity], it) for quantity, it in columns)
        cells = (f"{getattr(spread, it):,.6g}" if spread else "-" for spread, it in spreads)
        yield f"{name:<{width}}{told.jobs:>9,}" + "".join(f"{cell:>12}" for cell in cells)
