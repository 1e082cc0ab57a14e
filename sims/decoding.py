"""From one line of a log to its record: every field is of the type that its event's class says."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
from attrs import frozen
from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as core

from actors import events
from actors.runtime import Event, Record

VOCABULARY: dict[str, type[Event]] = {kind.__name__: kind for kind in events.VOCABULARY}
"""Every event that a log may hold, by name: the closed vocabulary."""

FRAME: dict[str, Any] = {"seq": int, "t": float, "cause": int | None}
"""What every line holds beside its event's own fields."""

WHOLE = core.int_schema(strict=True)
NUMBER = core.union_schema([WHOLE, core.float_schema(strict=True)], mode="left_to_right")
"""A whole number stays one, so that a line that is written again is the same."""
PLAIN: dict[object, tuple[core.CoreSchema, str]] = {
    int: (WHOLE, "a whole number"),
    float: (NUMBER, "a number"),
    str: (core.str_schema(strict=True), "a string"),
    bool: (core.bool_schema(strict=True), "true or false"),
    NoneType: (core.none_schema(), "null"),
}
"""Type of a field -> how JSON's values are read, and what they may be."""


@frozen
class Misfit(Exception):
    """A line holds something else than it should."""

    key: str
    problem: str
    """What is wrong, the value included."""
    accepted: str


def decode(line: dict[str, Any], whole: bool = False) -> Record:
    """The record that a parsed line holds; `whole`: with all its fields, even those that have a
    default, and no others. Raises Misfit."""
    try:
        reader = _reader(line["event"], whole)
    except (KeyError, TypeError):
        raise _no_event(line) from None
    try:
        values = reader.read(line)
    except ValidationError as error:
        raise reader.misfit(line, error) from None
    seq, t, cause = values.pop("seq"), values.pop("t"), values.pop("cause", None)
    values.pop("event", None)
    return Record(seq, t, cause, reader.kind(**values))


def _no_event(line: Any) -> Misfit:
    if not isinstance(line, dict):
        return Misfit("", f"no record of a log: {reprlib.repr(line)}", "an object a line")
    told = f"{reprlib.repr(line['event'])} is not known" if "event" in line else "missing"
    return Misfit("event", told, ", ".join(sorted(VOCABULARY)))


class _Reader:
    """Reads the lines of one class of events; made once."""

    def __init__(self, name: str, whole: bool) -> None:
        self.kind = VOCABULARY[name]
        hints, own = get_type_hints(self.kind), attrs.fields(self.kind)
        left_out = {it.name for it in own if it.default is not attrs.NOTHING}
        optional = {"cause", *((self.kind.optional,) if whole else left_out)}
        schemas = {}
        self.accepted = {}
        for key, kind in (*FRAME.items(), *((it.name, hints[it.name]) for it in own)):
            schema, self.accepted[key] = _value(kind)
            schemas[key] = core.typed_dict_field(schema, required=key not in optional)
        if whole:
            schemas["event"] = core.typed_dict_field(core.any_schema())
        more: core.ExtraBehavior = "forbid" if whole else "ignore"
        table = core.typed_dict_schema(schemas, extra_behavior=more)
        self.read: Callable[[Any], dict[str, Any]] = SchemaValidator(table).validate_python
        """The line's values. Raises ValidationError."""

    def misfit(self, line: dict[str, Any], error: ValidationError) -> Misfit:
        """The first thing that is wrong; a field that is missing, or one too many, comes first."""
        name, wrong = self.kind.__name__, [str(it["loc"][0]) for it in error.errors()]
        for key in wrong:
            if key not in line:
                return Misfit(key, f"missing in this {name}", self.accepted[key])
        for key in sorted(set(wrong) - self.accepted.keys()):
            problem = f"{reprlib.repr(key)} is no field of {name}"
            return Misfit(key, problem, ", ".join(self.accepted))
        problem = f"{reprlib.repr(line[wrong[0]])} is nothing that {name} holds"
        return Misfit(wrong[0], problem, self.accepted[wrong[0]])


_reader = cache(_Reader)


def _value(kind: Any) -> tuple[core.CoreSchema, str]:
    """How a value of a type is read from JSON, and what is accepted."""
    if kind in PLAIN:
        return PLAIN[kind]
    members = get_args(kind)
    if get_origin(kind) in (Union, UnionType):  # of a type and None; the log has no other unions
        schema, words = _value(members[0])
        return core.nullable_schema(schema), f"{words} or null"
    if not members:
        words = ", ".join(str(it.value) for it in kind)
        return core.enum_schema(kind, list(kind), strict=False), words
    row, accepted = zip(*(_value(it) for it in members if it is not Ellipsis), strict=True)
    if members[-1] is Ellipsis:
        return core.tuple_variable_schema(*row), f"a list, each {accepted[0]}"
    return core.tuple_positional_schema(list(row)), f"a list of {', '.join(accepted)}"
