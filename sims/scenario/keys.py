"""What a scenario file may say, in its user's words: read off its JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from attrs import frozen

from sims.durations import TIME
from sims.errors import InputError
from sims.scenario.jobs.section import KINDS
from sims.scenario.schema import name_of, schema_of, whole
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


def tables(about: str | None = None) -> list[KeyTable]:
    """The tables of a scenario file, each before those within it: all of them, those of one
    section, or those of `[job]` for one kind of job.

    Raises InputError where `about` is neither.
    """
    file = _File(whole()["definitions"])
    found = file.below("", whole(), False, None)
    for name in file.tables(whole()["properties"]["job"]):
        if about is not None and _tag(file.definitions[name]) == about:
            found = file.below("job", file.definitions[name], False, about, name)
    # What several tables may hold is told once.
    listed = list({(t.place, t.section, t.kind): t for t in found}.values())
    if about is None or about in KINDS:
        return listed
    chosen = [table for table in listed if table.place.partition(".")[0] == about]
    if not chosen:
        known = dict.fromkeys(table.place.partition(".")[0] for table in listed if table.place)
        accepted = ", ".join((*known, *KINDS))
        raise InputError("command line", "SECTION", f"{about!r} is none", accepted)
    return chosen


@frozen
class _File:
    """A schema's parts by name."""

    definitions: Json

    # --- tables -----------------------------------------------------------------------------------

    def below(
        self, place: str, table: Json, repeated: bool, kind: str | None, name: str = "Scenario"
    ) -> Iterator[KeyTable]:
        """A table, and those within it."""
        properties = sorted(table["properties"].items(), key=lambda it: it[0] != TAG)
        required = table.get("required", ())
        keys = tuple(self._key(key, it, key in required, kind) for key, it in properties)
        yield KeyTable(place, repeated, kind, _about(table), keys, name)
        for key, it in properties:
            inner = f"{place}.{key}" if place else key
            found = list(self.tables(it))
            for section in found:
                of = self.definitions[section]
                picked = _tag(of) if len(found) > 1 else kind
                yield from self.below(inner, of, "items" in it, picked, section)

    def tables(self, node: Json) -> Iterator[str]:
        """The tables that a value can be, or hold, however deep."""
        name = name_of(node)
        if "properties" in self.definitions.get(name, ()):
            yield name
            return
        for each in _parts(node):
            yield from self.tables(each)

    # --- keys -------------------------------------------------------------------------------------

    def _key(self, name: str, node: Json, required: bool, kind: str | None) -> Key:
        meaning, implied = node.get("description", ""), "Picks these keys."
        if "const" not in node:
            found = [_about(self.definitions[it]) for it in self.tables(node)]
            implied = " ".join(found)
        # Of several kinds one has to be named.
        needed = required or (kind is not None and name == TAG and not meaning)
        default = None if needed or "default" not in node else toml(node["default"])
        accepted = tuple(KIND_OF_NUMBER.sub("", it) for it in _accepted(node))
        words, choices = self.words(node), tuple(dict(self._choices(node)).items())
        return Key(name, words, accepted, needed, default, meaning or implied, choices)

    def _choices(self, node: Json) -> Iterator[tuple[str, str]]:
        found = self.definitions.get(name_of(node), node)
        for each in _parts(found) if "properties" not in found else ():
            if "const" in each and "description" in each:
                yield str(each["const"]), each["description"]
            yield from self._choices(each)

    # --- types in words ---------------------------------------------------------------------------

    def words(self, node: Json) -> str:
        """What a value is. Raises TypeError for a type that no section has had so far."""
        if "$ref" in node:
            return self.words(self.definitions[name_of(node)])
        if "allOf" in node:
            return self.words(node["allOf"][0])
        for key in ("anyOf", "oneOf"):
            if key in node:
                return self._one_of(node[key])
        if "const" in node or "enum" in node:
            return " | ".join(map(toml, node.get("enum", [node.get("const")])))
        return self._plain(node)

    def _one_of(self, options: list[Json]) -> str:
        plain = [it for it in options if it.get("pattern") != TIME.pattern]
        if len(plain) < len(options):
            return " | ".join("time" if it["type"] == "number" else self.words(it) for it in plain)
        found = [name for it in options for name in self.tables(it)]
        if found:
            return " | ".join(_tag(self.definitions[name]) or "table" for name in found)
        return " | ".join(str(it["const"]) if "const" in it else self.words(it) for it in options)

    def _plain(self, node: Json) -> str:
        match node:
            case {"type": "array", "items": list(each)}:
                words = [self.words(it) for it in each]
                alike = len(set(words)) == 1
                return (
                    f"list of {len(each)} {_many(words[0])}" if alike else f"[{', '.join(words)}]"
                )
            case {"type": "array", "items": each}:
                return f"list of {_many(self.words(each))}"
            case {"patternProperties": dict(of)}:
                [each] = of.values()
                return f"table: whole number = {self.words(each)}"
            case {"type": "object", "additionalProperties": dict(each)}:
                return f"table: text = {self.words(each)}"
            case {"type": "object"}:
                return "table"
            case {"type": str(kind)} if kind in PLAIN:
                return PLAIN[kind]
        raise TypeError(f"there are no words for {node!r}")


def type_words(kind: Any) -> str:
    """What a value of some type is."""
    node = schema_of(kind)
    return _File(node["definitions"]).words(node)


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
    """A default as the file would have it."""
    if isinstance(value, str | bool):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{key} = {toml(it)}" for key, it in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return repr(value)
