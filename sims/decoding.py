"""From one line of a log to its record: every field is of the type that its event's class says."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
from attrs import frozen

from actors import events
from actors.runtime import Event, Record

VOCABULARY: dict[str, type[Event]] = {kind.__name__: kind for kind in events.VOCABULARY}
"""Every event that a log may hold, by name: the closed vocabulary."""

Decoder = Callable[[Any], Any]


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
        reader = _reader(line["event"])
        values = reader.get(line)
        if whole and len(line) != len(values) + 1:
            reader.refuse_others(line)
    except (KeyError, TypeError):
        reader, values = _known(line, whole)
    if tuple(map(type, values)) not in reader.shapes:
        reader.learn(values)
    if reader.decoders:
        values = reader.decoded(values)
    return Record(values[0], values[1], values[2], reader.kind(*values[3:]))


def _known(line: Any, whole: bool) -> tuple[_Reader, tuple[Any, ...]]:
    """What reads the line, and its values: slowly, as it lacks something."""
    if not isinstance(line, dict):
        raise Misfit("", f"no record of a log: {reprlib.repr(line)}", "an object a line")
    name = line.get("event")
    if not isinstance(name, str) or name not in VOCABULARY:
        problem = f"{reprlib.repr(name)} is not known" if "event" in line else "missing"
        raise Misfit("event", problem, ", ".join(sorted(VOCABULARY)))
    reader = _reader(name)
    line = {**(reader.left_out if whole else reader.defaults), **line}
    for field in reader.fields:
        if field.name not in line:
            raise Misfit(field.name, f"missing in this {name}", field.accepted)
    if whole:
        reader.refuse_others(line)
    return reader, reader.get(line)


# --- what a class asks for; worked out once ---------------------------------------------------


@frozen
class _Field:
    """One value of a line."""

    name: str
    types: frozenset[type]
    """Of what JSON may hold there."""
    accepted: str
    decode: Decoder | None
    """Raises KeyError or ValueError; None: the value is itself."""


class _Reader:
    """Reads the lines of one class of events.

    A line's types are looked up all at once: reading a log takes 0.3 us an event more for it.
    """

    def __init__(self, name: str) -> None:
        self.kind = VOCABULARY[name]
        resolved, hints = attrs.fields(self.kind), get_type_hints(self.kind)
        own = [(field.name, hints[field.name]) for field in resolved]
        frame = [("seq", int), ("t", float), ("cause", int | None)]
        self.fields = tuple(_field(*about) for about in (*frame, *own))
        self.defaults = {"cause": None} | {
            field.name: _as_json(field.default)
            for field in resolved
            if field.default is not attrs.NOTHING
        }
        """What a line need not hold."""
        self.left_out = {"cause": None} | ({it: None} if (it := self.kind.optional) else {})
        """What no line holds that has nothing to say there."""
        self.get = itemgetter(*(field.name for field in self.fields))
        self.decoders = tuple(
            (k, field.decode) for k, field in enumerate(self.fields) if field.decode is not None
        )
        self.shapes: set[tuple[type, ...]] = set()
        """Types of a line's values that were found to be right."""

    def learn(self, values: tuple[Any, ...]) -> None:
        """Check the types of a line's values, once for all lines like it. Raises Misfit."""
        for field, value in zip(self.fields, values, strict=True):
            if type(value) not in field.types:
                raise self._misfit(field, value)
        self.shapes.add(tuple(map(type, values)))

    def refuse_others(self, line: dict[str, Any]) -> None:
        """Raises Misfit where the line holds a field that there is not."""
        names = [field.name for field in self.fields]
        for key in sorted(line.keys() - {"event", *names}):
            problem = f"{reprlib.repr(key)} is no field of {self.kind.__name__}"
            raise Misfit(key, problem, ", ".join(names))

    def decoded(self, values: tuple[Any, ...]) -> list[Any]:
        """The values that the class takes. Raises Misfit."""
        own = list(values)
        for k, decode in self.decoders:
            try:
                own[k] = decode(own[k])
            except (KeyError, ValueError):
                raise self._misfit(self.fields[k], own[k]) from None
        return own

    def _misfit(self, field: _Field, value: object) -> Misfit:
        problem = f"{reprlib.repr(value)} is nothing that {self.kind.__name__} holds"
        return Misfit(field.name, problem, field.accepted)


_reader = cache(_Reader)


def _as_json(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


PLAIN: dict[object, tuple[frozenset[type], str]] = {
    int: (frozenset((int,)), "a whole number"),
    float: (frozenset((int, float)), "a number"),
    str: (frozenset((str,)), "a string"),
    bool: (frozenset((bool,)), "true or false"),
    NoneType: (frozenset((NoneType,)), "null"),
}
"""Type of a field -> what JSON may hold there."""


def _field(name: str, kind: Any) -> _Field:
    """What reads a value of type `kind` from JSON."""
    origin, members = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return _Field(name, *PLAIN[kind], None)
    if origin in (Union, UnionType):  # of a type and None; the log has no other unions
        one = _field(name, members[0])
        read = one.decode
        decode = read and (lambda value: None if value is None else read(value))
        return _Field(name, one.types | {NoneType}, f"{one.accepted} or null", decode)
    if origin is not tuple:
        values = {member.value: member for member in kind}
        types = frozenset(map(type, values))
        return _Field(name, types, ", ".join(map(str, values)), values.__getitem__)
    alike = members[-1] is Ellipsis
    row = [_field(name, member) for member in members if member is not Ellipsis]
    accepted = f"a list{', each' if alike else ' of'} {', '.join(it.accepted for it in row)}"
    return _Field(name, frozenset((list,)), accepted, _column(*row) if alike else _row(row))


def _column(each: _Field) -> Decoder:
    """Reads a list, all of one type."""
    types, read = each.types, each.decode

    def decode(values: list[Any]) -> tuple[Any, ...]:
        if not types.issuperset(map(type, values)):
            raise ValueError
        return tuple(values) if read is None else tuple(map(read, values))

    return decode


def _row(row: Sequence[_Field]) -> Decoder:
    """Reads a list of fixed length, each value of a type of its own."""

    def decode(values: list[Any]) -> tuple[Any, ...]:
        if not all(type(value) in field.types for field, value in zip(row, values, strict=True)):
            raise ValueError
        pairs = zip(row, values, strict=True)
        return tuple(v if f.decode is None else f.decode(v) for f, v in pairs)

    return decode
