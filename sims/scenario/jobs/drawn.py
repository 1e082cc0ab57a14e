"""Jobs drawn as the papers draw theirs: rigid ones (rigid21, section 5.1), moldable ones
(moldable21, section 5.1), malleable applications (malleable17, section 6.1)."""

from __future__ import annotations

import enum
from typing import Annotated

from numpy.random import Generator

from actors.runtime import stream
from policies.maths.speedup import Rigid, Speedup, amdahl, communication, mix, power, roofline
from sims.tables.fields import RANGE, Drawn, Natural, Positive, TimeRange, Unacceptable
from sims.tables.section import Section

LARGEST = 2.0**63
"""Footprints are drawn as 64-bit integers."""


class UniformJobs(Section):
    """`[job.synthetic]`: jobs drawn as in rigid21, section 5.1."""

    count: Drawn = 100
    """How many jobs."""
    processors: Annotated[tuple[int, int], RANGE] = (50, 2000)
    """p_j is a uniform integer between these, both included."""
    time: TimeRange = (100, 20000)
    """t_j is uniform between these."""
    seed: Natural = 0
    """Which set of jobs is drawn; the scenario's own seed draws their failures."""

    def draw(self) -> list[Rigid]:
        """The set of jobs."""
        rng = stream(self.seed, "jobs")
        low, high = self.processors
        counts = rng.integers(low, high, size=self.count, endpoint=True)
        times = rng.uniform(*self.time, size=self.count)
        return [Rigid(p, t) for p, t in zip(counts.tolist(), times.tolist(), strict=True)]


class Model(enum.Enum):
    """The six synthetic speedup models of moldable21, section 5.1."""

    ROOFLINE = "roofline"
    COMMUNICATION = "communication"
    AMDAHL = "amdahl"
    MIX_LOW_COM = "mix-low-com"
    MIX = "mix"
    POWER = "power"


class SyntheticJobs(Section):
    """`[job.synthetic]`: jobs drawn as in moldable21, section 5.1."""

    model: Model = Model.MIX
    """roofline, communication, amdahl, mix-low-com, mix or power."""
    count: Drawn = 500
    """How many jobs."""
    work: TimeRange = (5_000, 4_000_000)
    """w_j is uniform between these, in seconds on one processor."""
    seed: Natural = 0
    """Which set of jobs is drawn; the scenario's own seed draws their failures."""

    def draw(self) -> list[Speedup]:
        """The set of jobs."""
        rng = stream(self.seed, f"jobs/{self.model.value}")
        return [_drawn(self.model, rng, *self.work) for _ in range(self.count)]


def _degree(rng: Generator) -> int:
    return int(rng.integers(100, 4000, endpoint=True))


def _cost(rng: Generator) -> float:
    return float(rng.uniform(1, 2) * 2 ** rng.integers(0, 3, endpoint=True))


def _sequential(rng: Generator) -> float:
    return float(rng.uniform(0, 10) / 10.0 ** rng.integers(2, 7, endpoint=True))


def _drawn(model: Model, rng: Generator, low: float, high: float) -> Speedup:
    work = float(rng.uniform(low, high))
    if model is Model.ROOFLINE:
        return roofline(work, _degree(rng))
    if model is Model.COMMUNICATION:
        return communication(work, _cost(rng))
    if model is Model.AMDAHL:
        return amdahl(work, _sequential(rng))
    if model is Model.POWER:
        return power(work, float(rng.uniform(0, 1)))
    factor = 3 if model is Model.MIX else 1
    return mix(work, _degree(rng), _sequential(rng), factor * _cost(rng))


class DrawnApplications(Section):
    """`[job.synthetic]`: applications drawn as in malleable17, section 6.1."""

    count: Drawn
    """n: applications."""
    smallest: Positive = 1_500_000.0
    """m_inf: data units of the smallest application."""
    largest: Positive = 2_500_000.0
    """m_sup: data units of the largest."""
    seed: Natural = 0
    """Which pack is drawn; the scenario's own seed draws its faults."""

    def check(self) -> None:
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
