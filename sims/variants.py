"""Variants of a scenario: every combination of what its user varies, each checked as a file is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from sims.errors import InputError
from sims.options import COMMAND_LINE
from sims.scenario.loader import Scenario, parse, put, read, split_override, value_of

OPTION = "--vary"
ACCEPTED = "KEY=VALUE,VALUE..., or KEY=[VALUE, VALUE...] as in TOML"


@frozen
class Axis:
    """A key and what it is set to, in the order of the command line."""

    key: str
    values: tuple[Any, ...]


@frozen
class Variant:
    """A scenario, and what of it is this variant's own."""

    settings: tuple[tuple[str, Any], ...]
    """(dotted key, value), one for each axis."""
    scenario: Scenario

    def __str__(self) -> str:
        return ", ".join(f"{key}={as_toml(value)}" for key, value in self.settings) or "as it is"


def axis(word: str) -> Axis:
    """The axis that `KEY=V1,V2,...` asks for. Raises InputError for a word that is none."""
    key, text = split_override(word, OPTION, ACCEPTED)
    values = _values(text)
    if not values or "" in values:
        raise InputError(COMMAND_LINE, OPTION, f"{word!r} lacks a value", ACCEPTED)
    if key == "seed":
        problem = "all variants are run with the same seeds"
        raise InputError(COMMAND_LINE, OPTION, f"seed: {problem}", "another key; --seed, --runs")
    return Axis(key, values)


def _values(text: str) -> tuple[Any, ...]:
    """A TOML array's elements, or else those of the array that `[text]` is, or else words."""
    for array in (text, f"[{text}]"):
        values = value_of(array)
        if isinstance(values, list):
            return tuple(values)
    return tuple(value_of(word.strip()) for word in text.split(","))


def variants(path: Path, overrides: Sequence[str], axes: Sequence[Axis]) -> list[Variant]:
    """All combinations of the axes' values, the last axis fastest. Raises InputError."""
    twice = [key for key, count in Counter(axis.key for axis in axes).items() if count > 1]
    if twice:
        raise InputError(COMMAND_LINE, OPTION, f"{twice[0]} is varied twice", "each key once")
    table = parse(path, overrides)
    choices = [[(axis.key, value) for value in axis.values] for axis in axes]
    return [_variant(table, settings, str(path)) for settings in product(*choices)]


def _variant(table: dict[str, Any], settings: tuple[tuple[str, Any], ...], source: str) -> Variant:
    own = deepcopy(table)
    for key, value in settings:
        put(own, key, value, OPTION)
    return Variant(settings, read(own, source))


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with another seed."""
    each: Any = scenario  # every family's is an attrs class, which a Protocol cannot say
    evolved: Scenario = attrs.evolve(each, seed=seed)
    return evolved


def as_toml(value: object) -> str:
    """A value as it may be written on the command line."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return f"{{{', '.join(f'{key}={as_toml(it)}' for key, it in value.items())}}}"
        case list():
            return f"[{', '.join(map(as_toml, value))}]"
    return str(value)
