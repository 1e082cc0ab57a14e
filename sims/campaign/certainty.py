"""Say how surely a question is answered: runs, their seeds, and how narrow intervals have to be."""

from __future__ import annotations

from math import inf, nan
from typing import Literal

from attrs import frozen

from sims.campaign.door import Door
from sims.campaign.sections import Precision
from sims.intervals import LEVEL
from sims.scenario import Scenario
from sims.world import checked_seed

MOST_RUNS = 1000
"""Largest number of runs of each variant where runs are added until an interval is narrow."""


@frozen
class Certainty:
    """How surely a question is answered."""

    runs: int = 10
    """Runs of each variant at each point, at consecutive seeds."""
    seed: int | None = None
    """Seed of the first run of each variant; None for that of each scenario."""
    until: float | None = None
    """Time, in the scenario's unit, at which every run ends, if not before."""
    precision: Precision | None = None
    """How narrow intervals have to be, instead of a number of runs."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        door: Door,
        *,
        runs: int,
        seed: int | None = None,
        until: float | None = None,
        precision: Precision | None = None,
    ) -> Certainty:
        """Return how surely a question about a scenario is answered, with `seed` (default: the
        scenario's) as its first one.

        Raises InputError for fewer than one run, a seed with which no run can draw, and an `until`
        with a unit of time where the scenario counts slots.
        """
        if runs < 1:
            raise door.refused("runs", f"{runs} is not accepted", "a whole number from 1")
        first = checked_seed(scenario.seed if seed is None else seed, door.source, door("seed"))
        ends = scenario.time_until(until, door("until"))
        return cls(runs, first, ends, precision)

    @property
    def most(self) -> int:
        """Largest number of runs of each variant at each point."""
        return self.precision.most if self.precision else self.runs

    @property
    def level(self) -> float:
        """Confidence level of each single interval: 1 - 0.05/k for k looks at the intervals, or
        0.95 without `precision`.

        Intervals at this level hold at 95 % whenever runs ended (Bonferroni).
        """
        looks = len(self.precision.looks()) if self.precision else 1
        # Bonferroni over the looks.
        return 1 - (1 - LEVEL) / looks


def percentage(word: float | str) -> tuple[float, bool]:
    """Return the number that a word such as `1%` or `0.01` states, and whether it is a percentage,
    of which the fraction (0.01) is returned. Any other word gives nan."""
    text = str(word).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return nan, False
    return (number / 100, True) if text.endswith("%") else (number, False)


def precision_of(
    word: float | str | None,
    first: int,
    most: int,
    door: Door,
    of: Literal["mean", "effect"] = "effect",
) -> Precision | None:
    """Return the precision that a word asks of each mean, or of each effect: a half-width of at
    most `1%` of it, or of a number in the measure's unit; None where `word` is None.

    `first` and `most` are the least and the largest number of runs. Raises InputError for any other
    word, and for a `most` below `first`.
    """
    if word is None:
        return None
    number, relative = percentage(word)
    if not 0 < number < inf:
        accepted = "a percentage such as 1%, or a number above 0 in the measure's unit"
        raise door.refused("precision", f"{str(word)!r} is not accepted", accepted)
    if most < first:
        accepted = f"at least the {first} runs before the first look"
        raise door.refused("most", f"{most} is not accepted", accepted)
    half = (number, None) if relative else (None, number)
    return Precision(of=of, first=first, most=most, relative=half[0], absolute=half[1])
