"""Checkpoints, expected times and redistribution costs of malleable applications (malleable17)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.maths.checkpoint import checkpoint_cost, expected_time, young_period
from policies.maths.cosched import (
    Checkpointing,
    Costs,
    Link,
    costs,
    round_count,
    synthetic_times,
)

YEAR = 365 * 86400.0
counts = st.integers(1, 40)


def table(footprint: float = 2e6, processors: int = 40, mtbf: float | None = 10 * YEAR) -> Costs:
    sizes = 2.0 * np.arange(1, processors // 2 + 1)
    times = synthetic_times(footprint, 0.08, sizes)
    protection = None if mtbf is None else Checkpointing(mtbf)
    return costs(times, footprint, 2, Link(), protection)


def test_figure_3s_redistribution_takes_four_rounds() -> None:
    assert round_count(4, 6) == round_count(6, 4) == 4


def test_growing_by_more_than_doubling_waits_for_the_newcomers_ports() -> None:
    assert Link(fixed=1, latency=0.5, inverse_bandwidth=2).cost(120, 2, 10) == 1 + 8 * (
        240 / 20 + 0.5
    )


@given(counts, counts)
def test_a_redistribution_costs_the_same_there_and_back(j: int, k: int) -> None:
    link = Link(3, 0.25, 0.5)
    assert link.cost(1000, j, k) == pytest.approx(link.cost(1000, k, j), rel=1e-12)


def test_the_expected_time_of_one_period_is_the_mean_over_random_faults() -> None:
    rng = np.random.default_rng(5)
    rate, work, cost, downtime = 1 / 50, np.array([20.0]), np.array([2.0]), 3.0
    period = work + cost
    times = [
        _attempt_until_success(rng, rate, float(period[0]), 2.0, downtime) for _ in range(20000)
    ]
    # One whole period and nothing after it: N_ff = 1, tau_last = 0.
    want = float(expected_time(work, np.array([rate]), cost, period, downtime)[0])
    error = float(np.std(times)) / math.sqrt(len(times))
    assert abs(float(np.mean(times)) - want) < 4 * error


def _attempt_until_success(
    rng: np.random.Generator, rate: float, period: float, recovery: float, downtime: float
) -> float:
    """Faults strike during work, checkpoint and recovery, not during the downtime."""
    time, needed = 0.0, period
    while True:
        fault = rng.exponential(1 / rate)
        if fault >= needed:
            return time + needed
        time += fault + downtime
        needed = recovery + period


def test_youngs_period_grows_with_the_root_of_the_mtbf() -> None:
    cost = checkpoint_cost(100.0, np.array([4.0]), 2.0, 0.5)
    assert cost == pytest.approx([50.5])
    assert young_period(np.array([800.0]), cost) == pytest.approx([math.sqrt(1600 * 50.5) + 50.5])


def test_the_largest_useful_size_is_the_first_with_the_least_expected_time() -> None:
    costs = table(mtbf=0.2 * YEAR, processors=400)
    expected = [costs.expected(size, 1.0) for size in range(2, 401, 2)]
    assert costs.largest == 2 * (expected.index(min(expected)) + 1)
    assert costs.largest < 400


@given(
    st.sampled_from(range(2, 41, 2)),
    st.sampled_from(range(2, 41, 2)),
    st.floats(0, 1),
    st.booleans(),
)
def test_the_written_out_finish_is_the_sum_of_its_parts(
    before: int, after: int, left: float, protected: bool
) -> None:
    costs = table(mtbf=10 * YEAR if protected else None)
    parts = (
        costs.redistribution(before, after)
        + costs.closings[costs.row(after)]
        + costs.expected(after, left)
    )
    assert costs.finish(7.0, before, after, left) == pytest.approx(7.0 + parts, rel=1e-12)


def test_without_protection_nothing_is_checkpointed_and_time_is_what_it_takes() -> None:
    costs = table(mtbf=None)
    assert costs.expected(4, 0.5) == costs.duration(4, 0.5) == 0.5 * costs.times[1]
    assert costs.taken(4, 1e9) == costs.checkpoints(4, 1.0) == 0
    assert costs.largest == 40


def test_work_since_the_last_checkpoint_counts_until_a_fault_and_never_turns_negative() -> None:
    costs = table()
    elapsed = 1.5 * costs.period[1]
    left = costs.left(4, 1.0, elapsed, costs.taken(4, elapsed))
    assert left < 1 - costs.work[1] / costs.times[1] < 1
    assert costs.left(4, 1e-6, elapsed, 0) == 0


def test_without_a_checkpoint_a_fault_begins_all_the_work_again() -> None:
    sizes, mtbf = 2.0 * np.arange(1, 6), YEAR
    times = synthetic_times(2e6, 0.08, sizes)
    never = Checkpointing(mtbf, period=lambda mtbfs, costs: np.full(len(mtbfs), math.inf))
    found = costs(times, 2e6, 2, Link(), never)
    for row, size in enumerate((2, 4, 6, 8, 10)):
        rate, saving = size / mtbf, never.checkpoint(2e6, sizes)[row]
        whole = math.exp(rate * saving) * (1 / rate + 60) * math.expm1(rate * times[row])
        assert found.expected(size, 1.0) == pytest.approx(whole, rel=1e-12)
        assert found.checkpoints(size, 1.0) == 0
