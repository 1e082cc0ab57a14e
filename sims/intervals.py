"""Estimate how sure a mean is: the one place where the method of an interval is chosen.

Every estimate is the mean of a sample: of values, of paired differences or, for a ratio of means,
of its jackknife pseudo-values (Tukey 1958). The jackknife takes the place of the delta method
because of samples that one pair dominates: the delta method sets that pair's residual to about
zero, so that its interval is narrowest where least is known.

One idea serves all of them: **what a sample of n has not shown may still have a probability of
about 3/n** (the rule of three), and an interval has to allow for what it would do if it came. The
bound of Gaffke (2005; Phan, Thomas and Learned-Miller 2021) says this exactly. It adds one value
that did not come to the sample, on either side, gives all of them weights that are uniform among
those that sum to 1 (Dirichlet), and takes the quantiles of the weighted mean. The weight of the
added value is below 3/n with probability 95 %. For a proportion this is the exact interval of
Clopper and Pearson (1934). How far the added value lies:

- Where values count events, such as late jobs, the least and the largest number are known.
- Otherwise it lies beyond the sample's end by as much as the sample is skewed to that side (less in
  larger samples), and no nearer to the middle than the typical size of what changes a run
  (`typical`), on both sides. A pair of equal seeds that does not go together differs by as much as
  the values themselves do. Where faults can strike (`Known.struck`), or where differences are
  tied, that is the size: differences of 0 or 10 s, of runs that vary by 700 s because of faults,
  are not known to a second after 30 pairs.
- Where faults can strike, and hardly any run was struck (`Known.reach`), it is what a fault does.

The interval reaches at least as far as Student's t, which is right for few normal observations.
`python -m tests.coverage` measures how often the intervals cover; the site's page on comparing has
its figures.

Where nothing can be said, the interval has no ends:

- Equal values, or values of which fewer than `FEW` differ from all others, say nothing of what may
  come, unless it is known (counts, faults) or the run draws nothing at random (`Known.exact`).
- Only observations with information count. A pair of zeros (no job waited under either policy) says
  nothing of a ratio.
- Blocks of one log need `FEWEST_BLOCKS`: n blocks that differ in no way agree on a direction with
  probability 2^(1-n), which is below 5 % from n = 6 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import exp, inf, isfinite, log, nan, sqrt
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from policies.maths.tolerance import ROUNDING
from sims.blocks import independent, widening

LEVEL = 0.95
"""Confidence level at which intervals and verdicts hold."""
FEW = 3
"""Number of values that have to differ from the one that more than half of a sample have. With one
or two, their size is luck: of samples of 30, nine tenths of them equal, intervals at 99 % cover in
96 %, and in 99.5 % where at least three differ."""
FEWEST_BLOCKS = 6
"""Number of blocks with information that a verdict needs (see above)."""
BEYOND, FARTHEST = 20.0, 3.0
"""How far the value that did not come lies beyond a skewed sample's end: BEYOND times the skewness
over the number of observations, and at most FARTHEST, in distances of that end from the mean. Of
log-normal samples of 10 to 100 (coefficient of variation 2.9), half of it covers 1.5 % less often,
and twice as much makes intervals of 30 observations a fifth wider."""
LEAST, MOST, STEPS = -60.0, 12.0, 80
"""Range of the logarithm in which a quantile is searched, and the largest number of steps."""
TINY, CLOSE = 1e-30, 1e-9
"""Least square of a distance from the saddle point, and the error at which its search ends."""

Sample = tuple[float, ...]
Values = NDArray[np.float64]
"""A sample in numpy's form."""


