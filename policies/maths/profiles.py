"""Evaluates many speedup profiles at once: minima, thresholds and ratios by array arithmetic.

Nothing here scans p = 1..P for a formula: up to the fastest count t falls and the area grows, so
counts are found by bisection or in closed form, for all jobs together. (500 jobs on 7,500
processors: 0.3 ms for LPA's allocation; a scan takes 400 times that.) Tables list their own times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from policies.maths.speedup import Profile, Speedup, Table
from policies.maths.tolerance import ROUNDING

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def bisect_counts(
    low: Counts, high: Counts, holds: Callable[[Counts], NDArray[np.bool_]]
) -> Counts:
    """Return, for each element, the smallest count in [low, high] for which `holds` is true; high
    if there is none.

    `holds` maps an array of counts to an array of booleans. If it is true for a count of an
    element, it must be true for all larger ones.
    """
    low, high = low.copy(), high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        good = holds(middle)
        high = np.where(good, middle, high)
        low = np.where(good, low, np.minimum(middle + 1, high))
    return high


@define(eq=False)
class Formulas:
    """Times and areas (processors x time) of many jobs with formula profiles (`Speedup`) on up to P
    processors, as arrays with one element for each job."""

    processors: int
    """Number of processors, P."""
    parallel: Floats
    degree: Floats
    delta: Floats
    serial: Floats
    cost: Floats
    powers: bool
    """Whether any exponent differs from 1: powers take ten times as long as divisions."""
    fastest: Counts = field(init=False)
    """The smallest count of minimal time (within ROUNDING); beyond it every count is dominated."""
    least_time: Floats = field(init=False)
    least_area: Floats = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.fastest = self._fastest()
        self.least_time = self.time(self.fastest)
        self.least_area = self.time(np.ones_like(self.fastest))
        # Fewer processors may have the same time but for rounding.
        self.fastest = self.needed(self.least_time * (1 + ROUNDING))

    @classmethod
    def of(cls, profiles: Sequence[Speedup], processors: int) -> Formulas:
        """Build the arrays of `profiles` for a platform of `processors` processors."""
        rows = [(s.parallel, s.degree, s.delta, s.serial, s.cost) for s in profiles]
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), 5).T
        parallel, degree, delta, serial, cost = columns
        powers = bool((delta != 1.0).any())
        return cls(processors, parallel, degree, delta, serial, cost, powers)

    def time(self, counts: Counts) -> Floats:
        """Return t(p), the time of one attempt of each job on its number of processors in
        `counts`."""
        shared = np.minimum(counts, self.degree)
        if self.powers:
            shared = shared**self.delta
        return self.parallel / shared + self.serial + (counts - 1) * self.cost

    def _fastest(self) -> Counts:
        # t(p) is convex with its real minimum at sqrt(a / c): the best whole count is beside it.
        limit = np.minimum(np.floor(self.degree), self.processors)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.floor(np.sqrt(self.parallel / self.cost))
        best = np.where(self.cost > 0, best, limit)
        low = np.clip(best, 1, limit).astype(np.int64)
        high = np.minimum(low + 1, limit).astype(np.int64)
        return np.where(self.time(high) < self.time(low), high, low)

    def needed(self, limit: Floats) -> Counts:
        """Return, for each job, the smallest number of processors on which its time is at most
        `limit`, which is also that of least area; its fastest number of processors where even this
        is too slow."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            guess = self._root(limit)
        top = self.fastest
        counts = np.clip(np.nan_to_num(guess, nan=1e18), 1, top).astype(np.int64)
        # Rounding may put the closed form off by one, and cancellation by any amount.
        counts = np.where(self.time(counts) > limit, np.minimum(counts + 1, top), counts)
        lower = np.maximum(counts - 1, 1)
        enough, spare = self.time(counts) <= limit, self.time(lower) <= limit
        if (((enough | (counts == top)) & ~spare) | (counts == 1)).all():
            return counts
        ones = np.ones_like(top)
        return bisect_counts(ones, top, lambda p: self.time(p) <= limit)

    def _root(self, limit: Floats) -> Floats:
        """Return, for each job, the smallest p, rounded up to a whole number, with a/p^delta + b +
        (p - 1) c = limit, where a is `parallel`, b `serial` and c `cost` (c = 0 unless delta =
        1)."""
        # The quotient form of the quadratic's smaller root, which does not cancel where c is small
        # or 0.
        room = limit - self.serial + self.cost
        root = 2 * self.parallel / (room + np.sqrt(room * room - 4 * self.parallel * self.cost))
        root = np.where(room > 0, root, np.inf)
        if self.powers:
            root = np.where(self.delta == 1, root, (self.parallel / limit) ** (1 / self.delta))
        return np.ceil(root)

    def min_time(self) -> Counts:
        """Return, for each job, the smallest number of processors, at most P, with its shortest
        time."""
        return self.fastest

    def min_area(self) -> Counts:
        """Return, for each job, the smallest number of processors with its smallest area: always 1,
        because the area p t(p) never falls as p grows."""
        return np.ones_like(self.fastest)

    def thrifty(self, limit: Floats) -> Counts:
        """Return, for each job, the number of processors of least area among those on which its
        time is at most `limit`; at equal area the fastest. It is the fastest of all where none is
        fast enough."""
        counts = self.needed(limit)
        fastest = self.fastest
        area = counts * self.time(counts)
        same = fastest * self.time(fastest) <= area * (1 + ROUNDING)
        return np.where(same, fastest, counts)

    def local(self) -> Counts:
        """Return, for each job, the number of processors that LPA (Local Processor Allocation;
        moldable21, algorithm 2) chooses: the smallest of least approximation ratio r(alpha, beta),
        up to the fastest.

        Alpha is the area over the job's least area, beta the time over its least time, r as in
        `ratio`. 2 alpha grows from the crossing alpha = beta on, and before it r first falls and
        then rises, which lets both parts be bisected.
        """
        ones, top = np.ones_like(self.fastest), self.fastest
        crossing = bisect_counts(ones, top, self._crossed)
        before = np.maximum(crossing - 1, 1)
        valley = bisect_counts(ones, before, lambda p: ~self._falls(p))
        return np.where(
            self.ratio(valley) <= self.ratio(crossing) * (1 + ROUNDING), valley, crossing
        )

    def _crossed(self, counts: Counts) -> NDArray[np.bool_]:
        time = self.time(counts)
        return counts * time / self.least_area >= time / self.least_time

    def _falls(self, counts: Counts) -> NDArray[np.bool_]:
        return self.ratio(counts + 1) < self.ratio(counts) * (1 - ROUNDING)

    def ratio(self, counts: Counts) -> Floats:
        """Return, for each job, the approximation ratio r(alpha, beta) (moldable21, equation 10) of
        its number of processors in `counts`: alpha is its area over its least area, beta its time
        over its least time."""
        time = self.time(counts)
        return ratio(counts * time / self.least_area, time / self.least_time, self.processors)


