"""Search for the point at which a mean is smallest, with few runs for bad points and many for good
ones. This module knows nothing of simulations: it asks a function for the values of points.

A search begins with a coarse grid. All points of a round meet the same seeds, so that two points
are compared by the differences on each seed. A point that is worse than the best, as far as those
differences show, gets no more runs; the others get twice as many. Then points beside the best are
added, at half the distance each time, and where a parabola through its neighbours is lowest. In the
end the points that may be as good as the best, within a tolerance, get runs until that is known.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import isnan, nan
from typing import Any

import numpy as np
from attrs import define, field

from sims.campaign.dimensions import Dimension, Point
from sims.intervals import Estimate, difference_of, mean_of

FIRST, EACH = 4, 64
"""Runs of a point before it is compared first, and at most."""
SURE = 0.99
"""Level at which a point is given up: one that is as good is lost once in a hundred looks."""
ROUNDS = 4
"""Number of times that the distance between the best and its neighbours is halved."""
ENDS = 2
"""Number of times that the ends of what is as good are looked for half-way to the next point."""
LEVELS = (0, 7, 5, 4, 3)
"""Number of values of a range in the coarse grid, by the number of ranges."""

Value = tuple[float | None, ...]
"""Result of one run of a point: the objective, which is made small, and the measures that have
bounds; None where it is not known."""
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
    """The point's means do not keep to a bound, or not all of its runs complete."""


@define
class Trial:
    """A point that was tried."""

    point: Point
    values: Sequence[Value] = ()
    state: State = State.OPEN
    given_up: bool = False
    """Whether it gets no more runs."""

    @property
    def sample(self) -> list[float]:
        """Values of the objective, by seed."""
        return [nan if it[0] is None else it[0] for it in self.values]

    @property
    def mean(self) -> float:
        """Mean of the objective; nan where a run has no value."""
        return float(np.mean(self.sample)) if self.values else nan


