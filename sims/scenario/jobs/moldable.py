"""Moldable jobs: speedup profiles in TOML, and 000's synthetic sets (section 5.1)."""

from __future__ import annotations

import enum
from math import isfinite
from typing import Literal

from attrs import field, frozen
from attrs.validators import deep_iterable, optional
from numpy.random import Generator

from actors.runtime import stream
from policies.maths.speedup import (
    Profile,
    Speedup,
    Table,
    amdahl,
    communication,
    mix,
    power,
    roofline,
)
from sims.scenario.fields import (
    Unacceptable,
    countable,
    not_empty,
    not_negative,
    positive,
    probability,
    range_of_positives,
)
from sims.scenario.jobs.common import ListedJob


@frozen(kw_only=True)
class Roofline:
    """w/p up to a degree of parallelism."""

    kind: Literal["roofline"]
    work: float = field(validator=positive)
    """w: seconds on one processor."""
    degree: int = field(validator=positive)
    """The most processors that help."""

    def profile(self) -> Profile:
        """t(p)."""
        return roofline(self.work, self.degree)


@frozen(kw_only=True)
class Communication:
    """w/p + (p - 1) c."""

    kind: Literal["communication"]
    work: float = field(validator=positive)
    """w: seconds on one processor."""
    cost: float = field(validator=not_negative)
    """c: seconds per processor beyond the first."""

    def profile(self) -> Profile:
        """t(p)."""
        return communication(self.work, self.cost)


@frozen(kw_only=True)
class Amdahl:
    """w ((1 - gamma)/p + gamma)."""

    kind: Literal["amdahl"]
    work: float = field(validator=positive)
    """w: seconds on one processor."""
    fraction: float = field(validator=probability)
    """gamma: the sequential fraction."""

    def profile(self) -> Profile:
        """t(p)."""
        return amdahl(self.work, self.fraction)


@frozen(kw_only=True)
class Mix:
    """The three above in one."""

    kind: Literal["mix"]
    work: float = field(validator=positive)
    """w: seconds on one processor."""
    degree: int = field(validator=positive)
    """The most processors that help."""
    fraction: float = field(validator=probability)
    """gamma: the sequential fraction."""
    cost: float = field(validator=not_negative)
    """c: seconds per processor beyond the first."""

    def profile(self) -> Profile:
        """t(p)."""
        return mix(self.work, self.degree, self.fraction, self.cost)


@frozen(kw_only=True)
class Power:
    """w / p^delta."""

    kind: Literal["power"]
    work: float = field(validator=positive)
    """w: seconds on one processor."""
    delta: float = field(validator=probability)
    """The exponent."""

    def profile(self) -> Profile:
        """t(p)."""
        return power(self.work, self.delta)


@frozen(kw_only=True)
class Times:
    """An arbitrary profile."""

    kind: Literal["table"]
    times: tuple[float, ...] = field(validator=[not_empty, deep_iterable(positive)])
    """Seconds on 1, 2, 3, ... processors; the job never runs on more."""

    def __attrs_post_init__(self) -> None:
        areas = [count * time for count, time in enumerate(self.times, start=1)]
        if not isfinite(sum(areas)):
            raise Unacceptable("times", self.times, "times whose areas, p t(p), are finite")

    def profile(self) -> Profile:
        """t(p)."""
        return Table(self.times)


@frozen(kw_only=True)
class MoldableJob(ListedJob):
    """`[[job.jobs]]`: one moldable job."""

    kind: Literal["moldable"] = "moldable"
    """Default: that of [job]."""
    speedup: Roofline | Communication | Amdahl | Mix | Power | Times
    """`{kind = "amdahl", work = 1000, fraction = 0.1}` and the like."""
    processors: int | None = field(default=None, validator=optional(positive))
    """How many it gets, always; default: as many as [policy] allots."""


class Model(enum.Enum):
    """The six synthetic speedup models of 000, section 5.1."""

    ROOFLINE = "roofline"
    COMMUNICATION = "communication"
    AMDAHL = "amdahl"
    MIX_LOW_COM = "mix-low-com"
    MIX = "mix"
    POWER = "power"


@frozen(kw_only=True)
class SyntheticJobs:
    """`[job.synthetic]`: jobs drawn as in 000, section 5.1."""

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
