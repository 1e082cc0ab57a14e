"""Computes when all workers of a set are UP together again (volatile13, section V.A, Theorem 5.1,
appendix B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import ceil, comb, exp, expm1, inf, log, log1p, prod

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.maths.spectrum import Spectrum, Term

MOST_TERMS = 512
"""Number of terms up to which the closed form is faster than the sum over t: that of nine workers
of different kinds."""
MOST_TERMS_EVER = 1 << 20
"""Largest number of terms that the closed form may have, because more do not fit in memory: that of
twenty workers of different kinds. With more, the sum over t is used even if it takes longer."""
PRECISION = 1e-16
"""Absolute precision epsilon of the truncated sums; the first omitted geometric tail is added
back."""
CHUNK = 1 << 14
"""Number of slots summed at once, which bounds the memory for a set that takes very long to
return."""


Kinds = Mapping[Spectrum, int]
"""A set of workers, as the number of workers that have each spectrum."""


@frozen
class SetAnalysis:
    """Quantities of Theorem 5.1 for a set S of workers that are all UP at slot 0."""

    e_u: float
    """E_u = sum over t > 0 of P(all UP at t, none DOWN before); inf where no worker can go DOWN."""
    a: float
    """A = sum over t > 0 of t P(all UP at t, none DOWN before)."""
    log_p_plus: float
    """Logarithm of P_+, the probability that all are UP together again before one goes DOWN."""
    e_c: float
    """E_c = sum over t > 0 of t P(first UP together again at t), not conditional on a return."""
    step: float
    """Expected slots from one common UP slot to the next, given that there is one: E_c / P_+."""


@frozen(eq=False)
class Product:
    """P(all UP at t, none DOWN before t), given all UP at 0, of a set of workers as a function of
    the slot t: a sum of terms c v^t."""

    table: NDArray[np.float64]
    """Values of the terms, the largest first, and their coefficients in a second row."""
    log_rate: float
    """Logarithm of Lambda, the product of the workers' l1; 0 where no worker can go DOWN."""

    @classmethod
    def of_no_worker(cls) -> Product:
        return cls(np.ones((2, 1)), 0.0)

    def times(self, one: Spectrum) -> Product:
        """Return the function P(all UP at t, none DOWN before t) of the set that has one more
        worker, whose eigenvalues and weights are `one`. This product itself does not change."""
        return Product(_times(self.table, one.table), self.log_rate + one.terms[0].log_value)

    def analysis(self) -> SetAnalysis:
        """Return the quantities of Theorem 5.1 (E_u, A, P_+, E_c) of the set, which must have at
        least one worker."""
        if self.log_rate < 0.0:
            return _from_sums(*_geometric(self.table, self.log_rate))
        return _never_down(float(self.table[1, 0]))


def analyse(spectra: Iterable[Spectrum]) -> SetAnalysis:
    """Return the quantities of Theorem 5.1 of the set of workers with these spectra, at least one.

    The sums over slots have a closed form with a number of terms that grows with the number of
    different spectra. It is used where its terms are few; otherwise the sums are added up slot by
    slot and truncated, to a precision of 1e-16.
    """
    kinds = Counter(spectra)
    rate = log_rate(kinds)
    if rate < 0.0:
        return _from_sums(*sums(kinds, rate))
    return _never_down(prod(kind.terms[0].coefficient ** count for kind, count in kinds.items()))


def log_rate(kinds: Kinds) -> float:
    """Return ln Lambda, the logarithm of the product of all workers' leading eigenvalues l1, each
    spectrum counted as often as `kinds` says; 0 where no worker can go DOWN."""
    return sum([kind.terms[0].log_value * count for kind, count in kinds.items()])


