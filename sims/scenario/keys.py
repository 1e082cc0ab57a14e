"""Descriptions of the keys of a scenario file: as JSON Schema for editors, and in words for
users."""

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

from policies.interface.kinds import JobKind
from sims.durations import TIME
from sims.errors import COMMAND_LINE, InputError
from sims.scenario import Scenario
from sims.scenario.loader import toml
from sims.tables import TAG
from sims.tables.fields import Json, attribute_docs
from sims.tables.refusals import meant
from sims.telling import units

DRAFT = "http://json-schema.org/draft-07/schema#"
"""Newest draft of JSON Schema that the editors of TOML (Taplo, Even Better TOML, Tombi) all
read."""

FILE = "holdfast.schema.json"
"""Name under which `holdfast new` expects the schema's file."""
LINE = f"#:schema ./{FILE}"
"""First line of a scenario file, which lets editors complete and check the file."""


class _OfToml(GenerateJsonSchema):
    """Generates JSON Schema, draft 7, without null, which TOML does not have, and describes each
    member of an enum with the member's docstring."""

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
        members = [
            {"const": it.value} | ({"description": docs[it.name]} if it.name in docs else {})
            for it in schema["members"]
        ]
        return {"oneOf": members}

    def dict_schema(self, schema: core.DictSchema) -> JsonSchemaValue:
        found = super().dict_schema(schema)
        if schema.get("keys_schema", {}).get("type") == "int":
            of = found.pop("additionalProperties")
            # TOML has a key that is a number as a text.
            found |= {"patternProperties": {"^-?[0-9]+$": of}, "additionalProperties": False}
        return found


def schema() -> Json:
    """Return the JSON Schema of a whole scenario file.

    The loader refuses every file that the schema refuses. It refuses more: mistakes in combinations
    of keys are found by `holdfast check` only.
    """
    found: Json = json.loads(json.dumps(_schema_of(Scenario)), object_pairs_hook=_finite)
    return {"$schema": DRAFT, "title": "A scenario of Holdfast", **found}


def _finite(pairs: list[tuple[str, Any]]) -> Json:
    """Return the (key, value) pairs of a JSON object as a dictionary, without the key `default`
    where its value is infinite or holds something infinite, which JSON cannot express."""
    return {key: it for key, it in pairs if key != "default" or "Infinity" not in json.dumps(it)}


@cache
def _schema_of(kind: Any) -> Json:
    """Return the JSON Schema of all values of a type, with their defaults; its definitions are
    under `definitions`."""
    reference = "#/definitions/{model}"
    found = TypeAdapter(kind).json_schema(ref_template=reference, schema_generator=_OfToml)
    definitions = found.pop("$defs", {})
    for named in (found, *definitions.values()):
        named.pop("title", None)
    return {**found, "definitions": definitions}


# --- its tables, in words -------------------------------------------------------------------------

HEADING = re.compile(r"`\[[^:]*: ")
"""Beginning of the docstring of a section that has only one place in a file."""
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
    """One key of a table in a scenario file."""

    name: str
    type: str
    """Type of the value in words; `a | b` are values, or the kinds of a table."""
    accepted: tuple[str, ...]
    """Bounds on the value in addition to its type; for a list, bounds on its elements."""
    required: bool
    default: str | None
    """Default as TOML; None: unset."""
    meaning: str
    choices: tuple[tuple[str, str], ...]
    """Pairs of a value and its meaning, for each value that is documented."""


@frozen
class KeyTable:
    """One table of a scenario file, for a section or one of its kinds."""

    place: str
    """Dotted path of the table; empty: the top of the file."""
    repeated: bool
    """Whether the table is one of a list, `[[place]]`."""
    kind: str | None
    """Value of the key `kind` of this table or of the one around it; None: there is only one
    kind."""
    about: str
    keys: tuple[Key, ...]
    section: str
    """Name of the class that the loader fills."""

    def heading(self) -> str:
        """Return the table's heading as it stands in a scenario file, such as `[job]` or
        `[[workers]]`. For the top of the file, which has none, return `top of the file`."""
        if not self.place:
            return "top of the file"
        return f"[[{self.place}]]" if self.repeated else f"[{self.place}]"

    @property
    def depth(self) -> int:
        """Number of tables that enclose this one; the file itself does not count."""
        return self.place.count(".")

    def as_json(self) -> dict[str, object]:
        """Return the table and its keys as plain data for JSON: its heading, kind, description and
        keys."""
        keys = [attrs.asdict(key) | {"choices": dict(key.choices)} for key in self.keys]
        return {"table": self.heading(), "kind": self.kind, "about": self.about, "keys": keys}


