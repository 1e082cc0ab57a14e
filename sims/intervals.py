"""Estimate how sure a mean is: the one place where the method of an interval is chosen.

Every estimate is the mean of a sample: of values, of paired differences or, for a ratio of means,
of its jackknife pseudo-values (Tukey 1958). For independent observations the interval is Student's
t; where they are skewed, it is the bias-corrected and accelerated bootstrap (BCa: Efron 1987). Both
are scipy's.

The jackknife takes the place of the delta method because of samples that one pair dominates. The
delta method sets that pair's residual to about zero, so that its interval is narrowest where least
is known: of 11 log-normal pairs with a coefficient of variation of 3, whose ratios vary by 0.3, its
95 % intervals cover the ratio in 78 % of samples, the jackknife's in 88 %.

How many observations an interval needs:

- Two runs with seeds of their own are independent by construction, and Student's t is exact for two
  normal observations: its width says how little they show.
- Blocks of one log are neither independent nor normal. `FEWEST_BLOCKS` is what the sign test needs:
  n blocks that differ in no way agree on a direction with probability 2^(1-n), which is below 5 %
  from n = 6 on. With fewer, a verdict would rest on the shape of the t distribution alone.
- Only observations with information count. A pair of zeros (no job waited under either policy) says
  nothing of a ratio.
- A bootstrap draws again what is there. Where a few observations carry most of the variance, as
  when two of 30 pairs differ much and the rest hardly, it finds a direction in their luck: of 30
  such differences with random signs, its 95 % intervals missed 0 in 30 % of samples. There the
  interval reaches at least as far as Student's t, which missed it in none; of 30 log-normal
  observations with a coefficient of variation of 3, both together miss the mean in 15 % of
  samples, the bootstrap alone in 17 %, Student's t in 22 %.
- Observations that are all the same have no variance to estimate. Where they may be so by chance
  (blocks; a variant whose values are all 0), the interval has width 0 only if their number is
  enough for the sign test at the interval's own level; otherwise nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import floor, inf, isfinite, log10, nan, sqrt
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.maths.tolerance import ROUNDING

LEVEL = 0.95
"""Confidence level at which intervals and verdicts hold."""
SKEWED = 1.0
"""Sample skewness from which Student's t is not trusted."""
FEWEST = 20
"""Number of observations that a bootstrap needs: resamples of fewer are too much alike."""
CARRYING = 10.0
"""Number of observations that carry the variance, from which a bootstrap is trusted alone. Of 30 to
400 differences with random signs, 1 to 5 of them 5 to 50 times as large as the rest, its 95 %
intervals missed 0 in 3 to 7 % of samples where it was 10 or more, and in 6 to 29 % where it was
less."""
FEWEST_BLOCKS = 6
"""Number of blocks with information that a verdict needs (see above)."""
RESAMPLES = 9_999
"""Number of resamples of a bootstrap."""
CHUNK = 1_000_000
"""Number of observations that are resampled at once, a bound on memory."""

Sample = tuple[float, ...]
Values = NDArray[np.float64]
"""A sample in numpy's form."""


def interval(sample: Sample, level: float, chancy: bool = False) -> tuple[float, float]:
    """Return the two ends of the confidence interval of the mean of independent observations, at
    the confidence level `level` (0.95, say).

    The interval is Student's t, or a BCa bootstrap for a skewed sample of 20 or more; where few
    observations carry such a sample, it reaches as far as both. It is a point where all
    observations are the same. It is unbounded for a single observation. `chancy` says that equal
    observations may be equal by chance: then it is unbounded too where they are so few (n) that
    2^(1-n) exceeds 1 - level.
    """
    from scipy.special import stdtrit

    if len(sample) == 1:
        return -inf, inf
    values = np.array(sample)
    if _constant(values):
        known = not chancy or 2.0 ** (1 - len(sample)) <= 1 - level
        return (sample[0], sample[0]) if known else (-inf, inf)
    mean, half = np.mean(values), stdtrit(len(values) - 1, 0.5 + level / 2) * _error(values)
    low, high = float(mean - half), float(mean + half)
    if _skewed(values):
        found = _bootstrapped(sample, level, _resamples(sample)).confidence_interval
        if _carrying(values) >= CARRYING:
            return float(found.low), float(found.high)
        return min(low, float(found.low)), max(high, float(found.high))
    return low, high


