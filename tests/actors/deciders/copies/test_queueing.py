"""Formulas of queueing theory against each other and against known values."""

from __future__ import annotations

import numpy as np
import pytest

from policies.maths.single_machine import srpt_flowtime
from policies.maths.sizes import (
    BoundedPareto,
    Deterministic,
    Exponential,
    Hyperexponential,
    SizeLaw,
)
from tests.actors.deciders.copies.queueing import (
    density,
    erlang_c,
    mm1_sharing,
    pollaczek_khinchine,
    schrage_miller,
    survival,
)

LAWS: list[SizeLaw] = [
    Exponential(0.5),
    BoundedPareto(1.5, 0.5, 50.0),
    Hyperexponential((0.9, 0.1), (0.5, 5.5)),
]


def test_erlang_c_with_one_server_is_the_single_queue() -> None:
    assert erlang_c(0.7, 1.0, 1) == pytest.approx(mm1_sharing(0.7, 1.0))


def test_erlang_c_of_two_servers_is_the_textbook_s() -> None:
    # T = 1 / (mu (1 - rho^2)) for M/M/2.
    assert erlang_c(1.4, 1.0, 2) == pytest.approx(1 / (1 - 0.7**2))


def test_exponential_sizes_make_no_difference_between_fcfs_and_sharing() -> None:
    assert pollaczek_khinchine(0.6, Exponential(1.0)) == pytest.approx(mm1_sharing(0.6, 1.0))


def test_srpt_with_equal_sizes_is_first_come_first_served() -> None:
    law = Deterministic(1.0)
    assert schrage_miller(0.6, law) == pollaczek_khinchine(0.6, law) == pytest.approx(1.75)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_schrage_and_miller_agree_with_a_long_run_of_srpt(law: SizeLaw) -> None:
    """Eight runs of 20,000 jobs at load 0.7."""
    means = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        arrivals = rng.exponential(law.mean / 0.7, 20_000).cumsum()
        means.append(srpt_flowtime(arrivals, law.draw(rng, 20_000)) / 20_000)
    error = 4 * np.std(means, ddof=1) / np.sqrt(8)
    assert schrage_miller(0.7 / law.mean, law) == pytest.approx(np.mean(means), abs=error)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_survival_is_the_share_of_draws_beyond(law: SizeLaw) -> None:
    sizes = law.draw(np.random.default_rng(5), 20_000)
    for size in (0.2, 0.8, 1.5, 4.0):
        assert float((sizes > size).mean()) == pytest.approx(survival(law, size), abs=0.015)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_density_is_the_slope_of_survival(law: SizeLaw) -> None:
    for size in (0.8, 1.5, 4.0):
        slope = (survival(law, size - 1e-6) - survival(law, size + 1e-6)) / 2e-6
        assert density(law, size) == pytest.approx(slope, rel=1e-4)


def test_an_overloaded_queue_has_no_mean() -> None:
    with pytest.raises(ValueError, match="for ever"):
        mm1_sharing(1.0, 1.0)
