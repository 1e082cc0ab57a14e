"""How sure a mean is."""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from scipy.stats import bootstrap, ttest_1samp

from sims.campaign.intervals import (
    NONE,
    Bootstrap,
    Constant,
    StudentT,
    estimator,
    holm,
    mean_of,
    ratio_of,
)

RNG = np.random.default_rng(5)
SKEWED = RNG.exponential(size=60) ** 2
PLAIN = RNG.normal(10, 2, size=30)


def test_a_plain_sample_gets_students_t() -> None:
    sure = estimator(PLAIN)
    assert isinstance(sure, StudentT)
    theirs = ttest_1samp(PLAIN, 9.5)
    assert sure.p(9.5) == pytest.approx(theirs.pvalue)
    assert sure.interval(0.95) == pytest.approx(tuple(theirs.confidence_interval(0.95)))


def test_a_skewed_sample_gets_the_bootstrap_that_scipy_has() -> None:
    sure = estimator(SKEWED)
    assert isinstance(sure, Bootstrap)
    ends = bootstrap((SKEWED,), np.mean, n_resamples=20_000, method="BCa", rng=1)
    low, high = ends.confidence_interval
    assert sure.interval(0.95) == pytest.approx((low, high), rel=0.03)
    assert high - SKEWED.mean() > 1.2 * (SKEWED.mean() - low)


def test_a_few_observations_are_not_resampled() -> None:
    assert isinstance(estimator(SKEWED[:10]), StudentT)


@pytest.mark.parametrize("sample", [PLAIN, SKEWED])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_p_says_at_which_level_an_end_of_the_interval_is(sample, level) -> None:  # type: ignore[no-untyped-def]
    sure = estimator(sample)
    for end in sure.interval(level):
        assert sure.p(end) == pytest.approx(1 - level, rel=0.05, abs=0.002)


def test_a_single_observation_tells_nothing_and_equal_ones_all() -> None:
    one, many = estimator(np.array([3.0])), estimator(np.array([3.0] * 5))
    assert (one, many) == (Constant(3, 1), Constant(3, 5))
    assert (one.interval(0.95), one.p(0)) == ((-inf, inf), 1)
    assert (many.interval(0.95), many.p(0), many.p(3)) == ((3, 3), 0, 1)


def test_of_nothing_there_is_no_mean() -> None:
    assert mean_of([], 0.95) is NONE
    assert isnan(NONE.mean)


def test_a_ratio_is_that_of_the_means_and_narrow_where_values_go_together() -> None:
    base = PLAIN.tolist()
    ratio = ratio_of([2 * value + 0.01 * k for k, value in enumerate(base)], base, 0.95)
    assert ratio is not None
    assert ratio.mean == pytest.approx(2, rel=0.02)
    assert ratio.half < 0.02
    assert ratio_of([1, 2], [0, 0], 0.95) is None


def test_holm_tests_the_smallest_p_at_the_narrowest_level_and_stops_at_the_first_that_holds() -> (
    None
):
    assert holm([0.001, 0.02, 0.03], 0.05) == pytest.approx([1 - 0.05 / 3, 0.975, 0.95])
    assert holm([0.03, 0.03, 0.001], 0.05) == pytest.approx([0.975, 0.975, 1 - 0.05 / 3])


def test_students_interval_holds_the_mean_as_often_as_it_says_at_an_early_stop() -> None:
    """Looks at a growing sample: each at 95 % misses more often than 5 %, corrected ones do not."""
    rng, looks = np.random.default_rng(2), [10, 15, 22, 34, 50]
    missed = dict.fromkeys((0.95, 1 - 0.05 / len(looks)), 0)
    for _ in range(600):
        sample = rng.normal(size=looks[-1])
        for level in missed:
            ends = (estimator(sample[:n]).interval(level) for n in looks)
            first = next((it for it in ends if it[1] - it[0] < 0.75), None)
            low, high = first or estimator(sample).interval(level)
            missed[level] += not low <= 0 <= high
    plain, corrected = missed.values()
    assert corrected / 600 < 0.05 < plain / 600


def test_a_ratios_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        base = rng.gamma(4, size=20)
        found = ratio_of((base * rng.gamma(8, 0.2, size=20)).tolist(), base.tolist(), 0.95)
        assert found is not None
        covered += found.low <= 1.6 <= found.high
    assert 900 <= covered <= 980


def test_two_equally_noisy_policies_are_not_called_different() -> None:
    ratio = ratio_of([1, 9, 1, 9], [9, 1, 9, 1], 0.95)
    assert ratio is not None
    assert ratio.mean == 1
    assert ratio.low < 1 < ratio.high
