"""Read which keys of a scenario file vary, and their values, from a command line or a campaign
file: the axes of a campaign, each a list of values, and the dimensions of a search, each a list of
words or a range of numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from math import isnan, log, nan, pow
from typing import Any

import numpy as np
from attrs import frozen

from actors.decisions import name_of, ours
from policies.interface import BatchPolicy
from policies.maths.tolerance import SAME
from sims.campaign.door import CALL, Door
from sims.durations import SCALES, Seconds, seconds
from sims.errors import COMMAND_LINE, InputError
from sims.scenario import Scenario
from sims.scenario.keys import tables
from sims.scenario.loader import split_override, toml, value_of
from sims.tables import Section
from sims.tables.fields import Number, Unacceptable
from sims.tables.refusals import cut, section_of, shown
from sims.telling import amount_of

ACCEPTED = "KEY=VALUE,VALUE..., KEY=0..8, or KEY=[VALUE, VALUE...] as in TOML"
WHOLES = re.compile(r"(-?\d+)\.\.(-?\d+)")
"""Pattern of all whole numbers from one to another."""
TABLES = """a table as in TOML, such as --vary 'faults=off,{kind="exponential",mtbf=1000}'"""
SEPARATOR = re.compile(r""",(?![^{}]*\}|[^\[\]]*\])""")
"""Pattern of a comma between values, outside of tables and lists."""
LISTED = "a list of values, or a range: {first, last, step} or {first, last, count, log, whole}"
"""Values of an axis that a campaign file accepts."""

MOST = 10**6
"""Largest number of values in a range."""

Settings = tuple[tuple[str, Any], ...]
"""Pairs (dotted key, value) in the order in which they are set."""
Axis = tuple[str, tuple[Any, ...]]
"""A key of the scenario that a campaign varies, and its values in order."""

OBJECTS = {
    "policy.name": "policy",
    "policy.order": "order",
    "policy.allocation": "allocation",
    "faults": "hazard",
    "master.order": "service",
}
"""Maps each key whose value a program may give as an object to the argument of `holdfast.run` for
it."""


def is_object(key: str, value: object) -> bool:
    """Return whether a value is an object, such as a policy, that a program gave for a key that
    takes one (`OBJECTS`); what a file holds (texts, numbers, dates, lists and tables) is none."""
    held = (str, dict, list, int, float, date, time)
    return key in OBJECTS and not isinstance(value, held)


def objects(settings: Settings) -> dict[str, Any]:
    """Return those settings whose values are a program's objects, such as policies, as arguments of
    `holdfast.run`: a mapping from the argument's name to the object."""
    return {OBJECTS[key]: value for key, value in settings if is_object(key, value)}


class Range(Section):
    """`{first, last, ...}`: evenly spaced values from `first` on, up to `last`."""

    first: Number
    last: Number
    step: Number | None = None
    """Distance between two values; values beyond `last` are left out."""
    count: int | None = None
    """Number of values, instead of `step`."""
    log: bool = False
    """Whether the ratios of neighbours are equal, not their differences."""
    whole: bool = False
    """Whether values are rounded to whole numbers."""

    def check(self) -> None:
        if (self.step is None) == (self.count is None):
            raise Unacceptable("step", self.step, "either `step` or `count`")
        if self.step is not None and (self.log or not self.step * (self.last - self.first) > 0):
            raise Unacceptable("step", self.step, "a step towards `last`, and no `log`")
        if self.step and (self.last - self.first) / self.step >= MOST:
            raise Unacceptable("step", self.step, f"a step with which there are at most {MOST:,}")
        if self.count is not None and not 2 <= self.count <= MOST:
            raise Unacceptable("count", self.count, f"2 to {MOST:,}")
        if self.log and not min(self.first, self.last) > 0:
            raise Unacceptable("first", self.first, "ends above 0 where `log`")

    def values(self) -> tuple[float, ...]:
        """Return the values in order, each once, to twelve digits. They are ints if `whole` is set
        or all of them are whole numbers."""
        # Twelve digits: 0.1 + 2 * 0.1 shall read 0.3, in tables and in the digests of runs.
        found = [float(f"{value:.12g}") for value in self._spaced()]
        whole = self.whole or all(value == int(value) for value in found)
        return tuple(dict.fromkeys(round(value) if whole else value for value in found))

    def _spaced(self) -> Any:
        """Return the values as an array, before rounding: from `first` in steps up to `last`, or
        `count` values from `first` to `last`."""
        if self.step is not None:
            # Rounding must not lose the last step.
            steps = int((self.last - self.first) / self.step + SAME)
            return self.first + self.step * np.arange(steps + 1)
        spaced = np.geomspace if self.log else np.linspace
        return spaced(self.first, self.last, self.count or 0)


