"""Allocations of the policies for redundant copies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.copies import (
    NAMES,
    Laps,
    LapsR,
    SrptR,
    SrptREven,
    named,
)
from policies.interface.copies import ActiveJobs, CopyAllocation, RedundancyPolicy

JOBS, SERVERS = st.integers(1, 60), st.integers(1, 25)
BETAS = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)


def view(servers: int, remaining: list[float]) -> ActiveJobs:
    n = len(remaining)
    return ActiveJobs(servers, np.arange(n, dtype=float), np.full(n, 9.0), np.array(remaining))


def ask(policy: RedundancyPolicy, servers: int, jobs: int) -> CopyAllocation:
    remaining = np.random.default_rng(jobs).exponential(1, jobs).tolist()
    return policy(view(servers, remaining), np.random.default_rng(0))


@given(jobs=JOBS, servers=SERVERS)
def test_srpt_r_uses_every_machine_as_soon_as_anyone_is_there(jobs: int, servers: int) -> None:
    for policy in (SrptR(), SrptREven()):
        given = ask(policy, servers, jobs)
        assert given.copies.sum() == servers
        assert len(given.jobs) == min(jobs, servers)
        assert (np.diff(given.copies) <= 0).all()


@given(jobs=JOBS, servers=SERVERS, beta=BETAS)
def test_laps_r_uses_exactly_m_machine_units(jobs: int, servers: int, beta: Fraction) -> None:
    given = ask(LapsR(beta), servers, jobs)
    assert int(given.copies.sum()) * given.share == servers
    assert len(given.jobs) == int(beta * jobs) + 1
    assert given.jobs.tolist() == list(range(jobs - 1, jobs - 1 - len(given.jobs), -1))


def test_beta_is_the_decimal_that_was_written() -> None:
    assert LapsR(0.29).beta == Fraction(29, 100)
    assert len(ask(LapsR(0.29), 10, 100).jobs) == 30


@pytest.mark.parametrize("beta", [0, 1, Fraction(3, 2), -0.5])
def test_a_beta_outside_0_to_1_is_refused(beta: Fraction) -> None:
    for policy in (Laps, LapsR):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            policy(beta)


def test_every_name_gives_a_policy() -> None:
    for name in NAMES:
        policy = named(name.replace("beta", "2/3"))
        assert len(ask(policy, 4, 6).jobs) >= 1
    assert named("LAPS+R") == LapsR(Fraction(1, 2))
    assert named("LAPS(0.29)") == Laps(Fraction(29, 100))


@pytest.mark.parametrize("name", ["SRPT++", "SRPT(1/2)", "LAPS(", "", "LAPS+R(x)"])
def test_an_unknown_name_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(ValueError, match="accepted: SRPT"):
        named(name)
