"""Dimensions of a search: each is a key with the words or the range of numbers that it may have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan, log, nan, pow
from typing import Any

from attrs import frozen

from sims.campaign.axes import Settings, as_toml, axis
from sims.durations import Seconds, seconds
from sims.errors import COMMAND_LINE, InputError
from sims.scenario.loader import split_override
from sims.telling import about, amount_of

DECADE = 10
"""Ratio of a range's ends from which on its steps have equal ratios."""
RANGE = re.compile(r"(.*?)\.\.(?!/)(.*)")
"""Pattern of a range; two dots before a slash are a folder."""
FORMS = "a range LOW..HIGH, such as 5min..4h or 0..8, or a list of words"

Point = tuple[Any, ...]
"""A value for each dimension."""


@frozen
class Dimension:
    """A key that a search varies, and the values that it may have: words, or all numbers between
    two ends."""

    key: str
    words: tuple[Any, ...] = ()
    low: float = nan
    high: float = nan
    whole: bool = False
    """Whether only whole numbers count."""
    timed: bool = False
    """Whether the ends are times that named their units: numbers are then seconds."""

    @property
    def ranges(self) -> bool:
        """Whether the dimension is a range of numbers."""
        return not self.words

    @property
    def smooth(self) -> bool:
        """Whether the mean of a measure may be taken to be a smooth curve over the key's values."""
        return self.ranges and not self.whole

    @property
    def logs(self) -> bool:
        """Whether steps along the range have equal ratios, and not equal differences."""
        return self.low > 0 and self.high / self.low >= DECADE

    def at(self, part: float) -> float:
        """Return the number at the fraction `part` of the range, from 0 to 1, rounded to three
        digits."""
        if self.logs:
            value = self.low * pow(self.high / self.low, part)
        else:
            value = self.low + part * (self.high - self.low)
        if self.whole:
            return round(value)
        return min(max(float(f"{value:.3g}"), self.low), self.high)

    def part(self, value: float) -> float:
        """Return the fraction of the range, from 0 to 1, at which a number lies."""
        scale = log if self.logs else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))

    def coarse(self, levels: int) -> tuple[Any, ...]:
        """Return the values of the coarse grid with which a search begins: all words, or at most
        `levels` numbers from end to end of a range."""
        if not self.ranges:
            return self.words
        return tuple(dict.fromkeys(self.at(k / (levels - 1)) for k in range(levels)))

    def text(self, value: Any) -> str:
        """Return a value as text; a time has its unit."""
        if not self.timed:
            return as_toml(value)
        minutes = 60 <= value < 3600
        return f"{amount_of(value / 60, 4)} min" if minutes else about(value, "s")

    def others(self, region: Sequence[Any], best: Any) -> str:
        """Return a region, the ends of a range or words, as text; empty if it holds the best value
        alone."""
        if self.ranges:
            return "" if region[0] == region[1] else " to ".join(map(self.text, region))
        return ", ".join(self.text(it) for it in region if it != best)


def dimension(key: str, values: object) -> Dimension:
    """Return a key with its range, a pair or a text such as `5min..4h`, or with a list of words.

    Raises InputError for anything else.
    """
    if isinstance(values, str) and (found := RANGE.fullmatch(values.strip())):
        values = found.groups()
    if isinstance(values, tuple) and len(values) == 2:
        return _range(key, *(str(it).strip() for it in values))
    if isinstance(values, list | range) and values:
        return Dimension(key, words=tuple(values))
    raise InputError(COMMAND_LINE, "--over", f"{key}: {values!r} is no range", FORMS)


def dimension_of(word: str) -> Dimension:
    """Return the key and its values that a word such as `KEY=5min..4h` or `KEY=a,b` asks for.

    Raises InputError for any other word.
    """
    key, text = split_override(word, "--over", f"KEY=VALUES: {FORMS}")
    return dimension(key, text if RANGE.fullmatch(text) else list(axis(word, "--over")[1]))


def _range(key: str, *texts: str) -> Dimension:
    """Return the range between two numbers or two times. Raises InputError where they are no ends
    of a range."""
    shown = "..".join(texts)
    try:
        low, high = map(seconds, texts)
    except ValueError:
        low = high = nan
    if isnan(low) or "," in shown:
        problem = f"{key}: {shown} has ends that are neither numbers nor times"
        raise InputError(COMMAND_LINE, "--over", problem, FORMS)
    timed = isinstance(low, Seconds)
    if timed != isinstance(high, Seconds):
        problem = f"{key}: only one end of {shown} names its unit"
        raise InputError(COMMAND_LINE, "--over", problem, "units for both ends, or for none")
    if not low < high:
        problem = f"{key}: {shown} is empty"
        raise InputError(COMMAND_LINE, "--over", problem, "a first end below the last")
    whole = not timed and all(re.fullmatch(r"-?\d+", it) for it in texts)
    return Dimension(key, low=float(low), high=float(high), whole=whole, timed=timed)


def settings_at(dimensions: Sequence[Dimension], point: Point) -> Settings:
    """Return a point of a search as settings of the scenario; times are texts with their unit."""
    pairs = zip(dimensions, point, strict=True)
    return tuple((it.key, f"{value:g} s" if it.timed else value) for it, value in pairs)
