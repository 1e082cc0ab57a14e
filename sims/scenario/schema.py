"""A JSON Schema of scenario files, read off the classes that the loader fills: for editors."""

from __future__ import annotations

import enum
import json
import tomllib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import attrs

from sims.scenario import fields
from sims.scenario.attribute_docs import attribute_docs, one_line
from sims.scenario.jobs.section import JobSection
from sims.scenario.scenario import Scenario
from sims.scenario.strict import is_enum, is_literal, members_of, tag_of
from sims.scenario.type_words import toml

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest that TOML's editors (Taplo, Even Better TOML, Tombi) all read."""

FILE = "holdfast.schema.json"
"""What `holdfast new` calls it."""
LINE = f"#:schema ./{FILE}"
"""First line of a file that editors then complete and check."""

TAG = "kind"
PLAIN: Mapping[Any, str] = MappingProxyType(
    {int: "integer", float: "number", str: "string", bool: "boolean"}
)
BOUNDS: Mapping[Any, Schema] = MappingProxyType(
    {
        fields.positive: {"exclusiveMinimum": 0},
        fields.positive_or_inf: {"exclusiveMinimum": 0},
        fields.countable: {"minimum": 1, "maximum": fields.MOST_JOBS},
        fields.not_negative: {"minimum": 0},
        fields.not_empty: {"minItems": 1},
        fields.probability: {"minimum": 0, "maximum": 1},
        fields.part: {"minimum": 0, "exclusiveMaximum": 1},
        fields.above_one: {"exclusiveMinimum": 1},
    }
)
"""What the shared checks accept; what others do, only the loader knows."""


def schema() -> Schema:
    """Of a whole scenario file. What it refuses the loader refuses, too; not always vice versa:
    what only several keys together make wrong, `holdfast check` tells."""
    definitions: dict[str, Schema] = {}
    whole = _table(Scenario, definitions)
    head = {"$schema": DRAFT, "title": "A scenario of Holdfast"}
    return {**head, **whole, "definitions": dict(sorted(definitions.items()))}


def _table(section: Any, definitions: dict[str, Schema]) -> Schema:
    docs = attribute_docs(section)
    keys = attrs.fields(attrs.resolve_types(section))
    own = tag_of(section) if section in members_of(JobSection) else None
    properties = {
        field.name: _key(field, docs.get(field.name, ""), definitions, own) for field in keys
    }
    return {
        "type": "object",
        "description": one_line(section.__doc__ or ""),
        "properties": properties,
        "required": [field.name for field in keys if field.default is attrs.NOTHING],
        "additionalProperties": False,
    }


def _key(field: Any, doc: str, definitions: dict[str, Schema], job: str | None) -> Schema:
    """One key; `job`: of `[job]` of that kind, whose listed jobs are of it by default."""
    found = _value(field.type, definitions, job if field.name == "jobs" else None)
    if "$ref" in found:  # which in this draft stands alone
        found = {"allOf": [found]}
    for check in _checks(field.validator):
        found.update(BOUNDS.get(check, {}))
    if doc:
        found["description"] = doc
    default = _default(field.default)
    return found if default is None else {**found, "default": default}


def _checks(validator: object) -> Iterator[object]:
    """An attrs validator, and those that it is made of; those of a list's elements are not."""
    if isinstance(validator, tuple):
        for each in validator:
            yield from _checks(each)
    elif hasattr(validator, "validator") and not hasattr(validator, "member_validator"):
        yield from _checks(validator.validator)
    elif attrs.has(type(validator)) and hasattr(validator, "_validators"):
        yield from _checks(validator._validators)
    else:
        yield validator


def _default(value: Any) -> Any:
    made = value.factory() if isinstance(value, attrs.Factory) else value  # type: ignore[arg-type]
    if made is None or made is attrs.NOTHING or attrs.has(type(made)) or made == {}:
        return None
    found = tomllib.loads(f"value = {toml(made)}")["value"]
    try:
        json.dumps(found, allow_nan=False)
    except ValueError:  # infinity, which JSON cannot say
        return None
    return found


def _value(kind: Any, definitions: dict[str, Schema], job: str | None = None) -> Schema:
    options = members_of(kind)
    if len(options) > 1:
        return {"anyOf": [it for option in options for it in _option(option, definitions, job)]}
    return _single(options[0], definitions, job)


def _option(kind: Any, definitions: dict[str, Schema], job: str | None) -> Iterator[Schema]:
    """What a member of a union may be written as."""
    tag = tag_of(kind) if attrs.has(kind) else None
    if tag is None:
        yield _single(kind, definitions, job)
        return
    table = _single(kind, definitions, job)
    # Listed jobs of the section's own kind need not say it.
    yield table if tag == job else {"allOf": [table, {"required": [TAG]}]}
    if set(_required(kind)) <= {TAG}:
        yield {"const": tag, "description": one_line(kind.__doc__ or "")}
    types, _ = getattr(kind, "SHORT", ((), ""))
    for each in types if isinstance(types, tuple) else (types,):
        yield {"type": "array"} if each is list else {"type": PLAIN[each]}


def _required(section: Any) -> list[str]:
    return [it.name for it in attrs.fields(section) if it.default is attrs.NOTHING]


def _single(kind: Any, definitions: dict[str, Schema], job: str | None) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if is_enum(kind):
        return _choices(kind)
    if origin is Literal and is_literal(kind):
        return {"enum": list(arguments)}
    if origin is tuple:
        return _list(arguments, definitions, job)
    if origin is dict:
        return _mapping(arguments, definitions)
    return _reference(kind, definitions)


def _choices(kind: type[enum.Enum]) -> Schema:
    docs = attribute_docs(kind)
    told = [
        {"const": member.value}
        | ({"description": docs[member.name]} if member.name in docs else {})
        for member in kind
    ]
    return {"oneOf": told}


def _list(arguments: Any, definitions: dict[str, Schema], job: str | None) -> Schema:
    first, *rest = arguments
    if rest == [Ellipsis]:
        return {"type": "array", "items": _value(first, definitions, job)}
    items = [_value(each, definitions) for each in arguments]
    return {"type": "array", "items": items, "minItems": len(items), "maxItems": len(items)}


def _mapping(arguments: Any, definitions: dict[str, Schema]) -> Schema:
    keys, values = arguments
    if values is Any:
        return {"type": "object"}
    of = _value(values, definitions)
    if keys is int:
        numbers = {"patternProperties": {"^-?[0-9]+$": of}, "additionalProperties": False}
        return {"type": "object", **numbers}
    return {"type": "object", "additionalProperties": of}


def _reference(section: Any, definitions: dict[str, Schema]) -> Schema:
    """A table by its class."""
    name = f"{section.__module__.rpartition('.')[2]}.{section.__name__}"
    if name not in definitions:
        definitions[name] = {}  # a table that holds itself finds it
        definitions[name] = _table(section, definitions)
    return {"$ref": f"#/definitions/{name}"}
