"""Estimate from the failures of a fleet which of its nodes are lemons: how many, how bad, and how
surely.

Each node fails at random (Poisson): a well node at one rate, a lemon at a higher one. A node is a
lemon with the same probability as any other, its share. Of a node only the number of its failures
and the time for which it is observed count. The two rates and the share are those that make the
numbers of all nodes most likely; scipy looks for them. Their intervals are those of the profile
likelihood: the values that the data do not reject, whatever the other two are.

Two rates are worth their place only if one does worse. Twice the logarithm of the likelihoods'
ratio has no chi-square law there, as a share of 0 lies at the edge of what is possible. So it is
compared with its values in logs that are drawn with one rate for all nodes (parametric bootstrap).

scipy is imported inside the functions that use it: the import takes longer than most runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import exp, inf, isfinite, log
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from sims.errors import InputError, unfit
from sims.intervals import LEVEL
from sims.readers.failures import observed

Floats = NDArray[np.float64]

DRAWN = 199
"""Number of drawn logs with which the likelihood ratio is compared: its p-value is known to 1 in
200."""
LIKELY_LEMON = 0.5
"""Probability from which on a node is called a lemon."""
STARTS = (0.05, 0.2, 0.5)
"""Shares of lemons, those with the highest rates, from which the search for the best fit begins."""
ROUNDS = 12
"""Steps of expectation and maximisation from each start, before scipy's search takes over."""
FARTHEST = 12.0
"""Largest distance of a bound from the estimate, in logarithms: one that is farther off is not
known."""
EDGE = 1e-9
"""Smallest share of lemons, and of well nodes, that the search looks at."""


@frozen
class Bounded:
    """An estimate with its interval at 95 %."""

    value: float
    low: float
    high: float


@frozen
class NodeCounts:
    """The failures of the nodes of a fleet, as numbers."""

    failures: Floats
    """Number of failures of each node."""
    times: Floats
    """Time for which each node is observed and UP."""

    def __attrs_post_init__(self) -> None:
        if not (self.failures.shape == self.times.shape and self.times.size):
            raise ValueError("there must be as many observed times as numbers of failures, above 0")
        if not (self.times > 0).all() or (self.failures < 0).any():
            raise ValueError("observed times must be above 0, and numbers of failures 0 or more")

    @property
    def rate(self) -> float:
        """Failures per unit of time if all nodes are alike."""
        return float(self.failures.sum() / self.times.sum())

    def drawn(self, rng: Generator) -> NodeCounts:
        """Return numbers that are drawn for nodes that are all alike, observed as long as these."""
        return NodeCounts(rng.poisson(self.rate * self.times).astype(float), self.times)


@frozen
class _Mixture:
    """Rates of failures of well nodes and of lemons, and the probability that a node is a lemon."""

    well: float
    lemon: float
    share: float

    @classmethod
    def of(cls, point: Sequence[float]) -> _Mixture:
        """Return the mixture at a point of the search: ln(well), ln(lemon / well) from 0 on, and
        the logit of the share."""
        well, ratio, logit = point
        return cls(exp(well), exp(well + ratio), 1 / (1 + exp(-logit)))

    @property
    def point(self) -> list[float]:
        """The mixture as a point of the search."""
        share = min(max(self.share, EDGE), 1 - EDGE)
        ratio = max(log(self.lemon / self.well), 0.0)
        return [log(self.well), ratio, log(share / (1 - share))]

    def parts(self, counts: NodeCounts) -> tuple[Floats, Floats]:
        """Return, for each node, the logarithms of the likelihoods that it is well and has its
        failures, and that it is a lemon and has them, but for a term that they share."""
        n, t = counts.failures, counts.times
        return (
            np.log1p(-self.share) + n * log(self.well) - self.well * t,
            log(self.share) + n * log(self.lemon) - self.lemon * t,
        )

    def likelihood(self, counts: NodeCounts) -> float:
        """Return the logarithm of the likelihood of all nodes' failures, but for that term."""
        return float(np.logaddexp(*self.parts(counts)).sum())

    def chances(self, counts: NodeCounts) -> Floats:
        """Return the probability that each node is a lemon, in view of its failures."""
        well, lemon = self.parts(counts)
        result: Floats = np.exp(lemon - np.logaddexp(well, lemon))
        return result

    def improved(self, counts: NodeCounts) -> _Mixture:
        """Return a mixture that is at least as likely, by one step of expectation and
        maximisation."""
        chances = self.chances(counts)
        rates = [
            float((weight @ counts.failures + EDGE) / (weight @ counts.times))
            for weight in (1 - chances, chances)
        ]
        share = min(max(float(chances.mean()), EDGE), 1 - EDGE)
        return _Mixture(rates[0], max(rates), share)


def _likelihood_of_one(counts: NodeCounts) -> float:
    """Return the logarithm of the likelihood of the failures of nodes that are all alike."""
    total = float(counts.failures.sum())
    return (total * log(counts.rate) if total else 0.0) - total


