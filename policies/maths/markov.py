"""Models the Markovian availability of volatile workers and computes what a scheduler can expect
from it (volatile13, section V)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from math import exp, inf, log
from typing import TypeVar, cast

from attrs import define, field, frozen

from policies.maths.returns import MOST_TERMS, Product, SetAnalysis, analyse
from policies.maths.spectrum import Rows, Spectrum
from policies.maths.tolerance import SAME

Made = TypeVar("Made")

SETS_KEPT = 1 << 18
"""Number of set analyses remembered at once, about 100 MB; beyond it all are discarded."""

PRODUCTS_KEPT = 1 << 13
"""Number of products remembered at once, at most 64 MB; beyond it all are discarded."""


class Expectation(enum.Enum):
    """Says by which formula E(S)(W), the expected slots in which a set S of workers computes for W
    slots, is evaluated (volatile13, Theorem 5.1)."""

    EXACT = "exact"
    """The expectation given success of Definition 2: 1 + (W - 1) E_c / P_+."""
    PRINTED = "printed"
    """The formula as the theorem prints it: (1 + (W - 1) E_c) / P_+^(W - 1). The appendix's E_c is
    not conditional on success, so this is far too high for long work; the paper's tables fit it."""


@frozen
class MarkovChain:
    """A worker's availability as transition probabilities from slot to slot (volatile13, section
    V.A).

    Raises ValueError unless there are three rows of three probabilities, each summing to 1.
    """

    rows: Rows = field()
    """Transition probabilities, with rows and columns in the order UP, RECLAIMED, DOWN."""

    @rows.validator
    def _check(self, _attribute: object, rows: Rows) -> None:
        if len(rows) != 3 or any(len(row) != 3 for row in rows):
            raise ValueError(f"A chain has 3 rows of 3 probabilities (u, r, d), not {rows}.")
        if not all(0.0 <= p <= 1.0 for row in rows for p in row):
            raise ValueError(f"Transition probabilities lie in [0, 1], not {rows}.")
        if any(abs(sum(row) - 1.0) > SAME for row in rows):
            raise ValueError(f"Each row of transition probabilities sums to 1, not {rows}.")

    def spectrum(self) -> Spectrum:
        """Return the eigenvalues and weights of the UP/RECLAIMED part of the chain, computed anew
        at every call."""
        return Spectrum.of(self.rows)


