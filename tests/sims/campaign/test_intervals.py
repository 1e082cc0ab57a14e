"""How sure a mean is."""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, ttest_1samp

from sims.campaign.intervals import NONE, difference_of, interval, mean_of, ratio_of

RNG = np.random.default_rng(5)
SKEWED = tuple((RNG.exponential(size=60) ** 2).tolist())
PLAIN = tuple(RNG.normal(10, 2, size=30).tolist())


@pytest.mark.parametrize("sample", [PLAIN, SKEWED[:10]])
def test_a_plain_sample_and_a_small_one_get_students_t(sample) -> None:  # type: ignore[no-untyped-def]
    theirs = ttest_1samp(sample, 9.5)
    assert interval(sample, 0.95) == pytest.approx(tuple(theirs.confidence_interval(0.95)))


def test_a_skewed_sample_gets_the_bootstrap_of_other_resamples() -> None:
    ends = bootstrap((SKEWED,), np.mean, n_resamples=20_000, method="BCa", rng=1)
    low, high = ends.confidence_interval
    assert interval(SKEWED, 0.95) == pytest.approx((low, high), rel=0.03)
    mean = float(np.mean(SKEWED))
    assert high - mean > 1.2 * (mean - low)


NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(
    st.lists(NUMBERS | st.sampled_from([0.0, 1.0, 1e6]), min_size=1, max_size=60),
    st.sampled_from([0.5, 0.95, 0.9999]),
)
def test_an_interval_contains_its_estimate(values: list[float], level: float) -> None:
    base = [abs(it) + 1 for it in reversed(values)]
    for found in (f(values, base, level) for f in (ratio_of, difference_of)):
        assert found is not None and found.low <= found.mean <= found.high
    mean = mean_of(values, level)
    assert mean.low <= mean.mean <= mean.high


def test_a_single_observation_tells_nothing_and_equal_ones_all() -> None:
    one, many = (3.0,), (3.0,) * 5
    assert (interval(one, 0.95), interval(many, 0.95)) == ((-inf, inf), (3, 3))


def test_of_nothing_there_is_no_mean() -> None:
    assert mean_of([], 0.95) is NONE
    assert isnan(NONE.mean)


def test_a_ratio_is_that_of_the_means_and_narrow_where_values_go_together() -> None:
    base = list(PLAIN)
    ratio = ratio_of([2 * value + 0.01 * k for k, value in enumerate(base)], base, 0.95)
    assert ratio is not None
    assert ratio.mean == pytest.approx(2, rel=0.02)
    assert ratio.half < 0.02
    assert ratio_of([1, 2], [0, 0], 0.95) is None


def test_a_ratios_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        base = rng.gamma(4, size=20)
        found = ratio_of((base * rng.gamma(8, 0.2, size=20)).tolist(), base.tolist(), 0.95)
        assert found is not None
        covered += found.low <= 1.6 <= found.high
    assert 900 <= covered <= 980
