"""Types, defaults and bounds of a scenario file's keys, in its user's words."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin

import attrs

from sims.scenario.attribute_docs import one_line
from sims.scenario.strict import is_enum, members_of, tag_of

PLAIN = {int: "whole number", float: "number", str: "text", bool: "true | false"}
VALIDATOR = "attrs validator: "
"""How the docstring of a check begins."""


def type_words(kind: Any) -> str:
    """What a value is. Raises TypeError for a type that no section has had so far."""
    options = members_of(kind)
    if len(options) > 1:
        return " | ".join(_tag(each) or _words(each) for each in options)
    return _words(options[0])


def _tag(kind: Any) -> str | None:
    return tag_of(kind) if attrs.has(kind) else None


def _words(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if origin is Literal:
        return " | ".join(map(toml, arguments))
    if origin is dict:
        return _mapping(*arguments)
    if origin is tuple:
        return _list(arguments)
    if attrs.has(kind):
        return "table"
    if is_enum(kind):
        return " | ".join(str(member.value) for member in kind)
    raise TypeError(f"there are no words for {kind!r}")


def _mapping(keys: Any, values: Any) -> str:
    return "table" if values is Any else f"table: {type_words(keys)} = {type_words(values)}"


def _list(arguments: tuple[Any, ...]) -> str:
    first, *rest = arguments
    if rest == [Ellipsis]:
        return f"list of {_many(first)}"
    if all(each == first for each in rest):
        return f"list of {len(arguments)} {_many(first)}"
    return f"[{', '.join(map(type_words, arguments))}]"


def _many(kind: Any) -> str:
    words = type_words(kind)
    head, of, rest = words.partition(" of ")
    return words if words.startswith("[") else f"{head}s{of}{rest}"


def toml(value: object) -> str:
    """A default as the file would have it; of tables their kind alone."""
    if isinstance(value, enum.Enum):
        return toml(value.value)
    if isinstance(value, str | bool):
        return json.dumps(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    kind = tag_of(type(value)) if attrs.has(type(value)) else None
    return "{}" if kind is None else f"{{ kind = {toml(kind)} }}"


def bounds(check: object) -> Iterator[str]:
    """What an attrs validator accepts, and those that it is made of."""
    if isinstance(check, tuple):
        for each in check:
            yield from bounds(each)
    elif attrs.has(type(check)):  # attrs' own: optional, deep_iterable, several at once
        yield from bounds(attrs.astuple(check, recurse=False))  # type: ignore[arg-type]
    elif callable(check):
        yield _accepted(check)


def _accepted(check: Callable[..., object]) -> str:
    text = one_line(check.__doc__ or "")
    if not text.startswith(VALIDATOR):
        raise TypeError(f"{check!r} does not say what it accepts")
    words = text.removeprefix(VALIDATOR).removesuffix(".")
    return words.removeprefix("a finite number").removeprefix("a number").lstrip(", ")
