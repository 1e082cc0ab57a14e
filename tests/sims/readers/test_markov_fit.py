"""Fitting availability chains, and the evidence that comes with a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator, default_rng

from policies.availability import WorkerState
from sims.readers.fits import MarkovFit, fit_markov, geometric
from sims.readers.timeline import Timeline, read_letters

UP, RECLAIMED, DOWN = STATES = tuple(WorkerState)
TRUTH = ((0.90, 0.06, 0.04), (0.20, 0.70, 0.10), (0.30, 0.10, 0.60))
TRACES = st.lists(st.sampled_from(STATES), min_size=2, max_size=60)


def walk(rng: Generator, slots: int) -> list[WorkerState]:
    sums = np.cumsum(TRUTH, axis=1)
    states, state = [], 0
    for draw in rng.random(slots):
        states.append(STATES[state])
        state = min(int(np.searchsorted(sums[state], draw, side="right")), 2)
    return states


def fit_letters(*texts: str) -> MarkovFit:
    return fit_markov(*(read_letters(text, "s", "k") for text in texts))


@given(TRACES)
@settings(deadline=None)
def test_counts_are_those_of_neighbouring_slots_for_states_and_for_their_timeline(
    states: list[WorkerState],
) -> None:
    states = [UP, *states]
    pairs = list(pairwise(states))
    fit = fit_markov(states)
    for i, before in enumerate(STATES):
        for j, after in enumerate(STATES):
            assert fit.counts[i][j] == pairs.count((before, after))
    assert fit_markov(Timeline.of_slots(states)).rows == fit.rows
    assert fit.counts.sum() == len(pairs)


@given(TRACES, st.floats(0.01, 0.2), st.integers(0, 2), st.integers(0, 2))
@settings(deadline=None)
def test_no_other_chain_makes_the_trace_more_likely(
    states: list[WorkerState], shift: float, row: int, column: int
) -> None:
    states = [UP, *states]
    fit = fit_markov(states)
    other = [list(probabilities) for probabilities in fit.rows]
    other[row] = [(1 - shift) * p + shift * (j == column) for j, p in enumerate(other[row])]
    assert log_likelihood(other, states) <= log_likelihood(fit.rows, states) + 1e-9
    assert fit.log_likelihood == pytest.approx(log_likelihood(fit.rows, states))


def log_likelihood(rows: Sequence[Sequence[float]], states: Sequence[WorkerState]) -> float:
    indices = [STATES.index(state) for state in states]
    chances = [rows[i][j] for i, j in pairwise(indices)]
    return sum(math.log(p) if p > 0 else -math.inf for p in chances)


def test_the_true_chain_is_found_within_its_standard_errors() -> None:
    fit = fit_markov(walk(default_rng(5), 40_000))
    for row, truth, errors in zip(fit.rows, TRUTH, fit.standard_errors, strict=True):
        for found, expected, error in zip(row, truth, errors, strict=True):
            assert abs(found - expected) < 4.5 * error
            assert error < 0.01
    assert fit.chain.rows == fit.rows


def test_workers_fitted_together_share_one_chain_with_no_transition_between_them() -> None:
    assert fit_letters("uud", "ruu").counts.tolist() == [[2, 0, 1], [1, 0, 0], [0, 0, 0]]


def test_a_chain_s_own_trace_is_not_rejected_and_its_memory_is_found() -> None:
    quality = fit_markov(walk(default_rng(6), 20_000))
    assert quality.independence is not None
    assert quality.independence.p_value < 1e-6
    for holding in quality.holding:
        assert holding.geometric is not None
        assert holding.geometric.p_value > 0.001


def test_slots_drawn_independently_show_no_memory() -> None:
    draws = default_rng(7).choice(3, size=5_000, p=[0.5, 0.3, 0.2])
    test = fit_markov([STATES[draw] for draw in draws]).independence
    assert test is not None
    assert test.degrees == 4
    assert test.p_value > 0.001


def test_p_values_of_true_hypotheses_are_spread_evenly() -> None:
    rng = default_rng(8)
    found = [geometric(rng.geometric(0.1, size=300).tolist()) for _ in range(300)]
    rejected = sum(test is not None and test.p_value < 0.1 for test in found)
    # Binomial(300, 0.1): mean 30, standard deviation 5.2; the law is approximate for 20 classes.
    assert 10 <= rejected <= 50


def test_regular_stays_are_not_taken_for_geometric_ones() -> None:
    quality = fit_letters("uuuuuuuurr" * 60)
    up, reclaimed, down = quality.holding
    assert (up.stays, up.mean_slots) == (59, 8.0)
    assert up.geometric is not None
    assert up.geometric.p_value < 1e-6
    assert (reclaimed.stays, reclaimed.mean_slots) == (59, 2.0)
    assert down.stays == 0
    assert math.isnan(down.mean_slots)
    assert down.geometric is None


def test_the_first_and_the_last_stay_are_not_counted_as_whole() -> None:
    up, reclaimed, _ = fit_letters("uuuuuuruurrr").holding
    assert (up.stays, up.mean_slots) == (1, 2.0)
    assert (reclaimed.stays, reclaimed.mean_slots) == (1, 1.0)


def test_too_few_stays_are_not_tested() -> None:
    assert geometric([]) is None
    assert geometric([3, 1, 4]) is None
    assert geometric([1] * 500) is None


def test_a_state_that_never_occurs_moves_to_up_and_is_named() -> None:
    fit = fit_letters("uuddduudu")
    assert fit.rows[1] == (1.0, 0.0, 0.0)
    assert fit.unseen == [RECLAIMED]
    assert fit.standard_errors[1] == [math.inf] * 3
    assert "not an estimate" in fit.report()


def test_a_state_of_the_last_slot_only_is_taken_to_be_short() -> None:
    fit = fit_letters("uuuud")
    assert fit.rows == ((0.75, 0.0, 0.25), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert fit.unseen == [RECLAIMED, DOWN]


def test_a_state_that_is_never_left_is_named() -> None:
    fit = fit_letters("uuuuddd")
    assert fit.rows[2] == (0.0, 0.0, 1.0)
    assert fit.absorbing == [DOWN]
    assert "DOWN is never left" in fit.report()


def test_a_worker_that_is_always_up_has_nothing_to_test() -> None:
    fit = fit_letters("uuuu")
    assert fit.rows[0] == (1.0, 0.0, 0.0)
    assert fit.log_likelihood == 0.0
    assert fit.independence is None


@pytest.mark.parametrize("text", ["dddd", "drdrdu", "u"])
def test_a_trace_that_says_nothing_about_up_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="UP"):
        fit_letters(text)


def test_a_timeline_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="for ever"):
        fit_markov(read_letters("ud", "s", "k").repeated())


def test_the_report_shows_rows_errors_likelihood_and_tests() -> None:
    report = fit_markov(walk(default_rng(9), 3_000)).report()
    assert "+-" in report
    assert "log-likelihood -" in report
    assert report.count("chi-square") == 4
