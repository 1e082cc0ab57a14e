"""The log's vocabulary, generated from the classes of events as Markdown and as the JSON Schema of
a line.

`python -m sims.vocabulary` prints the Markdown; `python -m sims.vocabulary logs/README.md` renews
the Markdown between that file's two marks; `python -m sims.vocabulary sims/line.schema.json` writes
the schema, which the wheel carries. The schema describes exactly what this version writes: every
key of a line is required, and no other is accepted.
"""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import attrs
import orjson
from attrs import frozen

from actors.events import SCHEMA, VOCABULARY, JobDescribed, JobSubmitted, ScenarioStarted
from actors.events.quantities import NONE, Quantity
from actors.runtime import Event
from actors.runtime.deliveries import MessageReceived
from sims.errors import InputError
from sims.exports.tables import FACTS, JOBS, ROWS, hint_of
from sims.history.rows import JobRow, Use
from sims.log import RUNTIMES
from sims.options import argument, run_script
from sims.scenario.keys import type_words
from sims.tables.fields import attribute_docs, members_of, one_line

BEGIN, END = "<!-- vocabulary: begin -->", "<!-- vocabulary: end -->"
"""Marks in a Markdown file; this module writes what is between the two."""
BAR = r"\|"
"""A bar in a cell of a Markdown table."""


HEAD = "| field | type | unit | meaning |", "| --- | --- | --- | --- |"
ROWS_INTRODUCTION = (
    "`holdfast export LOG --to rows -o FOLDER` writes the facts of a log as tables, one Parquet "
    "file each; `--to spans` and the like write one table as CSV or Parquet, and "
    '`result.rows("spans")` returns it as a frame in Python. A row is written once it is complete, '
    "so rows are in the order of their ends; what is open where the log ends comes last. Below is "
    "what a row of each table is, and its columns."
)

Json = dict[str, Any]

FRAME: dict[str, Json] = {
    "seq": {"type": "integer", "minimum": 0, "description": "Number of the event, from 0."},
    "t": {"type": "number", "minimum": 0, "unit": "time", "description": "Virtual time."},
    "cause": {"type": "integer", "minimum": 0, "description": "seq of the event that caused it."},
    "actor": {"type": "string", "description": "Name of the actor, in a log with messages."},
}
"""Fields that every line has in addition to its event's own; the first line has no cause, and only
logs with messages have actors."""
UNITS: dict[tuple[type, str], Quantity] = {(MessageReceived, "sent"): Quantity("time")}
"""Units of fields whose classes are below `actors.events`, which has the quantities."""
MESSAGES = (
    "Lines of a log with messages (`holdfast run --messages`). In it, `actor` names the actor that "
    "recorded an event, and nothing is caused by these lines: without them it is the log of the "
    "same run."
)

PLAIN: dict[Any, Json] = {
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
}
"""JSON types of plain fields; numbers that count or name something begin at 0."""


@frozen
class Field:
    """One field of an event, as the vocabulary describes it: its name, its type in words, its unit
    and its meaning."""

    name: str
    type: str
    unit: str
    meaning: str

    def row(self) -> str:
        """Return the field as a row of a Markdown table."""
        cells = (f"`{self.name}`", self.type, self.unit, self.meaning)
        return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def fields(kind: type) -> list[Field]:
    """Return a description of each field of a class of events or rows, in the order of declaration.

    Raises TypeError for a number without a unit, and for a field whose meaning is documented
    nowhere.
    """
    docs, plain = attribute_docs(kind), get_type_hints(kind)
    hints, found = get_type_hints(kind, include_extras=True), []
    for name in attrs.fields_dict(kind):
        own = UNITS.get((kind, name))
        known = [*quantities(hints[name]), *([own] if own is not None else [])]
        meaning = docs.get(name) or next((it.meaning for it in known if it.meaning), "")
        if not meaning:
            raise TypeError(f"nothing tells what {kind.__name__}.{name} means")
        if not known and re.search(r"\b(int|float)\b", str(plain[name])):
            raise TypeError(f"{kind.__name__}.{name} has no unit")
        units = ", ".join(dict.fromkeys(it.unit for it in known)) or NONE
        found.append(Field(name, _type(plain[name]), units, _in_log_words(meaning)))
    return found


def quantities(hint: Any) -> Iterator[Quantity]:
    """Yield the quantities (unit and meaning) with which a type, or a type within it, is annotated;
    those of a tuple are in the order of its values."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
        return
    for inner in get_args(hint):
        yield from quantities(inner)


def _type(hint: Any) -> str:
    *_, inner = members_of(hint)
    found = inner.__name__ if is_enum(inner) else type_words(inner)
    each = any(NoneType in get_args(part) for part in get_args(inner))
    optional = NoneType in get_args(hint)
    return found + (" or null" if optional else "") + (", or null each" if each else "")


def _in_log_words(text: str) -> str:
    """Return a docstring in the words of a log, which has null for None."""
    return re.sub(r"\bNone\b", "null", one_line(text))


def is_enum(kind: Any) -> bool:
    """Return whether a type is an enum."""
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def enums() -> list[type[enum.Enum]]:
    """Return the enums from which fields take their values, in the order of their first use; the
    ledger's categories are not among them."""
    rows = (kind for kind in ROWS.values() if kind is not JobRow)
    hints = (hint for kind in (*VOCABULARY, *rows) for hint in get_type_hints(kind).values())
    members = (each for hint in hints for each in (hint, *get_args(hint)))
    return [it for it in dict.fromkeys(filter(is_enum, members)) if it is not Use]