def _fit(counts: NodeCounts) -> _Mixture:
    """Return the most likely mixture; that of nodes that are all alike if none is better."""
    rates = counts.failures / counts.times
    order, found = np.argsort(rates), list[_Mixture]()
    for share in STARTS:
        cut = min(max(round(len(order) * (1 - share)), 1), len(order) - 1) if len(order) > 1 else 0
        halves = [order[:cut], order[cut:]] if cut else [order, order]
        well, lemon = (
            float((counts.failures[it].sum() + 0.5) / counts.times[it].sum()) for it in halves
        )
        it = _Mixture(well, max(well, lemon), share)
        for _ in range(ROUNDS):
            it = it.improved(counts)
        found.append(it)
    best = max(found, key=lambda it: it.likelihood(counts))
    return _Mixture.of(_search(counts, best.point, ())[0])


def _search(
    counts: NodeCounts, start: Sequence[float], fixed: Sequence[int]
) -> tuple[list[float], float]:
    """Return the most likely point near `start`, whose coordinates `fixed` do not move, and the
    logarithm of its likelihood.

    The coordinates are those of `_Mixture.of`, and a fourth, where 3 is among `fixed`: then
    ln(lemon) = `start[3]`, and the ratio follows from ln(well).
    """
    from scipy.optimize import minimize

    free = [k for k in range(3) if k not in fixed and not (3 in fixed and k == 1)]
    top = start[3] if 3 in fixed else inf

    def whole(point: Floats) -> list[float]:
        full = list(start[:3])
        for k, value in zip(free, point, strict=True):
            full[k] = float(value)
        if 3 in fixed:
            full[1] = max(top - full[0], 0.0)
        return full

    def cost(point: Floats) -> tuple[float, Floats]:
        full = whole(point)
        slopes = _slopes(counts, full)
        if 3 in fixed:  # the lemons' rate stays as the well nodes' moves
            slopes[1][0] -= slopes[1][1]
        return -slopes[0], -slopes[1][free]

    span = [(start[0] - 2 * FARTHEST, min(start[0] + 2 * FARTHEST, top)), (0.0, 3 * FARTHEST)]
    limit = -log(EDGE)
    bounds = [[*span, (-limit, limit)][k] for k in free]
    begin = [min(max(start[k], low), high) for k, (low, high) in zip(free, bounds, strict=True)]
    # L-BFGS-B takes ten times as long on a busy machine, as the threads of its BLAS wait.
    found = minimize(cost, begin, jac=True, method="TNC", bounds=bounds)
    return whole(found.x), -float(found.fun)


def _slopes(counts: NodeCounts, point: Sequence[float]) -> tuple[float, Floats]:
    """Return the logarithm of the likelihood at a point, and its derivatives by the three
    coordinates."""
    mixture, n, t = _Mixture.of(point), counts.failures, counts.times
    well, lemon = mixture.parts(counts)
    whole = np.logaddexp(well, lemon)
    chances = np.exp(lemon - whole)
    by_well = (1 - chances) * (n - mixture.well * t)
    by_lemon = chances * (n - mixture.lemon * t)
    slopes = [(by_well + by_lemon).sum(), by_lemon.sum(), (chances - mixture.share).sum()]
    return float(whole.sum()), np.array(slopes)


@frozen
class LemonFit:
    """Two rates of failures fitted to the nodes of a fleet, and the share of its lemons."""

    counts: NodeCounts = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    """Names of the nodes, in the order of the counts."""
    well: Bounded
    """Failures of a well node per unit of time."""
    lemon: Bounded
    """Failures of a lemon per unit of time."""
    share: Bounded
    """Probability that a node is a lemon."""
    ratio: float
    """Twice the logarithm of the ratio of the likelihoods of two rates and of one."""
    p_value: float
    """Share of logs, drawn with one rate for all nodes, in which two rates gain as much."""

    @property
    def two(self) -> bool:
        """Whether one rate does worse than two: at a level of 5 %."""
        return self.p_value <= 1 - LEVEL

    @property
    def extra(self) -> float:
        """Failures per unit of time by which a lemon exceeds a well node: the rate of a law of
        lemons beside everybody's."""
        return self.lemon.value - self.well.value

    @cached_property
    def chances(self) -> Mapping[str, float]:
        """Maps each node to the probability that it is a lemon, the most likely first."""
        mixture = _Mixture(self.well.value, self.lemon.value, self.share.value)
        pairs = zip(self.names, mixture.chances(self.counts).tolist(), strict=True)
        return dict(sorted(pairs, key=lambda it: -it[1]))

    @property
    def lemons(self) -> tuple[str, ...]:
        """Nodes that are more likely lemons than not, the most likely first; none where one rate
        does as well."""
        return tuple(name for name, it in self.chances.items() if it > LIKELY_LEMON and self.two)

    def expected(self, failures: Sequence[int]) -> tuple[Floats, Floats]:
        """Return how many nodes are expected to have each of these numbers of failures, by two
        rates and by one."""
        from scipy.stats import poisson

        n, t = np.asarray(failures)[:, None], self.counts.times[None, :]
        each = [poisson.pmf(n, it * t) for it in (self.well.value, self.lemon.value)]
        share = self.share.value
        two = ((1 - share) * each[0] + share * each[1]).sum(axis=1)
        return two, poisson.pmf(n, self.counts.rate * t).sum(axis=1)