# --- a campaign file ------------------------------------------------------------------------------


def flat(
    table: Mapping[str, Any], whole: str = "kind", prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield a pair (dotted key, value) for each entry of a table and of the tables within it.

    A table that is empty or has the key `whole` is one value: by default one with a `kind`, which
    replaces the scenario's table as a whole. `prefix` comes before each key.
    """
    for key, value in table.items():
        if isinstance(value, dict) and value and whole not in value:
            yield from flat(value, whole, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def axes_of(table: Mapping[str, Any], source: str) -> Iterator[Axis]:
    """Yield the axes of a campaign file's `[axes]`: each dotted key with the values of its list or
    range.

    Raises InputError, naming the file `source`, for an entry that is neither.
    """
    for key, value in flat(table, "first"):
        if isinstance(value, list) and value:
            yield key, tuple(value)
        elif isinstance(value, dict) and value:
            yield key, section_of(Range, value, source, f"axes.{key}").values()
        else:
            raise InputError(source, f"axes.{key}", f"{value!r} is not accepted", LISTED)


# --- a command line -------------------------------------------------------------------------------


def axis(word: str, option: str = "--vary") -> Axis:
    """Return the axis that a word such as `KEY=V1,V2,...` or `KEY=0..8` asks for.

    Raises InputError, naming `option`, for a word of another form, for an empty value, and for a
    table or list that is no TOML.
    """
    key, text = split_override(word, option, ACCEPTED)
    whole = WHOLES.fullmatch(text)
    for end in whole.groups() if whole else ():
        value_of(end, key, option)  # refuses a number of too many digits
    values = (
        tuple(range(int(whole[1]), int(whole[2]) + 1)[:MOST])
        if whole
        else _values(text, key, option)
    )
    for value in values:
        if isinstance(value, str) and value.startswith(("{", "[")):
            raise InputError(COMMAND_LINE, option, f"{key}: {cut(value)} is no TOML", TABLES)
    if not values or "" in values:
        raise InputError(COMMAND_LINE, option, f"{shown(word)} lacks a value", ACCEPTED)
    return key, values


def _values(text: str, key: str, option: str) -> tuple[Any, ...]:
    """Return the values in a text: the elements of a TOML array, with or without its brackets, or
    else words between commas."""
    for array in (text, f"[{text}]"):
        values = value_of(array, key, option)
        if isinstance(values, list):
            return tuple(values)
    return tuple(value_of(word.strip(), key, option) for word in SEPARATOR.split(text))


def within(key: str, place: str) -> bool:
    """Return whether a dotted key is `place`, or lies within the table there."""
    return f"{key}.".startswith(f"{place}.")


def full_key(word: str, option: str) -> str:
    """Return the dotted key that a word of the command line means: of a name that the keys of one
    table of scenario files have, such as `spares`, that key; otherwise the word itself.

    Raises InputError, naming `option`, for a name that several tables have.
    """
    if "." in word or word in Scenario.model_fields:
        return word
    found = {f"{it.place}.{word}" for it in tables() for key in it.keys if key.name == word}
    if len(found) > 1:
        problem = f"{word} may be several keys"
        raise InputError(COMMAND_LINE, option, problem, f"one of {', '.join(sorted(found))}")
    return next(iter(found), word)


def each_once(keys: Iterable[str], of: str, door: Door) -> None:
    """Raise InputError, naming the question's key `of`, where one of `keys` comes twice."""
    for key, count in Counter(keys).items():
        if count > 1:
            raise door.refused(of, f"{key} is varied twice", "each key once")


def settings_text(settings: Settings) -> str:
    """Return settings as text in the form of the command line, such as `policy.name=IE`, or `as it
    is` where there are none."""
    return ", ".join(f"{key}={as_toml(value)}" for key, value in settings) or "as it is"


LONGEST_NAME = 40
"""Largest number of characters of the name of one of Holdfast's own objects in a table: with
parameters that are objects themselves its repr takes several lines."""


def as_toml(value: object) -> str:
    """Return a value as text in the form of the command line: tables, lists and truth values as in
    TOML, strings without quotation marks, and an object of a program by its name, or where that is
    long by the name of its class."""
    if isinstance(value, bool | dict | list):
        return toml(value)
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, BatchPolicy) and value.name:
        return value.name
    name = name_of(value)
    return type(value).__name__ if ours(value) and len(name) > LONGEST_NAME else name