def sums(kinds: Kinds, rate: float) -> tuple[float, float]:
    """Return (E_u, A), the sums over slots t > 0 of P(all UP at t, none DOWN before) and of t times
    that probability, for the workers in `kinds`, of which at least one can go DOWN.

    `rate` is ln Lambda < 0 (see `log_rate`). `closed_sums` computes them where it has at most 512
    terms, or no more terms than `truncated_sums` has slots to add up; otherwise the latter does.
    """
    # k workers of one kind with two eigenvalues give k + 1 different terms of a binomial.
    terms = prod([count + 1 if len(kind.terms) == 2 else 1 for kind, count in kinds.items()])
    if terms <= MOST_TERMS:
        return closed_sums(kinds, rate)
    worth = min(slots_to_sum(kinds, rate), MOST_TERMS_EVER)
    return closed_sums(kinds, rate) if terms <= worth else truncated_sums(kinds, rate)


def closed_sums(kinds: Kinds, rate: float) -> tuple[float, float]:
    """Return (E_u, A) (see `sums`) from formulas for the geometric series, not slot by slot.

    P(all UP at t, none DOWN before) is a sum of terms c v^t over the slots t > 0; E_u is the sum of
    c v / (1 - v), A that of c v / (1 - v)^2. `rate` = ln Lambda is the logarithm of the largest v.
    """
    table = np.ones((2, 1))
    for kind, count in kinds.items():
        table = _times(table, kind.table if count == 1 else _power(kind.terms, count))
    return _geometric(table, rate)


def truncated_sums(kinds: Kinds, rate: float) -> tuple[float, float]:
    """Return (E_u, A) (see `sums`), added up slot by slot; from the slot `slots_to_sum` on, the
    geometric tail of the leading eigenvalues stands for the rest.

    The appendix drops that tail, which it bounds by epsilon; adding it lets the sum stop as soon as
    the second eigenvalues have died out, even where a failure is very rare. `rate` is ln Lambda <
    0.
    """
    end = slots_to_sum(kinds, rate)
    e_u = a = 0.0
    for t in _chunks(end):
        product = np.exp(t * rate)
        for kind, count in kinds.items():
            product *= _shrinking(kind.terms, t) ** count
        e_u += float(product.sum())
        a += float((t * product).sum())
    gap = -expm1(rate)
    weight = prod(kind.terms[0].coefficient ** count for kind, count in kinds.items())
    tail = weight * exp(end * rate) / gap
    return e_u + tail, a + tail * (end + exp(rate) / gap)


def slots_to_sum(kinds: Kinds, rate: float) -> int:
    """Return the number T such that sums over the slots 0 < t < T, completed by the geometric tail
    of the leading eigenvalues, are exact to `PRECISION`; `rate` is ln Lambda < 0 of the workers
    `kinds`."""
    return max(1, int(min(horizon(rate, PRECISION), _mixed(kinds))))


def horizon(rate: float, precision: float) -> int:
    """Return the number of slots T from which on the sums A and E_u may be cut off (volatile13,
    appendix B): the least T with Lambda^T (T / (1 - Lambda) + Lambda / (1 - Lambda)^2) <=
    precision.

    `rate` = ln Lambda < 0. Beyond T, A and E_u miss at most `precision`.
    """
    gap = -expm1(rate)
    # T stands on both sides of the inequality: iterate from below until it stays.
    end, grown = 0, 1
    while grown > end:
        end = grown
        bound = end / gap + exp(rate) / gap**2
        grown = ceil((log(precision) - log(bound)) / rate) if rate > -inf else 1
    return end


def _never_down(up: float) -> SetAnalysis:
    """Return the quantities of Theorem 5.1 of a set that never goes DOWN: P_+ = 1 and, by renewal,
    E_c = 1 / P(all UP), the product of 1 + p_ur / p_ru. `up` is P(all UP) in the long run."""
    return SetAnalysis(e_u=inf, a=inf, log_p_plus=0.0, e_c=1.0 / up, step=1.0 / up)


