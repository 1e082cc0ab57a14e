"""Search for the point at which a mean is smallest, with few runs for bad points and many for good
ones. This module knows nothing of simulations: it asks a function for the values of points.

A search begins with a coarse grid. All points meet the same seeds, so that two points are compared
by the differences on each seed. A point that is worse than the best, or breaks a bound, as far as
intervals show, gets no more runs; the others get twice as many. Then the search follows the lines
through the best, on which one key varies alone: it adds points between those of which one may be
good, and goes on from the lowest. In the end the points on these lines get runs until it is known
which are as good as the best, within a tolerance.

Along a range, the mean is taken to be a smooth curve: a polynomial through the values of each seed
(`smoothed`), which shares the runs of the whole line; over whole numbers, such as of spares, it may
have steps. Two points alone are compared by the luck of two; the best of many noisy means is lower
than its true value, so that beside it too few others look as good.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product, takewhile
from math import ceil, isnan, log2, nan
from typing import Any

import numpy as np
from attrs import define, field

from sims.campaign.axes import Dimension, Point
from sims.campaign.pace import OutOfTime
from sims.campaign.values import Value, known_of, made_of
from sims.intervals import Estimate, difference_of

FIRST, EACH = 4, 64
"""Runs of a point before it is compared first, and at most."""
SURE = 0.99
"""Level of the intervals of differences. Each of the four statements about a region (what is as
good and what may be, at two ends) uses one end of an interval, 0.5 %; the rest of 5 % pays for
looking more than once and for the choice of the best on the same seeds."""
ROUNDS, FINE = 3, 0.05
"""Number of times that the distances between points on the lines through the best are halved, and
the part of a range below which they are not."""
BEYOND = 2
"""Number of points of a range, beyond those that may be good, that the bound of a search's runs
takes for good: a mean may turn out to be lower than it looks."""
MOVE = 0.1
"""Part of the tolerance by which another point has to be lower to take the place of the best."""
DEGREE = 4
"""Least degree of the curve along a range: one that is too stiff would call points as good, or
worse, which are not."""
LEVELS = (0, 21, 5, 4, 3)
"""Number of values of a range in the coarse grid, by the number of ranges."""

Evaluate = Callable[[Sequence[Point], int], Mapping[Point, Sequence[Value]]]
"""Function that returns the values of each point on that many seeds, the same for all points."""


class State(enum.Enum):
    """Verdict on a point at the end of a search."""

    BEST = "best"
    AS_GOOD = "as good"
    """The point's interval says that it is worse by no more than the tolerance."""
    OPEN = "not told apart"
    """The point's interval allows for both."""
    WORSE = "worse"
    UNFIT = "breaks a bound"
    """The interval of a mean excludes what a bound allows."""
    NO_MEAN = "no answer"
    """Not all of its runs have a value, such as those that ran out of workers."""


NEVER = State.UNFIT, State.NO_MEAN
"""States of points that cannot be the best."""


@define
class Trial:
    """A point of a search that was tried: a value for each dimension, the values of its runs by
    seed, and the verdict on it."""

    point: Point
    values: Sequence[Value] = ()
    state: State = State.OPEN
    beyond: Sequence[Estimate] = ()
    """By how much the means are beyond each bound, with intervals; at most 0 where they keep to
    it."""
    more: Estimate | None = None
    """By how much its mean is worse than the best's, with its interval at the level SURE, from
    which the verdict follows; None until the point is compared."""

    @property
    def sample(self) -> list[float]:
        """Values of the objective, a number for each run in the order of seeds; nan for a run
        without one."""
        return [nan if it[0] is None else it[0] for it in self.values]

    @property
    def mean(self) -> float:
        """Mean of the objective over the runs; nan where there is no run, or a run has no value."""
        return float(np.mean(self.sample)) if self.values else nan

    @property
    def kept(self) -> bool:
        """Whether the means keep to all bounds; their intervals may allow for more."""
        return all(it.mean <= 0 for it in self.beyond)

    @property
    def surely_kept(self) -> bool:
        """Whether the intervals of the means keep to all bounds."""
        return all(it.high <= 0 for it in self.beyond)

    @property
    def broken(self) -> bool:
        """Whether the interval of a mean breaks a bound."""
        return any(it.low > 0 for it in self.beyond)

    @property
    def unknown(self) -> bool:
        """Whether the mean, or that of a measure that has a bound, is not known."""
        return any(map(isnan, (self.mean, *(it.mean for it in self.beyond))))

    @property
    def alive(self) -> bool:
        """Whether nothing shows so far that the point cannot be the best."""
        return self.state not in (State.WORSE, *NEVER)


