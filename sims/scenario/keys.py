"""What a scenario file may say: as JSON Schema, for editors, and in its user's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from math import inf
from typing import Any

import attrs
from attrs import frozen
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema as core

from sims.durations import TIME
from sims.errors import COMMAND_LINE, InputError
from sims.scenario import Scenario
from sims.scenario.jobs import KINDS
from sims.scenario.loader import toml
from sims.tables import TAG
from sims.tables.fields import Json, attribute_docs

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest that TOML's editors (Taplo, Even Better TOML, Tombi) all read."""

FILE = "holdfast.schema.json"
"""What `holdfast new` calls it."""
LINE = f"#:schema ./{FILE}"
"""First line of a file that editors then complete and check."""


class _OfToml(GenerateJsonSchema):
    """Draft 7, without null, which TOML does not have; the members of an enum with what its source
    says of each."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: core.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", inf) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def tuple_schema(self, schema: core.TupleSchema) -> JsonSchemaValue:
        found = super().tuple_schema(schema)
        return {"items" if key == "prefixItems" else key: it for key, it in found.items()}

    def enum_schema(self, schema: core.EnumSchema) -> JsonSchemaValue:
        docs = attribute_docs(schema["cls"])
        told = [
            {"const": it.value} | ({"description": docs[it.name]} if it.name in docs else {})
            for it in schema["members"]
        ]
        return {"oneOf": told}

    def dict_schema(self, schema: core.DictSchema) -> JsonSchemaValue:
        found = super().dict_schema(schema)
        if schema.get("keys_schema", {}).get("type") == "int":
            of = found.pop("additionalProperties")
            # TOML has a key that is a number as a text.
            found |= {"patternProperties": {"^-?[0-9]+$": of}, "additionalProperties": False}
        return found


def schema() -> Json:
    """Of a whole scenario file. What it refuses the loader refuses, too; not always vice versa:
    what only several keys together make wrong, `holdfast check` tells."""
    found: Json = json.loads(json.dumps(_schema_of(Scenario)), object_pairs_hook=_finite)
    return {"$schema": DRAFT, "title": "A scenario of Holdfast", **found}


def _finite(pairs: list[tuple[str, Any]]) -> Json:
    """Without infinite defaults, which JSON cannot say."""
    return {key: it for key, it in pairs if key != "default" or "Infinity" not in json.dumps(it)}


@cache
def _schema_of(kind: Any) -> Json:
    """Of all values of a type, with all defaults."""
    reference = "#/definitions/{model}"
    found = TypeAdapter(kind).json_schema(ref_template=reference, schema_generator=_OfToml)
    definitions = found.pop("$defs", {})
    for named in (found, *definitions.values()):
        named.pop("title", None)
    return {**found, "definitions": definitions}


# --- its tables, in words -------------------------------------------------------------------------

HEADING = re.compile(r"`\[[^:]*: ")
"""How the docstring of a section begins that stands in one place only."""
KIND_OF_NUMBER = re.compile(r"^a (finite |whole )?number,? ?")

PLAIN = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true | false",
    "object": "table",
}


@frozen
class Key:
    """One key of a table."""

    name: str
    type: str
    """In words; `a | b` are values, or the kinds that a table can be."""
    accepted: tuple[str, ...]
    """Bounds beside the type; of a list's elements where it is a list."""
    required: bool
    default: str | None
    """As TOML; None: left out."""
    meaning: str
    choices: tuple[tuple[str, str], ...]
    """(value, what it means) of each value that says so."""


@frozen
class KeyTable:
    """One table of a scenario file: of a section, or of one of its kinds."""

    place: str
    """Dotted path; empty: the top of the file."""
    repeated: bool
    """Whether it is one of a list, `[[place]]`."""
    kind: str | None
    """What its key `kind`, or that of the table around it, has to be; None: there are no kinds."""
    about: str
    keys: tuple[Key, ...]
    section: str
    """The class that the loader fills."""

    def heading(self) -> str:
        """As the file would have it."""
        if not self.place:
            return "top of the file"
        return f"[[{self.place}]]" if self.repeated else f"[{self.place}]"

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        keys = [attrs.asdict(key) | {"choices": dict(key.choices)} for key in self.keys]
        return {"table": self.heading(), "kind": self.kind, "about": self.about, "keys": keys}


@cache
def tables(about: str | None = None) -> tuple[KeyTable, ...]:
    """The tables of a scenario file, each before those within it: all of them, those of one
    section, or those of `[job]` for one kind of job. Raises InputError where `about` is neither."""
    file = _resolved(_schema_of(Scenario))
    jobs = {_tag(it): it for it in _tables(file["properties"]["job"])}
    place = ("job", jobs[about], False, about) if about in jobs else ("", file, False, None)
    # What several tables may hold is told once.
    listed = tuple({(t.place, t.section, t.kind): t for t in _below(*place)}.values())
    if about is None or about in jobs:
        return listed
    chosen = tuple(it for it in listed if it.place.partition(".")[0] == about)
    if not chosen:
        known = dict.fromkeys(table.place.partition(".")[0] for table in listed if table.place)
        accepted = ", ".join((*known, *KINDS))
        raise InputError(COMMAND_LINE, "SECTION", f"{about!r} is none", accepted)
    return chosen


CALLED = {
    "platform.workers": "processors of the platform",
    "errors.average": "mean probability that an attempt fails",
    "errors.per_work": "errors per unit of work",
    "job.synthetic.count": "jobs",
    "job.scale.factor": "load, times the log's",
    "job.stream.arrivals.load": "load, of the servers' mean speed",
    "faults.mtbf": "mean time between the faults of one worker",
    "faults.downtime": "time that a fault keeps a worker DOWN",
    "faults.detection": "time until a fault is detected",
    "protection.period": "work between two checkpoints",
    "master.channels": "channels of the master",
    "master.data": "time of a data transfer",
    "master.program": "time of a program's transfer",
    "master.image": "time of an image's transfer",
}
"""What axes call the keys that are varied most."""


