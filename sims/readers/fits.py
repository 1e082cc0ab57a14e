"""Laws fitted to traces by maximum likelihood: a Markov chain of availability (volatile13, section
III.B), and how well it explains the slots that were seen.

scipy.stats is imported where it is used: it takes longer than most runs of a volatile scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from policies.maths.spectrum import Rows
from sims.readers.timeline import Timeline
from sims.telling import counted

# --- of availability ------------------------------------------------------------------------------

Counts = NDArray[np.int64]
"""3 x 3 transition counts, rows and columns in the order u, r, d."""
Runs = tuple[tuple[WorkerState, int], ...]
"""(state, slots in a row); neighbours differ."""

STATES = tuple(WorkerState)
LONGEST = 2**53
"""Slots in one state: of more, sums and probabilities would no longer be exact."""
LEAST_EXPECTED = 5.0
"""The usual least expected count per class, below which a chi-square law is no good."""
MOST_CLASSES = 20


@frozen
class ChiSquare:
    """A test whose statistic follows a chi-square law if its hypothesis holds."""

    statistic: float
    degrees: int
    """Degrees of freedom."""
    p_value: float
    """Probability of a statistic at least as large: small values speak against the hypothesis."""

    def __str__(self) -> str:
        return f"chi-square {self.statistic:.2f} on {self.degrees} degrees, p = {self.p_value:.3g}"


@frozen
class HoldingTimes:
    """The stays in one state that were seen whole: neither the first nor the last of a trace."""

    state: WorkerState
    stays: int
    mean_slots: float
    """Mean length, in slots; nan without a stay."""
    geometric: ChiSquare | None
    """Test that lengths are geometric, as a Markov chain's are; None: too few stays to tell. Where
    it rejects, the chain is right about mean stays only."""


@frozen
class MarkovFit:
    """A fitted chain with the evidence for it; one step is one slot."""

    rows: Rows
    """Transition probabilities from row to column, in the order u, r, d."""
    counts: Counts = field(eq=False, repr=False)
    """Transitions from row to column; a slot that stays counts."""
    _runs: Runs = field(eq=False, repr=False)

    @property
    def chain(self) -> MarkovChain:
        """The chain, for a scenario's truth or a policy's belief."""
        return MarkovChain(rows=self.rows)

    @property
    def log_likelihood(self) -> float:
        """Sum of n_ij ln(n_ij / n_i), in nats: given each trace's first state."""
        from scipy.special import xlogy

        return float(xlogy(self.counts, self.rows).sum())

    @property
    def standard_errors(self) -> list[list[float]]:
        """Of each probability, sqrt(p (1 - p) / n) with n the row's transitions; inf for an unseen
        row; 0 at p = 0 and 1, where this formula knows nothing."""
        totals, rows = self.counts.sum(axis=1, keepdims=True), np.array(self.rows)
        errors = np.sqrt(rows * (1 - rows) / np.maximum(totals, 1))
        found: list[list[float]] = np.where(totals, errors, math.inf).tolist()
        return found

    @property
    def independence(self) -> ChiSquare | None:
        """G-test that a slot's state does not depend on the one before; None where fewer than two
        states occur. A chain is worth its memory where this is rejected."""
        from scipy import stats

        table = self.counts[self.counts.any(axis=1)][:, self.counts.any(axis=0)]
        if min(table.shape) < 2:
            return None
        found = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        return ChiSquare(float(found.statistic), int(found.dof), float(found.pvalue))

    @cached_property
    def holding(self) -> tuple[HoldingTimes, ...]:
        """Per state, in the order u, r, d."""
        each = [[slots for state, slots in self._runs[1:-1] if state is it] for it in STATES]
        return tuple(
            HoldingTimes(it, len(own), sum(own) / len(own) if own else math.nan, geometric(own))
            for it, own in zip(STATES, each, strict=True)
        )

    @property
    def unseen(self) -> list[WorkerState]:
        """States from which no transition was seen: their rows are not estimates."""
        return [it for it, row in zip(STATES, self.counts, strict=True) if not row.any()]

    @property
    def absorbing(self) -> list[WorkerState]:
        """States that were stayed in but never left: the fit holds that they last for ever."""
        own = zip(STATES, self.counts.sum(axis=1), self.counts.diagonal(), strict=True)
        return [state for state, total, stays in own if total and total == stays]

    def report(self) -> str:
        """The chain and its evidence in lines for people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield "from   to u                 to r                 to d                 transitions"
        for state, row, errors, counts in zip(
            STATES, self.rows, self.standard_errors, self.counts, strict=True
        ):
            cells = "  ".join(f"{p:.6f} +- {e:.6f}" for p, e in zip(row, errors, strict=True))
            unseen = " (not seen: not an estimate)" if state in self.unseen else ""
            yield f"{state.value}      {cells}  {counts.sum()}{unseen}"
        transitions = f"over {self.counts.sum()} transitions"
        yield f"log-likelihood {self.log_likelihood:.2f} {transitions}"
        too_few = "too little data to test"
        yield f"slots independent of the one before: {self.independence or too_few}"
        for own in self.holding:
            if own.stays:
                stays = f"{own.state.name}: {counted(own.stays, 'whole stay')}"
                mean = f"mean {own.mean_slots:.2f} slots"
                yield f"{stays}, {mean}; geometric: {own.geometric or too_few}"
        for state in self.absorbing:
            yield f"{state.name} is never left once entered"


def fit_markov(trace: Timeline) -> MarkovFit:
    """The chain that makes the trace's transitions most likely: p_ij = n_ij / n_i.

    The trace is in slots and has an end. A two-state trace gives a chain whose third state is never
    entered. Raises ValueError where it has no end or where no transition from UP is seen: no row in
    its place would be harmless, since workers begin UP.

    Of any other state from which none is seen the data say nothing: it is followed by UP. One that
    never occurs is then never entered, so that E_u, A, P_+ and E_c stay finite; one that occurs in
    the trace's last slot only is taken to be short.
    """
    runs = trace.runs()
    counts: Counts = np.zeros((len(STATES), len(STATES)), dtype=np.int64)
    for state, slots in runs:
        if slots > LONGEST:
            raise ValueError(f"It stays {state.name} for {slots} slots, more than {LONGEST}.")
        counts[STATES.index(state), STATES.index(state)] += slots - 1
    for (before, _), (after, _) in pairwise(runs):
        counts[STATES.index(before), STATES.index(after)] += 1
    if not counts[0].any():
        raise ValueError("A chain cannot be fitted where no slot follows one that is UP.")
    u, r, d = (
        tuple(count / total for count in row) if (total := sum(row)) else (1.0, 0.0, 0.0)
        for row in counts.tolist()
    )
    return MarkovFit((u, r, d), counts, runs)


def geometric(lengths: Sequence[int]) -> ChiSquare | None:
    """Chi-square test that lengths are geometric on 1, 2, ... with the mean that they have.

    Classes are about equally probable and expect at least five lengths each; one degree of
    freedom is lost to the estimated mean. None where fewer than three classes can be had.
    """
    from scipy import stats

    if sum(lengths) == len(lengths):  # all of 1 slot, or none at all: a single class
        return None
    law = stats.geom(len(lengths) / sum(lengths))
    tops = np.unique(law.ppf(np.arange(1, MOST_CLASSES) / MOST_CLASSES))
    expected = len(lengths) * np.diff(law.cdf(tops), prepend=0.0, append=1.0)
    observed = np.bincount(np.searchsorted(tops, lengths), minlength=len(expected))
    starts, hoped = [0], 0.0
    for place, more in enumerate(expected):
        if hoped >= LEAST_EXPECTED:
            starts, hoped = [*starts, place], 0.0
        hoped += more
    if hoped < LEAST_EXPECTED:  # a poor rest joins the last class
        starts = starts[:-1]
    if (degrees := len(starts) - 2) < 1:
        return None
    seen, wanted = (np.add.reduceat(each, starts) for each in (observed, expected))
    found = stats.chisquare(seen, wanted, ddof=1)
    return ChiSquare(float(found.statistic), degrees, float(found.pvalue))