@frozen
class Known:
    """Knowledge of a measure of runs beside the values in a sample, such as its bounds."""

    low: float = -inf
    """Least possible value; an interval does not reach below it."""
    high: float = inf
    """Largest possible value."""
    counts: bool = False
    """Whether values count events, so that `low` and `high` themselves may come at any time."""
    reach: float = 0.0
    """Least distance from the middle of the sample at which a value that did not come may lie, such
    as what a fault does to a run; 0 where only the sample tells."""
    side: int = 0
    """Side of the middle on which it lies: 1 above, -1 below, 0 either, as of differences."""
    struck: bool = False
    """Whether faults strike some runs, so that a pair may differ by as much as its values do,
    although none did so far."""
    serial: bool = False
    """Whether observations are blocks in order of time, whose neighbours may go together."""
    exact: bool = False
    """Whether runs draw nothing at random, so that a value is what it is in every run."""

    def joined(self, other: Known) -> Known:
        """Return what is known of both of two variants."""
        return Known(
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            counts=self.counts and other.counts,
            reach=max(self.reach, other.reach),
            side=self.side if self.side == other.side else 0,
            struck=self.struck or other.struck,
            serial=self.serial or other.serial,
            exact=self.exact and other.exact,
        )

    @property
    def of_differences(self) -> Known:
        """Return the knowledge of the differences of two such values."""
        width = self.high - self.low if isfinite(self.low) else inf
        return evolve(self, low=-width, high=width, side=0)

    @property
    def of_ratios(self) -> Known:
        """Knowledge of the ratios of two such values; their reach is that of the means."""
        low = 0.0 if self.low >= 0 else -inf
        return Known(low=low, serial=self.serial, exact=self.exact)


ANYTHING = Known()
"""Nothing is known of values but the sample."""


def interval(sample: Sample, level: float, known: Known = ANYTHING) -> tuple[float, float]:
    """Return the two ends of the confidence interval of the mean of independent observations, at
    the confidence level `level` (0.95, say).

    The interval is a point where the value is `known` to be exact. It is unbounded for a single
    observation, and where equal ones do not tell what may come.
    """
    values = np.array(sample)
    if not speaks(values, known):
        return -inf, inf
    if known.exact and _constant(values):
        return sample[0], sample[0]
    if known.counts:
        return _counted(values, level, known)
    from scipy.special import stdtrit

    count, mean, middle = len(values), float(values.mean()), _middle(values)
    farthest = float(np.abs(values - mean).max())
    apart = (values - mean) / (farthest or 1.0)  # powers of tiny numbers would be 0
    square = float(apart @ apart) / count
    # Skewness, as scipy.stats.skew has it, whose import takes longer than most comparisons.
    skewness = float(apart**2 @ apart) / count / square**1.5 if square > 0 else 0.0
    half = float(stdtrit(count - 1, 0.5 + level / 2)) * sqrt(square / (count - 1)) * farthest
    # The probability of what n values do not show is -ln(1 - level) / n: 3/n for a level of 95 %.
    rarer, size, arms = max(1.0, -log(1 - level) / 3), typical(values), []
    for sign in (-1, 1):
        last = float((sign * values).max())
        beyond = rarer * min(BEYOND * max(sign * skewness, 0.0) / count, FARTHEST)
        reach = size if sign == -known.side else max(known.reach, size)
        arms.append(max(last + beyond * (last - sign * mean) - sign * middle, reach))
    if not known.side:  # what came on one side may come on the other
        arms = [max(arms)] * 2
    low, high = (
        sign
        * max(
            _quantile(np.append(sign * values, sign * middle + arm), 0.5 + level / 2),
            sign * mean + half,
        )
        for sign, arm in zip((-1, 1), arms, strict=True)
    )
    wider = widening(values) if known.serial else 1.0
    low, high = mean - wider * (mean - low), mean + wider * (high - mean)
    return max(low, known.low), min(high, known.high)


def speaks(values: Values, known: Known = ANYTHING) -> bool:
    """Return whether there is an interval of the mean of independent observations."""
    if known.exact and _constant(values):
        return True
    return len(values) > 1 and (known.counts or known.reach > 0 or differing(values) >= FEW)


def _constant(values: Values) -> bool:
    """Return whether all observations of a sample are the same but for rounding."""
    return float(np.ptp(values)) <= ROUNDING * float(np.abs(values).max())


def differing(values: Values) -> float:
    """Return how many values differ from the one that more than half of the sample have; inf where
    no value is so frequent."""
    middle = _middle(values)
    other = np.abs(values - middle) > ROUNDING * abs(middle)
    count = int(other.sum())
    return count if 2 * count < len(values) else inf