@cache
def tables(about: str | None = None) -> tuple[KeyTable, ...]:
    """Return the tables of a scenario file, each before those within it.

    These are all tables, or those that `about` names: a section, a kind of job, or a dotted path
    below one of them (`job.sacct`, `faults.weibull`). A path that ends in a key (`rigid.estimate`)
    gives the tables that have the key, with that key alone. Raises InputError for an unknown name.
    """
    file = _resolved(_schema_of(Scenario))
    jobs = {_tag(it): it for it in _tables(file["properties"]["job"])}
    head, *steps = about.split(".") if about else [""]
    place = ("job", jobs[head], False, head) if head in jobs else ("", file, False, None)
    # Tables that several others may hold are listed once.
    found = tuple({(t.place, t.section, t.kind): t for t in _table_and_inner(*place)}.values())
    if about is None:
        return found
    where = "job" if head in jobs else head
    if head not in jobs:
        sections = dict.fromkeys(it.place.partition(".")[0] for it in found if it.place)
        found = tuple(it for it in found if _at_or_below(it, head))
        if not found:
            raise _no_table(head, (*sections, *JobKind))
    for depth, step in enumerate(steps, 1):
        inner, narrower = _narrowed(where, found, step)
        if not narrower:
            above = ".".join((head, *steps[: depth - 1]))
            raise _no_table(about, tuple(f"{above}.{it}" for it in _steps(where, found)))
        where, found = inner, narrower
    return found


def _no_table(about: str, known: tuple[str, ...]) -> InputError:
    problem = f"{about!r} is none{meant(about, known)}"
    return InputError(COMMAND_LINE, "SECTION", problem, ", ".join(known))


def _steps(place: str, found: tuple[KeyTable, ...]) -> list[str]:
    """Return the words that may follow `place` in a dotted path, each once: the keys of the tables
    at `place`, and their kinds if there are several. `found` has the tables at and below it."""
    own = [it for it in found if it.place == place]
    kinds = (it.kind for it in own if it.kind and len(own) > 1)
    return list(dict.fromkeys((*(key.name for it in own for key in it.keys), *kinds)))


def _at_or_below(table: KeyTable, place: str) -> bool:
    return f"{table.place}.".startswith(f"{place}.")


def _narrowed(
    place: str, found: tuple[KeyTable, ...], step: str
) -> tuple[str, tuple[KeyTable, ...]]:
    """Return (place, tables) to which the further step `step` of a dotted path leads from `place`,
    where the tables at or below it are `found`; no tables if there is no such step.

    These are the tables of an inner table, those of a kind, or the outermost ones that have a key
    of that name, with that key alone.
    """
    inner = f"{place}.{step}"
    if below := tuple(it for it in found if _at_or_below(it, inner)):
        return inner, below
    if any(it.place == place and it.kind == step for it in found):
        return place, tuple(it for it in found if it.kind == step)
    named = ((it, tuple(key for key in it.keys if key.name == step)) for it in found)
    having = [attrs.evolve(it, keys=keys) for it, keys in named if keys]
    kind = found[0].kind if len({it.kind for it in found if it.place == place}) == 1 else None
    having = [it for it in having if it.depth == having[0].depth and kind in (None, it.kind)]
    return place, tuple(having)


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
"""Labels on axes for the keys that are varied most."""


def axis_words(key: str, unit: str) -> str:
    """Return the label of a picture's axis for `key`, a scenario's dotted key or the argument of a
    user's function.

    If the key is a time, `unit`, the unit of its values, is appended in the plural; an empty one is
    not.
    """
    place, _, name = key.rpartition(".")
    words = name.replace("_", " ")
    if place:
        words = f"{words} ({place.replace('.', ' ').replace('_', ' ')})"
    words = CALLED.get(key, words)
    return f"{words}, {units(unit)}" if unit and is_time(key) else words


