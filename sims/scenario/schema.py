"""The JSON Schema of scenario files, for editors, and for all that tells what a file may say."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema as core

from sims.scenario.scenario import Scenario
from sims.tables.fields import Json, attribute_docs

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest that TOML's editors (Taplo, Even Better TOML, Tombi) all read."""

FILE = "holdfast.schema.json"
"""What `holdfast new` calls it."""
LINE = f"#:schema ./{FILE}"
"""First line of a file that editors then complete and check."""
WHOLE = "^-?[0-9]+$"
"""A key that is a number: TOML has it as a text."""


class OfToml(GenerateJsonSchema):
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
            found |= {"patternProperties": {WHOLE: of}, "additionalProperties": False}
        return found


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
    return schema_of(Scenario)


def schema_of(kind: Any) -> Json:
    """Of all values of a type."""
    reference = "#/definitions/{model}"
    found = TypeAdapter(kind).json_schema(ref_template=reference, schema_generator=OfToml)
    definitions = found.pop("$defs", {})
    for named in (found, *definitions.values()):
        named.pop("title", None)
    return {**found, "definitions": definitions}