def ratio(alpha: Floats, beta: Floats, processors: int) -> Floats:
    """Return the approximation ratio r(alpha, beta) that list scheduling on P = `processors`
    reaches if areas are at most alpha, and times at most beta, times the least ones (moldable21,
    Lemma 2, equation 10).

    It is 2 alpha where alpha >= beta or P = 1, else (P alpha + (P - 2) beta) / (P - 1).
    """
    if processors == 1:
        return 2 * alpha
    far = (processors * alpha + (processors - 2) * beta) / (processors - 1)
    return np.where(alpha >= beta, 2 * alpha, far)


@frozen(eq=False)
class Listed:
    """Times and areas of one job on p = 1, 2, 3... processors, listed in arrays with that of p at
    index p - 1; the counterpart of `Formulas` for a job whose profile is a table."""

    processors: int
    times: Floats
    areas: Floats

    @classmethod
    def of(cls, table: Table, processors: int) -> Listed:
        """Build it for a platform of P = `processors` from the first P entries of `table`, the
        job's times on 1 to P processors; a shorter table is taken whole."""
        times = np.array(table.times[:processors], dtype=np.float64)
        return cls(processors, times, times * np.arange(1, len(times) + 1))

    @classmethod
    def tabulated(cls, profile: Profile, processors: int) -> Listed:
        """Build it for any moldable profile on P = `processors`: a table is taken as `of` does, a
        formula is evaluated up to its fastest number of processors. Raises ValueError for rigid
        jobs."""
        formulas, _ = split([profile])
        if not formulas:
            return cls.of(cast(Table, profile), processors)
        formula = Formulas.of([cast(Speedup, profile)], processors)
        counts = np.arange(1, int(formula.fastest[0]) + 1)
        times = formula.time(counts)
        return cls(processors, times, times * counts)

    def min_time(self) -> int:
        """Return the smallest number of processors with the job's shortest time."""
        return _first(self.times <= self.times.min() * (1 + ROUNDING))

    def min_area(self) -> int:
        """Return the smallest number of processors with the job's smallest area."""
        return _first(self.areas <= self.areas.min() * (1 + ROUNDING))

    def ratios(self) -> Floats:
        """Return the approximation ratio r(alpha, beta) of each number of processors (moldable21,
        equation 10), with alpha its area and beta its time over the job's least; that of p is at
        index p - 1."""
        alpha, beta = self.areas / self.areas.min(), self.times / self.times.min()
        return ratio(alpha, beta, self.processors)

    def local(self) -> int:
        """Return the number of processors that LPA (Local Processor Allocation; moldable21,
        algorithm 2) chooses: the smallest of least approximation ratio r(alpha, beta)."""
        ratios = self.ratios()
        return _first(ratios <= ratios.min() * (1 + ROUNDING))

    def thrifty(self, limit: float) -> int:
        """Return the number of processors of least area among those on which the job's time is at
        most `limit`; at equal area the fastest. If none is fast enough, return the fastest of
        all."""
        able = self.times <= limit
        if not able.any():
            return self.min_time()
        least = self.areas[able].min() * (1 + ROUNDING)
        return int(np.where(able & (self.areas <= least), self.times, np.inf).argmin()) + 1


