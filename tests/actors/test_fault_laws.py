"""When faults come: from processors that are new, from processors of any age, and from a log.

Samples are long and their seeds fixed; tolerances are six standard errors.
"""

from __future__ import annotations

from itertools import islice, takewhile
from math import gamma, sqrt

import numpy as np
import pytest
from scipy.stats import kstest

from actors.hazards import Faults, replayed_outages, weibull_faults
from actors.runtime import stream
from policies.maths.renewals import expected_renewals, residual_cdf

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
