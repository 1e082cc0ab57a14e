"""Computes BATCH-LIST's allotments, which treat all attempts of a batch together (moldable21,
section 4.4).

The paper's (1 + eps) guarantee does not determine the allotment, and allotments within it differ by
40 % in makespan; so each rule has a name: `Exact` and `Scaled` here, `Mixed` and `Programme` in
modules of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from attrs import field, frozen
from attrs.validators import and_, gt, le

from policies.interface.queue import Allotment, BatchJob
from policies.maths.profiles import Counts, Floats, Formulas, Listed, split
from policies.maths.speedup import Profile, Speedup, Table
from policies.maths.tolerance import ROUNDING
from policies.queue.chains import Chain, Ties

EPS = and_(gt(0.0), le(1.0))
CLOSE = 1e-10
"""Relative width at which a bisection over makespans stops."""


@frozen(eq=False)
class Group:
    """The jobs of one batch, split by whether a formula or a table gives their times on P
    processors. Job i can make attempts[i] attempts in a row, its chain."""

    processors: int
    attempts: Floats
    places: tuple[int, ...]
    """Position of each formula in the batch."""
    formulas: Formulas
    tables: tuple[tuple[int, Listed], ...]
    """Pairs (position in the batch, table)."""
    formula_attempts: Floats

    @classmethod
    def of(cls, profiles: Sequence[Profile], attempts: Sequence[int], processors: int) -> Group:
        """Build the group of one batch from the jobs' profiles and numbers of attempts, in the same
        order; P = `processors`. Raises ValueError for rigid jobs."""
        places, listed = split(profiles)
        formulas = Formulas.of([cast(Speedup, profiles[i]) for i in places], processors)
        tables = tuple((i, Listed.of(cast(Table, profiles[i]), processors)) for i in listed)
        every = np.array(attempts, dtype=np.float64)
        return cls(processors, every, tuple(places), formulas, tables, every[places])

    def least_length(self) -> float:
        """Return a lower bound on the batch's makespan: the longest chain, each attempt at its
        fastest, or the least total area over P, whichever is larger."""
        length = self.formula_attempts * self.formulas.least_time
        area = float((self.formula_attempts * self.formulas.least_area).sum())
        longest = float(length.max(initial=0.0))
        for place, table in self.tables:
            longest = max(longest, self.attempts[place] * float(table.times.min()))
            area += self.attempts[place] * float(table.areas.min())
        return max(longest, area / self.processors)


@frozen(eq=False)
class TargetTrial:
    """Allotments that a batch rule gives if the batch is to be no longer than a target makespan
    X."""

    counts: tuple[Counts, ...]
    """Processors of each formula's chain: those of its earlier attempts, and those of its later
    ones."""
    listed: tuple[Allotment, ...]
    """Allotments of the tables."""
    area: float
    """Total area of the allotment; infinite where X is too short for some chain."""

    def same(self, other: TargetTrial) -> bool:
        """Return whether both trials allot the same numbers of processors to all attempts."""
        pairs = zip(self.counts, other.counts, strict=True)
        return self.listed == other.listed and all((a == b).all() for a, b in pairs)


def smallest(least: float, processors: int, attempt: Callable[[float], TargetTrial]) -> TargetTrial:
    """Find the smallest makespan X for which the allotted area is at most P X, and return what is
    allotted for it; P = `processors`.

    `attempt` returns the trial of an X (what a batch rule allots for it), and must not allot more
    area for a larger X; `least` is at or below the answer. The Illinois rule (a variant of regula
    falsi) closes in on it from both sides, until both sides allot alike or are within CLOSE of each
    other.
    """
    low, below = least, attempt(least)
    excess = below.area / processors - low
    if excess <= low * ROUNDING:
        return below
    # A longer target needs no more area, so X = area / P is enough if the area at `low` is finite.
    high = low + excess if math.isfinite(excess) else 2 * low
    while not (above := attempt(high)).area <= processors * high * (1 + ROUNDING):
        low, below, high = high, above, 2 * high
        excess = below.area / processors - low
    return _closed_in(
        (low, excess, below), (high, above.area / processors - high, above), processors, attempt
    )


Side = tuple[float, float, TargetTrial]
"""One side of the bracket: (X, area / P - X, trial)."""


def _closed_in(
    below: Side, above: Side, processors: int, attempt: Callable[[float], TargetTrial]
) -> TargetTrial:
    last = 0
    while not below[2].same(above[2]) and above[0] - below[0] > CLOSE * above[0]:
        target = _between(below, above)
        trial = attempt(target)
        excess = trial.area / processors - target
        # Halving the value of the side that stays put keeps one side from doing all the work.
        if excess <= target * ROUNDING:
            above = target, min(excess, -0.0), trial
            below = (below[0], below[1] / 2, below[2]) if last > 0 else below
            last = 1
        else:
            below = target, excess, trial
            above = (above[0], above[1] / 2, above[2]) if last < 0 else above
            last = -1
    return above[2]


def _between(below: Side, above: Side) -> float:
    """Return the makespan X to try next: where the line between the two sides of the bracket
    crosses zero, but no nearer to either end than a hundredth of the bracket's width. If area / P -
    X is infinite below, it is the middle."""
    share = below[1] / (below[1] - above[1]) if math.isfinite(below[1]) else 0.5
    return below[0] + min(max(share, 0.01), 0.99) * (above[0] - below[0])


def _together(group: Group, trial: TargetTrial, early: Floats, late: Floats) -> Sequence[Allotment]:
    """Return a trial's allotments in the order of the group's jobs. `early` and `late` have, for
    each job with a formula, its numbers of earlier and of later attempts; the two can differ in
    processors."""
    allotments: list[Allotment] = [()] * len(group.attempts)
    for (place, _), allotment in zip(group.tables, trial.listed, strict=True):
        allotments[place] = allotment
    columns = (early, trial.counts[0], late, trial.counts[-1])
    rows = zip(group.places, *(column.tolist() for column in columns), strict=True)
    for place, n, count, m, other in rows:
        parts = ((int(n), count), (int(m), other))
        allotments[place] = parts if m else parts[:1]
    return allotments


@frozen
class Exact:
    """Batch rule without rounding that allots the same number of processors to all g attempts of a
    job in a batch. It finds the smallest makespan X for which g attempts in a row take g t_j(p) <=
    X at least area, and the total area is at most P X. At equal area it takes the faster
    allotment."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """Return for each of `jobs` the processors of its attempts in this batch, of which job i
        can make attempts[i], as one pair (number of attempts, processors of each). P =
        `processors`. Raises ValueError for rigid jobs."""
        group = Group.of([job.profile for job in jobs], attempts, processors)
        trial = smallest(group.least_length(), processors, lambda x: _uniform(group, x))
        chains = group.formula_attempts
        return _together(group, trial, chains, np.zeros_like(chains))


def _uniform(group: Group, target: float) -> TargetTrial:
    attempts, formulas = group.formula_attempts, group.formulas
    counts = formulas.thrifty(target / attempts)
    area = float((attempts * counts * formulas.time(counts)).sum())
    listed = []
    for place, table in group.tables:
        g = int(group.attempts[place])
        count = table.thrifty(target / g)
        listed.append(((g, count),))
        area += g * float(table.areas[count - 1])
    return TargetTrial((counts,), tuple(listed), area)


@frozen
class Scaled:
    """Batch rule that solves MT-ALLOTMENT's dynamic programme over rounded times (moldable21,
    section 4.4), with balanced chains for formulas.

    Times count in units u = eps X / g; a chain's attempts may use floor(g/eps) units together, each
    floor(t/u). The area is minimal, at equal area the faster choice wins, and the makespan X is the
    smallest with total area <= P X. A formula's area is convex in its time except for whole
    processors, so its chain is taken balanced, which needs no table of the programme (`Programme`
    fills it).
    """

    eps: float = field(default=0.1, validator=EPS)
    """Rounding parameter of times; 0.1 reproduces moldable21's Table 1, while the 0.3 that the
    paper states does not."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """Return for each of `jobs` the processors of its attempts in this batch, of which job i
        can make attempts[i], as pairs (number of attempts, processors of each). P = `processors`.
        Raises ValueError for rigid jobs."""
        group = Group.of([job.profile for job in jobs], attempts, processors)
        chains = group.formula_attempts
        units = np.floor(chains / self.eps * (1 + ROUNDING))
        few = np.floor(units / chains)
        budget = _Budget(few, units - few * chains)
        trial = smallest(
            self._least(group, budget), processors, lambda x: self._trial(group, budget, x)
        )
        return _together(group, trial, chains - budget.longer, budget.longer)

    def _least(self, group: Group, budget: _Budget) -> float:
        """Return a lower bound on the makespan X: the least X that is long enough for the chain of
        every job with a formula, and for the least area. Rounding times down lets a table's chain
        be longer than X by up to g units of eps X / g each, for its g attempts: hence the
        quotient."""
        fastest = group.formulas.least_time * group.formula_attempts
        longest = (fastest / ((budget.few + 1) * self.eps)).max(initial=0.0)
        bound = max(group.least_length() / (1 + 2 * self.eps), float(longest))
        return bound * (1 + 2 * ROUNDING)

    def _trial(self, group: Group, budget: _Budget, target: float) -> TargetTrial:
        trial = _balanced(group, budget, self.eps * target / group.formula_attempts)
        area, listed = trial.area, []
        for place, table in group.tables:
            g = int(group.attempts[place])
            units = math.floor(g / self.eps * (1 + ROUNDING))
            chain = Chain.of(table, g, units, self.eps * target / g, Ties.FASTEST)
            listed.append(chain.allotment())
            area += chain.area
        return TargetTrial(trial.counts, tuple(listed), area)


@frozen(eq=False)
class _Budget:
    """How the balanced chain of each job with a formula divides its units of rounded time among its
    attempts: as evenly as whole units allow."""

    few: Floats
    """Units k that most attempts may use."""
    longer: Floats
    """Number of attempts that may use k + 1 units; they come last."""


def _balanced(group: Group, budget: _Budget, unit: Floats) -> TargetTrial:
    attempts, formulas, few = group.formula_attempts, group.formulas, budget.few
    limit = _below((few + 1) * unit)
    counts = formulas.thrifty(limit)
    area = (attempts - budget.longer) * counts * formulas.time(counts)
    chosen: tuple[Counts, ...] = (counts,)
    if budget.longer.any():
        more = formulas.thrifty(_below((few + 2) * unit))
        area += budget.longer * more * formulas.time(more)
        chosen = (counts, more)
    short = (formulas.least_time > limit).any()
    return TargetTrial(chosen, (), math.inf if short else float(area.sum()))


def _below(bounds: Floats) -> Floats:
    """Return, by element, the largest doubles below `bounds`. As bounds of a time they are strict:
    floor(t/u) <= k means t < (k + 1) u."""
    return np.nextafter(bounds, 0)