def _first(good: NDArray[np.bool_]) -> int:
    return int(good.argmax()) + 1


T = TypeVar("T")


def each(
    profiles: Sequence[Profile],
    processors: int,
    formulas: Callable[[Formulas], Iterable[T]],
    table: Callable[[Listed], T],
) -> list[T]:
    """Return a value for each profile on P = `processors`, in the order of `profiles`.

    `formulas` is called once for all formula profiles together and returns their values in order;
    `table` is called for each table. Raises ValueError if a profile is of a rigid job.
    """
    places, tables = split(profiles)
    found = dict[int, T]()
    if places:
        chosen = [cast(Speedup, profiles[i]) for i in places]
        found |= zip(places, formulas(Formulas.of(chosen, processors)), strict=True)
    for i in tables:
        found[i] = table(Listed.of(cast(Table, profiles[i]), processors))
    return [found[i] for i in range(len(profiles))]


def split(profiles: Sequence[Profile]) -> tuple[list[int], list[int]]:
    """Return (positions in `profiles` of the formulas, positions of the tables). Raises ValueError
    if any profile is of a rigid job."""
    formulas = [i for i, profile in enumerate(profiles) if isinstance(profile, Speedup)]
    tables = [i for i, profile in enumerate(profiles) if isinstance(profile, Table)]
    if len(formulas) + len(tables) < len(profiles):
        raise ValueError("only moldable jobs can be allotted processors: a rigid one has its own")
    return formulas, tables
