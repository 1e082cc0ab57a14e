"""The log's vocabulary as Markdown, read off the classes of events themselves.

`python -m sims.vocabulary` prints it; `python -m sims.vocabulary logs/README.md` writes it anew
between that file's two marks.
"""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import attrs
from attrs import frozen

from actors.events import VOCABULARY, EndExpected
from actors.runtime import Event
from sims.errors import InputError
from sims.options import Parser
from sims.scenario.attribute_docs import attribute_docs, one_line
from sims.scenario.strict import members_of
from sims.scenario.type_words import type_words
from sims.script import run_script

BEGIN, END = "<!-- vocabulary: begin -->", "<!-- vocabulary: end -->"
"""What is between these lines is written by this module."""

RULES = re.compile(r" \(WORLD\.md[^)]*\)")
"""References to a text that readers of a log do not have."""
BAR = r"\|"
"""In a cell of a table."""

NAMES = {
    "job": "The job's name.",
    "run": "The run's number within its job, from 0.",
    "worker": "The worker's number, from 0.",
    "iteration": "Its number, from 0.",
    "batch": "Its number, from 1.",
    "schema": "The format's version.",
    "scenario": "Its name.",
    "seed": "The run's seed.",
    "policy": "Its name.",
    "end": "How the run of the scenario ended.",
    "program": "Its program.",
    "image": "One worker's saved state.",
    "kind": "What the message is.",
    "outcome": "How the run ended.",
    "stage": "What it does from now on.",
    "state": "What it is from now on.",
    "left": "Time of a channel that the message still takes.",
    "rate": "What it advances by per unit of time; 0: it waits.",
    "speed": "Work per unit of time while the worker is UP.",
    "cloning": "Whether a copy begins from the state of the furthest.",
    "runs": "How many there were.",
    "jobs": "How many.",
    "completed": "Jobs that completed.",
    "killed": "Jobs that were killed.",
    "reason": "Why.",
    "why": "Why.",
    "start": "When it is promised to start.",
    "processors": "How many workers.",
    "copies": "The most runs at once.",
    "before": "Workers until now.",
    "after": "Workers from now on.",
    "actor": "Whom the message was for.",
    "message": "Its kind.",
}
"""What a field means whose class says nothing of it."""

TIME, WORK = "time", "work"
UNITS = {
    **dict.fromkeys(("verification", "estimate", "limit", "cost", "recovery", "delay"), TIME),
    **dict.fromkeys(("program", "data", "image", "left", "until", "start", "end"), TIME),
    **dict.fromkeys(("downtime", "mtbf", "latency", "startup", "since", "expected"), TIME),
    **dict.fromkeys(("work", "begun", "saved", "done", "lost", "period", "sizes"), WORK),
    "rate": "per time",
    "speed": "work per time",
    "unit": "time per data unit",
    "footprint": "data units",
    "share": "part of a worker",
    "augmentation": "factor",
}
"""Field -> unit, wherever a field of that name is a number that has one."""
OWN_UNITS: dict[tuple[type[Event], str], str] = {(EndExpected, "left"): "part of the job's work"}


@frozen
class Field:
    """One field of an event."""

    name: str
    type: str
    unit: str
    """Empty where it has none."""
    meaning: str

    def row(self) -> str:
        """The same as a row of a table."""
        cells = (f"`{self.name}`", self.type, self.unit, self.meaning)
        return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def fields(kind: type[Event]) -> list[Field]:
    """The fields of an event. Raises KeyError for one whose meaning is told nowhere."""
    told, hints = attribute_docs(kind), get_type_hints(kind)
    return [
        Field(
            name,
            _type(hints[name]),
            _unit(kind, name, hints[name]),
            _told(told.get(name) or NAMES[name]),
        )
        for name in (each.name for each in attrs.fields(kind))
    ]


def _type(hint: Any) -> str:
    [inner] = members_of(hint)
    found = inner.__name__ if _is_enum(inner) else type_words(inner)
    each = any(NoneType in get_args(part) for part in get_args(inner))
    optional = NoneType in get_args(hint)
    return found + (" or null" if optional else "") + (", or null each" if each else "")


def _told(text: str) -> str:
    """A docstring in the words of a log: what is None there is null here."""
    return re.sub(r"\bNone\b", "null", RULES.sub("", one_line(text)))


def _unit(kind: type[Event], name: str, hint: Any) -> str:
    numbers = "float" in str(hint)
    return OWN_UNITS.get((kind, name), UNITS[name]) if numbers else ""


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def modules() -> dict[str, list[type[Event]]]:
    """Module of `actors.events` -> its events."""
    found: dict[str, list[type[Event]]] = {}
    for kind in VOCABULARY:
        found.setdefault(kind.__module__, []).append(kind)
    return found


def enums() -> list[type[enum.Enum]]:
    """The closed sets that fields choose from, in the order of their first use."""
    hints = (hint for kind in VOCABULARY for hint in get_type_hints(kind).values())
    members = (each for hint in hints for each in (hint, *get_args(hint)))
    return list(dict.fromkeys(each for each in members if _is_enum(each)))


def lines() -> Iterator[str]:
    """All of it."""
    for name, kinds in modules().items():
        about = _told((sys.modules[name].__doc__ or "").partition("\n\n")[0])
        yield from (f"### {name.rpartition('.')[2]}", "", about, "")
        for kind in kinds:
            yield from _event(kind)
    yield from ("### values", "")
    for each in enums():
        yield from _values(each)


def _event(kind: type[Event]) -> Iterator[str]:
    found = fields(kind)
    debug = " Only written where debugging is asked for." if kind.debug else ""
    yield f"**`{kind.__name__}`**: {_told(kind.__doc__ or '')}{debug}"
    yield ""
    if found:
        yield from ("| field | type | unit | meaning |", "| --- | --- | --- | --- |")
        yield from (each.row() for each in found)
        yield ""


def _values(kind: type[enum.Enum]) -> Iterator[str]:
    told = attribute_docs(kind)
    yield f"**{kind.__name__}**: {_told(kind.__doc__ or '')}"
    yield ""
    for member in kind:
        meaning = _told(told.get(member.name, ""))
        yield f"- `{member.value}`: {meaning}" if meaning else f"- `{member.value}`"
    yield ""


def renewed(text: str) -> str:
    """`text` with what is between its marks written anew. Raises ValueError where it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"no lines {BEGIN} and {END}")
    return "".join((before, begin, "\n\n", "\n".join(lines()), end, after))


def main(words: Sequence[str] | None = None) -> int:
    """Print it, or write it into a file; returns the exit code."""
    about = "The log's vocabulary as Markdown."
    parser = Parser(prog="python -m sims.vocabulary", description=about)
    where = "a file with two marks; what is between them is written anew"
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=where)
    return run_script(parser, words, lambda options: _write(options.file))


def _write(file: Path | None) -> None:
    if file is None:
        print("\n".join(lines()))
        return
    try:
        file.write_text(renewed(file.read_text()))
    except (OSError, ValueError) as error:
        raise InputError(str(file), "", str(error), f"a file with {BEGIN} and {END}") from error


if __name__ == "__main__":
    sys.exit(main())
