"""Chains to test with."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
from hypothesis import strategies as st

from policies.maths.markov import MarkovChain
from policies.maths.spectrum import Rows, Spectrum

FIGURE_1 = MarkovChain(((0.85, 0.116, 0.034), (0.38, 0.56, 0.06), (0.1, 0.1, 0.8)))
NEVER_DOWN = MarkovChain(((0.5, 0.5, 0.0), (0.25, 0.75, 0.0), (0.5, 0.0, 0.5)))


def chain(rows: list[list[float]]) -> MarkovChain:
    return MarkovChain(as_rows(rows))


def as_rows(rows: list[list[float]]) -> Rows:
    u, r, d = ((row[0], row[1], row[2]) for row in rows)
    return u, r, d


def up_again(one: Spectrum, t: float) -> float:
    """P_uu(t), t in slots, whole where an eigenvalue is negative."""
    return sum(term.coefficient * term.value**t for term in one.terms)


def survival(one: MarkovChain, t: float) -> float:
    """P_ND(t)."""
    return exp(one.spectrum().log_survival(t))


@st.composite
def chains(draw: st.DrawFn, least: float = 0.0) -> MarkovChain:
    """Any chain, degenerate ones included, in hundredths; `least` is the least probability."""
    low = round(100 * least)
    rows = []
    for _ in range(3):
        first = draw(st.integers(low, 100 - 2 * low))
        second = draw(st.integers(low, 100 - low - first))
        rows.append([first / 100, second / 100, (100 - first - second) / 100])
    return chain(rows)


def power(one: MarkovChain, t: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The UP/RECLAIMED part of the chain, t slots on."""
    part = np.array([row[:2] for row in one.rows[:2]])
    return np.linalg.matrix_power(part, t)
