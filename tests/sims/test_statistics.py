"""Means with their confidence intervals."""

from __future__ import annotations

from math import inf, isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from actors.runtime import stream
from sims.statistics import Interval, mean_interval, ratio_interval

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)


def test_an_interval_by_hand() -> None:
    """1, 2, 3: mean 2, standard error 1/sqrt(3), t of two degrees 4.30265."""
    found = mean_interval([1, 2, 3])
    assert (found.mean, found.size) == (2, 3)
    assert found.half == pytest.approx(4.302652729911275 / sqrt(3), rel=1e-9)
    assert (found.low, found.high) == (2 - found.half, 2 + found.half)


@given(VALUES, st.floats(0.5, 0.999))
def test_the_interval_is_scipys(values: list[float], level: float) -> None:
    found = mean_interval(values, level)
    spread = float(np.std(values, ddof=1))
    if spread > 1e-9:
        error = spread / sqrt(len(values))
        low, high = student.interval(level, len(values) - 1, np.mean(values), error)
        assert found.low == pytest.approx(low, abs=1e-6 * (1 + abs(low)))
        assert found.high == pytest.approx(high, abs=1e-6 * (1 + abs(high)))
    assert found.holds(found.mean)


@given(VALUES)
def test_more_confidence_is_a_wider_interval(values: list[float]) -> None:
    assert mean_interval(values, 0.9).half <= mean_interval(values, 0.99).half


def test_an_interval_of_95_percent_holds_the_mean_in_95_percent_of_samples() -> None:
    rng = np.random.default_rng(3)
    trials = 2000
    held = sum(mean_interval(rng.normal(5, 2, 6).tolist()).holds(5) for _ in range(trials))
    error = sqrt(0.95 * 0.05 / trials)
    assert abs(held / trials - 0.95) < 5 * error


def test_one_observation_tells_nothing_of_its_error() -> None:
    assert mean_interval([7.0]) == Interval(7.0, inf, 1)
    assert mean_interval([7.0]).holds(-1e300)


def test_no_observation_has_no_mean() -> None:
    found = mean_interval([])
    assert isnan(found.mean)
    assert isnan(found.half)
    assert found.size == 0
    assert not found.holds(0)


def test_equal_observations_have_no_width() -> None:
    assert mean_interval([4, 4, 4, 4]) == Interval(4, 0, 4)


def test_it_is_written_as_people_write_it() -> None:
    assert f"{Interval(2, 0.25, 9):.2f}" == "2.00 ± 0.25"


def test_a_ratio_of_means_is_exact_where_every_pair_has_it() -> None:
    assert ratio_interval([2, 4, 6], [1, 2, 3]) == Interval(2, 0, 3)


def test_two_equally_noisy_policies_are_not_called_different() -> None:
    ratio = ratio_interval([1, 9, 1, 9], [9, 1, 9, 1])
    assert ratio.mean == 1
    assert ratio.holds(1)


def test_a_ratios_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = stream(1, "ratios")
    covered = 0
    for _ in range(1000):
        base = rng.gamma(4, size=20)
        values = base * rng.gamma(8, 0.2, size=20)
        covered += ratio_interval(values.tolist(), base.tolist()).holds(1.6)
    assert 900 <= covered <= 980


def test_without_a_reference_there_is_no_ratio() -> None:
    assert isnan(ratio_interval([1.0], [0.0]).mean)
    assert isnan(ratio_interval([], []).mean)
