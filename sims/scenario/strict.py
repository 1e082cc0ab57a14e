"""Reading TOML values into attrs classes strictly: no coercion, no unknown keys."""

from __future__ import annotations

import difflib
import enum
import re
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.errors import (
    AttributeValidationNote,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    IterableValidationNote,
)

from sims.errors import InputError
from sims.scenario.fields import Unacceptable

WHOLE = re.compile(r"-?[0-9]+")

WIDEST = range(-(2**63), 2**64)
"""The whole numbers that a log's line can hold."""

MOST_WHOLE = 2**40
"""Up to which a time that is written as a whole number stays one: sums and products of larger ones
could be more than a line holds."""

LONGEST = 80
"""Characters of a value in a message."""

NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


class Refused(Exception):
    """A value that cannot be what the field wants."""

    def __init__(self, value: object, accepted: str) -> None:
        super().__init__(value, accepted)
        self.value, self.accepted = value, accepted


@cache
def converter() -> Converter:
    """A cattrs converter that refuses what it would otherwise coerce.

    The same one each time: it compiles a function for every class that it meets, which takes
    12 ms a scenario, the reading 0.5.
    """
    strict = Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind in NAMES:
        strict.register_structure_hook(kind, _primitive)
    strict.register_structure_hook_func(is_enum, _enum)
    strict.register_structure_hook_func(
        _is_tagged, lambda value, kind: _tagged(strict, value, kind)
    )
    strict.register_structure_hook_func(
        _is_choice, lambda value, kind: _chosen(strict, value, kind)
    )
    strict.register_structure_hook_func(is_literal, _literal)
    strict.register_structure_hook_func(_is_tuple, lambda value, kind: _tuple(strict, value, kind))
    strict.register_structure_hook_func(_is_dict, lambda value, kind: _dict(strict, value, kind))
    strict.register_structure_hook_factory(attrs.has, _table)
    return strict


def _primitive(value: Any, kind: type) -> Any:
    if type(value) is int and value not in WIDEST:
        raise Refused(value, f"{NAMES.get(kind, 'a number')} that fits in 64 bits")
    if kind is float and type(value) is int:
        return value if abs(value) <= MOST_WHOLE else float(value)
    if type(value) is not kind:
        raise Refused(value, NAMES[kind])
    return value


def is_enum(kind: Any) -> bool:
    """Whether a value is one of an enum's."""
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def _enum(value: Any, kind: type[enum.Enum]) -> enum.Enum:
    try:
        return kind(value)
    except ValueError:
        raise Refused(value, ", ".join(str(member.value) for member in kind)) from None


def is_literal(kind: Any) -> bool:
    """Whether a value is one of those that the type itself lists."""
    return get_origin(kind) is Literal


def _literal(value: Any, kind: Any) -> Any:
    if value not in get_args(kind):
        raise Refused(value, ", ".join(map(str, get_args(kind))))
    return value


def _table(kind: type, strict: Converter) -> Callable[[Any, Any], Any]:
    structure: Callable[[Any, Any], Any] = strict.gen_structure_attrs_fromdict(kind)

    def checked(value: Any, kind: Any) -> Any:
        if not isinstance(value, dict):
            raise Refused(value, "a table")
        return structure(value, kind)

    return checked


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _tuple(strict: Converter, value: Any, kind: Any) -> tuple[Any, ...]:
    members = get_args(kind)
    if not isinstance(value, list | tuple):
        raise Refused(value, "a list")
    if members[-1] is Ellipsis:
        members = (members[0],) * len(value)
    if len(value) != len(members):
        raise Refused(value, f"a list of {len(members)}")
    pairs = enumerate(zip(value, members, strict=True))
    return tuple(_element(strict, it, member, k) for k, (it, member) in pairs)


def _element(strict: Converter, value: Any, kind: Any, place: int | str) -> Any:
    try:
        return strict.structure(value, kind)
    except Exception as error:
        error.add_note(IterableValidationNote(f"at {place}", place, kind))
        raise IterableValidationError("in a list or table", [error], kind) from None


def _is_dict(kind: Any) -> bool:
    return get_origin(kind) is dict


def _dict(strict: Converter, value: Any, kind: Any) -> dict[Any, Any]:
    keys, values = get_args(kind)
    if not isinstance(value, dict):
        raise Refused(value, "a table")
    named = {_key(name, keys): it for name, it in value.items()}
    return {key: _element(strict, it, values, key) for key, it in named.items()}


def _key(name: str, kind: Any) -> Any:
    """A number as a key: TOML can write it as a string only."""
    if kind is not int:
        return name
    if not WHOLE.fullmatch(name):
        raise Refused(name, NAMES[int])
    return int(name)


# --- unions of tables that say their `kind` -----------------------------------------------------