def is_time(key: str) -> bool:
    """Return whether a scenario's dotted key is a time, also one in a list such as
    `job.jobs.0.time`."""
    *steps, name = (step for step in key.split(".") if not step.isdigit())
    keys = (it for table in tables() if table.place == ".".join(steps) for it in table.keys)
    return any(it.name == name and it.type.split()[0] == "time" for it in keys)


def _resolved(node: Any, definitions: Json | None = None) -> Any:
    """Return a JSON Schema with each reference replaced by the definition to which it refers, with
    its name as the title; `definitions` maps names to these, by default those of `node` itself."""
    known = node["definitions"] if definitions is None else definitions
    if isinstance(node, list):
        return [_resolved(each, known) for each in node]
    if isinstance(node, dict) and (name := str(node.get("$ref", "")).rpartition("/")[2]):
        return {"allOf": [{**_resolved(known[name], known), "title": name}]}
    return {k: _resolved(it, known) for k, it in node.items()} if isinstance(node, dict) else node


def _table_and_inner(
    place: str, table: Json, repeated: bool, kind: str | None
) -> Iterator[KeyTable]:
    """Yield the description of the table at the dotted path `place`, given by its JSON Schema
    `table`, and then those of the tables within it.

    `repeated` says whether it is one of a list of tables, `kind` the value of its key `kind`, None
    if there is only one kind.
    """
    properties = sorted(table["properties"].items(), key=lambda it: it[0] != TAG)
    required = table.get("required", ())
    keys = tuple(_key(key, it, key in required, kind) for key, it in properties)
    yield KeyTable(place, repeated, kind, _description(table), keys, table.get("title", "Scenario"))
    for key, it in properties:
        inner = f"{place}.{key}" if place else key
        found = _tables(it)
        for section in found:
            picked = _tag(section) if len(found) > 1 else kind
            yield from _table_and_inner(inner, section, "items" in it, picked)


def _within(node: Json) -> Iterator[Json]:
    """Yield the JSON Schema of a value and, recursively, those of its parts (alternatives,
    elements); the keys of a table are no parts."""
    yield node
    for each in _parts(node) if "properties" not in node else ():
        yield from _within(each)


def _tables(node: Json) -> list[Json]:
    """Return the JSON Schemas of all tables that a value of the schema `node` can be, or can hold
    as an element; tables within those are not among them."""
    return [it for it in _within(node) if "properties" in it]


def _key(name: str, node: Json, required: bool, kind: str | None) -> Key:
    picks = "Picks these keys." if "const" in node else " ".join(map(_description, _tables(node)))
    meaning = node.get("description", "")
    # A file has to name one of several kinds.
    needed = required or (kind is not None and name == TAG and not meaning)
    default = None if needed or "default" not in node else toml(node["default"])
    accepted = tuple(KIND_OF_NUMBER.sub("", it) for it in _accepted(node))
    described = (it for it in _within(node) if it is not node and {"const", "description"} <= {*it})
    choices = tuple({str(it["const"]): it["description"] for it in described}.items())
    return Key(name, _words(node), accepted, needed, default, meaning or picks, choices)


# --- types in words -------------------------------------------------------------------------------


def type_words(kind: Any) -> str:
    """Return the type of a key in words, as `holdfast keys` prints it, such as `list of times`.

    Raises TypeError for a type that no section has had so far.
    """
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
    """Yield the schemas of which a JSON Schema is made directly: its alternatives, and those of its
    elements or values. The keys of a table are not among them."""
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


def _description(table: Json) -> str:
    """Return the description of a section's JSON Schema, without the heading (`[section]: `) at its
    beginning."""
    text = HEADING.sub("", table["description"])
    return text[:1].upper() + text[1:]


def _many(words: str) -> str:
    head, of, rest = words.partition(" of ")
    return words if words.startswith("[") or " | " in words else f"{head}s{of}{rest}"
