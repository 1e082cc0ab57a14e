"""What a scenario file may say, in its user's words: read off its JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import attrs
from attrs import frozen

from sims.durations import TIME
from sims.errors import InputError
from sims.scenario.jobs import KINDS
from sims.scenario.schema import schema_of, whole
from sims.tables.fields import Json
from sims.tables.section import TAG

HEADING = re.compile(r"`\[[^:]*: ")
"""How the docstring of a section begins that stands in one place only."""
KIND_OF_NUMBER = re.compile(r"^a (finite |whole )?number,? ?")

PLAIN: Mapping[str, str] = {
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
    choices: tuple[tuple[str, str], ...] = ()
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
    section, or those of `[job]` for one kind of job.

    Raises InputError where `about` is neither.
    """
    file = _resolved(whole(), whole()["definitions"])
    found = _below("", file, False, None)
    for job in _tables(file["properties"]["job"]):
        if about is not None and _tag(job) == about:
            found = _below("job", job, False, about)
    # What several tables may hold is told once.
    listed = tuple({(t.place, t.section, t.kind): t for t in found}.values())
    if about is None or about in KINDS:
        return listed
    chosen = tuple(it for it in listed if it.place.partition(".")[0] == about)
    if not chosen:
        known = dict.fromkeys(table.place.partition(".")[0] for table in listed if table.place)
        accepted = ", ".join((*known, *KINDS))
        raise InputError("command line", "SECTION", f"{about!r} is none", accepted)
    return chosen


def _resolved(node: Any, definitions: Json) -> Any:
    """With what its references refer to in their place, the names as titles."""
    if isinstance(node, list):
        return [_resolved(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if name := str(node.get("$ref", "")).rpartition("/")[2]:
        return {"allOf": [{**_resolved(definitions[name], definitions), "title": name}]}
    return {key: _resolved(it, definitions) for key, it in node.items()}


def _below(place: str, table: Json, repeated: bool, kind: str | None) -> Iterator[KeyTable]:
    """A table, and those within it."""
    properties = sorted(table["properties"].items(), key=lambda it: it[0] != TAG)
    required = table.get("required", ())
    keys = tuple(_key(key, it, key in required, kind) for key, it in properties)
    yield KeyTable(place, repeated, kind, _about(table), keys, table.get("title", "Scenario"))
    for key, it in properties:
        inner = f"{place}.{key}" if place else key
        found = list(_tables(it))
        for section in found:
            picked = _tag(section) if len(found) > 1 else kind
            yield from _below(inner, section, "items" in it, picked)


def _tables(node: Json) -> Iterator[Json]:
    """The tables that a value can be, or hold, however deep."""
    if "properties" in node:
        yield node
        return
    for each in _parts(node):
        yield from _tables(each)


def _key(name: str, node: Json, required: bool, kind: str | None) -> Key:
    meaning, implied = node.get("description", ""), "Picks these keys."
    if "const" not in node:
        implied = " ".join(map(_about, _tables(node)))
    # Of several kinds one has to be named.
    needed = required or (kind is not None and name == TAG and not meaning)
    default = None if needed or "default" not in node else toml(node["default"])
    accepted = tuple(KIND_OF_NUMBER.sub("", it) for it in _accepted(node))
    choices = tuple(dict(_choices(node)).items())
    return Key(name, _words(node), accepted, needed, default, meaning or implied, choices)


def _choices(node: Json) -> Iterator[tuple[str, str]]:
    for each in _parts(node) if "properties" not in node else ():
        if "const" in each and "description" in each:
            yield str(each["const"]), each["description"]
        yield from _choices(each)


# --- types in words -------------------------------------------------------------------------------


def type_words(kind: Any) -> str:
    """What a value of some type is. Raises TypeError for a type that no section has had so far."""
    node = schema_of(kind)
    return _words(_resolved(node, node["definitions"]))


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
    if isinstance(items, dict):
        return f"list of {_many(_words(items))}"
    words = [_words(it) for it in items]
    if len(set(words)) > 1:
        return f"[{', '.join(words)}]"
    return f"list of {len(words)} {_many(words[0])}"


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


def _tag(table: Json) -> str | None:
    kind: str | None = table["properties"].get(TAG, {}).get("const")
    return kind


def _about(table: Json) -> str:
    """What a section says of itself, without the heading that it begins with."""
    text = HEADING.sub("", table["description"])
    return text[:1].upper() + text[1:]


def _many(words: str) -> str:
    head, of, rest = words.partition(" of ")
    return words if words.startswith("[") else f"{head}s{of}{rest}"


def toml(value: object) -> str:
    """A value as a file has it."""
    if isinstance(value, str | bool):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_bare(key)} = {toml(it)}" for key, it in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return repr(value)


def _bare(key: str) -> str:
    """A key as TOML wants it."""
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def sections(
    file: Mapping[str, Any], place: str = "", heading: str = ""
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(place, heading, keys) of each table that has a heading where people write a file; the keys
    above the first one too."""
    inner = {
        key: it
        for key, it in file.items()
        if (isinstance(it, dict) and not place)
        or (isinstance(it, list) and it and all(isinstance(each, dict) for each in it))
    }
    yield place, heading, {key: it for key, it in file.items() if key not in inner}
    for key, it in inner.items():
        below = f"{place}.{key}" if place else key
        for table in it if isinstance(it, list) else [it]:
            yield from sections(
                table, below, f"[[{below}]]" if isinstance(it, list) else f"[{below}]"
            )
