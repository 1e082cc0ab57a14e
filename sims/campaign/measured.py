"""Defines how runs are measured: by which measures, how variants are compared by them, and bounds
of means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from actors.decisions import name_of
from sims.campaign.batches import AnyMeasure, OwnMeasure
from sims.campaign.comparing import Effect
from sims.campaign.door import Door
from sims.campaign.values import Value, estimate
from sims.durations import seconds
from sims.errors import InputError, chosen
from sims.intervals import Estimate
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.packing import OWN

OneMeasure = str | Measure | Callable[[Any], float | None]
"""A measure as a program gives it: its name, or a function of a run's `Report`."""
RELATION = re.compile(r"\s*(>=|<=)\s*")


@frozen
class Bound:
    """A measure whose mean has to be at least, or at most, a number."""

    measure: Measure
    least: bool
    limit: float

    @classmethod
    def of(cls, word: str, door: Door) -> Bound:
        """Return the bound that a text such as `goodput>=0.95` or `makespan<=2d` states.

        Raises InputError for another word.
        """
        try:
            measure, relation, limit = RELATION.split(word.strip(), maxsplit=1)
            return cls(Measure(measure), relation == ">=", float(seconds(limit)))
        except ValueError:
            names = ", ".join(it.value for it in Measure)
            accepted = f"MEASURE>=NUMBER or MEASURE<=NUMBER; measures: {names}"
            raise door.refused("subject_to", f"{word!r} is none", accepted) from None

    def beyond(self, values: Sequence[Value], which: int, level: float) -> Estimate:
        """Return by how much the mean of value number `which` is beyond the bound; it is at most 0
        where it keeps to it."""
        sign, it = -1 if self.least else 1, estimate(values, which, level)
        mean, *ends = (sign * (end - self.limit) for end in (it.mean, it.low, it.high))
        return Estimate(mean, min(ends), max(ends), it.size)

    def __str__(self) -> str:
        return f"{self.measure.value} {'>=' if self.least else '<='} {self.limit:g}"


@frozen
class Measured:
    """The measures of a question's runs, and how variants are compared by them."""

    gauges: tuple[AnyMeasure, ...] = (Measure.MAKESPAN,)
    """Measures in their order; the first is that of a search, of pictures and of `precision`."""
    effect: Effect = "ratio"
    """How variants are compared: by the ratio of their means, or by the difference."""
    by: By | None = None
    """Fact by which jobs are divided into classes, each of which is compared by itself."""
    bounds: tuple[Bound, ...] = ()
    """Bounds to which the means of a search's answer have to keep."""

    @classmethod
    def of(
        cls,
        measure: OneMeasure | Sequence[OneMeasure],
        door: Door,
        home: Path,
        *,
        higher_is_better: bool = False,
        by: str | By | None = None,
        difference: bool = False,
    ) -> Measured:
        """Return the measure, or the several measures, that a question asks for. Modules of the
        user's are sought in `home`.

        Raises InputError where there is none, where two have the same name, and for one that jobs
        do not have where classes of them are compared `by` something.
        """
        many = measure if isinstance(measure, list | tuple) else [measure]
        found = dict[str, AnyMeasure]()
        for gauge in (gauge_of(it, door, home, higher_is_better) for it in many):
            if found.setdefault(gauge.value, gauge) != gauge:
                problem = f"two are called {gauge.value}"
                raise door.refused("measure", problem, "functions of different names")
        if not found:
            raise door.refused("measure", "no measure is given", "a measure, or several")
        for name, gauge in found.items():
            if by and gauge.quantity is None:
                problem = f"{name} is none of each job's"
                known = ", ".join(it.value for it in Measure if it.quantity)
                raise door.refused("by", problem, f"{door('measure')} {known}")
        classes = None if by is None else chosen(By, by)
        return cls(tuple(found.values()), "difference" if difference else "ratio", classes)

    @classmethod
    def best(
        cls,
        door: Door,
        *,
        minimise: str | Measure | None,
        maximise: str | Measure | None,
        subject_to: Iterable[str] = (),
    ) -> Measured:
        """Return the measure that a search makes best, with the bounds to which means keep. Raises
        InputError where it is none, or a bound is."""
        measure = _direction(door, minimise, maximise)
        bounds = tuple(Bound.of(it, door) for it in subject_to)
        gauges = tuple(dict.fromkeys((measure, *(it.measure for it in bounds))))
        return cls(gauges, bounds=bounds)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the measures, in their order."""
        return tuple(it.value for it in self.gauges)

    def gauge(self, name: str | None) -> AnyMeasure:
        """Return the measure of that name, or the first one for None."""
        return self.gauges[0 if name is None else self.names.index(name)]


def gauge_of(measure: object, door: Door, home: Path, higher: bool = False) -> AnyMeasure:
    """Return a measure of Holdfast, given by its name or as a `Measure`, or a measure of the
    user's, given as a function or as `package.module:function` of a module in `home`.

    `higher` says whether more of a user's measure is better. Raises InputError for anything else.
    """
    if callable(measure):
        return OwnMeasure(name_of(measure), higher, measure, home.absolute())
    if isinstance(measure, str) and OWN.fullmatch(measure):
        return OwnMeasure(measure, higher, home=home.absolute())
    try:
        return chosen(Measure, measure)
    except InputError as error:
        accepted = f"{error.accepted}, package.module:function, or a function of a Report"
        raise door.refused("measure", error.problem, accepted) from None


def _direction(
    door: Door, minimise: str | Measure | None, maximise: str | Measure | None
) -> Measure:
    """Return the one measure that is to be made best: `minimise` or `maximise`, the other of which
    is None.

    Raises InputError for none, for two, for an unknown one, and where the other direction is the
    better one.
    """
    named = minimise if minimise is not None else maximise
    if named is None or (minimise is not None and maximise is not None):
        accepted = f"{door('minimise')} or {door('maximise')} MEASURE"
        raise door.refused("minimise", "one measure has to be made best", accepted)
    key, other = ("minimise", "maximise")[:: 1 if maximise is None else -1]
    try:
        measure = chosen(Measure, named)
    except InputError as error:
        raise evolve(error, source=door.source, key=door(key)) from None
    more = measure.higher_is_better
    if more is (minimise is not None):
        problem = f"{measure.value}: {'more' if more else 'less'} of it is better"
        raise door.refused(key, problem, door(other))
    return measure