def _is_tagged(kind: Any) -> bool:
    options = members_of(kind)
    return len(options) > 1 and all(attrs.has(each) and tag_of(each) for each in options)


def members_of(kind: Any) -> list[Any]:
    """What a value can be: a union's members. None is none of them: no TOML value is it."""
    if get_origin(kind) not in (Union, UnionType):
        return [kind]
    return [member for member in get_args(kind) if member is not NoneType]


def tag_of(section: Any) -> str | None:
    """What `kind` has to be in a table of `section`, an attrs class; None: it has no kinds."""
    fields = attrs.fields_dict(attrs.resolve_types(section))
    literal = fields["kind"].type if "kind" in fields else None
    return str(get_args(literal)[0]) if literal is not None and is_literal(literal) else None


def _tagged(strict: Converter, value: Any, kind: Any) -> Any:
    members = {tag_of(member): member for member in members_of(kind)}
    table = _shorthand(value, members)
    if table is None or table.get("kind") not in members:
        known = ", ".join(str(tag) for tag in members)
        raise Refused(value, f"a table whose `kind` is one of {known}")
    return strict.structure(table, members[table["kind"]])


def _shorthand(value: Any, members: dict[str | None, Any]) -> dict[str, Any] | None:
    """`"always"` for `{kind = "always"}`; other values stand for the kind whose `SHORT` says so."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value in members:
        return {"kind": value}
    for tag, member in members.items():
        types, key = getattr(member, "SHORT", ((), ""))
        if isinstance(value, types) and not isinstance(value, bool):
            return {"kind": tag, key: value}
    return None


# --- other unions: a number or a word, a number or a list ----------------------------------------


def _is_choice(kind: Any) -> bool:
    return len(members_of(kind)) > 1 and not _is_tagged(kind)


def _chosen(strict: Converter, value: Any, kind: Any) -> Any:
    members = members_of(kind)
    for member in members:
        if _suits(value, member):
            return strict.structure(value, member)
    raise Refused(value, ", ".join(map(_called, members)))


def _suits(value: Any, member: Any) -> bool:
    if is_literal(member):
        return isinstance(value, str) and value in get_args(member)
    if _is_tuple(member):
        return isinstance(value, list | tuple)
    return type(value) is member or (member is float and type(value) is int)


def _called(member: Any) -> str:
    if is_literal(member):
        return ", ".join(map(str, get_args(member)))
    return "a list" if _is_tuple(member) else NAMES[member]


# --- errors -------------------------------------------------------------------------------------


def first_problem(error: BaseException, source: str, key: str = "") -> InputError:
    """The first leaf of a tree of validation errors, as the one line that a user reads."""
    if isinstance(error, ClassValidationError | IterableValidationError):
        # A misspelt key is missing and unknown: to say so helps, "missing" does not.
        inner = min(error.exceptions, key=lambda each: isinstance(each, KeyError))
        return first_problem(inner, source, _below(key, _note(inner)))
    if isinstance(error, InputError):
        return attrs.evolve(error, key=".".join(filter(None, (key, error.key))), source=source)
    return _leaf(error, source, key)


def _leaf(error: BaseException, source: str, key: str) -> InputError:
    describe: dict[type, Callable[[Any], tuple[str, str, str]]] = {
        Refused: lambda e: (key, f"{shown(e.value)} is not accepted", e.accepted),
        Unacceptable: lambda e: (
            *(_below(key, e.field), f"{shown(_listed(e.value))} is not accepted", e.accepted),
        ),
        ForbiddenExtraKeysError: lambda e: _unknown(e, key),
        KeyError: lambda e: (key, "missing", "a value"),
    }
    where, problem, accepted = describe.get(type(error), lambda e: (key, *told(e)))(error)
    return InputError(source, where, problem, accepted)


def told(error: BaseException) -> tuple[str, str]:
    """The problem, and what is accepted instead, of an error that may say both in a sentence."""
    problem, _, accepted = str(error).partition("; accepted: ")
    return problem, accepted.rstrip(".")


def shown(value: object) -> str:
    """A value as a message has it: of long ones only how they begin."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _listed(value: object) -> object:
    """Lists again, as they were written."""
    return [_listed(each) for each in value] if isinstance(value, tuple) else value


def _unknown(error: ForbiddenExtraKeysError, key: str) -> tuple[str, str, str]:
    extra = sorted(error.extra_fields)[0]
    known = [field.name for field in attrs.fields(error.cl)] if attrs.has(error.cl) else []
    close = difflib.get_close_matches(extra, known, 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return _below(key, extra), f"unknown key{hint}", ", ".join(known)


def _note(error: BaseException) -> str:
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return note.name
        if isinstance(note, IterableValidationNote):
            return str(note.index)
    return ""


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key and name else key or name
