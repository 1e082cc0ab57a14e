"""Fitting a Markov chain of availability (volatile13, section III.B) to observed slots, by maximum
likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, groupby, pairwise

import numpy as np
from attrs import field, frozen

from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from policies.maths.spectrum import Rows
from sims.readers import fit_quality
from sims.readers.fit_quality import STATES, ChiSquare, Counts, FitQuality
from sims.readers.timeline import Timeline
from sims.telling import counted

Runs = tuple[tuple[WorkerState, int], ...]
"""(state, slots in a row); neighbours differ."""


@frozen
class MarkovFit:
    """A fitted chain with the evidence for it; one step is one slot."""

    rows: Rows
    """Transition probabilities from row to column, in the order u, r, d."""
    _counts: Counts = field(eq=False, repr=False)
    _runs: Sequence[Runs] = field(eq=False, repr=False)

    @cached_property
    def quality(self) -> FitQuality:
        """The evidence; worked out when it is asked for, since a run only wants the chain."""
        return _quality(self._counts, self._runs)

    @property
    def chain(self) -> MarkovChain:
        """The chain, for a scenario's truth or a policy's belief."""
        return MarkovChain(rows=self.rows)

    def report(self) -> str:
        """The chain and its quality in lines for people."""
        return "\n".join([*_row_lines(self), *_quality_lines(self.quality)])


def fit_markov(*traces: Timeline | Sequence[WorkerState]) -> MarkovFit:
    """The chain that makes the traces' transitions most likely: p_ij = n_ij / n_i.

    Each trace is a Timeline in slots (`slotted`, with an end) or one state per slot. Several
    traces are workers with the same law, fitted together, with no transition from one to the
    next; the standard errors and tests take them as independent. A two-state trace gives a chain
    whose third state is never entered. Raises ValueError where a timeline has no end or where no
    transition from UP is seen: no row in its place would be harmless, since workers begin UP.

    Of any other state from which none is seen the data say nothing: it is followed by UP. One that
    never occurs is then never entered, so that E_u, A, P_+ and E_c stay finite; one that occurs in
    a trace's last slot only is taken to be short.
    """
    runs = [_runs(trace) for trace in traces]
    counts = _transition_counts(runs)
    if not counts[0].any():
        raise ValueError("A chain cannot be fitted where no slot follows one that is UP.")
    return MarkovFit(_rows(counts), counts, runs)


def _runs(trace: Timeline | Sequence[WorkerState]) -> Runs:
    if isinstance(trace, Timeline):
        return trace.runs()
    return tuple((state, len(list(run))) for state, run in groupby(trace))


LONGEST = 2**53
"""Slots in one state: of more, sums and probabilities would no longer be exact."""


def _transition_counts(traces: Sequence[Runs]) -> Counts:
    counts = np.zeros((len(STATES), len(STATES)), dtype=np.int64)
    for state, slots in chain.from_iterable(traces):
        if slots > LONGEST:
            raise ValueError(f"It stays {state.name} for {slots} slots, more than {LONGEST}.")
        counts[STATES.index(state), STATES.index(state)] += slots - 1
    for before, after in chain.from_iterable(pairwise(runs) for runs in traces):
        counts[STATES.index(before[0]), STATES.index(after[0])] += 1
    return counts


def _rows(counts: Counts) -> Rows:
    u, r, d = map(_row, counts.tolist())
    return u, r, d


def _row(counts: Sequence[int]) -> tuple[float, float, float]:
    total = sum(counts)
    if total == 0:
        return (1.0, 0.0, 0.0)
    u, r, d = (count / total for count in counts)
    return u, r, d


def _quality(counts: Counts, traces: Sequence[Runs]) -> FitQuality:
    totals, stays = counts.sum(axis=1), counts.diagonal()
    return FitQuality(
        transitions=int(counts.sum()),
        counts=tuple(tuple(row) for row in counts.tolist()),
        log_likelihood=fit_quality.log_likelihood(counts),
        standard_errors=fit_quality.standard_errors(counts),
        independence=fit_quality.independence(counts),
        holding=tuple(
            fit_quality.holding_times(state, _whole_stays(state, traces)) for state in STATES
        ),
        unseen=tuple(s for s, total in zip(STATES, totals, strict=True) if total == 0),
        absorbing=tuple(
            state
            for state, total, stay in zip(STATES, totals, stays, strict=True)
            if total and total == stay
        ),
    )


def _whole_stays(state: WorkerState, traces: Sequence[Runs]) -> list[int]:
    return [slots for runs in traces for s, slots in runs[1:-1] if s is state]


def _row_lines(fit: MarkovFit) -> list[str]:
    quality = fit.quality
    lines = ["from   to u                 to r                 to d                 transitions"]
    for state, row, errors, counts in zip(
        STATES, fit.rows, quality.standard_errors, quality.counts, strict=True
    ):
        cells = "  ".join(f"{p:.6f} +- {e:.6f}" for p, e in zip(row, errors, strict=True))
        unseen = " (not seen: not an estimate)" if state in quality.unseen else ""
        lines.append(f"{state.value}      {cells}  {sum(counts)}{unseen}")
    return lines


def _quality_lines(quality: FitQuality) -> list[str]:
    return [
        f"log-likelihood {quality.log_likelihood:.2f} over {quality.transitions} transitions",
        f"slots independent of the one before: {_verdict(quality.independence)}",
        *(
            f"{stays.state.name}: {counted(stays.stays, 'whole stay')}, "
            f"mean {stays.mean_slots:.2f} slots; geometric: {_verdict(stays.geometric)}"
            for stays in quality.holding
            if stays.stays
        ),
        *(f"{state.name} is never left once entered" for state in quality.absorbing),
    ]


def _verdict(test: ChiSquare | None) -> str:
    if test is None:
        return "too little data to test"
    return f"chi-square {test.statistic:.2f} on {test.degrees} degrees, p = {test.p_value:.3g}"
