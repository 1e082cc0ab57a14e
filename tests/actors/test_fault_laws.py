"""When faults come: from processors that are new, from processors of any age, and from a log.

Samples are long and their seeds fixed; tolerances are six standard errors.
"""

from __future__ import annotations

from itertools import islice, takewhile
from math import exp, gamma, sqrt

import numpy as np
import pytest
from scipy.stats import kstest, lognorm

from actors.hazards import Faults, lognormal_faults, replayed_outages, weibull_faults
from actors.runtime import stream
from policies.maths.renewals import expected_renewals, lognormal_renewals, residual_cdf

MANY = 20_000


def first_of_each(faults: Faults, processors: int) -> list[float]:
    """The first fault of each processor."""
    found = dict[int, float]()
    for time, processor in faults:
        found.setdefault(processor, time)
        if len(found) == processors:
            break
    return list(found.values())


def count(faults: Faults, until: float) -> int:
    return sum(1 for _ in takewhile(lambda fault: fault[0] < until, faults))


@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
def test_from_a_stationary_start_the_first_fault_comes_after_what_is_left(shape: float) -> None:
    faults = weibull_faults(stream(1, "laws"), 500, 5, shape, stationary=True)
    found = kstest(first_of_each(faults, 500), lambda times: residual_cdf(times, 5, shape))
    assert found.pvalue > 0.01


def test_what_is_left_of_a_heavy_law_is_much_longer_than_its_mean() -> None:
    """E[residual] = E[X^2] / (2 mean) = mean x Gamma(1 + 2/k) / (2 Gamma(1 + 1/k)^2)."""
    rng, shape = stream(2, "laws"), 0.6
    mean = gamma(1 + 2 / shape) / (2 * gamma(1 + 1 / shape) ** 2)
    draws = [next(weibull_faults(rng, 1, 1, shape, stationary=True))[0] for _ in range(MANY)]
    error = float(np.std(draws)) / sqrt(MANY)
    assert mean > 1.9
    assert np.mean(draws) == pytest.approx(mean, abs=6 * error)


@pytest.mark.parametrize("shape", [0.405, 3.0])
@pytest.mark.parametrize("until", [0.05, 1.0, 4.0])
def test_from_a_stationary_start_faults_come_at_the_laws_rate_at_all_times(
    shape: float, until: float
) -> None:
    rng = stream(3, "laws")
    counts = [count(weibull_faults(rng, 40, 1, shape, True), until) for _ in range(300)]
    error = float(np.std(counts)) / sqrt(len(counts))
    assert np.mean(counts) == pytest.approx(40 * until, abs=6 * error)


@pytest.mark.parametrize("shape", [0.405, 3.0])
def test_from_new_processors_as_many_come_as_the_renewal_function_says(shape: float) -> None:
    rng = stream(4, "laws")
    counts = [count(weibull_faults(rng, 40, 1, shape), 0.5) for _ in range(300)]
    error = float(np.std(counts)) / sqrt(len(counts))
    assert np.mean(counts) == pytest.approx(40 * expected_renewals(0.5, 1, shape), abs=6 * error)


SIGMAS = [0.4, 1.0, 2.0]


@pytest.mark.parametrize("sigma", SIGMAS)
def test_lognormal_times_have_their_mean_and_their_law(sigma: float) -> None:
    """E[X] = 5: the logarithm has the mean ln 5 - sigma^2 / 2."""
    rng = stream(6, "laws")
    draws = [next(lognormal_faults(rng, 1, 5, sigma))[0] for _ in range(2_000)]
    law = lognorm(sigma, scale=5 * exp(-(sigma**2) / 2))
    assert law.mean() == pytest.approx(5)
    assert kstest(draws, law.cdf).pvalue > 0.01


@pytest.mark.parametrize("sigma", SIGMAS)
def test_what_is_left_of_a_lognormal_life_has_the_density_of_those_that_are_longer(
    sigma: float,
) -> None:
    """The density is (1 - F) / mean, integrated here step by step."""
    law = lognorm(sigma, scale=exp(-(sigma**2) / 2))
    faults = lognormal_faults(stream(7, "laws"), 2_000, 1, sigma, stationary=True)
    grid = np.linspace(0, 400, 400_001)
    below = np.concatenate(([0], np.cumsum((law.sf(grid)[1:] + law.sf(grid)[:-1]) / 2) * 1e-3))
    found = kstest(first_of_each(faults, 2_000), lambda times: np.interp(times, grid, below))
    assert found.pvalue > 0.01


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("until", [0.05, 0.5, 3.0])
def test_as_many_lognormal_faults_come_as_the_renewal_function_says(
    sigma: float, until: float
) -> None:
    rng = stream(8, "laws")
    counts = [count(lognormal_faults(rng, 40, 1, sigma), until) for _ in range(300)]
    error = float(np.std(counts)) / sqrt(len(counts)) + 1e-6
    expected = 40 * lognormal_renewals(until, 1, sigma)
    assert np.mean(counts) == pytest.approx(expected, abs=6 * error)


def test_long_after_its_start_a_lognormal_law_is_ahead_of_its_rate_by_a_constant() -> None:
    """m(t) = t / mean + (c^2 - 1) / 2, with c^2 = exp(sigma^2) - 1."""
    for sigma in (0.5, 1.0):
        more = (exp(sigma**2) - 2) / 2
        for time in (19.9, 20.1):
            assert lognormal_renewals(time, 1, sigma) == pytest.approx(time + more, rel=5e-3)


def test_both_ages_of_an_exponential_law_have_the_same_faults() -> None:
    new, old = (weibull_faults(stream(5, "laws"), 9, 3, 1.0, it) for it in (False, True))
    assert list(islice(new, 100)) == list(islice(old, 100))


def test_a_log_begins_again_after_its_end_and_what_is_under_way_strikes_at_once() -> None:
    records = [((0.0, 10.0), (50.0, 60.0)), ((30.0, 70.0),), ((80.0, 100.0),), ()]
    first = [(0, 1, 30), (10, 0, 10), (40, 2, 20), (60, 0, 10), (90, 1, 40)]
    second = [(110, 0, 10), (140, 2, 20), (160, 0, 10), (190, 1, 40), (210, 0, 10)]
    found = list(islice(replayed_outages(records, 100, 40), 10))
    assert found == [*first, *second]
    at_its_start = list(islice(replayed_outages(records, 100, 30), 2))
    assert at_its_start == [(0, 1, 40), (20, 0, 10)]
    at_its_end = next(replayed_outages(records[1:2], 100, 70))
    assert at_its_end == (60, 1 - 1, 40)


def test_a_log_without_failures_has_none() -> None:
    assert not list(replayed_outages([(), ()], 100, 40))
