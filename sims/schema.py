"""The JSON Schema of a line of the log, read off the classes of events, for programs of others.

It holds what this version writes, and no more: every key of a line is required, and no other is
accepted. `python -m sims.schema` prints it, `python -m sims.schema sims/line.schema.json` writes
the file that the wheel carries.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import orjson

from actors.events import SCHEMA, VOCABULARY, ScenarioStarted
from actors.events.quantities import Quantity
from actors.runtime import Event
from sims.attribute_docs import is_enum, members_of, one_line
from sims.options import argument
from sims.script import run_script
from sims.vocabulary import Field, fields
from sims.writing import refusing

Json = dict[str, Any]

FRAME: dict[str, Json] = {
    "seq": {"type": "integer", "minimum": 0, "description": "Number of the event, from 0."},
    "t": {"type": "number", "minimum": 0, "unit": "time", "description": "Virtual time."},
    "cause": {"type": "integer", "minimum": 0, "description": "seq of the event that caused it."},
}
"""What every line has beside its event's own fields; the first has no cause."""

PLAIN: dict[Any, Json] = {
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
}
"""Numbers that count or name something begin at 0."""


def schema() -> Json:
    """Of one line."""
    names = [kind.__name__ for kind in VOCABULARY]
    first = {"event": {"const": ScenarioStarted.__name__}, "cause": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of Holdfast's event log, format {SCHEMA}",
        "type": "object",
        "required": ["event", "seq", "t"],
        "properties": {"event": {"enum": names}, **FRAME},
        "if": {"properties": {"seq": {"const": 0}}},
        "then": {"properties": first},
        "else": {"required": ["cause"]},
        "allOf": [_chosen(name) for name in names],
        "$defs": {kind.__name__: _event(kind) for kind in VOCABULARY},
    }


def _chosen(name: str) -> Json:
    return {
        "if": {"properties": {"event": {"const": name}}},
        "then": {"$ref": f"#/$defs/{name}"},
    }


def _event(kind: type[Event]) -> Json:
    hints = get_type_hints(kind, include_extras=True)
    own = {told.name: _field(told, hints[told.name]) for told in fields(kind)}
    if kind is ScenarioStarted:
        own["schema"]["const"] = SCHEMA
    return {
        "description": one_line(kind.__doc__ or ""),
        "properties": {**dict.fromkeys(("event", *FRAME), True), **own},
        "required": list(own),
        "additionalProperties": False,
    }


def _field(told: Field, hint: Any) -> Json:
    return {**_value(hint), "unit": told.unit, "description": told.meaning}


def _value(hint: Any) -> Json:
    """What a value of this type is in JSON."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        [quantity] = hint.__metadata__
        return _value(arguments[0]) | _bounds(quantity)
    if NoneType in arguments:
        [inner] = members_of(hint)
        return {"anyOf": [_value(inner), {"type": "null"}]}
    if origin is tuple:
        return _list(arguments)
    if is_enum(hint):
        return {"enum": [member.value for member in hint]}
    return PLAIN[hint]


def _bounds(quantity: Quantity) -> Json:
    return {"pattern": quantity.pattern} if quantity.pattern else {}


def _list(members: tuple[Any, ...]) -> Json:
    if members[-1] is Ellipsis:
        return {"type": "array", "items": _value(members[0])}
    row = [_value(member) for member in members]
    return {"type": "array", "prefixItems": row, "items": False, "minItems": len(row)}


def main(words: Sequence[str] | None = None) -> int:
    """Print it, or write it into a file; returns the exit code."""
    return run_script(_tell, "python -m sims.schema", words)


def _tell(
    file: Annotated[Path | None, argument(Path, "FILE", "where to write it")] = None,
) -> None:
    """JSON Schema of a line of the log."""
    text = orjson.dumps(schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if file is None:
        print(text.decode(), end="")
        return
    with refusing(file):
        file.write_bytes(text)


if __name__ == "__main__":
    sys.exit(main())
