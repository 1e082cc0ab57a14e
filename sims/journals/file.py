"""Reads the logs of a user's own actors, whose kinds of events Holdfast does not know."""

from __future__ import annotations

import reprlib
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from actors.runtime import Event, Record, RecordOfActor
from sims.log import RUNTIMES, LogFile, Misfit, first_of, is_own

FRAME = ("seq", "t", "event", "cause", "actor")
"""Keys of every line; all others are the event's own fields."""


class OwnLog(LogFile):
    """A log of a user's own actors, to iterate for its records; each event is of a class that is
    made from the name and the keys of its line."""

    of_world = False

    @property
    def ended(self) -> bool:
        """Whether the log, once read, is whole: nothing but a cut line shows that it is not."""
        return not self.cut

    def _check_first(self, first: object) -> None:
        pass

    def _record(self, parsed: Any) -> Record:
        return decode(parsed)


def opened(path: Path) -> LogFile:
    """Return the log at `path` to be read, of the world or of a user's own actors."""
    return OwnLog(path) if is_own(first_of(path)) else LogFile(path)


def decode(line: Any) -> Record:
    """Return the record of a parsed line, whatever its event. Raises Misfit for a line that is no
    record."""
    if not isinstance(line, dict):
        raise Misfit("", f"no record of a log: {reprlib.repr(line)}", "an object a line")
    seq, t, name = _framed(line, "seq", int), _framed(line, "t", float), _framed(line, "event", str)
    cause, actor = _framed(line, "cause", int, True), _framed(line, "actor", str, True)
    fields = {key: _frozen(value) for key, value in line.items() if key not in FRAME}
    kind = RUNTIMES.get(name)
    if kind is None or {it.name for it in attrs.fields(kind)} != fields.keys():
        kind = _kind(name, tuple(fields))
    return RecordOfActor.of(Record(seq, t, cause, kind(**fields)), actor)


ACCEPTED = {int: "a whole number", float: "a number", str: "a string"}


def _framed(line: dict[str, Any], key: str, kind: type, optional: bool = False) -> Any:
    value = line.get(key)
    if value is None and optional:
        return None
    if key not in line:
        raise Misfit(key, "missing", ACCEPTED[kind])
    if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
        raise Misfit(key, f"{reprlib.repr(value)} is none", ACCEPTED[kind])
    return value


@cache
def _kind(name: str, fields: tuple[str, ...]) -> type[Event]:
    """Return a class of events of this name with these fields, of any values."""
    made = {key: attrs.field() for key in fields}
    return attrs.make_class(name, made, bases=(Event,), frozen=True)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
