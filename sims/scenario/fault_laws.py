"""Laws of faults: when workers, or nodes, fail (malleable17, sections 3.1 and 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count as count_from
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from numpy.random import Generator

from actors.events import Age
from actors.hazards import Faults, exponential_faults, lognormal_faults, weibull_faults
from actors.intervals import members
from actors.runtime.draws import UnitDraws
from policies.maths.renewals import expected_renewals, lognormal_renewals
from sims.durations import YEAR
from sims.errors import InputError, unfit
from sims.scenario.fault_fields import Clock, FaultFields, Strikes
from sims.scenario.units import Units, intervals_in
from sims.tables.fields import FINITE, Accepts, Duration

if TYPE_CHECKING:
    pass


SMALLEST_SHAPE = 0.05
"""Least shape of a Weibull law; the smaller the shape, the more faults follow the last one at
once."""

Shape = Annotated[
    float,
    Accepts(
        f"a finite number, {SMALLEST_SHAPE} or above: below, most faults come at once",
        {"ge": SMALLEST_SHAPE, **FINITE},
    ),
]


Sigma = Annotated[
    float, Accepts("a number above 0, up to 4: above, most faults come at once", {"gt": 0, "le": 4})
]
Share = Annotated[float, Accepts("a number above 0, up to 1", {"gt": 0, "le": 1})]
ShareOrNone = Annotated[float, Accepts("a number from 0 to 1", {"ge": 0, "le": 1})]
Gap = Annotated[float, Accepts("a finite time above 0", {"gt": 0, **FINITE})]


class OfSome(FaultFields):
    """The keys of a law of faults that can be of some of the units only, such as lemons: nodes that
    fail more often than others."""

    share: ShareOrNone | None = None
    """Part of the units that the law strikes, rounded to whole units and drawn at the start;
    default: all. It is 0 only where units wear out (`interval`)."""
    units: Units | None = None
    """Numbers of the units that the law strikes, such as `"0-15, 40"`; default: all."""
    clock: Clock = Clock.CALENDAR
    """Time that counts between the faults of a unit: `calendar`, or `computing`, which passes only
    while one of the unit's workers computes."""
    gaps: tuple[tuple[Gap, ...], ...] = ()
    """Computing times between the faults of units 0, 1, ..., in order, in place of those that are
    drawn; after the end of its list a unit's are drawn."""
    interval: Duration | None = None
    """Time after which, again and again, units wear out: the law strikes more of them from then on.
    Needs `share` or `units`, those at the start; default: none wear out."""
    share_added: Share | None = None
    """Part of all units that wears out at each of these times, rounded to whole units and drawn
    among those that the law does not strike."""
    added: tuple[Units, ...] = ()
    """Numbers of the units that wear out at the first of these times, in order, in place of those
    that are drawn."""

    @property
    def names_units(self) -> bool:
        """Whether the scenario gives the numbers of the units that the law strikes."""
        return self.units is not None

    def check(self) -> None:
        super().check()
        self._check_wear()
        if self.share is not None and self.units is not None:
            raise InputError("", "share", "stands beside `units`", "one of them")
        if self.gaps and self.clock is Clock.CALENDAR:
            raise InputError("", "gaps", "need computing time", 'clock = "computing"')
        if self.clock is Clock.COMPUTING and self.listed:
            problem = "are of the calendar, and the law's clock is not"
            raise InputError("", "strikes", problem, "a law of its own, of kind list")

    def _check_wear(self) -> None:
        """Raise InputError where the keys about units that wear out do not go together."""
        adds = "share_added" if self.share_added is not None else "added" if self.added else None
        if (self.interval is None) != (adds is None):
            key, other = ("interval", "share_added") if adds is None else (adds, "interval")
            raise InputError("", key, f"needs `{other}`", f"both, or no {key}")
        if adds is not None and self.share is None and self.units is None:
            problem = "without `share` or `units` the law strikes all units from the start"
            raise InputError("", adds, problem, "share = 0.1, say, those at the start")
        if self.share == 0 and adds is None:
            problem = "0 is not accepted: the law would strike no unit"
            raise InputError("", "share", problem, "a number above 0, up to 1, or an interval")

    def wears(self, total: int) -> tuple[float, int, tuple[tuple[int, ...], ...]] | None:
        """Return how units wear out: (interval, number of the `total` units that do so each time,
        those that are listed for the first times); None if none wear out.

        Raises InputError where a listed unit does not exist, and where the share is less than half
        a unit.
        """
        if self.interval is None:
            return None
        listed = tuple(members(intervals_in(units)) for units in self.added)
        for text, units in zip(self.added, listed, strict=True):
            if units[-1] >= total:
                raise unfit("faults.added", repr(text), f"{self.of.value} 0 to {total - 1}")
        count = math.floor((self.share_added or 0) * total + 0.5)
        if self.share_added is not None and not count:
            problem = f"{self.share_added!r} of {total} {self.of.value} is less than half of one"
            raise unfit("faults.share_added", problem, f"{0.5 / total:.3g} or more")
        return self.interval, count, listed

    def joining(self, total: int, until: float) -> Iterator[tuple[float, int]]:
        """Yield (time, number of units) for each time, up to `until`, at which units wear out, if
        none of `total` is cured."""
        wears, left = self.wears(total), total - self.struck(total)
        if wears is None:
            return
        interval, count, listed = wears
        for number in takewhile(lambda it: it * interval <= until, count_from(1)):
            more = len(listed[number - 1]) if number <= len(listed) else count
            more, left = min(more, left), left - min(more, left)
            if not more and (not left or number > len(listed)):
                return
            yield number * interval, more

    @property
    def ages(self) -> bool:
        return True

    def units_of(self, total: int, rng: Callable[[], Generator]) -> tuple[int, ...] | None:
        """Return the numbers, ascending, of those of `total` units that the law strikes: the listed
        `units`, or a drawn `share`; None if it strikes all.

        A share is drawn without replacement, from the stream that `rng` makes. Raises InputError
        where `units` names one that does not exist.
        """
        if self.units is not None:
            intervals = intervals_in(self.units)
            if intervals[-1][1] >= total:
                raise unfit("faults.units", repr(self.units), f"{self.of.value} 0 to {total - 1}")
            return members(intervals)
        if self.share is None:
            return None
        drawn = rng().choice(total, self.struck(total), replace=False)
        return tuple(sorted(drawn.tolist()))

    def drawn_gap(self, draws: UnitDraws) -> Callable[[int], float]:
        """Return a function that draws, for the unit with a number, its next time between two
        faults, the first of them counted from the start."""
        begun, drawn = dict[int, Iterator[float]](), cast(Any, self)._drawn

        def gap(unit: int) -> float:
            if unit not in begun:
                begun[unit] = _gaps(drawn(draws.generator(unit), 1))
            return next(begun[unit])

        return gap

    def part(self, total: int) -> float:
        """Return the fraction of `total` units that the law strikes: that of the listed `units`, or
        the `share`, or 1."""
        if self.units is not None:
            return sum(last - first + 1 for first, last in intervals_in(self.units)) / total
        return 1 if self.share is None else self.share


