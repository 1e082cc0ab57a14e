"""How well a Markov chain of availability explains the states that it was fitted to.

scipy.stats is imported where it is used: it takes longer than most runs of a volatile scenario.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.availability import WorkerState

Counts = NDArray[np.int64]
"""3 x 3 transition counts, rows and columns in the order u, r, d."""

STATES = tuple(WorkerState)
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


@frozen
class HoldingTimes:
    """The stays in one state that were seen whole: neither the first nor the last of a trace."""

    state: WorkerState
    stays: int
    mean_slots: float
    """Mean length, in slots; nan without a stay."""
    geometric: ChiSquare | None
    """Test that lengths are geometric, as a Markov chain's are; None: too few stays to tell."""


@frozen
class FitQuality:
    """What the fit rests on and what speaks against it."""

    transitions: int
    counts: tuple[tuple[int, ...], ...]
    """Transitions from row to column, in the order u, r, d; a slot that stays counts."""
    log_likelihood: float
    """Natural logarithm, given each trace's first state."""
    standard_errors: tuple[tuple[float, ...], ...]
    """Of each probability, sqrt(p (1 - p) / n) with n the row's transitions; inf for an unseen
    row; 0 at p = 0 and 1, where this formula knows nothing."""
    independence: ChiSquare | None
    """Test (likelihood ratio) that a slot's state does not depend on the one before; None where
    fewer than two states occur. A chain is worth its memory where this is rejected."""
    holding: tuple[HoldingTimes, ...]
    """Per state, in the order u, r, d. Where geometric lengths are rejected, the chain is right
    about mean stays only."""
    unseen: tuple[WorkerState, ...]
    """States from which no transition was seen: their rows are not estimates."""
    absorbing: tuple[WorkerState, ...]
    """States that were stayed in but never left: the fit holds that they last for ever."""


def log_likelihood(counts: Counts) -> float:
    """Sum of n_ij ln(n_ij / n_i), in nats."""
    seen = counts > 0
    totals = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    return float(np.sum(counts[seen] * np.log(counts[seen] / totals[seen])))


def standard_errors(counts: Counts) -> tuple[tuple[float, ...], ...]:
    """Of the estimated probabilities, row by row (FitQuality.standard_errors)."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    errors = np.sqrt(shares * (1 - shares) / np.maximum(totals, 1))
    return tuple(map(tuple, np.where(totals, errors, math.inf).tolist()))


def independence(counts: Counts) -> ChiSquare | None:
    """G-test of the counts as a contingency table, without its empty rows and columns."""
    from scipy import stats

    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return None
    result = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    return ChiSquare(float(result.statistic), int(result.dof), float(result.pvalue))


def holding_times(state: WorkerState, lengths: Sequence[int]) -> HoldingTimes:
    """Summary and test of the whole stays in `state`, lengths in slots (each at least 1)."""
    mean = float(np.mean(lengths)) if lengths else math.nan
    return HoldingTimes(state, len(lengths), mean, geometric(lengths))


def geometric(lengths: Sequence[int]) -> ChiSquare | None:
    """Chi-square test that lengths are geometric on 1, 2, ... with the mean that they have.

    Classes are about equally probable and expect at least five lengths each; one degree of
    freedom is lost to the estimated mean. None where fewer than three classes can be had.
    """
    from scipy import stats

    if sum(lengths) == len(lengths):  # all of 1 slot, or none at all: a single class
        return None
    law = stats.geom(len(lengths) / sum(lengths))
    quantiles = np.arange(1, MOST_CLASSES) / MOST_CLASSES
    tops = np.unique(law.ppf(quantiles))
    expected = len(lengths) * np.diff(law.cdf(tops), prepend=0.0, append=1.0)
    classes = np.searchsorted(tops, np.asarray(lengths), side="left")
    observed = np.bincount(classes, minlength=len(expected))
    return _chi_square(*_pooled(observed.tolist(), expected.tolist()))


def _pooled(observed: list[int], expected: list[float]) -> tuple[list[int], list[float]]:
    """Neighbouring classes put together until each expects enough; a poor rest joins the last."""
    classes: list[tuple[int, float]] = []
    n, e = 0, 0.0
    for more in zip(observed, expected, strict=True):
        n, e = n + more[0], e + more[1]
        if e >= LEAST_EXPECTED:
            classes.append((n, e))
            n, e = 0, 0.0
    last = classes.pop() if classes else (0, 0.0)
    classes.append((last[0] + n, last[1] + e))
    seen, hoped = zip(*classes, strict=True)
    return list(seen), list(hoped)


def _chi_square(observed: list[int], expected: list[float]) -> ChiSquare | None:
    from scipy import stats

    degrees = len(expected) - 2
    if degrees < 1:
        return None
    result = stats.chisquare(observed, expected, ddof=1)
    return ChiSquare(float(result.statistic), degrees, float(result.pvalue))
