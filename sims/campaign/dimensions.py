"""Dimensions of a search: each is a key with the words or the range of numbers that it may have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan, log, nan, pow
from typing import Any

from attrs import frozen

from sims.campaign.axes import Settings, as_toml, axis
from sims.durations import SCALES, Seconds, seconds
from sims.errors import COMMAND_LINE, InputError
from sims.scenario.loader import split_override
from sims.telling import amount_of

DECADE = 10
"""Ratio of a range's ends from which on its steps have equal ratios."""
RANGE = re.compile(r"(.*?)\.\.(?!/)(.*)")
"""Pattern of a range; two dots before a slash are a folder."""
UNITS = "d", "h", "min", "s"
"""Units in which people read times, the largest first."""
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
        """Whether the mean of a measure may be taken to be a smooth curve over the key's values: a
        range that is not of whole numbers alone."""
        return self.ranges and not self.whole

    @property
    def logs(self) -> bool:
        """Whether steps along the range have equal ratios, and not equal differences: its low end
        is above 0, and its high end is at least DECADE times as large."""
        return self.low > 0 and self.high / self.low >= DECADE

    @property
    def unit(self) -> tuple[float, str]:
        """Size in seconds and name of the unit in which people read all values of a range of
        times: the one that suits its middle."""
        return unit_of(self.at(0.5))

    def at(self, part: float) -> float:
        """Return the number at the fraction `part` of the range, from 0 (`low`) to 1 (`high`),
        rounded to three digits between the ends, or to a whole number if `whole`.

        The fraction is of the logarithms where `logs`.
        """
        if self.logs:
            value = self.low * pow(self.high / self.low, part)
        else:
            value = self.low + part * (self.high - self.low)
        if self.whole:
            return round(value)
        digits = 3 if 0 < part < 1 else 12
        return min(max(float(f"{value:.{digits}g}"), self.low), self.high)

    def part(self, value: float) -> float:
        """Return the fraction of the range, 0 at `low` and 1 at `high`, at which a number lies: of
        the logarithms where `logs`."""
        scale = log if self.logs else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))

    def beyond(self, value: Any) -> str:
        """Return a clause that says at which end of the range a value lies, and on which side
        better values may be; empty for other values, for words, and where nothing can be lower: at
        0, and at 1 of whole numbers."""
        if self.ranges and value == self.at(1):
            return "at the upper end of its range: more may be better"
        if self.ranges and value == self.at(0) and value > self.whole:
            return "at the lower end of its range: less may be better"
        return ""

    def coarse(self, levels: int) -> tuple[Any, ...]:
        """Return the values of the coarse grid with which a search begins: all words, or at most
        `levels` (2 or more) numbers from end to end of a range."""
        if not self.ranges:
            return self.words
        return tuple(dict.fromkeys(self.at(k / (levels - 1)) for k in range(levels)))

    def text(self, value: Any) -> str:
        """Return a value as text for people, a time to four digits in the dimension's `unit`."""
        if not self.timed:
            return as_toml(value)
        size, unit = self.unit
        return f"{amount_of(value / size, 4)} {unit}"

    def others(self, region: Sequence[Any], best: Any) -> str:
        """Return `region` as text: the two ends of a range as `a to b`, or a list of words without
        the word `best`.

        The text is empty where nothing is left beside `best`: the ends are equal, or `best` is the
        only word.
        """
        if self.ranges:
            return "" if region[0] == region[1] else " to ".join(map(self.text, region))
        return ", ".join(self.text(it) for it in region if it != best)


def unit_of(time: float) -> tuple[float, str]:
    """Return the size in seconds and the name of the unit in which people read a time of so many
    seconds: the largest one that it holds twice, or else seconds."""
    name = next((it for it in UNITS if time >= 2 * SCALES[it]), "s")
    return SCALES[name], name


def dimension(key: str, values: object) -> Dimension:
    """Return the dimension of a key whose values are given as a pair (low, high), a text such as
    `5min..4h`, or a list of words.

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
    """Return the dimension that a word of the command line such as `KEY=5min..4h` or `KEY=a,b` asks
    for.

    Raises InputError for any other word.
    """
    key, text = split_override(word, "--over", f"KEY=VALUES: {FORMS}")
    return dimension(key, text if RANGE.fullmatch(text) else list(axis(word, "--over")[1]))


def _range(key: str, *texts: str) -> Dimension:
    """Return the dimension of a key between two ends, given as texts of numbers or of times.

    The range is of whole numbers if both ends are whole numbers without a unit. Raises InputError
    unless both ends name a unit or neither does, and the first is below the last.
    """
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
    """Return a point of a search, a value for each dimension, as settings of the scenario. Times
    are texts in seconds without an exponent, such as `300 s`."""
    pairs = zip(dimensions, point, strict=True)
    return tuple((it.key, f"{value:.12g} s" if it.timed else value) for it, value in pairs)
