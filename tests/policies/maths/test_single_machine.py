"""Lower bounds on overall flowtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.deciders.copies import PlacementRule
from actors.runtime import stream
from policies.maths.single_machine import (
    Capacity,
    mean_bound,
    proof_constant,
    sample_path_bound,
    srpt_completions,
    srpt_drain,
    srpt_flowtime,
)
from policies.maths.speeds import Change, TwoPoint
from tests.actors.deciders.copies.worlds import columns, run

JOBS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), min_size=1, max_size=12).map(
    sorted
)


def test_srpt_on_one_machine_preempts_for_the_shorter_job() -> None:
    ends = srpt_completions(np.array([0.0, 1.0, 2.0]), np.array([5.0, 2.0, 0.5]))
    assert ends.tolist() == [7.5, 3.5, 2.5]


@given(jobs=JOBS)
def test_it_is_what_the_cluster_does_on_one_server(jobs: list[tuple[int, int]]) -> None:
    arrivals, sizes = np.array(jobs, dtype=float).T
    assert srpt_completions(arrivals, sizes).sum() == pytest.approx(
        run(columns(), jobs, workers=1).completed.sum()
    )


@given(jobs=JOBS, servers=st.integers(1, 5))
def test_no_run_on_m_servers_beats_the_bound(jobs: list[tuple[int, int]], servers: int) -> None:
    arrivals, sizes = np.array(jobs, dtype=float).T
    bound = mean_bound(arrivals, sizes, servers, peak=1.0)
    assert run(columns(), jobs, workers=servers).total >= bound * (1 - 1e-12)


def test_capacity_adds_the_servers_speeds() -> None:
    """Nothing is done before the first server is there."""
    capacity = Capacity.of([[(0, 1), (2, 3)], [(0, 0), (1, 2)]], 10)
    assert capacity.until(np.array([0.5, 1, 2, 4])).tolist() == [0.5, 1, 4, 14]
    assert capacity.when(np.array([0.5, 1, 4, 14])).tolist() == [0.5, 1, 2, 4]
    late = Capacity.of([[(2, 1)], [(3, 3)]], 5)
    assert late.until(np.array([0, 0.5, 2, 3, 4])).tolist() == [0, 0, 0, 1, 5]
    assert late.when(np.array([0.0, 0.5, 1, 9])).tolist() == [0, 2.5, 3, 5]


def test_a_stretch_without_capacity_is_waited_out() -> None:
    capacity = Capacity.of([[(0, 1), (1, 0), (3, 1)]], 10)
    assert capacity.when(np.array([1.0, 1.5])).tolist() == [1.0, 3.5]


def test_more_work_than_the_capacity_known_is_refused() -> None:
    with pytest.raises(ValueError, match="long enough"):
        Capacity.of([[(0, 1)]], 10).when(np.array([11.0]))


def test_the_sample_path_bound_on_one_server_is_srpt_on_it() -> None:
    trace: list[Change] = [(0, 1), (2, 0.5), (5, 4)]
    jobs = [(0.0, 3.0), (1.0, 1.0), (4.0, 2.0)]
    arrivals, sizes = np.array(jobs).T
    bound = sample_path_bound(arrivals, sizes, Capacity.of([trace], 100))
    assert run(columns(), jobs, [trace], workers=1).total == pytest.approx(bound)


def test_no_run_on_varying_servers_beats_the_sample_path_bound() -> None:
    rng, process = np.random.default_rng(2), TwoPoint(4.0, 0.5)
    times, sizes = rng.exponential(0.3, 60).cumsum(), rng.exponential(1, 60)
    jobs = list(zip(times.tolist(), sizes.tolist(), strict=True))
    paths = [process.path(stream(9, f"speed {k}")) for k in range(4)]
    bound = sample_path_bound(times, sizes, Capacity.of(paths, 500))
    again = [process.path(stream(9, f"speed {k}")) for k in range(4)]
    decider = columns(rule=PlacementRule.UNIFORM)
    total = run(decider, jobs, again, seed=9, workers=4).total
    assert bound <= total <= proof_constant(4.0, 1.0) * bound


@given(
    sizes=st.lists(st.floats(0.01, 10), min_size=1, max_size=30).map(sorted),
    servers=st.integers(1, 8),
)
def test_lemma_5_gives_srpt_s_flowtime_when_nobody_else_comes(
    sizes: list[float], servers: int
) -> None:
    fast = [[(0.0, 1.25)] for _ in range(servers)]
    found = run(columns(), [(0.0, size) for size in sizes], fast, workers=servers).total
    assert found == pytest.approx(srpt_drain(sizes, servers, 1.25), rel=1e-10)


def test_srpt_flowtime_scales_with_the_speed() -> None:
    zeros, sizes = np.zeros(3), np.array([1.0, 2.0, 3.0])
    assert srpt_flowtime(zeros, sizes, 2.0) == pytest.approx(srpt_flowtime(zeros, sizes) / 2)


def test_theorem_1s_constant_is_worked_out_as_printed() -> None:
    """(1 + 2 Delta)(1 + 1/epsilon): 9 x 2, 5 x 3 and 3 x 5."""
    assert [proof_constant(4, 1), proof_constant(2, 0.5), proof_constant(1, 0.25)] == [18, 15, 15]