def _from_sums(e_u: float, a: float) -> SetAnalysis:
    """Return the quantities of Theorem 5.1 from E_u and A: P_+ = E_u / (1 + E_u), E_c = A (1 - P_+)
    / (1 + E_u)."""
    if e_u <= 0.0:
        return SetAnalysis(e_u=0.0, a=0.0, log_p_plus=-inf, e_c=0.0, step=inf)
    return SetAnalysis(
        e_u=e_u,
        a=a,
        log_p_plus=-log1p(1.0 / e_u),
        e_c=a / (1.0 + e_u) ** 2,
        step=a / ((1.0 + e_u) * e_u),
    )


def _times(table: NDArray[np.float64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the product of two sums of terms c v^t as a sum of such terms.

    Arguments and result are arrays of two rows, the values v and the coefficients c, with a column
    for each term. The product has a column for each pair of columns; the first is that of both
    first ones.
    """
    product: NDArray[np.float64] = table[:, :, np.newaxis] * factor[:, np.newaxis, :]
    return product.reshape(2, -1)


def _geometric(table: NDArray[np.float64], rate: float) -> tuple[float, float]:
    """Return the sums of c v / (1 - v) and of c v / (1 - v)^2 over the columns of `table`: values v
    in its first row, coefficients c in its second. The first column has the largest value, v =
    exp(rate)."""
    values, coefficients = table
    gaps = 1.0 - values
    # 1 - v of the first term from its logarithm: it is the smallest difference and would lose
    # digits.
    gaps[0] = -expm1(rate)
    # Not `@`: the order in which BLAS adds differs between machines, and so would the logs.
    geometric = coefficients * values / gaps
    return float(np.add.reduce(geometric)), float(np.add.reduce(geometric / gaps))


def _power(terms: tuple[Term, ...], count: int) -> NDArray[np.float64]:
    """Return (c1 v1^t + c2 v2^t)^count as a sum of terms c v^t: an array with the values v in its
    first row and the coefficients c in its second, of which the first column has v = v1^count.

    `terms` are the one or two terms (value v, coefficient c) of one worker's P_uu(t).
    """
    if len(terms) == 1:
        return np.array([[terms[0].value ** count], [terms[0].coefficient ** count]])
    (first, second), seconds = terms, range(count + 1)
    values = [first.value ** (count - k) * second.value**k for k in seconds]
    weights = [
        comb(count, k) * first.coefficient ** (count - k) * second.coefficient**k for k in seconds
    ]
    return np.array([values, weights])


def _mixed(kinds: Kinds) -> float:
    """Return the number of slots after which the second eigenvalues of the workers `kinds` no
    longer matter; inf if they always do.

    From then on, in P(all UP at t, none DOWN before), what they contribute is below PRECISION times
    what the leading eigenvalues contribute.
    """
    pairs = [(kind.terms, count) for kind, count in kinds.items() if len(kind.terms) == 2]
    slowest = max((abs(t[1].value) / t[0].value for t, _ in pairs), default=0.0)
    weight = sum(count * t[1].coefficient / t[0].coefficient for t, count in pairs)
    if slowest == 0.0:
        return 2
    # Solves (1 + weight) slowest^T = PRECISION for T.
    return inf if slowest >= 1.0 else ceil(log(PRECISION / (1.0 + weight)) / log(slowest))


def _shrinking(terms: tuple[Term, ...], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P_uu(t) / l1^t at each slot of `t`: the probability that one worker is UP, relative to
    the power of its leading eigenvalue. `terms` are the one or two terms of its P_uu(t), that of l1
    first."""
    if len(terms) == 1:
        return np.ones_like(t)
    first, second = terms
    rest: NDArray[np.float64] = first.coefficient + second.coefficient * np.power(
        second.value / first.value, t
    )
    return rest


def _chunks(end: int) -> Iterator[NDArray[np.float64]]:
    """Yield the slots t with 0 < t < end, ascending, in arrays of at most `CHUNK` slots."""
    for start in range(1, end, CHUNK):
        yield np.arange(start, min(start + CHUNK, end), dtype=np.float64)
