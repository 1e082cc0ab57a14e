"""Malleable applications: one by one, or drawn as in malleable17, section 6.1."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from attrs import Factory, field, frozen

from actors.runtime import stream
from sims.scenario.fields import Unacceptable, countable, not_negative, positive
from sims.scenario.jobs.common import ListedJob
from sims.scenario.jobs.speedups import AnySpeedup, Sizes, Synthetic, durations

LARGEST = 2.0**63
"""Footprints are drawn as 64-bit integers."""


@frozen(kw_only=True)
class MalleableEntry(ListedJob):
    """`[[job.jobs]]`: one malleable application."""

    kind: Literal["malleable"] = "malleable"
    footprint: float = field(validator=not_negative)
    """m_i: data units."""
    speedup: AnySpeedup = Factory(Synthetic)
    """How execution times depend on workers."""


@frozen(eq=False, slots=False)
class Application:
    """What a malleable application takes on any number of workers; worked out where somebody asks:
    a thousand of them on 5,000 workers are five million times."""

    footprint: float
    speedup: AnySpeedup
    workers: int
    """P."""

    @cached_property
    def times(self) -> list[float]:
        """t(p) for p = 1 .. P, or as far as its table goes."""
        sizes = np.arange(1, self.workers + 1, dtype=np.float64)
        return list(map(float, self._durations(sizes)))

    def _durations(self, sizes: Sizes) -> Sizes:
        return durations(self.speedup, self.footprint, sizes)

    @cached_property
    def work(self) -> float:
        """See policies.maths.speedup.Profile."""
        return float(self._durations(np.ones(1))[0])

    def time(self, processors: int) -> float:
        """See policies.maths.speedup.Profile: beyond its table, its best time up to there."""
        times = self.times
        return times[processors - 1] if processors <= len(times) else min(times)


@frozen(kw_only=True)
class DrawnApplications:
    """`[job.synthetic]`: applications drawn as in malleable17, section 6.1."""

    count: int = field(validator=countable)
    """n: applications."""
    smallest: float = field(default=1_500_000.0, validator=positive)
    """m_inf: data units of the smallest application."""
    largest: float = field(default=2_500_000.0, validator=positive)
    """m_sup: data units of the largest."""
    seed: int = field(default=0, validator=not_negative)
    """Which pack is drawn; the scenario's own seed draws its faults."""

    def __attrs_post_init__(self) -> None:
        if not self.largest < LARGEST:
            raise Unacceptable("largest", self.largest, "a number below 2^63, about 9.2e18")
        if not int(self.smallest) <= int(self.largest):
            accepted = f"a number up to largest, {self.largest!r}"
            raise Unacceptable("smallest", self.smallest, accepted)

    def footprints(self) -> tuple[float, ...]:
        """Whole numbers of data units, uniform between the two."""
        rng = stream(self.seed, "pack")
        low, high = int(self.smallest), int(self.largest)
        return tuple(map(float, rng.integers(low, high, size=self.count, endpoint=True).tolist()))