def _gaps(faults: Faults) -> Iterator[float]:
    last = 0.0
    for time, _ in faults:
        yield time - last
        last = time


def gap_of(law: Any, draws: UnitDraws) -> Callable[[int], float]:
    """Return a function from a unit's number to the next time between two faults of that unit, the
    first of them counted from the start, as computing time.

    Each call goes one fault further. The gaps that `law` lists for the unit come before drawn ones;
    each unit has draws of its own.
    """
    drawn: Callable[[int], float] = law.drawn_gap(draws)
    if not law.gaps:
        return drawn
    listed = {unit: iter(gaps) for unit, gaps in enumerate(law.gaps)}

    def gap(unit: int) -> float:
        found = next(listed[unit], None) if unit in listed else None
        return drawn(unit) if found is None else float(found)

    return gap


class ExponentialFaults(OfSome):
    """`{mtbf = 1e6}` or `{kind = "exponential", mtbf = 1e6}`: exponential times between the faults
    of a worker."""

    TOLD_BY: ClassVar = ("mtbf",)

    kind: Literal["exponential"] = "exponential"
    mtbf: Duration = 100 * YEAR
    """mu: mean time between the faults of one worker, in the file's unit."""
    age: Age | None = None
    """Age of the workers at the start: `new` (default) or `stationary`, which are the same here,
    because the rest of an exponential time is exponential."""
    strikes: Strikes = ()
    """[time, worker] of each fault that comes in addition to those drawn."""

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        return exponential_faults(rng, workers, self.mtbf)

    def drawn_gap(self, draws: UnitDraws) -> Callable[[int], float]:
        mean = self.mtbf
        return lambda unit: draws.exponential(unit, mean)


class Weibull(OfSome):
    """`{mtbf = 1e6, shape = 0.7}` or `{kind = "weibull", mtbf = 1e6, shape = 0.7}`: Weibull times
    between the faults of a worker."""

    TOLD_BY: ClassVar = ("mtbf", "shape")

    kind: Literal["weibull"] = "weibull"
    mtbf: Duration = 100 * YEAR
    """Mean time between the faults of one worker, in the file's unit."""
    shape: Shape
    """Shape k of the law; below 1, workers fail less often the older they are; 1 is exponential."""
    age: Age | None = None
    """Age of the workers at the start: `new` (default): all have just failed; `stationary`: in the
    middle of their lives, as at an arbitrary moment."""
    strikes: Strikes = ()
    """[time, worker] of each fault that comes in addition to those drawn."""

    @property
    def ageing(self) -> bool:
        return self.shape != 1

    def _renewals(self, time: float) -> float:
        return expected_renewals(time, self.mtbf, self.shape)

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        stationary = self.starts is Age.STATIONARY
        return weibull_faults(rng, workers, self.mtbf, self.shape, stationary)


class Lognormal(OfSome):
    """`{kind = "lognormal", mtbf = 1e6, sigma = 1.5}`: lognormal times between the faults of a
    worker."""

    TOLD_BY: ClassVar = ("mtbf", "sigma")

    kind: Literal["lognormal"] = "lognormal"
    mtbf: Duration = 100 * YEAR
    """Mean time between the faults of one worker, in the file's unit."""
    sigma: Sigma
    """Standard deviation of the logarithm of the times; the larger, the more of them are far below
    the mean."""
    age: Age | None = None
    """Age of the workers at the start: `new` (default): all have just failed; `stationary`: in the
    middle of their lives, as at an arbitrary moment."""
    strikes: Strikes = ()
    """[time, worker] of each fault that comes in addition to those drawn."""

    @property
    def ageing(self) -> bool:
        return True

    def _renewals(self, time: float) -> float:
        return lognormal_renewals(time, self.mtbf, self.sigma)

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        stationary = self.starts is Age.STATIONARY
        return lognormal_faults(rng, workers, self.mtbf, self.sigma, stationary)


class ListedFaults(FaultFields):
    """`{kind = "list", strikes = [[3.5e6, 14], [7.1e6, 7]]}`: faults listed one by one."""

    kind: Literal["list"] = "list"
    strikes: Strikes
    """[time, worker] of each fault, in any order."""

    mtbf: ClassVar[float] = math.inf