def _middle(values: Values) -> float:
    """Return the median, which numpy's own function takes ten times as long to find in a few
    values."""
    half, ordered = len(values) // 2, np.sort(values)
    return float(ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def typical(values: Values) -> float:
    """Return the typical size of what changes a run: the mean distance of values from their middle,
    each weighted by itself; 0 where all are the same.

    Where one run in ten takes 800 s longer, it is 800 s, as it is for one in a hundred; of normal
    values it is 1.25 standard deviations.
    """
    if not len(values):
        return 0.0
    apart = np.abs(values - _middle(values))
    total = float(apart.sum())
    return float(np.square(apart).sum()) / total if total > 0 else 0.0


def _counted(values: Values, level: float, known: Known) -> tuple[float, float]:
    """Return the interval of the mean of numbers of events, each of which may be as few as
    `known.low` and as many as `known.high`; of Clopper and Pearson where there is no other number.

    Where all are as few as can be, that end is certain, and the other gets the whole error: 30
    zeros allow for 1 - 0.05^(1/30) = 9.5 %.
    """
    from scipy.special import betaincinv

    count, width = len(values), known.high - known.low
    ends = []
    for sign, certain, possible in ((-1, known.high, known.low), (1, known.low, known.high)):
        own = (1 + level) / 2 if (values != certain).any() else level
        if (values == possible).all():
            ends.append(possible)
        elif np.isin(values, (known.low, known.high)).all():
            there = int((values == possible).sum())
            part = float(betaincinv(there + 1, count - there, own))
            ends.append(certain + sign * width * part)
        else:
            ends.append(sign * _quantile(np.append(sign * values, sign * possible), own))
    return float(ends[0]), float(ends[1])


def _quantile(values: Values, level: float) -> float:
    """Return the quantile `level`, above one half, of the weighted mean of `values` whose weights
    are uniform among all that sum to 1.

    With independent exponential weights E, the mean is below t where the sum of E (value - t) is
    below 0. The probability of that is approximated at its saddle point (Lugannani and Rice 1980,
    in the form of Barndorff-Nielsen's r*): it is within 0.5 % of the exact quantile of a
    proportion. With s = t + 1 / saddle point, t is s less the harmonic mean of the distances of
    values from s, so that one looks for s beyond the largest value, on a logarithmic scale.
    """
    from scipy.special import ndtri

    count, top, wanted = len(values), float(values.max()), float(ndtri(level))
    gaps = top - values
    width = float(gaps.max())
    if not width:
        return top
    low, high, (last, error) = LEAST, MOST, (MOST, -wanted)
    at = 0.0
    for _ in range(STEPS):
        parts = 1 / (width * exp(at) + gaps)
        harmonic = count / float(parts.sum())
        parts *= harmonic
        w = sqrt(max(-2 * float(np.log(parts).sum()), TINY))
        u = sqrt(max(float(parts @ parts) - count, TINY))
        now = w + log(u / w) / w - wanted
        if abs(now) < CLOSE or high - low < CLOSE:
            break
        low, high = (at, high) if now > 0 else (low, at)
        step = now * (at - last) / (now - error) if now != error else inf
        last, error, at = at, now, at - step
        if not low < at < high:
            at = (low + high) / 2
    return top + width * exp(at) - harmonic


# --- estimates --------------------------------------------------------------------------------


@frozen(slots=False)
class Estimate:
    """A mean, or a ratio of means, with its confidence interval."""

    mean: float
    low: float
    high: float
    size: int
    """Number of observations."""

    @property
    def half(self) -> float:
        """Half-width of the interval, on its wider side if it is not symmetric."""
        return max(self.mean - self.low, self.high - self.mean)

    @property
    def bounded(self) -> bool:
        """Whether there is an interval: it has two ends at some level, and so at each."""
        return bool(self.size) and isfinite(self.half)

    @property
    def independent(self) -> float:
        """Number of independent observations that show as much: fewer than `size` where they are
        blocks whose neighbours go together."""
        return self.size

    @property
    def unbounded(self) -> Estimate:
        """Estimate with the same mean and an interval without ends, where none can be trusted."""
        return Estimate(self.mean, -inf, inf, self.size)

    def at(self, level: float) -> Estimate:
        """Return the estimate with its interval at another confidence level; without a known
        sample, return the estimate as it is."""
        return self


class Sampled(Estimate):
    """An estimate from a sample, whose interval is computed when it is first read: it takes longer
    than a mean, and of many estimates only the mean is read."""

    _of: tuple[Sample, float, Known]
    """Sample, level of the interval, and what is known beside the sample."""

    def __init__(self, mean: float, sample: Sample, level: float, known: Known) -> None:
        self.__dict__.update(mean=mean, size=len(sample), _of=(sample, level, known))

    @cached_property
    def _ends(self) -> tuple[float, float]:
        low, high = interval(*self._of)
        if low == high:  # rounding may have moved the bounds of a ratio
            return self.mean, self.mean
        return min(low, self.mean), max(high, self.mean)

    @property
    def bounded(self) -> bool:
        sample, _, known = self._of
        return speaks(np.array(sample), known)

    @property
    def independent(self) -> float:
        sample, _, known = self._of
        return independent(np.array(sample)) if known.serial else self.size

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._ends[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._ends[1]

    def at(self, level: float) -> Estimate:
        sample, _, known = self._of
        return Sampled(self.mean, sample, level, known)


NONE = Estimate(nan, nan, nan, 0)


def mean_of(values: Sequence[float], level: float, known: Known = ANYTHING) -> Estimate:
    """Return the mean of independent observations with its interval at the confidence level
    `level`.

    `known` says what is known of them beside their values. Without observations the mean is nan and
    its size 0.
    """
    return Sampled(float(np.mean(values)), tuple(values), level, known) if values else NONE


def ratio_of(
    values: Sequence[float],
    base: Sequence[float],
    level: float,
    informed: Sequence[bool] | None = None,
    known: Known = ANYTHING,
) -> Estimate | None:
    """Return mean(values) / mean(base) with its interval at the confidence level `level`; None
    where there is no pair or the base's mean is 0 or less.

    values[k] and base[k] are a pair, such as of one seed. `informed` marks the pairs that have
    information (default: those that are not both 0); the others change neither the ratio nor its
    interval. `known` says what is known of both beside their values. A mean of the pairs' ratios
    would call each of two equally good, noisy policies the worse one.
    """
    ours, theirs = np.array(values, float), np.array(base, float)
    if not len(theirs) or not theirs.mean() > 0:
        return None
    ratio = float(ours.mean() / theirs.mean())
    some = (ours != 0) | (theirs != 0) if informed is None else np.array(informed, bool)
    rest, size = _others(theirs)[some], int(some.sum())
    if known.exact and size and _constant(ours) and _constant(theirs):
        return Estimate(ratio, ratio, ratio, size)
    if not size or size < 2 or not (rest > 0).all():
        # If the sum of the others is 0, there is no ratio.
        return Estimate(ratio, -inf, inf, size)
    without = _others(ours)[some] / rest
    pseudo = ratio + (size - 1) * (without.mean() - without)
    reach = _apart(ours[some], theirs[some], pseudo, known) / float(theirs[some].mean())
    return Sampled(ratio, tuple(pseudo.tolist()), level, evolve(known.of_ratios, reach=reach))


def _others(values: Any) -> Any:
    """Return, for each value, the sum of all other values.

    The total less the value would lose small values beside a large one to rounding.
    """
    before, after = np.cumsum(values), np.cumsum(values[::-1])[::-1]
    return np.append(0.0, before[:-1]) + np.append(after[1:], 0.0)


def _apart(values: Values, base: Values, effects: Values, known: Known) -> float:
    """Return by how much the values of a pair may differ, although none of the `effects` shows it;
    0 where these are no sign that it may be more.

    It is what a fault does and, where faults strike or half of the effects are alike, the typical
    size of what changes a run.
    """
    apart = np.diff(np.sort(effects)) > ROUNDING * np.abs(effects).max(initial=0)
    tied = 2 * (1 + int(apart.sum())) <= len(effects) or differing(effects) < inf
    if known.struck or tied:
        return max(known.reach, typical(values), typical(base))
    return known.reach


def difference_of(
    values: Sequence[float], base: Sequence[float], level: float, known: Known = ANYTHING
) -> Estimate | None:
    """Return mean(values) - mean(base) with its interval at the confidence level `level`; None if
    there is no pair.

    values[k] and base[k] are a pair, such as of one seed. `known` says what is known of both beside
    their values. Raises ValueError where the lengths differ.
    """
    gains = [ours - theirs for ours, theirs in zip(values, base, strict=True)]
    if not gains:
        return None
    reach = _apart(np.array(values), np.array(base), np.array(gains), known)
    return mean_of(gains, level, evolve(known.of_differences, reach=reach))