def lines() -> Iterator[str]:
    """Yield the lines of the whole vocabulary as Markdown: each event by module of `actors.events`,
    then the categories of the ledger and the values of enums."""
    for name, kinds in groupby(VOCABULARY, lambda kind: kind.__module__):
        about = _in_log_words((sys.modules[name].__doc__ or "").partition("\n\n")[0])
        yield from (f"### {name.rpartition('.')[2]}", "", about, "")
        for kind in kinds:
            yield from _event(kind)
    yield from ("### messages", "", MESSAGES, "")
    for kind in RUNTIMES.values():
        yield from _event(kind)
    yield from ("### the ledger's categories", "", *_values(Use), *_rows(), "### values", "")
    for each in enums():
        yield from _values(each)


def _rows() -> Iterator[str]:
    """Yield the lines of the section on the rows that `holdfast export --to rows` writes."""
    yield from ("### rows", "", ROWS_INTRODUCTION, "")
    for what, kind in ROWS.items():
        about = _in_log_words(kind.__doc__ or "")
        yield from (f"**{what.value}**: {about}", "", *HEAD)
        if kind is JobRow:
            found = list(map(_fact, FACTS))
            more = (it for event in (JobSubmitted, JobDescribed) for it in fields(event))
            found += [it for it in more if it.name not in FACTS]
        else:
            found = fields(kind)
        yield from (*(each.row() for each in found), "")


def _fact(column: str) -> Field:
    """Return the description of a computed column of the table of jobs, from `JobRow`."""
    name, (_, _, outcome) = FACTS[column], column.partition("runs_")
    own = getattr(JobRow, name)
    about = own.__doc__ if isinstance(own, property) or callable(own) else None
    meaning = about or attribute_docs(JobRow)[name]
    if outcome:
        meaning = f"Number of runs that ended as {outcome}."
    units = ", ".join(it.unit for it in quantities(hint_of(name, units=True))) or NONE
    words = _in_log_words(meaning).removeprefix("Return the ")
    return Field(column, _type(JOBS[column]), units, words[0].upper() + words[1:])


def _event(kind: type[Event]) -> Iterator[str]:
    debug = " Only written where debugging is asked for." if kind.debug else ""
    yield from (f"**`{kind.__name__}`**: {_in_log_words(kind.__doc__ or '')}{debug}", "")
    if found := fields(kind):
        yield from HEAD
        yield from (*(each.row() for each in found), "")


def _values(kind: type[enum.Enum]) -> Iterator[str]:
    meanings = attribute_docs(kind)
    yield from (f"**{kind.__name__}**: {_in_log_words(kind.__doc__ or '')}", "")
    for member in kind:
        meaning = _in_log_words(meanings.get(member.name, ""))
        yield f"- `{member.value}`: {meaning}" if meaning else f"- `{member.value}`"
    yield ""


def renewed(text: str) -> str:
    """Return the Markdown `text` with the vocabulary between its two marks, in place of what was
    there.

    Raises ValueError where the text does not have both marks.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"no lines {BEGIN} and {END}")
    return "".join((before, begin, "\n\n", "\n".join(lines()), end, after))


# --- as a JSON Schema --------------------------------------------------------------------------


def schema() -> Json:
    """Return the schema of one line of a log."""
    kinds = *VOCABULARY, *RUNTIMES.values()
    names = [kind.__name__ for kind in kinds]
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
        "allOf": [
            {"if": {"properties": {"event": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}}
            for name in names
        ],
        "$defs": {kind.__name__: _event_schema(kind) for kind in kinds},
    }


def _event_schema(kind: type[Event]) -> Json:
    hints = get_type_hints(kind, include_extras=True)
    own = {
        it.name: {**_value(hints[it.name]), "unit": it.unit, "description": it.meaning}
        for it in fields(kind)
    }
    if kind is ScenarioStarted:
        own["schema"]["const"] = SCHEMA
    return {
        "description": one_line(kind.__doc__ or ""),
        "properties": {**dict.fromkeys(("event", *FRAME), True), **own},
        "required": [name for name in own if name != kind.optional],
        "additionalProperties": False,
    }


def _value(hint: Any) -> Json:
    """Return the JSON Schema of a value of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        [quantity] = hint.__metadata__
        bounds = {"pattern": quantity.pattern} if quantity.pattern else {}
        return _value(arguments[0]) | bounds
    if NoneType in arguments:
        [inner] = members_of(hint)
        return {"anyOf": [_value(inner), {"type": "null"}]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _value(arguments[0])}
    if origin is tuple:
        row = [_value(member) for member in arguments]
        return {"type": "array", "prefixItems": row, "items": False, "minItems": len(row)}
    if is_enum(hint):
        return {"enum": [member.value for member in hint]}
    return PLAIN[hint]


# --- as a command -------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Print the vocabulary, or write it into the file that `words` names; return the exit code.

    `words` are the words of the command line, by default those that this process was started with.
    """
    return run_script(_write, "python -m sims.vocabulary", words)


def _write(
    file: Annotated[
        Path | None,
        argument(Path, "FILE", "NAME.json, or a file with two marks, between which it is renewed"),
    ] = None,
) -> None:
    """The log's vocabulary as Markdown, or as a JSON Schema of its lines."""
    if file is None:
        print("\n".join(lines()))
    elif file.suffix == ".json":
        indented = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        file.write_bytes(orjson.dumps(schema(), option=indented))
    else:
        try:
            file.write_text(renewed(file.read_text()))
        except (OSError, ValueError) as error:
            marks = f"a file with {BEGIN} and {END}"
            raise InputError(str(file), "", str(error), marks) from error


if __name__ == "__main__":
    sys.exit(main())