@define
class Search:
    """A search for the point, a value for each dimension, at which the mean of an objective over
    runs is lowest, or highest where `sign` is -1."""

    dimensions: tuple[Dimension, ...]
    evaluate: Evaluate
    beyond: Callable[[Sequence[Value]], Sequence[Estimate]] = lambda values: ()
    """Function that returns by how much the means of a point are beyond each bound."""
    tolerance: float = 0.01
    """Part of the best mean within which points are as good."""
    each: int = EACH
    """Largest number of runs of a point, at least FIRST."""
    sign: int = 1
    """1 where less of the objective is better, -1 where more is."""
    trials: dict[Point, Trial] = field(init=False, factory=dict)
    _coarse: Sequence[tuple[Any, ...]] = field(init=False)
    """Values of each dimension in the coarse grid."""
    _raced: int = field(init=False)
    """Largest number of runs of a point before it is decided what is as good as the best."""
    _rounds: int = field(init=False)
    """Rounds of points between others that are still to come."""
    at_most: int = field(init=False, default=sys.maxsize)
    """Bound on the runs of the whole search, from the first question on. It falls while points are
    seen to be bad, and rises only where more than BEYOND of those turn out to be good."""

    def __attrs_post_init__(self) -> None:
        ranged = sum(it.ranges for it in self.dimensions)
        self._coarse = [it.coarse(LEVELS[min(ranged, len(LEVELS) - 1)]) for it in self.dimensions]
        self._raced = max(FIRST, self.each // 4) if ranged else self.each
        self._rounds = ROUNDS if ranged else 0

    def run(self) -> Trial | None:
        """Run the whole search, as far as there is time, and return the best point; None where no
        point keeps to the bounds."""
        try:
            best = self._run()
        except OutOfTime:
            best = self._so_far()
        return best if best and best.kept else None

    def _so_far(self) -> Trial | None:
        """Return the best of the points that have runs; None where there is none."""
        best = self._least() if any(it.values for it in self.trials.values()) else None
        if best is not None:
            self._judge(best)
        return best

    def _run(self) -> Trial | None:
        best = self._settle(None, self._raced)
        for most in (*[self._raced] * self._rounds, self.each):
            self._rounds = max(self._rounds - 1, 0)
            best = best and self._settle(best, most)
            best = best and self._lowest(best)
        return best and self._settle(best, self.each)

    def answer(
        self, anew: Callable[[Point], Sequence[Value]]
    ) -> tuple[Trial, Sequence[Value]] | None:
        """Run the whole search, and return the best point with the values that `anew` returns of it
        on fresh seeds; None where no point keeps to the bounds.

        Where the fresh values break a bound, as those of the search did not, it goes on without
        the point.
        """
        while best := self.run():
            fresh = anew(best.point)
            if not any(it.low > 0 for it in self.beyond(fresh)):
                return best, fresh
            for it in self.trials.values():
                if it.state is State.WORSE:  # it may be the best now
                    it.state = State.OPEN
            best.state = State.UNFIT
        return None

    @property
    def runs(self) -> int:
        """Number of runs of all points so far."""
        return sum(made_of(it.values) for it in self.trials.values())

    # --- rounds -------------------------------------------------------------------------------

    def _settle(self, best: Trial | None, most: int) -> Trial | None:
        """Run points, with more and more seeds until each is told apart from the best or `most`
        runs of each are done; return the best.

        Where `best` is None, the points are those of the coarse grid. Otherwise the points on the
        lines through `best`, which differ from it in one dimension, join them; it stays the best
        unless it turns out to break a bound: then the points on the lines through the next best
        join. Return None if none can be the best.
        """
        race, first = best is None, best
        points = product(*self._coarse) if best is None else self._lines(best)
        self.trials = {point: Trial(point) for point in points} | self.trials
        for count in looks(most):
            asked = (
                [it for it in self.trials.values() if it.alive]
                if best is None or race
                else [
                    it
                    for place, dimension in enumerate(self.dimensions)
                    for it in self._near(best, place, dimension.smooth)
                ]
            )
            if best is None and not asked:
                return None
            self._ask(best or asked[0], asked, count)
            if best is None or race or not best.kept:
                best = self._least()
            if best is None:
                return None
            self._judge(best)
            if best.surely_kept and all(it.state is not State.OPEN for it in asked):
                break
        return best if race or best is first else self._settle(best, most)

    def _ask(self, best: Trial, trials: Sequence[Trial], count: int) -> None:
        lacking = {it.point: it for it in trials if len(it.values) < count}
        runs = {it.point: len(it.values) for it in self.trials.values()}
        runs |= dict.fromkeys(lacking, count)
        bound = self._bound(best, runs)
        self.at_most = bound if sum(runs.values()) > self.at_most else min(bound, self.at_most)
        found = self.evaluate(list(lacking), count) if lacking else {}
        for point, it in lacking.items():
            it.values = found[point]
            it.beyond = self.beyond(it.values)
            if it.unknown or it.broken:
                it.state = State.NO_MEAN if it.unknown else State.UNFIT

    def _bound(self, best: Trial, runs: dict[Point, int]) -> int:
        """Return a bound on the runs of a search that stays at this best point.

        It is the sum of `runs`, the number of runs of each point so far or asked for. On the lines
        through the best, points that may be good, and BEYOND others beside them on a range, count
        with `each` runs. So do points that may still come between them.
        """
        near, between = dict[Point, int](), 0
        for place, dimension in enumerate(self.dimensions):
            reach = BEYOND * dimension.ranges
            near |= {it.point: self.each for it in self._near(best, place, reach)}
            for a, b in self._open_pairs(best, place):
                low, high = a.point[place], b.point[place]
                halvings = ceil(log2((dimension.part(high) - dimension.part(low)) / FINE))
                most = high - low if dimension.whole else 2**halvings
                between += max(min(2**halvings, most) - 1, 0)
        return sum((runs | near).values()) + self.each * between

    def _least(self) -> Trial | None:
        """Return the point with the best mean among those whose means keep to the bounds and that
        are not shown to be worse; if all are shown to be worse, among all whose means keep to them.

        If none keeps to them, return the point that may do so the most easily, as its intervals
        show; None if none can be the best.
        """
        fit = [it for it in self.trials.values() if it.state not in NEVER and it.values]
        kept = [it for it in fit if it.kept]
        if fit and not kept:

            def doubt(it: Trial) -> float:
                return max(its.mean / (its.half or 1e-300) for its in it.beyond if its.mean > 0)

            return min(fit, key=doubt)
        alive = [it for it in kept if it.alive]
        return min(alive or kept, key=lambda it: self.sign * it.mean, default=None)

    def _lowest(self, best: Trial) -> Trial:
        """Return the point at which the fitted curves through the best are lowest, or the best
        itself.

        Another point takes its place if it is lower by more than MOVE times the tolerance. After
        the last round, with two dimensions or more, its whole interval has to be lower: the other
        lines through the new point would have to be run anew.
        """
        above = [(it, more) for it, more in self._above(best) if it.kept or it is best]
        lowest, more = min(above, key=lambda at: at[1].mean)
        if len(self.dimensions) > 1 and not self._rounds:
            return lowest if more.high < 0 else best
        return lowest if more.mean < -MOVE * self.tolerance * abs(best.mean) else best

    # --- comparisons ----------------------------------------------------------------------------

    def _judge(self, best: Trial) -> None:
        """Set the state of each point that has runs and breaks no bound, by its difference from the
        best, paired by seed. Points on a line through the best are compared on the fitted curve. A
        point that may break a bound is not surely as good."""
        allowed = self.tolerance * abs(best.mean)
        best.state = State.BEST  # it may have been worse than one that breaks a bound
        for it in self.trials.values():
            if it.values and it.state not in NEVER:
                it.more = self._worse(it, best, it.sample, best.sample)
        for it, more in self._above(best):
            it.more = more
        for it in self.trials.values():
            if it.more is not None and it.state not in NEVER:
                it.state = verdict(it.more, allowed)
            if it.state is State.AS_GOOD and not it.surely_kept:
                it.state = State.OPEN
        best.state = State.BEST

    def _above(self, best: Trial) -> Iterator[tuple[Trial, Estimate]]:
        """Yield each point that `_near` finds on a line through the best, with the interval of the
        amount by which its mean is worse than the best's. Along a smooth range both means are those
        of the fitted curve."""
        for place, dimension in enumerate(self.dimensions):
            line = [it for it in self._near(best, place, dimension.smooth) if it.values]
            count = min(len(it.values) for it in line)
            rows = np.array([it.sample[:count] for it in line])
            if dimension.smooth:
                rows = smoothed([dimension.part(it.point[place]) for it in line], rows)
            own = rows[line.index(best)]
            yield from (
                (it, self._worse(it, best, row, own)) for it, row in zip(line, rows, strict=True)
            )

    def _worse(
        self, it: Trial, best: Trial, values: Sequence[float], base: Sequence[float]
    ) -> Estimate:
        """Return the mean amount by which the `values` of a point are worse than the best's,
        `base`, paired by seed, with its interval at the level SURE. It is below 0 where they are
        better."""
        count = min(len(values), len(base))
        ours, theirs = ([self.sign * one for one in row[:count]] for row in (values, base))
        known = known_of(it.values, 0).joined(known_of(best.values, 0))
        found = difference_of(ours, theirs, SURE, known)
        assert found is not None
        return found

    # --- lines through the best -----------------------------------------------------------------

    def _line(self, best: Trial, place: int) -> list[Trial]:
        """Return all points tried that differ from the best in dimension number `place` at most;
        they are in increasing order where the dimension is a range."""

        def others(it: Trial) -> Point:
            return it.point[:place] + it.point[place + 1 :]

        line = [it for it in self.trials.values() if others(it) == others(best)]
        if self.dimensions[place].ranges:
            line.sort(key=lambda it: it.point[place])
        return line

    def _near(self, best: Trial, place: int, reach: int) -> list[Trial]:
        """Return the points on the line through the best in dimension number `place` that may be
        good, and `reach` points beyond each of them on both sides; points that break a bound are
        left out.

        On a smooth line the reach is one, as a curve is known less beyond its ends.
        """
        line = [it for it in self._line(best, place) if it.state is not State.UNFIT]
        alive = [it.alive for it in line]
        return [it for k, it in enumerate(line) if any(alive[max(k - reach, 0) : k + reach + 1])]

    def _open_pairs(self, best: Trial, place: int) -> Iterator[tuple[Trial, Trial]]:
        """Yield the pairs of neighbours on the line through the best in dimension number `place` of
        which at least one may be good. There are none where the dimension is a list of words."""
        line = self._line(best, place) if self.dimensions[place].ranges else ()
        return (pair for pair in pairwise(line) if any(it.alive for it in pair))

    def _lines(self, best: Trial) -> Iterator[Point]:
        """Yield the points to be tried on the lines through the best: the coarse grid's values of
        each dimension, and the middle between two neighbours of which one may be good and that lie
        more than FINE of the range apart."""
        for place, (it, values) in enumerate(zip(self.dimensions, self._coarse, strict=True)):
            for a, b in self._open_pairs(best, place):
                low, high = it.part(a.point[place]), it.part(b.point[place])
                if high - low > FINE:
                    values += (it.at((low + high) / 2),)
            for value in values:
                yield (*best.point[:place], value, *best.point[place + 1 :])

    def gaps(self, best: Trial, place: int) -> list[tuple[float, float]]:
        """Return the pairs of neighbours on the line through the best in dimension number `place`
        between which nothing was tried, though there are values; none for a list of words."""
        it = self.dimensions[place]
        line = [t.point[place] for t in self._line(best, place) if t.values]
        pairs = pairwise(line) if it.ranges else ()
        return [(low, high) for low, high in pairs if high - low > it.whole]

    # --- what is as good ------------------------------------------------------------------------

    def region(self, best: Trial, *more: State) -> dict[str, tuple[Any, ...]]:
        """Map each dimension's key to those of its values that are as good as the best, while the
        other keys are as in the best.

        For words these are all such words. For a range it is the pair of its lowest and highest
        value between which, around the best, every point that was tried is as good. States in
        `more` count, too: with OPEN, the values that may be as good.
        """

        def good(it: Trial) -> bool:
            return it.state in (State.BEST, State.AS_GOOD, *more)

        found: dict[str, tuple[Any, ...]] = {}
        for place, it in enumerate(self.dimensions):
            line = self._line(best, place)
            if it.ranges:
                at = line.index(best)
                line = [*takewhile(good, line[at::-1]), *takewhile(good, line[at + 1 :])]
            values = [t.point[place] for t in line if good(t)]
            found[it.key] = (min(values), max(values)) if it.ranges else tuple(values)
        return found


def looks(most: int) -> Iterator[int]:
    """Yield the numbers of runs of a point after which points are compared: FIRST, doubled each
    time, and last `most`."""
    count = FIRST
    while count < most:
        yield count
        count *= 2
    yield most


def verdict(more: Estimate, allowed: float) -> State:
    """Return the verdict on a point from the interval `more` of the amount by which it is worse
    than the best.

    It is WORSE if the whole interval is above `allowed`, AS_GOOD if none of it is, and else OPEN.
    """
    if more.low > allowed:
        return State.WORSE
    return State.AS_GOOD if more.high <= allowed else State.OPEN


def smoothed(parts: Sequence[float], rows: Any) -> Any:
    """Return the values along a line, seed by seed, smoothed by a polynomial, in the shape of
    `rows`.

    `rows` has a row for each point, at these `parts` of the range (0 to 1), and a column for each
    seed. The degree is at least DEGREE where there are points enough, and above it the one with the
    least expected error by Mallows' C_p (Mallows 1973): a term stays where its square is above
    twice its variance, as the seeds show it.
    """
    powers = np.polynomial.chebyshev.chebvander(2 * np.array(parts) - 1, len(parts) - 1)
    basis, _ = np.linalg.qr(powers)
    terms = basis.T @ rows
    gain = np.cumsum(terms.mean(1) ** 2 - 2 * terms.var(1, ddof=1) / rows.shape[1])
    least = min(DEGREE, len(parts) - 1)
    kept = least + int(np.argmax(gain[least:])) + 1
    return basis[:, :kept] @ terms[:kept]