def fit_lemons(
    failures: Sequence[float],
    times: Sequence[float],
    names: Sequence[str] = (),
    seed: int = 0,
    drawn: int = DRAWN,
) -> LemonFit:
    """Fit two rates of failures and the share of lemons to a fleet by maximum likelihood, with
    intervals at 95 %, and test whether one rate does as well.

    `failures` and `times` have the number of failures of each node, and the time for which it is
    observed and UP; nodes without failures count. `names` has the nodes' names, by default their
    numbers. `seed` is that of the `drawn` logs of the test; with 19 it errs as seldom as with more,
    but finds less. Raises ValueError where there are fewer than two nodes or no failures, or a time
    is not above 0.
    """
    counts = NodeCounts(np.asarray(failures, float), np.asarray(times, float))
    if len(failures) < 2 or not counts.failures.any():
        raise ValueError("two nodes and a failure are needed, at least")
    best = _fit(counts)
    ratio = max(2 * (best.likelihood(counts) - _likelihood_of_one(counts)), 0.0)
    rng = default_rng([seed, 57])
    logs = (counts.drawn(rng) for _ in range(drawn))
    gains = [
        2 * (_fit(it).likelihood(it) - _likelihood_of_one(it)) for it in logs if it.failures.any()
    ]
    p_value = (1 + sum(gain >= ratio for gain in gains)) / (1 + len(gains))
    named = tuple(names) or tuple(map(str, range(len(failures))))
    return LemonFit(counts, named, *_intervals(counts, best), ratio, p_value)


def _intervals(counts: NodeCounts, best: _Mixture) -> tuple[Bounded, Bounded, Bounded]:
    """Return the rate of well nodes, that of lemons and the share of lemons, with the intervals of
    their profile likelihoods."""
    well, ratio, logit = best.point
    top = best.likelihood(counts)

    def bounds(coordinate: int, value: float, back: Callable[[float], float]) -> Bounded:
        start = [well, ratio, logit, well + ratio]
        low, high = (_bound(counts, start, coordinate, value, top, it) for it in (-1, 1))
        return Bounded(back(value), back(low), back(high))

    def rate(point: float) -> float:
        return 0.0 if point == -inf else exp(point) if isfinite(point) else inf

    def share(point: float) -> float:
        return 1 / (1 + exp(-point)) if isfinite(point) else float(point > 0)

    return bounds(0, well, rate), bounds(3, well + ratio, rate), bounds(2, logit, share)


def _bound(
    counts: NodeCounts,
    start: Sequence[float],
    coordinate: int,
    value: float,
    top: float,
    side: int,
) -> float:
    """Return the end of the interval of a coordinate, whose best value is `value`, on the side -1
    or 1: where the best likelihood of all points with that coordinate falls too far below `top`. It
    is infinite where it never does."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    allowed = float(chi2.ppf(LEVEL, 1)) / 2
    # Far from the best fit the likelihood may have two tops.
    begins = [list(start), [*start[:2], 0.0, start[3]]]

    def excess(distance: float) -> float:
        for point in begins:
            point[coordinate] = value + side * distance
        found = max(_search(counts, point, (coordinate,))[1] for point in begins)
        return top - found - allowed

    step = 0.05
    while excess(step) < 0:
        if step > FARTHEST:
            return side * inf
        step *= 2
    return value + side * float(brentq(excess, step / 2 if step > 0.05 else 0.0, step, xtol=1e-4))


# --- of a log of failures -------------------------------------------------------------------------


def lemons_of(
    path: Path, platform: int | None = None, component: int | None = None, nodes: int | None = None
) -> LemonFit:
    """Fit two rates of failures to a log in the format of the Failure Trace Archive (or Los Alamos'
    own), in seconds; the parameters but the last are those of `read_failures`.

    A node is observed from its platform's first event to the end of the last, but for the time for
    which it is DOWN. Logs of failures alone leave out nodes that never fail: `nodes` is the number
    of all, of which those that the log lacks are observed throughout. Raises InputError where the
    file cannot be read, where it has fewer than two nodes or no failure, and where `nodes` is less
    than it has, or is given for several platforms.
    """
    seen, windows = observed(path, platform, component)
    alone = len(windows) == 1
    names = [f"{it.node.node}" if alone else f"{it.node.platform}/{it.node.node}" for it in seen]
    failures, times = [it.failures for it in seen], [it.up for it in seen]
    if nodes is not None:
        if len(windows) > 1:
            platforms = ", ".join(map(str, windows))
            raise unfit("nodes", f"the log has the platforms {platforms}", "one platform, too")
        missing = nodes - len(seen)
        if missing < 0:
            raise unfit("nodes", f"{nodes} are fewer than the log has", f"{len(seen)} or more")
        [(begin, end)] = windows.values()
        names += [f"unseen {k + 1}" for k in range(missing)]
        failures, times = failures + [0] * missing, times + [end - begin] * missing
    if len(failures) < 2:
        raise InputError(str(path), "", "it has one node", "a log of two nodes or more")
    return fit_lemons(failures, times, names)
