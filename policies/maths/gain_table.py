"""g(r, t) of a speed process, computed at a grid of times and interpolated in between."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import cache, lru_cache

from attrs import frozen
from numpy.random import PCG64, Generator, SeedSequence

from policies.maths.gains import (
    ConstantGain,
    Gain,
    GainEstimate,
    GainFunction,
    SimulatedService,
    two_state_gain,
)
from policies.maths.speeds import ConstantSpeed, OnOff, SpeedProcess, TwoPoint

PER_OCTAVE = 4
"""Grid times per doubling. g(r, t)/t is smooth in log t: for the two-point speeds of redundancy17's
study the interpolation errs by less than 1e-3 relative."""

GainAt = Callable[[int, float], GainEstimate]
"""g(r, t) with its error."""


def gain_at(process: SpeedProcess, sample: int, rng: Generator) -> GainAt:
    """g(r, t) of `process`: integrated for two-state speeds, otherwise simulated with `sample`
    servers per time (and the error that this leaves)."""
    if isinstance(process, ConstantSpeed):
        return lambda copies, time: GainEstimate(time, 0.0)
    if isinstance(process, TwoPoint | OnOff):
        return lambda copies, time: two_state_gain(copies, time, process)
    seed = int(rng.integers(2**63))

    @cache
    def service(time: float) -> SimulatedService:
        # A generator for each time: what is asked first must not change the answer.
        key = SeedSequence([seed, int.from_bytes(struct.pack("<d", time), "little")])
        return SimulatedService.of(process, time, sample, Generator(PCG64(key)))

    return lambda copies, time: service(time).gain(copies)


def tabulated_gain(process: SpeedProcess, sample: int, rng: Generator) -> Gain:
    """g(r, t) for the mean semantics: `gain_at` on a grid, g/t linear in log t between.

    g(1, t) = t exactly, and t <= g(r, t) <= peak t (redundancy17, Lemma 2) whatever the error.
    """
    if isinstance(process, ConstantSpeed):
        return ConstantGain()
    table = _Table(gain_at(process, sample, rng), process.peak)
    return GainFunction(table, process.peak)


@frozen
class _Table:
    """Callable g(r, t)."""

    at: GainAt
    peak: float

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "at", lru_cache(maxsize=None)(self.at))

    def __call__(self, copies: int, time: float) -> float:
        if copies == 1:
            return time
        place = math.log2(time) * PER_OCTAVE
        below = math.floor(place)
        low, high = (self._ratio(copies, node) for node in (below, below + 1))
        return time * (low + (high - low) * (place - below))

    def _ratio(self, copies: int, node: int) -> float:
        time = 2.0 ** (node / PER_OCTAVE)
        ratio: float = self.at(copies, time).value / time
        return min(max(ratio, 1.0), self.peak)
