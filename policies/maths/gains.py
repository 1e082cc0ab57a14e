"""Computes g(r, t) = E[max over r servers of the service in time t]: Assumption 2 of redundancy17
and its lemmas; exact, or computed at a grid of times and interpolated in between.

scipy's integrals and laws are imported where they are used, because every scenario file is read
with this module's classes and the imports take a second and a half.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Protocol

import numpy as np
from attrs import field, frozen
from attrs.validators import gt
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from policies.maths.speeds import ConstantSpeed, OnOff, SpeedProcess, TwoPoint
from policies.maths.tolerance import SAME

NEGLIGIBLE = 1e-13
"""Probability at which the number of redraws in an interval is cut off."""


class Gain(Protocol):
    """The mean service g(r, t) of a job with r copies in the time t since a decision epoch: the
    expected maximum over r machines (redundancy17, eq. 1)."""

    def work(self, copies: int, time: float) -> float:
        """Return g(r, t), the mean work of `copies` copies after `time` time units; it is 0 at time
        0 and rises with `time`."""

    def time(self, copies: int, work: float) -> float:
        """Return the time, in time units, after which the mean work g(r, t) of `copies` copies is
        `work`."""


@frozen
class ConstantGain:
    """The mean service g(r, t) at a constant speed of 1: g = t for any number r of copies."""

    def work(self, copies: int, time: float) -> float:
        return time

    def time(self, copies: int, work: float) -> float:
        return work


@frozen
class FrozenTwoPoint:
    """The mean service g(r, t) where each server's speed is `peak` (with probability 1/peak) or 0,
    and never changes between two decision epochs (arrivals and departures of jobs).

    g = peak (1 - (1 - 1/peak)^r) t is the largest gain that redundancy can have at this peak.
    """

    peak: float = field(default=4.0, validator=gt(1))
    """Peak rate Delta; a whole or rational number keeps exact runs exact."""

    def work(self, copies: int, time: float) -> float:
        return self._speed(copies) * time

    def time(self, copies: int, work: float) -> float:
        return work / self._speed(copies)

    def _speed(self, copies: int) -> float:
        return self.peak * (1 - (1 - 1 / self.peak) ** copies)


@frozen
class GainFunction:
    """The mean service given as `function`, (copies r, time t) -> g(r, t), which rises with time.
    The time for an amount of work is found numerically (to 1e-14 relative).

    Every g(r, t) must lie between t = g(1, t), as the mean speed is 1, and peak x t.
    """

    function: Callable[[int, float], float]
    peak: float
    cached: Callable[[int, float], float] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "cached", lru_cache(maxsize=1 << 16)(self.function))

    def work(self, copies: int, time: float) -> float:
        return self.cached(copies, time) if time > 0 else 0.0

    def time(self, copies: int, work: float) -> float:
        if work <= 0:
            return 0.0
        from scipy.optimize import brentq

        # Slightly more than [work / peak, work], so that the sign changes within it despite
        # rounding.
        low, high = work / self.peak * (1 - SAME), work * (1 + SAME)
        found: float = brentq(
            lambda t: self.function(copies, t) - work, low, high, xtol=1e-300, rtol=1e-14
        )
        return found


@frozen
class GainEstimate:
    """An estimate of a mean service g(r, t), with its error."""

    value: float
    error: float
    """Standard error where the value was simulated, an error bound where it was integrated; same
    unit."""


def two_state_gain(copies: int, time: float, process: TwoPoint | OnOff) -> GainEstimate:
    """Return the mean service g(r, t) of r = `copies` copies in the time t = `time` under a
    two-speed process, by numerical integration of E[max] = integral of 1 - F^r.

    F is the distribution of one server's share of time at the peak. The number of redraws in t is
    Poisson; n redraws cut t into n + 1 intervals of Dirichlet lengths, and if k of them are at the
    peak, their share of t is Beta(k, n + 1 - k).
    """
    from scipy.integrate import quad

    low, high, p, rate = _two_state(process)
    law = _Occupation(rate * time, p)
    value, error = quad(
        lambda share: 1 - law.cdf(share) ** copies, 0, 1, epsabs=1e-11, epsrel=1e-9, limit=200
    )
    # The service is low t + (high - low) t share, so only the share's maximum is integrated.
    scale = (high - low) * time
    return GainEstimate(low * time + scale * value, scale * (error + copies * NEGLIGIBLE))


class _Occupation:
    """Distribution of the share of a time interval that one server spends at its high speed, where
    the speed is redrawn a Poisson number of times, `redraws` on average, and is high with
    probability `p`."""

    def __init__(self, redraws: float, p: float) -> None:
        from scipy.stats import binom, poisson

        most = int(poisson.isf(NEGLIGIBLE, redraws)) + 2
        n = np.arange(most)
        intervals, peaks = np.meshgrid(n + 1, np.arange(most + 1), indexing="ij")
        weights = poisson.pmf(n, redraws)[:, None] * binom.pmf(peaks, intervals, p)
        inside = (peaks > 0) & (peaks < intervals) & (weights > NEGLIGIBLE / most)
        self._never = float(weights[:, 0].sum())
        self._weights = weights[inside]
        self._peaks, self._rest = peaks[inside], (intervals - peaks)[inside]

    def cdf(self, share: float) -> float:
        """Return P(share of time <= `share`), for 0 <= `share` < 1."""
        from scipy.special import betainc

        inside = float(self._weights @ betainc(self._peaks, self._rest, share))
        return min(1.0, self._never + inside)


def _two_state(process: TwoPoint | OnOff) -> tuple[float, float, float, float]:
    """Return (low speed, high speed, probability of the high one, rate of redraws) of a process.

    An on/off chain is a two-point process that is redrawn at the sum of the rates of its two
    changes.
    """
    if isinstance(process, TwoPoint):
        return process.low, process.peak, process.probability, 1 / process.interval
    return 0.0, process.peak, 1 / process.peak, 1 / process.on + 1 / process.off


@frozen
class SimulatedService:
    """The service that each of a sample of independent servers gave in (0, t], from which g(r, t)
    is estimated for every r."""

    samples: NDArray[np.float64]

    @classmethod
    def of(
        cls, process: SpeedProcess, time: float, servers: int, rng: Generator
    ) -> SimulatedService:
        """Simulate `servers` independent paths of `process` until `time`, and keep the service of
        each."""
        paths = (service_until(process, time, rng) for _ in range(servers))
        return cls(np.fromiter(paths, dtype=float, count=servers))

    def gain(self, copies: int) -> GainEstimate:
        """Return an estimate of g(r, t), the mean service of r = `copies` copies: the mean of the
        maximum over all subsets of r simulated servers.

        Its standard error is that among up to 20 parts of the sample. Raises ValueError unless
        `copies` is from 1 to half of the sample.
        """
        n = len(self.samples)
        if not 1 <= copies <= n // 2:
            raise ValueError(f"{copies} copies cannot be estimated from {n} servers.")
        # Each part has at least `copies` samples, or its maximum would not be defined.
        parts = np.array_split(self.samples, min(20, n // copies))
        error = float(np.std([_mean_maximum(part, copies) for part in parts], ddof=1))
        return GainEstimate(_mean_maximum(self.samples, copies), error / math.sqrt(len(parts)))


def service_until(process: SpeedProcess, time: float, rng: Generator) -> float:
    """Draw one server's path of speeds and return its service S(0, t], the work that it does until
    `time`."""
    total, since, speed = 0.0, 0.0, 0.0
    for change, following in process.path(rng):
        if change >= time:
            break
        total += speed * (change - since)
        since, speed = change, following
    return total + speed * (time - since)


def _mean_maximum(samples: NDArray[np.float64], copies: int) -> float:
    return float(_largest_of(len(samples), copies) @ np.sort(samples))


def _largest_of(n: int, copies: int) -> NDArray[np.float64]:
    """Return the weight of each of n values, sorted ascending, in the mean of the largest of
    `copies` values drawn from them without replacement: C(k - 1, r - 1) / C(n, r) for the k-th."""
    from scipy.special import gammaln

    k = np.arange(1, n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = gammaln(k) - gammaln(copies) - gammaln(k - copies + 1)
    logs -= gammaln(n + 1) - gammaln(copies + 1) - gammaln(n - copies + 1)
    weights = np.where(k >= copies, np.exp(logs), 0.0)
    # They sum to 1 but for the rounding of gammaln, which grows with n.
    return np.asarray(weights / weights.sum())


PER_OCTAVE = 4
"""Number of grid times per doubling. g(r, t)/t is smooth in log t: for the two-point speeds of
redundancy17's study the interpolation errs by less than 1e-3 relative."""

