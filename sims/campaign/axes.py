"""What varies: keys of a scenario file and their values, from a command line or a campaign file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from actors.decisions import name_of
from sims.errors import COMMAND_LINE, InputError
from sims.scenario.loader import split_override, toml, value_of
from sims.tables import Section
from sims.tables.fields import Number, Unacceptable
from sims.tables.refusals import section_of

ACCEPTED = "KEY=VALUE,VALUE..., or KEY=[VALUE, VALUE...] as in TOML"
TABLES = """a table as in TOML, such as --vary 'faults=off,{kind="exponential",mtbf=1000}'"""
SEPARATOR = re.compile(r""",(?![^{}]*\}|[^\[\]]*\])""")
"""A comma between values, outside of tables and lists."""
LISTED = "a list of values, or a range: {first, last, step} or {first, last, count, log, whole}"

MOST = 10**6
"""Values of a range."""

Settings = tuple[tuple[str, Any], ...]
"""(dotted key, value) in the order in which they are set."""

OBJECTS = {
    "policy.name": "policy",
    "policy.order": "order",
    "policy.allocation": "allocation",
    "faults": "hazard",
    "master.order": "service",
}
"""Keys whose value a program may give as an object, and what `holdfast.run` calls that."""


def is_object(key: str, value: object) -> bool:
    """Whether a program gave an object in place of what a file says."""
    return key in OBJECTS and not isinstance(value, str | dict | bool)


def objects(settings: Settings) -> dict[str, Any]:
    """Those of the values that are objects, by argument."""
    return {OBJECTS[key]: value for key, value in settings if is_object(key, value)}


@frozen
class Axis:
    """A key and what it is set to, in that order."""

    key: str
    values: tuple[Any, ...]


class Range(Section):
    """`{first, last, ...}`: evenly spaced values, both ends among them."""

    first: Number
    last: Number
    step: Number | None = None
    """Between two; what lies beyond `last` is none of them."""
    count: int | None = None
    """How many, instead of `step`."""
    log: bool = False
    """Whether ratios are even, not differences."""
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
        """In order, each once; whole numbers are ints."""
        found = [float(f"{it:.12g}") for it in self._spaced()]
        whole = self.whole or all(it == int(it) for it in found)
        return tuple(dict.fromkeys(round(it) if whole else it for it in found))

    def _spaced(self) -> Any:
        if self.step is not None:
            steps = int((self.last - self.first) / self.step + 1e-9)
            return self.first + self.step * np.arange(steps + 1)
        spaced = np.geomspace if self.log else np.linspace
        return spaced(self.first, self.last, self.count or 0)


# --- a campaign file ------------------------------------------------------------------------------


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted key, value) of all in a table. Tables within it are looked into, but for one that
    says its `kind`: it takes the place of the whole one."""
    for key, value in table.items():
        if isinstance(value, dict) and value and "kind" not in value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def axes_of(table: Mapping[str, Any], source: str, prefix: str = "") -> Iterator[Axis]:
    """The axes of a campaign file's `[axes]`: lists, and ranges. Raises InputError."""
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, list) and value:
            yield Axis(key, tuple(value))
        elif isinstance(value, dict) and "first" in value:
            yield Axis(key, section_of(Range, value, source, f"axes.{key}").values())
        elif isinstance(value, dict) and value:
            yield from axes_of(value, source, f"{key}.")
        else:
            raise InputError(source, f"axes.{key}", f"{value!r} is not accepted", LISTED)


# --- a command line -------------------------------------------------------------------------------


def axis(word: str, option: str = "--vary") -> Axis:
    """The axis that `KEY=V1,V2,...` asks for. Raises InputError for a word that is none."""
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
    return Axis(key, values)


def _values(text: str) -> tuple[Any, ...]:
    """A TOML array's elements, or else those of the array that `[text]` is, or else words."""
    for array in (text, f"[{text}]"):
        values = value_of(array)
        if isinstance(values, list):
            return tuple(values)
    return tuple(value_of(word.strip()) for word in SEPARATOR.split(text))


def told(settings: Settings) -> str:
    """As the command line would have it."""
    return ", ".join(f"{key}={as_toml(value)}" for key, value in settings) or "as it is"


def as_toml(value: object) -> str:
    """A value as it may be written on the command line; what a program gave has a name."""
    if isinstance(value, bool | dict | list):
        return toml(value)
    return str(value) if isinstance(value, str | int | float) else name_of(value)
