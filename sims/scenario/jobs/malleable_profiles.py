"""Speedup models of malleable applications, as a scenario file names them (003, section 6.1)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from attrs import field, frozen
from attrs.validators import deep_iterable
from numpy.typing import NDArray

from policies.maths import speedup
from policies.maths.cosched import synthetic_times
from sims.errors import InputError
from sims.scenario.fields import not_negative, positive, probability

Sizes = NDArray[np.float64]


def _sequential_time(footprint: float) -> float:
    """t(m, 1) = 2 m log2 m, in s: the synthetic application's work (003, section 6.1). Raises
    InputError where that is none."""
    if footprint <= 1:
        problem = f"a footprint of {footprint!r} has no work"
        raise InputError("scenario", "job.footprints", problem, "more than 1 data unit")
    return 2 * footprint * math.log2(footprint)


def _times(profile: speedup.Profile, sizes: Sizes) -> Sizes:
    return np.array([profile.time(int(size)) for size in sizes])


@frozen(kw_only=True)
class Synthetic:
    """`{kind = "synthetic", sequential = 0.08}`: eq. 7."""

    kind: Literal["synthetic"] = "synthetic"
    sequential: float = field(default=0.08, validator=probability)
    """f: the fraction of the time that is sequential."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes`."""
        return synthetic_times(footprint, self.sequential, sizes)


@frozen(kw_only=True)
class SyntheticAmdahl:
    """`{kind = "amdahl", sequential = 0.1}`: no communication; t(1) = 2 m log2 m."""

    kind: Literal["amdahl"]
    sequential: float = field(validator=probability)
    """gamma: the sequential fraction."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes`."""
        return _times(speedup.amdahl(_sequential_time(footprint), self.sequential), sizes)


@frozen(kw_only=True)
class SyntheticRoofline:
    """`{kind = "roofline", degree = 16}`: linear up to so many processors; t(1) = 2 m log2 m."""

    kind: Literal["roofline"]
    degree: int = field(validator=positive)
    """Processors beyond which more do not help."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes`."""
        return _times(speedup.roofline(_sequential_time(footprint), self.degree), sizes)


@frozen(kw_only=True)
class SyntheticCommunication:
    """`{kind = "communication", cost = 10}`: w/p + (p - 1) cost; w = 2 m log2 m."""

    kind: Literal["communication"]
    cost: float = field(validator=not_negative)
    """s for each processor beyond the first."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes`."""
        return _times(speedup.communication(_sequential_time(footprint), self.cost), sizes)


@frozen(kw_only=True)
class SyntheticMix:
    """`{kind = "mix", degree = 64, sequential = 0.1, cost = 10}`: the three above in one."""

    kind: Literal["mix"]
    degree: int = field(validator=positive)
    """Processors beyond which more do not help."""
    sequential: float = field(validator=probability)
    """gamma: the sequential fraction."""
    cost: float = field(validator=not_negative)
    """s for each processor beyond the first."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes`."""
        work = _sequential_time(footprint)
        return _times(speedup.mix(work, self.degree, self.sequential, self.cost), sizes)


@frozen(kw_only=True)
class SyntheticPower:
    """`{kind = "power", exponent = 0.8}`: t(1) / p^exponent; t(1) = 2 m log2 m."""

    kind: Literal["power"]
    exponent: float = field(validator=probability)
    """delta."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes`."""
        return _times(speedup.power(_sequential_time(footprint), self.exponent), sizes)


@frozen(kw_only=True)
class Tables:
    """`{kind = "table", times = [[10, 9, 6], [6, 3]]}`: measured times, per application."""

    kind: Literal["table"]
    times: tuple[tuple[float, ...], ...] = field(validator=deep_iterable(deep_iterable(positive)))
    """s on 1, 2, 3... processors; no application is given more than it lists."""

    def durations(self, index: int, footprint: float, sizes: Sizes) -> Sizes:
        """t_ij in s for each of `sizes` that application `index` lists. Raises InputError where it
        lists nothing."""
        if index >= len(self.times):
            problem = f"{len(self.times)} tables: none for application {index + 1}"
            raise InputError("scenario", "job.profile.times", problem, "one for each application")
        table = speedup.Table(self.times[index])
        return _times(table, sizes[sizes <= len(table.times)])


Profile = (
    Synthetic
    | SyntheticAmdahl
    | SyntheticRoofline
    | SyntheticCommunication
    | SyntheticMix
    | SyntheticPower
    | Tables
)
