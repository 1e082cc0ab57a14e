"""BATCH-LIST's allotments: all attempts of a batch together (000, section 4.4).

The paper's (1 + eps) guarantee does not determine the allotment, and allotments within it differ
by 40 % in makespan; so the rule has a name: `Exact` or `Scaled`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from attrs import Factory, define, field, frozen

from policies.batch.chains import Chain
from policies.interface.batch import Allotment, BatchAllocation, BatchJob
from policies.maths.profiles import SAME, Floats, Formulas, Listed, split
from policies.maths.speedup import Profile, Speedup, Table

CLOSE = 1e-13
"""Relative width at which a bisection over makespans stops."""


@frozen(eq=False)
class Group:
    """The chains of one batch: attempts[i] attempts of profile i, on P processors."""

    processors: int
    attempts: Floats
    places: tuple[int, ...]
    """Where in the batch each formula stands."""
    formulas: Formulas
    tables: tuple[tuple[int, Listed], ...]
    """(where in the batch, table)."""

    @classmethod
    def of(cls, profiles: Sequence[Profile], attempts: Sequence[int], processors: int) -> Group:
        """The group of one batch. Raises ValueError for rigid jobs."""
        places, listed = split(profiles)
        formulas = Formulas.of([cast(Speedup, profiles[i]) for i in places], processors)
        tables = tuple((i, Listed.of(cast(Table, profiles[i]), processors)) for i in listed)
        every = np.array(attempts, dtype=np.float64)
        return cls(processors, every, tuple(places), formulas, tables)

    @property
    def formula_attempts(self) -> Floats:
        return self.attempts[list(self.places)]

    def least_length(self) -> float:
        """No batch can be shorter: the longest chain at its fastest, the area at its least."""
        length = self.formula_attempts * self.formulas.least_time
        area = float((self.formula_attempts * self.formulas.least_area).sum())
        longest = float(length.max(initial=0.0))
        for place, table in self.tables:
            longest = max(longest, self.attempts[place] * float(table.times.min()))
            area += self.attempts[place] * float(table.areas.min())
        return max(longest, area / self.processors)


@frozen(eq=False)
class Trial:
    """What a rule allots for one target makespan X."""

    allotments: tuple[Allotment, ...]
    area: float


def smallest(least: float, processors: int, attempt: Callable[[float], Trial]) -> Trial:
    """The trial of the smallest X whose area is at most P X, by bisection.

    `attempt` must allot less area for a larger X. `least` is below or at the answer.
    """

    def feasible(target: float, trial: Trial) -> bool:
        return trial.area <= processors * target * (1 + SAME)

    low, below = least, attempt(least)
    if feasible(low, below):
        return below
    high = 2 * low
    while not feasible(high, above := attempt(high)):
        low, below, high = high, above, 2 * high
    while below.allotments != above.allotments and high - low > CLOSE * high:
        middle = (low + high) / 2
        trial = attempt(middle)
        if feasible(middle, trial):
            high, above = middle, trial
        else:
            low, below = middle, trial
    return above


@frozen
class Exact:
    """All attempts of a chain on the same processors; the smallest X with g t_j(p) <= X at least
    area and total area <= P X. At equal area the faster allotment."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """See BatchAllocation. Raises ValueError for rigid jobs."""
        group = Group.of([job.profile for job in jobs], attempts, processors)
        least = group.least_length()
        return smallest(least, processors, lambda target: _uniform(group, target)).allotments


def _uniform(group: Group, target: float) -> Trial:
    allotments: list[Allotment] = [()] * len(group.attempts)
    attempts = group.formula_attempts
    counts = group.formulas.thrifty(target / attempts)
    area = float((attempts * counts * group.formulas.time(counts)).sum())
    for place, g, count in zip(group.places, attempts.tolist(), counts.tolist(), strict=True):
        allotments[place] = ((int(g), count),)
    for place, table in group.tables:
        g = int(group.attempts[place])
        count = table.thrifty(target / g)
        allotments[place] = ((g, count),)
        area += g * float(table.areas[count - 1])
    return Trial(tuple(allotments), area)


def _unit_interval(_: object, attribute: object, value: float) -> None:
    if not 0 < value <= 1:
        raise ValueError(f"eps of a scaled allotment must lie in (0, 1], not {value!r}")


@frozen
class Scaled:
    """MT-ALLOTMENT's dynamic programme over rounded times.

    Times count in units u = eps X / g; a chain's attempts may use floor(g/eps) units together,
    each floor(t/u); area is minimal, at equal area the faster; the smallest X with total area <= P X. A formula's area is
    convex in its time, so its best chain is balanced and needs no table of the programme.
    """

    eps: float = field(default=0.1, validator=_unit_interval)
    """0.1 reproduces 000's Table 1; the 0.3 that it states does not."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """See BatchAllocation. Raises ValueError for rigid jobs."""
        group = Group.of([job.profile for job in jobs], attempts, processors)
        # Rounding down makes chains up to g units longer than X: 1/(1 + eps) of it may do.
        least = group.least_length() / (1 + 2 * self.eps)
        return smallest(least, processors, lambda target: self._trial(group, target)).allotments

    def units(self, attempts: int) -> int:
        """floor(g/eps), what a chain of g attempts may use."""
        return math.floor(attempts / self.eps * (1 + SAME))

    def _trial(self, group: Group, target: float) -> Trial:
        allotments: list[Allotment] = [()] * len(group.attempts)
        area = self._balanced(group, target, allotments)
        for place, table in group.tables:
            g = int(group.attempts[place])
            chain = Chain.of(table, g, self.units(g), self.eps * target / g)
            allotments[place] = chain.allotment()
            area += chain.area
        return Trial(tuple(allotments), area)

    def _balanced(self, group: Group, target: float, allotments: list[Allotment]) -> float:
        attempts, formulas = group.formula_attempts, group.formulas
        unit = self.eps * target / attempts
        units = np.array([self.units(int(g)) for g in attempts.tolist()], dtype=np.float64)
        few = np.floor(units / attempts)
        longer = units - few * attempts
        counts = formulas.thrifty(_below((few + 1) * unit))
        more = formulas.thrifty(_below((few + 2) * unit)) if longer.any() else counts
        rows = zip(
            group.places,
            attempts.tolist(),
            longer.tolist(),
            counts.tolist(),
            more.tolist(),
            strict=True,
        )
        for place, g, late, count, other in rows:
            parts = ((int(g - late), count), (int(late), other))
            allotments[place] = parts if late else parts[:1]
        each = (attempts - longer) * counts * formulas.time(counts)
        area = float((each + longer * more * formulas.time(more)).sum())
        slow = formulas.least_time >= (few + 1) * unit
        return math.inf if slow.any() else area


def _below(limits: Floats) -> Floats:
    """floor(t/u) <= k says t < (k + 1) u, strictly."""
    return np.nextafter(limits, 0)


@define
class FirstRemembered:
    """A batch rule that answers again for first attempts of the jobs asked about last: batch 1 does
    not depend on failures, and a campaign asks about it once per failure scenario."""

    rule: BatchAllocation
    _asked: tuple[tuple[BatchJob, ...], int] = Factory(lambda: ((), 0))
    _allotments: Sequence[Allotment] = ()

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """See BatchAllocation; raises what the rule raises."""
        if any(g != 1 for g in attempts):
            return self.rule.allot(jobs, attempts, processors)
        question = tuple(jobs), processors
        if question != self._asked:
            self._asked = question
            self._allotments = self.rule.allot(jobs, attempts, processors)
        return self._allotments
