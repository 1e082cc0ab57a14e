"""Fit Markov chains of availability (volatile13, section III.B) to traces by maximum likelihood.

A fit comes with tests of how well the chain explains the slots of the trace. scipy.stats is
imported inside the functions that use it: the import takes longer than most runs of a volatile
scenario.
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
"""A 3 x 3 array of transition counts, with rows and columns in the order u, r, d."""
Runs = tuple[tuple[WorkerState, int], ...]
"""Pairs of a state and the number of slots for which it lasts; neighbouring pairs differ in
state."""

STATES = tuple(WorkerState)
LONGEST = 2**53
"""Largest number of slots in one state; beyond it sums and probabilities are no longer exact in
double precision."""
LEAST_EXPECTED = 5.0
"""Smallest expected count of a class; below this usual value the chi-square law is a poor
approximation."""
MOST_CLASSES = 20
"""Largest number of classes of a chi-square test."""


@frozen
class ChiSquare:
    """Result of a test whose statistic follows a chi-square law if its hypothesis holds."""

    statistic: float
    degrees: int
    """Number of degrees of freedom."""
    p_value: float
    """Probability of a statistic at least as large; small values speak against the hypothesis."""

    def __str__(self) -> str:
        return f"chi-square {self.statistic:.2f} on {self.degrees} degrees, p = {self.p_value:.3g}"


@frozen
class HoldingTimes:
    """Summary of the stays in one state whose beginning and end a trace shows: the first and the
    last stay of the trace are left out."""

    state: WorkerState
    stays: int
    """Number of stays."""
    mean_slots: float
    """Mean length of a stay, in slots; nan if there is none."""
    geometric: ChiSquare | None
    """Test of whether the lengths are geometric, as those of a Markov chain are, or None with too
    few stays for a test. Where the test rejects, only the chain's mean stays are right."""


@frozen
class MarkovFit:
    """A Markov chain fitted to a trace, with the evidence for it; one step is one slot."""

    rows: Rows
    """Transition probabilities from row to column, in the order u, r, d."""
    counts: Counts = field(eq=False, repr=False)
    """Number of transitions from row to column; a slot in the same state as the one before counts
    as a transition, too."""
    _runs: Runs = field(eq=False, repr=False)

    @property
    def chain(self) -> MarkovChain:
        """The fitted chain, as a scenario's law of availability or as a policy's belief."""
        return MarkovChain(rows=self.rows)

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the trace given its first state, sum of n_ij ln(n_ij / n_i), in
        nats."""
        from scipy.special import xlogy

        return float(xlogy(self.counts, self.rows).sum())

    @property
    def standard_errors(self) -> list[list[float]]:
        """Standard error of each probability, sqrt(p (1 - p) / n) with n the transitions of the
        row.

        It is inf in a row without transitions, and 0 at p = 0 and p = 1, where this formula has no
        information.
        """
        totals, rows = self.counts.sum(axis=1, keepdims=True), np.array(self.rows)
        errors = np.sqrt(rows * (1 - rows) / np.maximum(totals, 1))
        result: list[list[float]] = np.where(totals, errors, math.inf).tolist()
        return result

    @property
    def independence(self) -> ChiSquare | None:
        """G-test of whether a slot's state is independent of the slot before, or None where fewer
        than two states occur.

        A chain is worth its memory where the test rejects this.
        """
        from scipy import stats

        table = self.counts[self.counts.any(axis=1)][:, self.counts.any(axis=0)]
        if min(table.shape) < 2:
            return None
        found = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        return ChiSquare(float(found.statistic), int(found.dof), float(found.pvalue))

    @cached_property
    def holding(self) -> tuple[HoldingTimes, ...]:
        """Summary of the lengths of stays in each state, in the order u, r, d."""
        # The first and the last run of a trace are cut by its ends, so their lengths are unknown.
        by_state = [
            [slots for state, slots in self._runs[1:-1] if state is wanted] for wanted in STATES
        ]
        return tuple(
            HoldingTimes(
                wanted,
                len(lengths),
                sum(lengths) / len(lengths) if lengths else math.nan,
                geometric(lengths),
            )
            for wanted, lengths in zip(STATES, by_state, strict=True)
        )

    @property
    def unseen(self) -> list[WorkerState]:
        """States from which the trace has no transition, not even to the same state; their rows are
        not estimates."""
        return [state for state, row in zip(STATES, self.counts, strict=True) if not row.any()]

    @property
    def absorbing(self) -> list[WorkerState]:
        """States that the trace stays in but never leaves; in the fitted chain they last for
        ever."""
        # A state whose transitions all stay on the diagonal is entered and never left.
        rows = zip(STATES, self.counts.sum(axis=1), self.counts.diagonal(), strict=True)
        return [state for state, total, stays in rows if total and total == stays]

    def report(self) -> str:
        """Return a text of several lines that shows the chain and its evidence."""
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
        for times in self.holding:
            if times.stays:
                stays = f"{times.state.name}: {counted(times.stays, 'whole stay')}"
                mean = f"mean {times.mean_slots:.2f} slots"
                yield f"{stays}, {mean}; geometric: {times.geometric or too_few}"
        for state in self.absorbing:
            yield f"{state.name} is never left once entered"


def fit_markov(trace: Timeline) -> MarkovFit:
    """Fit the chain that makes the trace's transitions most likely, p_ij = n_ij / n_i, where n_ij
    counts the slots in state i that are followed by one in state j.

    The trace is in slots and has an end. A two-state trace gives a chain whose third state is never
    entered. A state without a transition in the trace is followed by UP: if it never occurs, the
    chain never enters it, so that the chain's expectations (volatile13: E_u, A, P_+ and E_c) stay
    finite; if it occurs only in the trace's last slot, it lasts one slot.

    Raises ValueError where the trace has no end, stays in a state for more than `LONGEST` slots, or
    has no transition from UP. For the row of UP no assumption would be harmless, since workers
    begin UP.
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
    """Test with chi-square whether lengths are geometric on 1, 2, ... with the mean that they have.

    Classes are about equally probable and expect at least `LEAST_EXPECTED` lengths each; one degree
    of freedom is lost to the estimated mean. Return None where fewer than three classes result.
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
