"""Lower bounds and failure probabilities."""

from fractions import Fraction

import numpy as np
import pytest

from policies.maths.silent_errors import (
    draw_failures,
    failure_probabilities,
    least,
    moldable_bound,
    rate_probabilities,
    rigid_bound,
)
from policies.maths.speedup import Rigid, Table, amdahl


def test_a_rigid_bound_is_the_longest_chain_or_the_area() -> None:
    jobs = [Rigid(2, 5), Rigid(1, 4)]
    assert rigid_bound(jobs, [0, 3], 4) == 16
    assert rigid_bound(jobs, [5, 0], 2) == 32


def test_a_rigid_bound_of_fractions_is_exact() -> None:
    assert rigid_bound([Rigid(1, Fraction(1, 3))], [2], 4) == 1


def test_a_moldable_bound_takes_each_minimum_on_its_own() -> None:
    times, areas = least([Table((11, 7, 5, 4)), amdahl(10, 0.5)], 4)
    assert (times[0], areas[0]) == (4, 11)
    assert moldable_bound(times, areas, [2, 0], 4) == 12
    assert moldable_bound(times, areas, [0, 0], 1) == pytest.approx(21)


def test_a_job_of_mean_area_fails_with_the_average_probability() -> None:
    assert failure_probabilities([1, 2, 3], 0.3)[1] == pytest.approx(0.3)


def test_the_rate_gives_the_exponential_law() -> None:
    assert rate_probabilities([100], 0.01) == pytest.approx([1 - np.exp(-1)])
    assert rate_probabilities([100], 0) == [0]


def test_drawn_failures_are_geometric() -> None:
    """Mean q/(1-q) and P(0) = 1-q, within 4 standard errors."""
    n, q = 20_000, 0.4
    drawn = np.array(draw_failures([q] * n, np.random.default_rng(1)))
    deviation = np.sqrt(q) / (1 - q)
    assert abs(drawn.mean() - q / (1 - q)) < 4 * deviation / np.sqrt(n)
    assert abs((drawn == 0).mean() - (1 - q)) < 4 * np.sqrt(q * (1 - q) / n)


def test_probabilities_outside_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        failure_probabilities([1], 1.0)
    with pytest.raises(ValueError, match="negative"):
        rate_probabilities([1], -1)