@define
class Search:
    """A search for the best point."""

    dimensions: tuple[Dimension, ...]
    evaluate: Evaluate
    fits: Callable[[Sequence[Value]], bool] = lambda values: True
    """Function that returns whether the means of a point keep to all bounds."""
    tolerance: float = 0.01
    """Part of the best mean within which points are as good."""
    each: int = EACH
    """Largest number of runs of a point."""
    trials: dict[Point, Trial] = field(init=False, factory=dict)
    _rounds: int = field(init=False, default=0)
    """Rounds of points beside the best that are still to come."""

    def run(self) -> Trial | None:
        """Search, and return the best point; None where no point keeps to the bounds."""
        levels = self._levels
        self._rounds = ROUNDS if self._ranges else 0
        self._race(product(*(it.coarse(levels) for it in self.dimensions)))
        for k in range(1, ROUNDS + 1):
            best = self._best()
            if best is None or not self._ranges:
                break
            self._rounds = ROUNDS - k
            self._race(self._beside(best, 1 / (levels - 1) / 2**k))
        best = self._best()
        if best is not None:
            self._race(self._lines(best, levels))
            for _ in range(ENDS):
                self._decide(self._best() or best)
                self._race(self._ends(self._best() or best))
            self._decide(self._best() or best)
        return self._best()

    @property
    def ahead(self) -> int:
        """Estimate of how many runs are still to come after those that are asked for now."""
        lines = sum(len(it.coarse(self._levels)) for it in self.dimensions)
        # `_beside` gives at most three points for a range: two neighbours and a parabola's lowest.
        near = self._rounds * 3 * self._ranges + (lines if self._rounds else 0)
        alive = sum(not it.given_up for it in self.trials.values())
        return near * self._raced + min(alive, lines) * (self.each - self._raced)

    @property
    def _ranges(self) -> int:
        """Number of dimensions that are ranges of numbers."""
        return sum(it.ranges for it in self.dimensions)

    @property
    def _levels(self) -> int:
        """Number of values of a range in the coarse grid."""
        return LEVELS[min(self._ranges, len(LEVELS) - 1)]

    @property
    def _raced(self) -> int:
        """Largest number of runs of a point before it is decided what is as good as the best."""
        return self.each // 4

    # --- rounds -------------------------------------------------------------------------------

    def _race(self, points: Iterable[Point]) -> None:
        """Try these points beside all that are not given up, and give up those that are worse."""
        for point in points:
            self.trials.setdefault(point, Trial(point))
        count = FIRST
        while True:
            alive = [it for it in self.trials.values() if not it.given_up]
            self._ask(alive, count)
            best = self._best()
            for it in alive:
                it.given_up = it.given_up or (best is not None and self._worse(it, best))
            left = [it for it in alive if not it.given_up]
            if len(left) <= 1 or count >= self._raced:
                return
            count = min(2 * count, self._raced)

    def _ask(self, trials: Sequence[Trial], count: int) -> None:
        lacking = [it for it in trials if len(it.values) < count]
        if not lacking:
            return
        found = self.evaluate([it.point for it in lacking], count)
        for it in lacking:
            it.values = found[it.point]
            if isnan(it.mean) or not self.fits(it.values):
                it.state, it.given_up = State.UNFIT, True
            elif it.state is State.UNFIT:
                it.state = State.OPEN

    def _best(self) -> Trial | None:
        fit = [it for it in self.trials.values() if it.state is not State.UNFIT and it.values]
        alive = [it for it in fit if not it.given_up] or fit
        return min(alive, key=lambda it: it.mean, default=None)

    def _against(self, it: Trial, best: Trial) -> Estimate | None:
        """Return by how much the mean of a point is above the best's, on the seeds of both."""
        count = min(len(it.values), len(best.values))
        return difference_of(it.sample[:count], best.sample[:count], SURE)

    def _worse(self, it: Trial, best: Trial) -> bool:
        more = self._against(it, best)
        return it is not best and more is not None and more.low > self.tolerance * abs(best.mean)

    def _beside(self, best: Trial, step: float) -> Iterator[Point]:
        """Yield the points at this distance from the best along each range, and where a parabola
        through the points along it is lowest."""
        for place, it in enumerate(self.dimensions):
            if not it.ranges:
                continue
            own = it.part(best.point[place])
            parts = [own - step, own + step]
            line = [(it.part(other.point[place]), other.mean) for other in self._line(best, place)]
            near = sorted(line, key=lambda at: abs(at[0] - own))[:5]
            if len(near) >= 4:
                bend, slope, _ = np.polyfit([x for x, _ in near], [y for _, y in near], 2)
                parts += [-slope / (2 * bend)] if bend > 0 else []
            for part in parts:
                yield (*best.point[:place], it.at(part), *best.point[place + 1 :])

    def _lines(self, best: Trial, levels: int) -> Iterator[Point]:
        """Yield the points of the coarse grid's values of each dimension, the others being as in
        the best: they say where a dimension does not matter."""
        for place, it in enumerate(self.dimensions):
            for value in it.coarse(levels):
                yield (*best.point[:place], value, *best.point[place + 1 :])

    def _ends(self, best: Trial) -> Iterator[Point]:
        """Yield, along each range, the points half-way from the ends of what is as good as the best
        to the next points beyond."""
        for place, it in enumerate(self.dimensions):
            if not it.ranges:
                continue
            values = sorted(other.point[place] for other in self._line(best, place))
            for end, step in zip(self.region(best)[it.key], (-1, 1), strict=True):
                beyond = values.index(end) + step
                if 0 <= beyond < len(values):
                    half = (it.part(end) + it.part(values[beyond])) / 2
                    yield (*best.point[:place], it.at(half), *best.point[place + 1 :])

    def _line(self, best: Trial, place: int) -> list[Trial]:
        """Return the points that differ from the best in one dimension only, itself among them."""
        return [
            it
            for it in self.trials.values()
            if not isnan(it.mean)
            and all(
                a == b
                for k, (a, b) in enumerate(zip(it.point, best.point, strict=True))
                if k != place
            )
        ]

    # --- what is as good ------------------------------------------------------------------------

    def _decide(self, best: Trial) -> None:
        """Give runs to the points that may be as good as the best until that is known."""
        count = len(best.values)
        while True:
            for it in self.trials.values():
                if it.state is not State.UNFIT:
                    it.state = self._state(it, best)
            open_ = [it for it in self.trials.values() if it.state is State.OPEN]
            if not open_ or count >= self.each:
                return
            count = min(2 * count, self.each)
            self._ask([*open_, best], count)
            best = self._best() or best

    def _state(self, it: Trial, best: Trial) -> State:
        if it is best:
            return State.BEST
        more, allowed = self._against(it, best), self.tolerance * abs(best.mean)
        if more is None or more.low > allowed:
            return State.WORSE
        return State.AS_GOOD if more.high <= allowed else State.OPEN

    def region(self, best: Trial, *more: State) -> dict[str, tuple[Any, ...]]:
        """Map each key to its values that are as good as the best, the other keys being as they are
        in the best: words, or the ends of the numbers around the best between which no point that
        was tried is anything else.

        States in `more` count, too: with OPEN, the values that may be as good.
        """
        found: dict[str, tuple[Any, ...]] = {}
        good = State.BEST, State.AS_GOOD, *more
        for place, it in enumerate(self.dimensions):
            line = self._line(best, place)
            if not it.ranges:
                found[it.key] = tuple(t.point[place] for t in line if t.state in good)
                continue
            line.sort(key=lambda t: t.point[place])
            low = high = line.index(best)
            while low and line[low - 1].state in good:
                low -= 1
            while high + 1 < len(line) and line[high + 1].state in good:
                high += 1
            found[it.key] = line[low].point[place], line[high].point[place]
        return found


def estimate(values: Sequence[Value], which: int, level: float) -> Estimate:
    """Return the mean of one of the values of a point's runs."""
    return mean_of([it[which] for it in values if it[which] is not None], level)  # type: ignore[misc]
