"""The values of a point's runs in a search, and what they say of the point's means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sims.intervals import ANYTHING, Estimate, Known, mean_of

Value = tuple[float | None, ...]
"""Result of one run of a point: the objective, and the measures that have bounds; None where it is
not known."""


class Values(list[Value]):
    """The values of a point's runs in the order of seeds, with what is known beside them of the
    objective, and of each measure that has a bound."""

    def __init__(
        self,
        values: Iterable[Value],
        known: Iterable[Known] = (),
        depleted: int = 0,
        drawn: bool = True,
        made: int | None = None,
    ) -> None:
        super().__init__(values)
        self.known = tuple(known)
        self.depleted = depleted
        """Number of runs that ran out of workers."""
        self.drawn = drawn
        """Whether anything is drawn at random; else no seed changes the values."""
        self.made = len(self) if made is None else made
        """Number of runs that were made; where nothing is drawn, one stands for all others."""

    def repeated(self, count: int) -> Values:
        """Return the values of `count` runs of the point, of which these are the first, where
        nothing is drawn at random."""
        more = [*self, *self[-1:] * (count - len(self))]
        return Values(more, self.known, self.depleted, self.drawn, self.made)


def known_of(values: Sequence[Value], which: int) -> Known:
    """Return what is known of value number `which` of a point's runs beside the values."""
    known = values.known if isinstance(values, Values) else ()
    return known[which] if known else ANYTHING


def made_of(values: Sequence[Value]) -> int:
    """Return how many runs of a point were made."""
    return values.made if isinstance(values, Values) else len(values)


def steady(values: Sequence[Value]) -> bool:
    """Return whether nothing is drawn at random in a point's runs, so that one stands for all."""
    return isinstance(values, Values) and not values.drawn


def depleted_of(values: Sequence[Value]) -> int:
    """Return how many of a point's runs ran out of workers."""
    return values.depleted if isinstance(values, Values) else 0


def estimate(values: Sequence[Value], which: int, level: float) -> Estimate:
    """Return the mean, over a point's runs, of value number `which` (0: the objective, from 1: the
    measures that have bounds), with its interval at `level`. Runs without the value are left
    out."""
    found = [it for each in values if (it := each[which]) is not None]
    return mean_of(found, level, known_of(values, which))
