"""Analyses one worker's return to UP: the eigenvalues of the UP/RECLAIMED part of its chain
(volatile13, section V.A)."""

from __future__ import annotations

from math import expm1, log, log1p, sqrt

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

Rows = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
"""Transition probabilities of one worker: rows and columns in the order UP, RECLAIMED, DOWN."""

CLOSE = 1e-4
"""Relative distance of eigenvalues below which a difference of powers would lose P_ND's digits."""


@frozen
class Term:
    """One geometric term of P_uu(t), the probability that a worker is UP at slot t: coefficient x
    value^t."""

    value: float
    log_value: float
    """Logarithm of the value, computed from 1 - value so that a worker which almost never fails
    keeps its digits."""
    coefficient: float


@frozen(eq=False)
class Spectrum:
    """The probabilities P_uu(t) and P_ND(t) of one worker as functions of t, from the eigenvalues
    of its Markov chain (volatile13, sections V.A and V.B, appendix B).

    P_uu(t) = mu l1^t + nu l2^t is the probability that a worker UP at 0 is UP at t and was not DOWN
    in between; P_ND(t) is the probability that it was not DOWN in [0, t].
    """

    rows: Rows
    terms: tuple[Term, ...]
    """Terms of P_uu, the largest value first; there is one where the worker never comes back to UP
    from RECLAIMED, or never leaves UP for it."""
    log_rate: float
    """Logarithm of l1: P_ND(t) = l1^t (steady + transient (l2 / l1)^t), unless `close` or
    `alternating`."""
    steady: float
    transient: float
    ratio: float
    """Ratio of the eigenvalues, l2 / l1."""
    close: bool
    """Whether l1 and l2 are too near each other for a sum of their powers."""
    alternating: bool
    """Whether l2 < 0 or l1 = 0, so that powers are defined at whole t only."""
    table: NDArray[np.float64] = field(init=False, repr=False)
    """Values of the terms and, in a second row, their coefficients."""

    @table.default
    def _tabulate(self) -> NDArray[np.float64]:
        return np.array(
            [[term.value for term in self.terms], [term.coefficient for term in self.terms]]
        )

    @classmethod
    def of(cls, rows: Rows) -> Spectrum:
        """Return the spectrum of the chain with the transition probabilities `rows`: rows and
        columns in the order UP, RECLAIMED, DOWN."""
        (uu, ur, ud), (ru, rr, rd), _ = rows
        # A worker that is never RECLAIMED has one eigenvalue: it stays UP or goes DOWN.
        if ur == 0.0:
            stay = _term(uu, ud, 1.0)
            return cls(rows, (stay,), stay.log_value, 1.0, 0.0, 0.0, False, uu == 0.0)
        spread = sqrt((uu - rr) ** 2 + 4.0 * ur * ru)
        # The eigenvalues of [[uu, ur], [ru, rr]] are (uu + rr - spread) / 2 and (uu + rr + spread)
        # / 2.
        low = (uu + rr - spread) / 2.0
        # 1 - l1 without cancellation: det(I - M) = (1 - l1)(1 - l2), a sum of products.
        gap = (ur * rd + ud * ru + ud * rd) / (1.0 - low) if ru > 0.0 else min(ur + ud, rd)
        high = 1.0 - gap
        terms: tuple[Term, ...] = (_term(uu, ur + ud, 1.0),)
        if ru > 0.0:
            weight = (uu - low) / spread
            terms = (_term(high, gap, weight), _term(low, 1.0 - low, 1.0 - weight))
        # Equal eigenvalues make the sum of two powers a difference of huge terms; see
        # `_nearly_equal`.
        close = spread <= CLOSE * high
        transient = 0.0 if close else (ud - gap) / spread
        return cls(
            rows,
            terms,
            _term(high, gap, 1.0).log_value,
            1.0 - transient,
            transient,
            low / high if high > 0.0 else 0.0,
            close,
            low < 0.0 or high <= 0.0,
        )

    def log_survival(self, t: float) -> float:
        """Return ln P_ND(t), the log-probability that a worker that is UP at slot 0 is not DOWN
        within t slots; -inf where it is DOWN for sure.

        `t` need not be whole, but must be 0 or at least 1, as expected transfer times are: in
        between, the powers may leave [0, 1].
        """
        if self.close or self.alternating:
            return self._log_survival_apart(t)
        rest = self.steady + self.transient * self.ratio**t
        return t * self.log_rate + log(rest) if rest > 0.0 else -np.inf

    def _log_survival_apart(self, t: float) -> float:
        survival = self._between_slots(t) if self.alternating else self._nearly_equal(t)
        rate = 0.0 if self.alternating else t * self.log_rate
        return rate + log(survival) if survival > 0.0 else -np.inf

    def _nearly_equal(self, t: float) -> float:
        """Return P_ND(t) / l1^t, the probability of not being DOWN within t slots over the power of
        the leading eigenvalue, in a form that keeps its digits where both eigenvalues are nearly
        equal.

        It is (P_uu(t) + P_ur(t)) / l1^t, with P_ur = ur (l1^t - l2^t) / (l1 - l2).
        """
        (uu, ur, _), (ru, rr, _), _ = self.rows
        spread = sqrt((uu - rr) ** 2 + 4.0 * ur * ru)
        high = (uu + rr + spread) / 2.0
        weight = (uu - rr + spread) / (2.0 * spread) if spread > 0.0 else 1.0
        shrunk = expm1(t * log1p(-spread / high))
        apart = -shrunk / spread if spread > 0.0 else t / high
        return 1.0 + (1.0 - weight) * shrunk + ur * apart

    def _between_slots(self, t: float) -> float:
        """Return P_ND(t), the probability of not being DOWN within t slots, of a chain with a
        negative eigenvalue or none above 0; exact at whole t and linear in between."""
        part = np.array([row[:2] for row in self.rows[:2]])
        start = int(t)
        before = np.linalg.matrix_power(part, start)
        whole, following = before[0].sum(), (before @ part)[0].sum()
        return float(whole + (t - start) * (following - whole))


def _term(value: float, gap: float, coefficient: float) -> Term:
    if gap < 1.0:
        return Term(value, log1p(-gap), coefficient)
    return Term(value, log(value) if value > 0.0 else -np.inf, coefficient)
