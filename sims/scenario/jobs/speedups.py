"""How execution times depend on workers: one table for moldable jobs (moldable21, section 5.1) and
malleable applications (malleable17, section 6.1)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from attrs import field, frozen
from attrs.validators import deep_iterable, optional
from numpy.typing import NDArray

from policies.maths.cosched import synthetic_times
from policies.maths.speedup import Profile, Table, amdahl, communication, mix, power, roofline
from sims.errors import InputError
from sims.scenario.fields import Unacceptable, not_empty, not_negative, positive, probability

Sizes = NDArray[np.float64]


@frozen(kw_only=True)
class Formula:
    """What every formula scales."""

    work: float | None = field(default=None, validator=optional(positive))
    """w: time on one worker; default, of malleable applications only: 2 m log2 m, m being the
    footprint."""

    def whole(self, footprint: float | None) -> float:
        """w. Raises InputError where there is none."""
        if self.work is not None:
            return self.work
        if footprint is None:
            raise InputError("scenario", "speedup.work", "missing", "the time on one worker")
        if footprint <= 1:
            problem = f"a footprint of {footprint!r} has no work"
            raise InputError("scenario", "job.footprints", problem, "more than 1 data unit")
        return 2 * footprint * math.log2(footprint)


@frozen(kw_only=True)
class Roofline(Formula):
    """`{kind = "roofline", work = 1000, degree = 16}`: w/p up to a degree of parallelism."""

    kind: Literal["roofline"] = "roofline"
    degree: int = field(validator=positive)
    """The most workers that help."""

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return roofline(self.whole(footprint), self.degree)


@frozen(kw_only=True)
class Communication(Formula):
    """`{kind = "communication", work = 1000, cost = 10}`: w/p + (p - 1) c."""

    kind: Literal["communication"] = "communication"
    cost: float = field(validator=not_negative)
    """c: time for each worker beyond the first."""

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return communication(self.whole(footprint), self.cost)


@frozen(kw_only=True)
class Amdahl(Formula):
    """`{kind = "amdahl", work = 1000, fraction = 0.1}`: w ((1 - gamma)/p + gamma)."""

    kind: Literal["amdahl"] = "amdahl"
    fraction: float = field(validator=probability)
    """gamma: the sequential fraction."""

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return amdahl(self.whole(footprint), self.fraction)


@frozen(kw_only=True)
class Mix(Formula):
    """`{kind = "mix", work = 1000, degree = 64, fraction = 0.1, cost = 10}`: the three above in
    one."""

    kind: Literal["mix"] = "mix"
    degree: int = field(validator=positive)
    """The most workers that help."""
    fraction: float = field(validator=probability)
    """gamma: the sequential fraction."""
    cost: float = field(validator=not_negative)
    """c: time for each worker beyond the first."""

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return mix(self.whole(footprint), self.degree, self.fraction, self.cost)


@frozen(kw_only=True)
class Power(Formula):
    """`{kind = "power", work = 1000, delta = 0.8}`: w / p^delta."""

    kind: Literal["power"] = "power"
    delta: float = field(validator=probability)
    """The exponent."""

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return power(self.whole(footprint), self.delta)


@frozen(kw_only=True)
class Times:
    """`{kind = "table", times = [10, 9, 6]}`: measured times."""

    kind: Literal["table"] = "table"
    times: tuple[float, ...] = field(validator=[not_empty, deep_iterable(positive)])
    """On 1, 2, 3, ... workers; the job never runs on more."""

    def __attrs_post_init__(self) -> None:
        areas = [count * time for count, time in enumerate(self.times, start=1)]
        if not math.isfinite(sum(areas)):
            raise Unacceptable("times", self.times, "times whose areas, p t(p), are finite")

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return Table(self.times)


@frozen(kw_only=True)
class Synthetic:
    """`{kind = "synthetic", fraction = 0.08}`: malleable17, equation 7, of an application's
    footprint."""

    kind: Literal["synthetic"] = "synthetic"
    fraction: float = field(default=0.08, validator=probability)
    """f: the fraction of the time that is sequential."""


MoldableSpeedup = Roofline | Communication | Amdahl | Mix | Power | Times
AnySpeedup = Synthetic | MoldableSpeedup


def durations(speedup: AnySpeedup, footprint: float, sizes: Sizes) -> Sizes:
    """t(p) of an application for each of `sizes`, or as many of them as its table lists. Raises
    InputError where it has no work."""
    if isinstance(speedup, Synthetic):
        return synthetic_times(footprint, speedup.fraction, sizes)
    if isinstance(speedup, Times):
        sizes = sizes[sizes <= len(speedup.times)]
    profile = speedup.profile(footprint)
    return np.array([profile.time(int(size)) for size in sizes])
