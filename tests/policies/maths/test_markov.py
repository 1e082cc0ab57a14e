"""Markovian availability: Theorem 5.1 of volatile13 in closed form, as a sum, and by simulation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.maths import markov, returns
from policies.maths.markov import Belief, Expectation, MarkovChain, workers_of
from policies.maths.spectrum import Rows, Spectrum
from tests.case_files import case_file
from tests.policies.maths.chains import FIGURE_1, NEVER_DOWN, chain, chains, survival, up_again


@pytest.fixture(scope="module")
def cases(cases_dir: Path) -> dict[str, Any]:
    return case_file(cases_dir, "volatile.json")


def test_sets_have_the_expected_analysis(cases: dict[str, Any]) -> None:
    for case in cases["sets"]:
        members, work = [chain(rows) for rows in case["chains"]], case["W"]
        everyone = (1 << len(members)) - 1
        exact, printed = Belief(members), Belief(members, Expectation.PRINTED)
        found = exact.analysis(everyone)
        if case["Eu"] is not None:
            assert found.e_u == pytest.approx(case["Eu"], rel=1e-9)
            assert found.a == pytest.approx(case["A"], rel=1e-9)
            survivals = [survival(one, 10.0) for one in members]
            assert survivals == pytest.approx(case["P_ND_10"], rel=1e-9)
        assert math.exp(found.log_p_plus) == pytest.approx(case["P_plus"], rel=1e-9)
        assert found.e_c == pytest.approx(case["Ec"], rel=1e-9)
        assert exact.expected(everyone, work) == pytest.approx(case["E_conditional"], rel=1e-9)
        assert printed.expected(everyone, work) == pytest.approx(case["E_as_printed"], rel=1e-9)
        success = math.exp(exact.log_success(everyone, work))
        assert success == pytest.approx(case["P_success"], rel=1e-9)


def test_the_exact_expectation_is_what_a_simulation_gives_and_the_printed_one_is_not() -> None:
    rng, work, samples = np.random.default_rng(2), 6, 20_000
    members = [FIGURE_1, chain([[0.9, 0.06, 0.04], [0.2, 0.75, 0.05], [0.1, 0.1, 0.8]])]
    steps = np.array([np.cumsum(one.rows, axis=1) for one in members])
    state, common = np.zeros((samples, 2), dtype=int), np.ones(samples, dtype=int)
    ends = np.zeros(samples, dtype=int)
    for t in range(1, 400):
        draws = rng.random((samples, 2, 1))
        state = (draws > steps[np.arange(2), state][:, :, :2]).sum(axis=2)
        state[ends != 0], ends[(state == 2).any(axis=1) & (ends == 0)] = 0, -1
        common += (state == 0).all(axis=1) & (ends == 0)
        ends[(common == work) & (ends == 0)] = t + 1
    succeeded = ends[ends > 0]
    error = succeeded.std() / math.sqrt(len(succeeded))
    assert (ends != 0).all()
    belief, printed = Belief(members), Belief(members, Expectation.PRINTED)
    assert abs(belief.expected(0b11, work) - succeeded.mean()) < 4 * error
    assert abs(printed.expected(0b11, work) - succeeded.mean()) > 40 * error
    p = math.exp(belief.log_success(0b11, work))
    assert abs(len(succeeded) / samples - p) < 4 * math.sqrt(p * (1 - p) / samples)


def test_a_large_set_that_fails_once_in_a_million_slots_is_summed_in_a_moment() -> None:
    rows = [[1 - 2e-1 - 1e-6 * k, 2e-1, 1e-6 * k] for k in range(1, 13)]
    members = [chain([row, [0.3, 0.7, 0.0], [0.1, 0.1, 0.8]]) for row in rows]
    kinds = {one.spectrum(): 1 for one in members}
    rate = returns.log_rate(kinds)
    assert returns.slots_to_sum(kinds, rate) < 100 < 100_000 < returns.horizon(rate, 1e-9)
    assert returns.truncated_sums(kinds, rate) == pytest.approx(
        returns.closed_sums(kinds, rate), rel=1e-9
    )


def test_the_appendix_bound_says_how_many_slots_to_sum(cases: dict[str, Any]) -> None:
    for case in cases["sets"]:
        if case["Eu"] is None:
            continue
        spectra = [chain(rows).spectrum() for rows in case["chains"]]
        end = returns.horizon(sum(one.log_rate for one in spectra), 1e-9)
        t = np.arange(1, end)
        common = np.prod([[up_again(one, float(k)) for k in t] for one in spectra], axis=0)
        assert common.sum() == pytest.approx(case["Eu"], rel=1e-13, abs=1e-9)
        assert (t * common).sum() == pytest.approx(case["A"], rel=1e-13, abs=1e-9)
        assert end <= case["T_eps1e9"]


def test_where_nobody_can_go_down_success_is_certain() -> None:
    belief = Belief([NEVER_DOWN, NEVER_DOWN])
    assert belief.log_success(0b11, 1000) == 0.0
    assert belief.analysis(0b11).e_c == pytest.approx((1 + 0.5 / 0.25) ** 2)
    assert belief.log_survival([0, 1], 1e6) == 0.0


def test_a_worker_that_cannot_come_back_up_never_finishes() -> None:
    once = chain([[0.0, 0.5, 0.5], [0.0, 0.5, 0.5], [0.1, 0.1, 0.8]])
    belief = Belief([once])
    assert belief.expected(1, 1) == 1.0
    assert belief.expected(1, 2) == math.inf
    assert belief.log_success(1, 2) == -math.inf


@given(st.lists(chains(least=0.01), min_size=1, max_size=5), st.integers(1, 200))
def test_more_work_takes_longer_and_succeeds_less_often(
    members: list[MarkovChain], work: int
) -> None:
    everyone = (1 << len(members)) - 1
    for expectation in Expectation:
        belief = Belief(members, expectation)
        assert belief.expected(everyone, 0) == 0.0
        assert belief.expected(everyone, 1) == 1.0
        assert work <= belief.expected(everyone, work) * (1 + 1e-9)
        longer = belief.expected(everyone, work + 1)
        assert belief.expected(everyone, work) < longer or longer == math.inf
        assert belief.log_success(everyone, work + 1) < belief.log_success(everyone, work) <= 0.0


def test_very_long_work_is_infinite_as_printed_and_still_finite_in_logarithms() -> None:
    members = [FIGURE_1] * 5
    assert Belief(members, Expectation.PRINTED).expected(0b11111, 10_000) == math.inf
    assert -math.inf < Belief(members).log_success(0b11111, 10_000) < -1000.0


def test_transfers_are_estimated_by_the_slowest_worker_and_by_the_masters_channels() -> None:
    belief = Belief([FIGURE_1, NEVER_DOWN])
    alone = belief.expected(0b01, 4)
    log_success, duration = belief.estimate([(0, 4), (1, 1)], work=3, channels=2)
    assert duration == pytest.approx(alone + belief.expected(0b11, 3))
    survival = FIGURE_1.spectrum().log_survival(alone)
    assert log_success == pytest.approx(survival + belief.log_success(0b11, 3))
    _, shared = belief.estimate([(0, 4), (1, 40)], work=3, channels=1)
    by_master = max(44.0, belief.expected(0b10, 40))
    assert shared == pytest.approx(by_master + belief.expected(0b11, 3))


def test_sets_of_equal_workers_have_equal_analyses_whoever_they_are() -> None:
    other = chain([[0.9, 0.06, 0.04], [0.2, 0.75, 0.05], [0.1, 0.1, 0.8]])
    belief = Belief([FIGURE_1, other, FIGURE_1, other])
    assert belief.analysis(0b0011).e_u == pytest.approx(belief.analysis(0b0110).e_u, rel=1e-14)
    assert belief.spectrum(0) is belief.spectrum(2)


def test_a_belief_about_many_workers_analyses_only_those_that_it_is_asked_about() -> None:
    asked: list[Rows] = []

    class Counted(MarkovChain):
        def spectrum(self) -> Spectrum:
            asked.append(self.rows)
            return super().spectrum()

    belief = Belief([Counted(FIGURE_1.rows), Counted(NEVER_DOWN.rows)] * 50_000)
    assert asked == []
    pair = belief.analysis(1 << 99_998 | 1 << 99_999)
    assert len(asked) == 2
    assert pair == Belief([FIGURE_1, NEVER_DOWN]).analysis(0b11)


def test_a_cache_is_made_once_and_kept_with_the_belief() -> None:
    belief = Belief([FIGURE_1])
    made: list[int] = belief.recall("seen", list)
    assert belief.recall("seen", list) is made
    assert Belief([FIGURE_1]).recall("seen", list) is not made


@given(st.sets(st.integers(0, 200)))
def test_a_mask_lists_its_workers_in_order(workers: set[int]) -> None:
    assert workers_of(sum(1 << worker for worker in workers)) == tuple(sorted(workers))


@pytest.mark.parametrize(
    "members",
    [
        [FIGURE_1] * 12,
        [NEVER_DOWN] * 12,
        [FIGURE_1] * 6 + [NEVER_DOWN] * 6,
        [chain([[0.9, 0.06, 0.04], [0.0, 0.7, 0.3], [0.1, 0.1, 0.8]])] * 10,
        [chain([[0.94 - 0.01 * k, 0.06, 0.01 * k], [0, 1, 0], [1, 0, 0]]) for k in range(1, 4)],
    ],
)
def test_a_set_is_analysed_alike_one_by_one_and_by_kind(members: list[MarkovChain]) -> None:
    found = {one: one.spectrum() for one in members}
    spectra = [found[one] for one in members]
    product = returns.Product.of_no_worker()
    for one in spectra:
        product = product.times(one)
    alone, together = product.analysis(), returns.analyse(spectra)
    assert together.log_p_plus == pytest.approx(alone.log_p_plus, rel=1e-9)
    assert together.step == pytest.approx(alone.step, rel=1e-9)
    kinds = {one: spectra.count(one) for one in spectra}
    if (rate := returns.log_rate(kinds)) < 0:
        assert returns.truncated_sums(kinds, rate) == pytest.approx(
            returns.closed_sums(kinds, rate), rel=1e-9
        )


def test_what_is_forgotten_to_save_memory_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [FIGURE_1, NEVER_DOWN, FIGURE_1, FIGURE_1]
    kept = [Belief(members).analysis(mask) for mask in range(1, 16)]
    monkeypatch.setattr(markov, "SETS_KEPT", 2)
    monkeypatch.setattr(markov, "PRODUCTS_KEPT", 2)
    forgetful = Belief(members)
    for _ in range(2):
        assert [forgetful.analysis(mask) for mask in range(1, 16)] == kept


def test_an_expectation_beyond_the_largest_number_is_infinite() -> None:
    """One worker that is never RECLAIMED: P_+ = E_c = q, so that E(W) as volatile13 prints it is
    (1 + (W - 1) q) / q^(W - 1): beyond e^709.78 no double holds it."""
    q = 0.9048
    belief = Belief([chain([[q, 0, 1 - q], [0, 1, 0], [1, 0, 0]])], Expectation.PRINTED)
    for steps in range(6900, 7100):
        exponent = math.log(1 + steps * q) - steps * math.log(q)
        found = belief.expected(1, steps + 1)
        if exponent < 709:
            assert found == pytest.approx(math.exp(exponent), rel=1e-9)
        else:
            assert found == math.inf


@pytest.mark.parametrize("many", [1, 20, 200])
def test_sums_go_on_until_what_dies_out_is_as_small_as_promised(many: int) -> None:
    """P_uu(t) = c1 v1^t + c2 v2^t; of a set, the first part left out is many c2 / c1 (v2 / v1)^t
    of the whole."""
    spectrum = chain([[0.5, 0.4999, 0.0001], [0.3, 0.7, 0.0], [1.0, 0.0, 0.0]]).spectrum()
    first, second = spectrum.terms
    kinds = {spectrum: many}
    end = returns.slots_to_sum(kinds, returns.log_rate(kinds))
    left = many * second.coefficient / first.coefficient * (second.value / first.value) ** end
    assert 0 < left <= returns.PRECISION