# --- what a search varies -----------------------------------------------------------------------

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

    def span(self, low: float, high: float) -> float:
        """Return the fraction of the range that lies between two numbers."""
        return self.part(high) - self.part(low)

    def step(self, low: float, high: float) -> str:
        """Return, as text, by how much one number of the range is above another: a percentage where
        `logs`."""
        return f"{100 * (high / low - 1):.2g} %" if self.logs else self.text(high - low)

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


def unit_of(length: float) -> tuple[float, str]:
    """Return the size in seconds and the name of the unit in which people read a time of so many
    seconds: the largest one that it holds twice, or else seconds."""
    name = next((it for it in UNITS if length >= 2 * SCALES[it]), "s")
    return SCALES[name], name


def dimension(key: str, values: object, door: Door = CALL) -> Dimension:
    """Return the dimension of a key whose values are given as a pair (low, high), a text such as
    `5min..4h`, or a list of words.

    Raises InputError for anything else.
    """
    if isinstance(values, str) and (found := RANGE.fullmatch(values.strip())):
        values = found.groups()
    if isinstance(values, tuple) and len(values) == 2:
        return _range(key, door, *(str(it).strip() for it in values))
    if isinstance(values, list | range) and values:
        for it in values:
            if isinstance(it, dict | list):
                problem = f"{key}: {cut(shown(it))} is a table or a list, which no search compares"
                raise door.refused("over", problem, "words and numbers, as of a key within it")
        return Dimension(key, words=tuple(values))
    raise door.refused("over", f"{key}: {shown(values)} is no range", FORMS)


def dimension_of(word: str, door: Door) -> Dimension:
    """Return the dimension that a word of the command line such as `KEY=5min..4h` or `KEY=a,b` asks
    for.

    Raises InputError for any other word.
    """
    option = door("over")
    key, text = split_override(word, option, f"KEY=VALUES: {FORMS}")
    values = text if RANGE.fullmatch(text) else list(axis(word, option)[1])
    return dimension(full_key(key, option), values, door)


def _range(key: str, door: Door, *texts: str) -> Dimension:
    """Return the dimension of a key between two ends, given as texts of numbers or of times.

    The range is of whole numbers if both ends are whole numbers without a unit. Raises InputError
    unless both ends name a unit or neither does, and the first is below the last.
    """
    ends = "..".join(map(cut, texts))
    try:
        low, high = map(seconds, texts)
    except ValueError:
        low = high = nan
    if isnan(low) or "," in ends:
        problem = f"{key}: {ends} has ends that are neither numbers nor times"
        raise door.refused("over", problem, FORMS)
    timed = isinstance(low, Seconds)
    if timed != isinstance(high, Seconds):
        problem = f"{key}: only one end of {ends} names its unit"
        raise door.refused("over", problem, "units for both ends, or for none")
    if not low < high:
        problem = f"{key}: {ends} is empty"
        raise door.refused("over", problem, "a first end below the last")
    whole = not timed and all(re.fullmatch(r"-?\d+", it) for it in texts)
    return Dimension(key, low=float(low), high=float(high), whole=whole, timed=timed)


def settings_at(dimensions: Sequence[Dimension], point: Point) -> Settings:
    """Return a point of a search, a value for each dimension, as settings of the scenario. Times
    are texts in seconds without an exponent, such as `300 s`."""
    pairs = zip(dimensions, point, strict=True)
    return tuple((it.key, f"{value:.12g} s" if it.timed else value) for it, value in pairs)
