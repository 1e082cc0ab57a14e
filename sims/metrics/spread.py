"""Means, medians and tails of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from attrs import asdict, astuple, frozen

from sims.metrics.jobs import Floats

STATISTICS = {"mean": None, "median": 50, "p90": 90, "p95": 95, "p99": 99}
"""Of a Spread, by name: the percentile that each is, interpolated."""


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

    def told(self, number: Callable[[float], str]) -> str:
        """For people; `number` says how each is told."""
        mean, median, *tail = map(number, astuple(self))
        return f"mean {mean}, median {median}, 90 % {tail[0]}, 95 % {tail[1]}, 99 % {tail[2]}"


Spreads = dict[str, SpreadNumbers | None]
"""By what they are of; None: no job has one."""


def spreads_of(quantities: Mapping[str, Floats]) -> Spreads:
    """Of each quantity of some jobs."""
    return {name: SpreadNumbers.of(values) for name, values in quantities.items()}


def as_data(spreads: Spreads) -> dict[str, dict[str, float] | None]:
    """As data, by name."""
    return {name: asdict(spread) if spread else None for name, spread in spreads.items()}
