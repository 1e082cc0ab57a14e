"""Renewal theory of Weibull laws against closed forms, a series and quadrature."""

from __future__ import annotations

from math import exp, gamma, lgamma

import numpy as np
import pytest
from scipy.integrate import quad

from policies.maths.renewals import expected_renewals, residual_cdf, weibull_scale

SHAPES = (0.405, 0.7, 1.5)


def smith_leadbetter(time: float, shape: float, terms: int = 60) -> float:
    """m(time) of a law of scale 1 (W. L. Smith and M. R. Leadbetter, Technometrics 5, 1963): a
    power series, whose terms cancel where time is far above 1."""
    known = [0.0, *(exp(lgamma(n * shape + 1) - lgamma(n + 1)) for n in range(1, terms))]
    found = [0.0] * terms
    for n in range(1, terms):
        found[n] = known[n] - sum(known[k] * found[n - k] for k in range(1, n))
    each = (found[n] * time ** (n * shape) / gamma(n * shape + 1) for n in range(1, terms))
    return sum(-term if n % 2 else term for n, term in enumerate(each))


def test_an_exponential_law_renews_at_its_rate_from_the_start() -> None:
    assert expected_renewals(33, 422, 1) == 33 / 422
    assert expected_renewals(33, 422, 1 + 1e-9) == pytest.approx(33 / 422, rel=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("time", [1e-6, 0.01, 0.3, 1.5])
def test_the_renewal_function_is_its_series(time: float, shape: float) -> None:
    found = expected_renewals(time * 7, gamma(1 + 1 / shape) * 7, shape)
    assert found == pytest.approx(smith_leadbetter(time, shape), rel=1e-4)


@pytest.mark.parametrize("shape", [0.4, 0.7, 1.5, 3])
@pytest.mark.parametrize("time", [200, 1e4])
def test_long_after_the_start_the_renewal_function_is_its_asymptote(
    time: float, shape: float
) -> None:
    ratio = gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2
    found = expected_renewals(time, 1, shape) - time
    assert found == pytest.approx(ratio / 2 - 1, abs=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_left_has_the_density_of_those_that_outlive_it(shape: float) -> None:
    scale = weibull_scale(5, shape)
    for time in (0.1, 3, 20):
        area, _ = quad(lambda x: exp(-((x / scale) ** shape)) / 5, 0, time)
        assert residual_cdf(np.array([time]), 5, shape) == pytest.approx([area])


def test_what_is_left_of_an_exponential_time_is_one() -> None:
    assert residual_cdf(np.array([3.0]), 5, 1) == pytest.approx([1 - exp(-3 / 5)])