def axis_words(key: str, unit: str) -> str:
    """Return what a picture's axis calls a scenario's key, or the argument of a user's function: a
    time with the `unit` of its values, if they have one."""
    place, _, name = key.rpartition(".")
    told = name.replace("_", " ")
    if place:
        told = f"{told} ({place.replace('.', ' ').replace('_', ' ')})"
    keys = (it for table in tables() if table.place == place for it in table.keys)
    timed = any(it.name == name and it.type.split()[0] == "time" for it in keys)
    told = CALLED.get(key, told)
    return f"{told}, {unit}" if timed and unit else told


def _resolved(node: Any, definitions: Json | None = None) -> Any:
    """With what its references refer to in their place, the names as titles."""
    known = node["definitions"] if definitions is None else definitions
    if isinstance(node, list):
        return [_resolved(each, known) for each in node]
    if isinstance(node, dict) and (name := str(node.get("$ref", "")).rpartition("/")[2]):
        return {"allOf": [{**_resolved(known[name], known), "title": name}]}
    return {k: _resolved(it, known) for k, it in node.items()} if isinstance(node, dict) else node


def _below(place: str, table: Json, repeated: bool, kind: str | None) -> Iterator[KeyTable]:
    """A table, and those within it."""
    properties = sorted(table["properties"].items(), key=lambda it: it[0] != TAG)
    required = table.get("required", ())
    keys = tuple(_key(key, it, key in required, kind) for key, it in properties)
    yield KeyTable(place, repeated, kind, _about(table), keys, table.get("title", "Scenario"))
    for key, it in properties:
        inner = f"{place}.{key}" if place else key
        found = _tables(it)
        for section in found:
            picked = _tag(section) if len(found) > 1 else kind
            yield from _below(inner, section, "items" in it, picked)


def _within(node: Json) -> Iterator[Json]:
    """A value's schema and those of which it is made, but those of a table's keys."""
    yield node
    for each in _parts(node) if "properties" not in node else ():
        yield from _within(each)


def _tables(node: Json) -> list[Json]:
    """The tables that a value can be, or hold, however deep."""
    return [it for it in _within(node) if "properties" in it]


def _key(name: str, node: Json, required: bool, kind: str | None) -> Key:
    picks = "Picks these keys." if "const" in node else " ".join(map(_about, _tables(node)))
    meaning = node.get("description", "")
    # Of several kinds one has to be named.
    needed = required or (kind is not None and name == TAG and not meaning)
    default = None if needed or "default" not in node else toml(node["default"])
    accepted = tuple(KIND_OF_NUMBER.sub("", it) for it in _accepted(node))
    told = (it for it in _within(node) if it is not node and {"const", "description"} <= {*it})
    choices = tuple({str(it["const"]): it["description"] for it in told}.items())
    return Key(name, _words(node), accepted, needed, default, meaning or picks, choices)


# --- types in words -------------------------------------------------------------------------------


def type_words(kind: Any) -> str:
    """What a value of some type is. Raises TypeError for a type that no section has had so far."""
    return _words(_resolved(_schema_of(kind)))


def _words(node: Json) -> str:
    if options := node.get("allOf", [])[:1] or node.get("anyOf") or node.get("oneOf"):
        return _one_of(options)
    match node:
        case {"const": value}:
            return toml(value)
        case {"enum": list(values)}:
            return " | ".join(map(toml, values))
        case {"items": items}:
            return _list(items)
        case {"patternProperties": dict(of)}:
            return f"table: whole number = {' | '.join(map(_words, of.values()))}"
        case {"additionalProperties": dict(each)}:
            return f"table: text = {_words(each)}"
        case {"type": str(kind)}:
            return PLAIN[kind]
    raise TypeError(f"there are no words for {node!r}")


def _one_of(options: list[Json]) -> str:
    plain = [it for it in options if it.get("pattern") != TIME.pattern]
    if len(plain) < len(options):
        return " | ".join("time" if it["type"] == "number" else _words(it) for it in plain)
    found = [table for it in options for table in _tables(it)]
    if found and len(options) > 1:
        return " | ".join(_tag(table) or "table" for table in found)
    return " | ".join(str(it["const"]) if "const" in it else _words(it) for it in options)


def _list(items: Json | list[Json]) -> str:
    words = [_words(it) for it in (items if isinstance(items, list) else [items])]
    if len(set(words)) > 1:
        return f"[{', '.join(words)}]"
    return f"list of {f'{len(words)} ' if isinstance(items, list) else ''}{_many(words[0])}"


def _parts(node: Json) -> Iterator[Json]:
    """The schemas of which one is made, but those of a table's keys."""
    for key in ("allOf", "anyOf", "oneOf", "items", "additionalProperties"):
        part = node.get(key)
        yield from part if isinstance(part, list) else [part] if isinstance(part, dict) else ()
    yield from node.get("patternProperties", {}).values()


def _accepted(node: Json) -> Iterator[str]:
    if "accepted" in node:
        yield node["accepted"]
        return
    if "minItems" in node and isinstance(node["items"], dict):
        yield "at least one element"
    for each in _parts(node):
        yield from _accepted(each)


def _tag(table: Json) -> Any:
    return table["properties"].get(TAG, {}).get("const")


def _about(table: Json) -> str:
    """What a section says of itself, without the heading that it begins with."""
    text = HEADING.sub("", table["description"])
    return text[:1].upper() + text[1:]


def _many(words: str) -> str:
    head, of, rest = words.partition(" of ")
    return words if words.startswith("[") else f"{head}s{of}{rest}"
