"""Intervals from blocks of one log's time."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.stats import t as student

from sims.blocks import Blocks, Floats, by_block
from sims.intervals import LEVEL, mean_of, ratio_of

WEEKS = Blocks(length=10, warm_up=20)
SUBMITTED = np.array([0, 19.9, 20, 29, 30, 41, 42, 49.9, 50.0])
"""Two jobs of the warm-up; blocks of 2, 1 and 3 jobs; one of a block that is cut short."""
OF = [-1, -1, 0, 0, 1, 2, 2, 2, -1]
VALUES = np.array([9.0, 9, 1, 3, 5, 2, 4, 6, 9])


def mean(values: Floats) -> float:
    return float(values.mean())


def p90(values: Floats) -> float:
    return float(np.quantile(values, 0.9))


def test_the_warm_up_and_the_last_block_are_cut() -> None:
    assert WEEKS.of(SUBMITTED).tolist() == OF
    told = WEEKS.text(SUBMITTED, "s")
    assert "over 3 blocks of 10 s, of 6 of 9 jobs" in told and "the first 20 s" in told


def test_blocks_numbers_by_hand() -> None:
    """Sums 4, 5, 12 of 2, 1, 3 jobs: mean 3.5; without one of them 17/4, 16/5, 9/3."""
    found = by_block(mean, VALUES, WEEKS.of(SUBMITTED))
    middle = (17 / 4 + 16 / 5 + 3) / 3
    assert found == pytest.approx([3.5 + 2 * (middle - it) for it in (17 / 4, 16 / 5, 3)])
    assert found.mean() == pytest.approx(3.5)


def test_jobs_without_a_value_count_for_nothing() -> None:
    values = VALUES.copy()
    values[4] = np.nan  # the one job of its block
    found = by_block(mean, values, WEEKS.of(SUBMITTED))
    assert (len(found), found.mean()) == (2, pytest.approx(16 / 5))


def test_what_two_policies_share_between_blocks_falls_out() -> None:
    """Weeks differ; that each job gains 1, or takes twice as long, is certain."""
    blocks = WEEKS.of(SUBMITTED)
    theirs, ours, twice = (by_block(mean, it, blocks) for it in (VALUES, VALUES - 1, 2 * VALUES))
    gain = mean_of((ours - theirs).tolist(), LEVEL)
    assert (gain.mean, np.ptp(ours - theirs)) == (pytest.approx(-1), pytest.approx(0, abs=1e-9))
    assert mean_of(theirs.tolist(), LEVEL).half > 1
    ratio = ratio_of(twice.tolist(), theirs.tolist(), LEVEL)
    assert ratio is not None
    assert ratio.mean == pytest.approx(2)


@pytest.mark.parametrize("length", [30, 1000])
def test_fewer_than_two_blocks_say_nothing(length: float) -> None:
    blocks = Blocks(length=length, warm_up=20).of(SUBMITTED)
    assert not len(by_block(mean, VALUES, blocks))


def test_intervals_of_95_percent_hold_the_mean_in_95_percent_of_logs() -> None:
    """Weeks that are good or bad as a whole: an interval over jobs would be far too narrow."""
    rng, held, logs = np.random.default_rng(1), 0, 600
    submitted = np.sort(rng.uniform(0, 13, 400))
    blocks = Blocks(length=1, warm_up=1).of(submitted)
    for _ in range(logs):
        weather = rng.normal(0, 1, 14)[submitted.astype(int)]
        values = 5 + weather + rng.normal(0, 1, len(submitted))
        found = mean_of(by_block(mean, values, blocks).tolist(), LEVEL)
        held += found.low <= 5 <= found.high
    assert abs(held / logs - 0.95) < 5 * sqrt(0.95 * 0.05 / logs)


def test_intervals_of_a_tail_are_as_wide_as_theory_says() -> None:
    """Of independent exponential values, the 90th percentile's error is known."""
    rng, errors, logs = np.random.default_rng(2), [], 40
    submitted = np.sort(rng.uniform(0, 21, 4000))
    blocks = Blocks(length=1, warm_up=0).of(submitted)
    for _ in range(logs):
        values = rng.exponential(1, len(submitted))
        found = by_block(p90, values, blocks)
        errors.append(np.std(found, ddof=1) / sqrt(len(found)))
        assert mean_of(found.tolist(), LEVEL).half >= student.ppf(0.975, 19) * errors[-1]
    assert np.mean(errors) == pytest.approx(sqrt(0.9 * 0.1 / (blocks >= 0).sum()) / 0.1, rel=0.1)