def _constant(values: Values) -> bool:
    """Return whether all observations of a sample are the same but for rounding."""
    return float(np.ptp(values)) <= ROUNDING * float(np.abs(values).max())


def _error(values: Values) -> float:
    """Return the standard error of the mean."""
    return float(np.std(values, ddof=1)) / sqrt(len(values))


def _carrying(values: Values) -> float:
    """Return how many observations carry the variance of a sample: 1 over the sum of their squared
    shares of it, which is their number over the kurtosis."""
    squares = (values - np.mean(values)) ** 2
    return 1 / float(np.sum((squares / np.sum(squares)) ** 2))


def _skewed(values: Values) -> bool:
    """Return whether a sample is large enough for a bootstrap and too skewed for Student's t."""
    if len(values) < FEWEST:
        return False
    # As scipy.stats.skew has it, whose import takes longer than most comparisons, and which was
    # half of a search.
    apart = values - np.mean(values)
    skewness = float(np.mean(apart**3)) / float(np.mean(apart**2)) ** 1.5
    return bool(abs(skewness) > SKEWED)


@lru_cache
def _resamples(sample: Sample) -> Any:
    """Return scipy's bootstrap of the mean of a sample, whose resamples are drawn with a fixed
    seed: the same sample gives the same interval.

    Results are cached, since an interval of one sample is computed at several levels.
    """
    return _bootstrapped(sample, LEVEL, None, RESAMPLES)


