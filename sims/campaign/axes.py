"""Read which keys of a scenario file vary, and their values, from a command line or a campaign
file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from actors.decisions import name_of
from policies.maths.tolerance import SAME
from sims.errors import COMMAND_LINE, InputError
from sims.scenario.loader import split_override, toml, value_of
from sims.tables import Section
from sims.tables.fields import Number, Unacceptable
from sims.tables.refusals import section_of

ACCEPTED = "KEY=VALUE,VALUE..., or KEY=[VALUE, VALUE...] as in TOML"
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
    takes one (`OBJECTS`); texts, numbers, lists and tables are none."""
    return key in OBJECTS and not isinstance(value, str | dict | list | int | float)


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
    """Return the axis that a word such as `KEY=V1,V2,...` asks for.

    Raises InputError, naming `option`, for a word of another form, for an empty value, for a table
    or list that is no TOML, and for the key `seed`: all variants run on the same seeds.
    """
    key, text = split_override(word, option, ACCEPTED)
    values = _values(text)
    for value in values:
        if isinstance(value, str) and value.startswith(("{", "[")):
            raise InputError(COMMAND_LINE, option, f"{key}: {value} is no TOML", TABLES)
    if not values or "" in values:
        raise InputError(COMMAND_LINE, option, f"{word!r} lacks a value", ACCEPTED)
    if key == "seed":
        problem = "all variants are run with the same seeds"
        raise InputError(COMMAND_LINE, option, f"seed: {problem}", "another key; --seed, --runs")
    return key, values


def _values(text: str) -> tuple[Any, ...]:
    """Return the values in a text: the elements of a TOML array, with or without its brackets, or
    else words between commas."""
    for array in (text, f"[{text}]"):
        values = value_of(array)
        if isinstance(values, list):
            return tuple(values)
    return tuple(value_of(word.strip()) for word in SEPARATOR.split(text))


def each_once(keys: Iterable[str], option: str) -> None:
    """Raise InputError, naming the command line's `option`, where one of `keys` comes twice."""
    for key, count in Counter(keys).items():
        if count > 1:
            raise InputError(COMMAND_LINE, option, f"{key} is varied twice", "each key once")


def settings_text(settings: Settings) -> str:
    """Return settings as text in the form of the command line, such as `policy.name=IE`, or `as it
    is` where there are none."""
    return ", ".join(f"{key}={as_toml(value)}" for key, value in settings) or "as it is"


def as_toml(value: object) -> str:
    """Return a value as text in the form of the command line: tables, lists and truth values as in
    TOML, strings without quotation marks, and an object of a program by its name."""
    if isinstance(value, bool | dict | list):
        return toml(value)
    return str(value) if isinstance(value, str | int | float) else name_of(value)
