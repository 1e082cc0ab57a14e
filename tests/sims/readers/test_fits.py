"""Fitting availability chains, and the evidence that comes with a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator, default_rng

from policies.availability import WorkerState
from sims.readers.fits import MarkovFit, fit_markov, geometric
from sims.readers.timeline import Timeline, read_letters
from tests.case_files import listed

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


def fit_states(states: list[WorkerState]) -> MarkovFit:
    return fit_markov(Timeline.of_slots(states))


def fit_letters(text: str) -> MarkovFit:
    return fit_markov(read_letters(text, "s", "k"))


@given(TRACES)
def test_counts_are_those_of_neighbouring_slots(states: list[WorkerState]) -> None:
    pairs = list(pairwise(states := [UP, *states]))
    counts = fit_states(states).counts.tolist()
    assert counts == [[pairs.count((before, after)) for after in STATES] for before in STATES]


@given(TRACES, st.floats(0.01, 0.2), st.integers(0, 2), st.integers(0, 2))
def test_no_other_chain_makes_the_trace_more_likely(
    states: list[WorkerState], shift: float, row: int, column: int
) -> None:
    states = [UP, *states]
    fit = fit_states(states)
    other = [list(probabilities) for probabilities in fit.rows]
    other[row] = [(1 - shift) * p + shift * (j == column) for j, p in enumerate(other[row])]
    assert log_likelihood(other, states) <= log_likelihood(fit.rows, states) + 1e-9
    assert fit.log_likelihood == pytest.approx(log_likelihood(fit.rows, states))


def log_likelihood(rows: Sequence[Sequence[float]], states: Sequence[WorkerState]) -> float:
    indices = [STATES.index(state) for state in states]
    chances = [rows[i][j] for i, j in pairwise(indices)]
    return sum(math.log(p) if p > 0 else -math.inf for p in chances)


def test_the_true_chain_is_found_within_its_standard_errors() -> None:
    fit = fit_states(walk(default_rng(5), 40_000))
    for row, truth, errors in zip(fit.rows, TRUTH, fit.standard_errors, strict=True):
        for found, expected, error in zip(row, truth, errors, strict=True):
            assert abs(found - expected) < 4.5 * error
            assert error < 0.01
    assert fit.chain.rows == fit.rows


def test_a_chain_s_own_trace_is_not_rejected_and_its_memory_is_found() -> None:
    fit = fit_states(walk(default_rng(6), 20_000))
    assert fit.independence is not None and fit.independence.p_value < 1e-6
    assert all(it.geometric is not None and it.geometric.p_value > 0.001 for it in fit.holding)
    report = fit.report()
    assert "+-" in report and "log-likelihood -" in report
    assert report.count("chi-square") == 4


def test_slots_drawn_independently_show_no_memory() -> None:
    draws = default_rng(7).choice(3, size=5_000, p=[0.5, 0.3, 0.2])
    test = fit_states([STATES[draw] for draw in draws]).independence
    assert test is not None
    assert test.degrees == 4 and test.p_value > 0.001


def test_p_values_of_true_hypotheses_are_spread_evenly() -> None:
    rng = default_rng(8)
    found = [geometric(rng.geometric(0.1, size=300).tolist()) for _ in range(300)]
    rejected = sum(test is not None and test.p_value < 0.1 for test in found)
    # Binomial(300, 0.1): mean 30, standard deviation 5.2; the law is approximate for 20 classes.
    assert 10 <= rejected <= 50


def test_regular_stays_are_not_taken_for_geometric_ones() -> None:
    up, reclaimed, down = fit_letters("uuuuuuuurr" * 60).holding
    assert [(it.stays, it.mean_slots) for it in (up, reclaimed)] == [(59, 8.0), (59, 2.0)]
    assert up.geometric is not None and up.geometric.p_value < 1e-6
    assert down.stays == 0 and math.isnan(down.mean_slots) and down.geometric is None


def test_stays_that_are_not_seen_whole_or_too_few_are_not_tested() -> None:
    up, reclaimed, _ = fit_letters("uuuuuuruurrr").holding  # neither the first nor the last
    assert (up.stays, up.mean_slots, reclaimed.stays, reclaimed.mean_slots) == (1, 2.0, 1, 1.0)
    assert geometric([]) is geometric([3, 1, 4]) is geometric([1] * 500) is None


@pytest.mark.parametrize(("letters", "rows", "unseen", "absorbing"), listed(__file__, "unsaid"))
def test_what_the_data_do_not_say_is_named(
    letters: str,
    rows: dict[str, list[float]],
    unseen: list[str],
    absorbing: list[str],
) -> None:
    fit, report = fit_letters(letters), fit_letters(letters).report()
    assert {k: list(fit.rows[int(k)]) for k in rows} == rows
    assert [it.name for it in fit.unseen] == unseen
    assert [it.name for it in fit.absorbing] == absorbing
    assert all(fit.standard_errors[STATES.index(it)] == [math.inf] * 3 for it in fit.unseen)
    assert report.count("not an estimate") == len(unseen)
    assert all(f"{name} is never left" in report for name in absorbing)


@pytest.mark.parametrize("text", ["dddd", "drdrdu", "u"])
def test_a_trace_that_says_nothing_about_up_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="UP"):
        fit_letters(text)
