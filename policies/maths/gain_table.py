"""g(r, t) of a speed process, computed at a grid of times and interpolated in between."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import cache

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
    at = gain_at(process, sample, rng)

    @cache
    def ratio(copies: int, node: int) -> float:
        time = 2.0 ** (node / PER_OCTAVE)
        found: float = at(copies, time).value / time
        return min(max(found, 1.0), process.peak)

    def gain(copies: int, time: float) -> float:
        if copies == 1:
            return time
        place = math.log2(time) * PER_OCTAVE
        below = math.floor(place)
        low, high = ratio(copies, below), ratio(copies, below + 1)
        return time * (low + (high - low) * (place - below))

    return GainFunction(gain, process.peak)