def _bootstrapped(sample: Sample, level: float, previous: Any, resamples: int = 0) -> Any:
    """Return scipy's bootstrap of the mean of a sample at a confidence level.

    It rests on the resamples of `previous`, a bootstrap of the same sample (None: there are none),
    and on `resamples` new ones.
    """
    from scipy.stats import bootstrap

    return bootstrap(
        *((sample,), np.mean),
        n_resamples=resamples,
        batch=max(1, CHUNK // len(sample)),
        confidence_level=level,
        method="BCa",
        bootstrap_result=previous,
        # The same sample must give the same interval in every process.
        rng=np.random.default_rng(0),
    )


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
    def unbounded(self) -> Estimate:
        """Estimate with the same mean and an interval without ends, where none can be trusted."""
        return Estimate(self.mean, -inf, inf, self.size)

    def at(self, level: float) -> Estimate:
        """Return the estimate with its interval at another confidence level; without a known
        sample, return the estimate as it is."""
        return self


class Sampled(Estimate):
    """An estimate from a sample, whose interval is computed when it is first read: a bootstrap
    takes far longer than a mean, and of many estimates only the mean is read."""

    _of: tuple[Sample, float, bool]
    """Sample, level of the interval, and whether equal observations may be equal by chance."""

    def __init__(self, mean: float, sample: Sample, level: float, chancy: bool) -> None:
        self.__dict__.update(mean=mean, size=len(sample), _of=(sample, level, chancy))

    @cached_property
    def _ends(self) -> tuple[float, float]:
        low, high = interval(*self._of)
        if low == high:  # rounding may have moved the bounds of a ratio
            return self.mean, self.mean
        # An end of BCa's interval can lie beyond the mean of a sample that is skewed enough.
        return min(low, self.mean), max(high, self.mean)

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._ends[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._ends[1]

    def at(self, level: float) -> Estimate:
        sample, _, chancy = self._of
        return Sampled(self.mean, sample, level, chancy)


NONE = Estimate(nan, nan, nan, 0)


def mean_of(values: Sequence[float], level: float, chancy: bool = False) -> Estimate:
    """Return the mean of independent observations with its interval at the confidence level
    `level`.

    `chancy` says that equal observations may be equal by chance, so that a few of them give no
    interval. Without observations the mean is nan and its size 0.
    """
    return Sampled(float(np.mean(values)), tuple(values), level, chancy) if values else NONE


def ratio_of(
    values: Sequence[float],
    base: Sequence[float],
    level: float,
    informed: Sequence[bool] | None = None,
    chancy: bool = False,
) -> Estimate | None:
    """Return mean(values) / mean(base) with its interval at the confidence level `level`; None
    where there is no pair or the base's mean is 0 or less.

    values[k] and base[k] are a pair, such as of one seed. `informed` marks the pairs that have
    information (default: those that are not both 0); the others change neither the ratio nor its
    interval. `chancy` says that equal observations may be equal by chance, so that a few of them
    give no interval; this is always so where all values are 0. A mean of the pairs' ratios would
    call each of two equally good, noisy policies the worse one.
    """
    ours, theirs = np.array(values, float), np.array(base, float)
    if not len(theirs) or not theirs.mean() > 0:
        return None
    ratio = float(ours.mean() / theirs.mean())
    some = (ours != 0) | (theirs != 0) if informed is None else np.array(informed, bool)
    rest, size = _others(theirs)[some], int(some.sum())
    if size < 2 or not (rest > 0).all():  # if a sum of the others is 0, there is no ratio
        return Estimate(ratio, -inf, inf, size)
    without = _others(ours)[some] / rest
    pseudo = ratio + (size - 1) * (without.mean() - without)
    return Sampled(ratio, tuple(pseudo.tolist()), level, chancy or not ours.any())


def _others(values: Any) -> Any:
    """Return, for each value, the sum of all other values.

    The total less the value would lose small values beside a large one to rounding.
    """
    before, after = np.cumsum(values), np.cumsum(values[::-1])[::-1]
    return np.append(0.0, before[:-1]) + np.append(after[1:], 0.0)


def difference_of(
    values: Sequence[float], base: Sequence[float], level: float, chancy: bool = False
) -> Estimate | None:
    """Return mean(values) - mean(base) with its interval at the confidence level `level`; None if
    there is no pair.

    values[k] and base[k] are a pair, such as of one seed. `chancy` says that equal differences may
    be equal by chance, so that a few of them give no interval. Raises ValueError where the lengths
    differ.
    """
    gains = [ours - theirs for ours, theirs in zip(values, base, strict=True)]
    return mean_of(gains, level, chancy) if gains else None


# --- telling ----------------------------------------------------------------------------------


def rounded(estimate: Estimate | None) -> str:
    """Return an estimate as text, rounded to two digits of its half-width.

    The text has both ends where they are not at the same distance from the mean, only the mean
    where there is no interval, and a dash where there is no mean.
    """
    if estimate is None or not estimate.size:
        return "-"
    mean, low, high, half = estimate.mean, estimate.low, estimate.high, estimate.half
    if not isfinite(half):
        return f"{mean:,.8g}"
    if half == 0:
        return f"{mean:,.8g} ± 0"
    places = max(0, 1 - floor(log10(half)))
    if abs((high - mean) - (mean - low)) < 1e-6 * half:
        return f"{mean:,.{places}f} ± {half:,.{places}f}"
    return f"{mean:,.{places}f} [{low:,.{places}f}, {high:,.{places}f}]"


def rounded_ratio(estimate: Estimate | None) -> str:
    """Return a ratio of amounts as `rounded` does, but in words where its interval reaches down to
    0, so that digits would be meaningless, or where there is no interval.

    An interval from 0 to 2 or more allows for a variant that is far better and for one that is
    twice as bad; where the ratio is less than a digit of its half-width, only the upper end is
    known.
    """
    if estimate is None or estimate.size < 2:
        return rounded(estimate)
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if not isfinite(high - low):
        return f"{about(mean)}, no interval"
    if low > 0 or low == high:
        return rounded(estimate)
    if high >= 2:
        return f"anything below {about(high)}"
    places = max(0, 1 - floor(log10(estimate.half)))
    return rounded(estimate) if round(mean, places) else f"below {about(high)}"


def about(value: float) -> str:
    """Return a ratio as text with two digits, and with two decimals near 1."""
    if abs(value) >= 10:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def estimate_as_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return an estimate as data: its `mean`, `half`, `low`, `high` and `size`.

    An end that is not finite is None, and so is the whole of an estimate that has no observations.
    """
    if estimate is None or not estimate.size:
        return None
    ends = {"half": estimate.half, "low": estimate.low, "high": estimate.high}
    known = {key: value if isfinite(value) else None for key, value in ends.items()}
    return {"mean": estimate.mean, **known, "size": estimate.size}
