"""One worker's chain: its powers, its survival (volatile13, section V.A)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.maths.markov import MarkovChain
from tests.policies.maths.chains import FIGURE_1, chain, chains, power, survival, up_again


@given(chains(), st.integers(0, 30))
def test_a_chain_returns_and_survives_as_the_powers_of_its_matrix_say(
    one: MarkovChain, t: int
) -> None:
    up = power(one, t)[0]
    assert up_again(one.spectrum(), t) == pytest.approx(up[0], abs=1e-12)
    assert survival(one, t) == pytest.approx(up.sum(), rel=1e-9, abs=1e-12)


@given(chains(), st.floats(1.0, 50.0), st.floats(0.0, 5.0))
def test_from_the_first_slot_on_survival_never_grows(
    one: MarkovChain, t: float, later: float
) -> None:
    assert survival(one, 0.0) == pytest.approx(1.0)
    assert 0.0 <= survival(one, t + later) <= survival(one, t) * (1 + 1e-9) <= 1 + 2e-9


@pytest.mark.parametrize("nudge", [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6])
def test_survival_keeps_its_digits_where_the_eigenvalues_meet(nudge: float) -> None:
    one = chain([[0.9, 0.09, 0.01], [nudge, 0.9, 0.1 - nudge], [0.1, 0.1, 0.8]])
    assert survival(one, 20) == pytest.approx(power(one, 20)[0].sum(), rel=1e-10)
    assert survival(one, 19.5) < survival(one, 19) and survival(one, 19.5) > survival(one, 20)


def test_survival_does_not_underflow_in_logarithms() -> None:
    spectrum = FIGURE_1.spectrum()
    assert math.exp(spectrum.log_survival(1e6)) == 0.0
    assert spectrum.log_survival(2e6) == pytest.approx(2 * spectrum.log_survival(1e6), rel=1e-5)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([[0.5, 0.4, 0.2], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], "sums to 1"),
        ([[1.2, -0.2, 0.0], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], r"lie in \[0, 1\]"),
    ],
)
def test_impossible_probabilities_are_refused(rows: list[list[float]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        chain(rows)


def test_a_chain_of_two_states_is_refused() -> None:
    with pytest.raises(ValueError, match="3 rows of 3"):
        MarkovChain(((0.5, 0.5), (0.5, 0.5)))  # type: ignore[arg-type]
