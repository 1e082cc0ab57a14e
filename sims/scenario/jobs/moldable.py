"""Moldable jobs: one by one, or moldable21's synthetic sets (section 5.1)."""

from __future__ import annotations

import enum
from typing import Literal

from attrs import field, frozen
from attrs.validators import optional
from numpy.random import Generator

from actors.runtime import stream
from policies.maths.speedup import (
    Speedup,
    amdahl,
    communication,
    mix,
    power,
    roofline,
    usable,
)
from sims.scenario.fields import (
    Unacceptable,
    countable,
    not_negative,
    positive,
    range_of_positives,
)
from sims.scenario.jobs.common import ListedJob
from sims.scenario.jobs.speedups import MoldableSpeedup


@frozen(kw_only=True)
class MoldableJob(ListedJob):
    """`[[job.jobs]]`: one moldable job."""

    kind: Literal["moldable"] = "moldable"
    """Default: that of [job]."""
    speedup: MoldableSpeedup
    """`{kind = "amdahl", work = 1000, fraction = 0.1}` and the like."""
    processors: int | None = field(default=None, validator=optional(positive))
    """How many it gets, always; default: as many as [policy] allots."""

    def __attrs_post_init__(self) -> None:
        profile, wanted = self.speedup.profile(), self.processors or 1
        most = usable(profile, wanted)
        if most < wanted:
            raise Unacceptable("processors", wanted, f"1 to {most}, for which it has times")


class Model(enum.Enum):
    """The six synthetic speedup models of moldable21, section 5.1."""

    ROOFLINE = "roofline"
    COMMUNICATION = "communication"
    AMDAHL = "amdahl"
    MIX_LOW_COM = "mix-low-com"
    MIX = "mix"
    POWER = "power"


@frozen(kw_only=True)
class SyntheticJobs:
    """`[job.synthetic]`: jobs drawn as in moldable21, section 5.1."""

    model: Model = Model.MIX
    """roofline, communication, amdahl, mix-low-com, mix or power."""
    count: int = field(default=500, validator=countable)
    """How many jobs."""
    work: tuple[float, float] = field(default=(5_000, 4_000_000), validator=range_of_positives)
    """w_j is uniform between these, in seconds on one processor."""
    seed: int = field(default=0, validator=not_negative)
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
