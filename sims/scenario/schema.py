"""The JSON Schema of scenario files, for editors, and for all that tells what a file may say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import inf
from typing import Any

from sims.scenario.fields import Documented, Json
from sims.scenario.scenario import Scenario

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest that TOML's editors (Taplo, Even Better TOML, Tombi) all read."""

FILE = "holdfast.schema.json"
"""What `holdfast new` calls it."""
LINE = f"#:schema ./{FILE}"
"""First line of a file that editors then complete and check."""

RENAMED: Mapping[str, str] = {"prefixItems": "items"}
"""Keyword -> what draft 7 calls it."""
NULL = {"type": "null"}


def schema() -> Json:
    """Of a whole scenario file. What it refuses the loader refuses, too; not always vice versa:
    what only several keys together make wrong, `holdfast check` tells."""
    found: Json = _finite(whole())
    return {"$schema": DRAFT, "title": "A scenario of Holdfast", **found}


def _finite(node: Any) -> Any:
    """Without infinite defaults, which JSON cannot say."""
    if isinstance(node, list):
        return [_finite(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {key: _finite(it) for key, it in node.items() if key != "default" or inf not in _all(it)}


def _all(default: Any) -> list[Any]:
    return default if isinstance(default, list) else [default]


@cache
def whole() -> Json:
    """The same with all defaults."""
    definitions: Json = {}
    file = _as_toml(Scenario.model_json_schema(schema_generator=Documented), definitions)
    table = definitions.pop(name_of(file))
    return {**table, "definitions": dict(sorted(definitions.items()))}


def name_of(node: Json) -> str:
    """What a reference refers to; empty: it is none."""
    return str(node.get("$ref", "")).rpartition("/")[2]


def as_toml(node: Json) -> Json:
    """A schema of pydantic's in draft 7 and without null, which TOML does not have."""
    definitions: Json = {}
    found: Json = _as_toml(node, definitions)
    return {**found, "definitions": definitions}


def _as_toml(node: Any, definitions: Json) -> Any:
    """The same; each table is entered in `definitions` and referred to."""
    if isinstance(node, list):
        return [_as_toml(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    for name, table in node.get("$defs", {}).items():
        definitions.setdefault(name, _as_toml(table, definitions))
    found = {
        RENAMED.get(key, key): _inner(key, it, definitions)
        for key, it in _without_null(node).items()
        if key not in ("$defs", "title")
    }
    return _named(node, found, definitions) if "properties" in node else _alone(found)


def _without_null(node: Json) -> Json:
    options = [it for it in node.get("anyOf", ()) if it != NULL]
    if len(options) == 1:
        node = {**options[0], **{key: it for key, it in node.items() if key != "anyOf"}}
    elif options:
        node = {**node, "anyOf": options}
    return {key: it for key, it in node.items() if key != "default" or it is not None}


def _inner(key: str, value: Any, definitions: Json) -> Any:
    if key == "properties":
        return {name: _as_toml(it, definitions) for name, it in value.items()}
    return value if key == "default" else _as_toml(value, definitions)


def _named(node: Json, table: Json, definitions: Json) -> Json:
    if definitions.setdefault(node["title"], table) != table:
        raise TypeError(f"two tables are called {node['title']}")
    return {"$ref": f"#/definitions/{node['title']}"}


def _alone(node: Json) -> Json:
    """In draft 7 a reference stands alone."""
    if "$ref" not in node:
        return node
    found = {"$ref": f"#/definitions/{name_of(node)}"}
    rest = {key: it for key, it in node.items() if key != "$ref"}
    return {"allOf": [found], **rest} if rest else found