@define(eq=False)
class Belief:
    """A scheduler's belief about the availability of each worker, a Markov chain, with the
    quantities that policies compute from it.

    Methods take a set S of workers as a bit mask `mask`, in which bit q stands for worker q.
    Analyses are made when first needed and remembered; no answer depends on earlier calls.
    """

    chains: tuple[MarkovChain, ...] = field(converter=tuple[MarkovChain, ...])
    expectation: Expectation = Expectation.EXACT
    _kinds: dict[Rows, Spectrum] = field(factory=dict, init=False, repr=False)
    _spectra: dict[int, Spectrum] = field(factory=dict, init=False, repr=False)
    _sets: dict[int, SetAnalysis] = field(factory=dict, init=False, repr=False)
    _products: dict[int, Product] = field(factory=dict, init=False, repr=False)
    _made: dict[Hashable, object] = field(factory=dict, init=False, repr=False)

    def spectrum(self, worker: int) -> Spectrum:
        """Return the spectrum (eigenvalues and weights) of one worker's chain; workers with equal
        chains share it."""
        found = self._spectra.get(worker)
        if found is None:
            chain = self.chains[worker]
            found = self._kinds.get(chain.rows) or chain.spectrum()
            self._kinds[chain.rows] = self._spectra[worker] = found
        return found

    def analysis(self, mask: int) -> SetAnalysis:
        """Return the quantities of Theorem 5.1 (E_u, A, P_+ and E_c, see SetAnalysis) of the set of
        workers in the bit mask `mask`, which must not be empty."""
        found = self._sets.get(mask)
        if found is None:
            found = self._analyse(mask)
            if len(self._sets) >= SETS_KEPT:
                self._sets.clear()
            self._sets[mask] = found
        return found

    def _analyse(self, mask: int) -> SetAnalysis:
        # 2^n terms for n workers: beyond MOST_TERMS the sum over t may be faster.
        if 1 << mask.bit_count() <= MOST_TERMS:
            return self._product(mask).analysis()
        return analyse([self.spectrum(worker) for worker in workers_of(mask)])

    def _product(self, mask: int) -> Product:
        """Return the function P(all UP at t, none DOWN before t) of the set of workers in the bit
        mask `mask`.

        It is the product for all of them but the one of the highest index, which is remembered as
        the sets that a policy tries mostly share it, times that worker's own. A new set takes 1.5
        multiplications in this way; multiplied one by one, Y-IE takes 1.13 times as long.
        """
        found = self._products.get(mask)
        if found is None:
            # The highest bit is the last worker; the mask without it is that of the set before.
            last = mask.bit_length() - 1
            before = self._product(mask ^ 1 << last) if mask & mask - 1 else Product.of_no_worker()
            found = before.times(self.spectrum(last))
            if len(self._products) >= PRODUCTS_KEPT:
                self._products.clear()
            self._products[mask] = found
        return found

    def expected(self, mask: int, work: float) -> float:
        """Return E(S)(W): the expected number of slots until the workers in the bit mask `mask`,
        all UP now, have been UP together in W = `work` slots, given that none goes DOWN before.

        The present slot counts; W = 0 takes 0 slots. The result is infinite where it overflows or
        cannot happen. Where `expectation` is PRINTED it is the value of the theorem's printed
        formula instead.
        """
        if work <= 1:
            return float(work)
        found = self._sets.get(mask) or self.analysis(mask)
        if self.expectation is Expectation.EXACT:
            return 1.0 + (work - 1) * found.step
        exponent = log(1.0 + (work - 1) * found.e_c) - (work - 1) * found.log_p_plus
        # exp() of more than 709 overflows a double.
        return exp(exponent) if exponent < 709.0 else inf

    def log_success(self, mask: int, work: float) -> float:
        """Return ln P_+^(W - 1): the log-probability that the workers in the bit mask `mask`, all
        UP now, are UP together in W = `work` slots, the present one included, before one of them
        goes DOWN. It is 0 for W <= 1."""
        return (work - 1) * self.analysis(mask).log_p_plus if work > 1 else 0.0

    def log_survival(self, workers: Iterable[int], t: float) -> float:
        """Return the sum over `workers`, by index, of ln P_ND(t): the log-probability that none of
        them, all UP now, is DOWN within t slots. It is 0 for t = 0."""
        known, log_survival = self._spectra, 0.0
        for worker in workers if t > 0.0 else ():
            one = known.get(worker) or self.spectrum(worker)
            log_survival += one.log_survival(t)
        return log_survival

    def estimate(
        self, needs: Iterable[tuple[int, float]], work: float, channels: int
    ) -> tuple[float, float]:
        """Return (ln P, E) of the workers in `needs` for the rest of an iteration: P is the
        probability that it ends without a failure, E its expected length in slots (volatile13,
        sections V.B and VI.A).

        `needs` has a pair (worker, slots of communication that it needs) for each member, at least
        one; `work` is the slots of computation left; `channels` is n_com. E adds the transfers'
        E_comm = max(max_q E_q(n_q), sum n_q / n_com), for any number of members, to the
        computation's; P is the probability that no worker goes DOWN within E_comm and then during
        the computation.
        """
        mask = 0
        total = transfer = 0.0
        members = []
        for worker, need in needs:
            members.append(worker)
            mask |= 1 << worker
            if need:
                total += need
                transfer = max(transfer, self.expected(1 << worker, need))
        transfer = max(transfer, total / channels)
        log_success = self.log_success(mask, work) + self.log_survival(members, transfer)
        return log_success, transfer + self.expected(mask, work)

    def recall(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the object that `make` built when this method was first called with `key`; a
        policy keeps computed tables in this way.

        The object lives as long as the belief and may be shared by all policies that use it, so it
        must never change an answer.
        """
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return cast(Made, found)


@lru_cache(maxsize=1 << 14)
def workers_of(mask: int) -> tuple[int, ...]:
    """Return the indices q of the workers whose bit q is set in the mask, ascending. Policies ask
    for the same sets again and again."""
    workers = []
    while mask:
        lowest = mask & -mask
        workers.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(workers)