GainAt = Callable[[int, float], GainEstimate]
"""Function that returns g(r, t) with its error."""


def gain_at(process: SpeedProcess, sample: int, rng: Generator) -> GainAt:
    """Return the function (copies, time) -> estimate of g(r, t), the mean service under `process`.

    It is exact at constant speed, integrated for two-state speeds, and otherwise simulated afresh
    for each time with `sample` servers; the estimate's error tells what this leaves. The results do
    not depend on the order of the calls.
    """
    if isinstance(process, ConstantSpeed):
        return lambda copies, time: GainEstimate(time, 0.0)
    if isinstance(process, TwoPoint | OnOff):
        return lambda copies, time: two_state_gain(copies, time, process)
    seed = int(rng.integers(2**63))

    @cache
    def service(time: float) -> SimulatedService:
        # A generator for each time: the order of the calls must not change the results.
        key = SeedSequence([seed, int.from_bytes(struct.pack("<d", time), "little")])
        return SimulatedService.of(process, time, sample, Generator(PCG64(key)))

    return lambda copies, time: service(time).gain(copies)


def tabulated_gain(process: SpeedProcess, sample: int, rng: Generator) -> Gain:
    """Return the mean service g(r, t) of `process`, computed by `gain_at` at four times per
    doubling when first needed, with g/t interpolated linearly in log t between these.

    g(1, t) = t exactly, and t <= g(r, t) <= peak t (redundancy17, Lemma 2) whatever the error.
    `sample` is the number of servers simulated for each time, and `rng` their randomness.
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
