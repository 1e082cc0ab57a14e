"""Reads logs from disk, each line back into the record that the run journalled, with each field of
the type that its event's class declares."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import attrs
import orjson
from attrs import frozen
from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as core

from actors import events
from actors.events import SCHEMA, ScenarioEnded, ScenarioStarted
from actors.runtime import Event, Record, RecordOfActor
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.errors import InputError
from sims.readers.files import LONGEST, UNREADABLE, open_binary

SHOWN = 5
"""Number of kinds of events that are named where an unknown one comes."""
OF_OWN = "; summary, trace, why, view and plot --what messages read a log of your own actors"
OLDER = {
    "2": "Holdfast 0.1.0",
    "3": "a Holdfast between 0.1.0 and 0.2.0",
    "4": "a Holdfast between 0.1.0 and 0.2.0",
    "5": "a Holdfast between 0.1.0 and 0.2.0",
}
"""Maps the number of an older log format to the version that reads it."""
BEGINS = re.compile(rb'{[^{]*?"event": ?"%b"' % ScenarioStarted.__name__.encode())
"""Pattern of the beginning of a log whose first line is long."""


class LogFile:
    """A log on disk, to iterate for its records.

    A last line that an interruption cut short is left out; `cut` is True once the end was reached.
    Raises InputError for anything else that is not a log of a known version; if `ordered` is false,
    numbers, times and causes out of order pass, and a line that no log can hold is raised as
    Misfit.
    """

    of_world: ClassVar[bool] = True
    """Whether each event but the first has a cause, as those of Holdfast's world have."""

    def __init__(self, path: Path, ordered: bool = True) -> None:
        self.path = path
        self.ordered = ordered
        """Whether numbers, times and causes out of order are refused.

        The audit sets False, because it reports them itself; a line that no log can hold is then
        raised as Misfit.
        """
        self.cut = False
        self.read = 0
        """Number of the line that was decoded last, from 1."""
        self.last: Record | None = None
        """Record of the line that was decoded last."""

    @property
    def ended(self) -> bool:
        """Whether the log, once read, is that of a run that was not interrupted."""
        return self.last is not None and isinstance(self.last.event, ScenarioEnded)

    def __iter__(self) -> Iterator[Record]:
        number, after = 0, -math.inf
        for number, line in enumerate(self.lines(), start=1):
            record = self.decoded(number, line, after)
            if record is None:
                return
            yield record
            after = record.t
        if number == 0:
            self.decoded(1, b"")

    def lines(self) -> Iterator[bytes]:
        """Yield the file's lines, decompressed but not decoded; event n is line n, counted from
        0."""
        try:
            with open_binary(self.path) as file:
                yield from file
        except EOFError:
            self.cut = True  # a compressed log that was interrupted
        except UNREADABLE as error:
            problem = f"cannot be read ({error})"
            raise InputError(str(self.path), "", problem, "a log of `holdfast run`") from None

    def decoded(self, number: int, line: bytes, after: float = -math.inf) -> Record | None:
        """Return the record of line `number` (from 1), or None for a last line that is cut.

        A record before the time `after` is refused. Raises InputError for a line that is no such
        record, and for b"", which stands for line 1 of an empty log; with `ordered` false, Misfit
        instead for a line after the first that no log can hold.
        """
        try:
            parsed = orjson.loads(line)
            if number == 1:
                self._check_first(parsed)
            record = self._record(parsed)
        except ValueError as error:
            if not line:
                raise self._empty() from None
            if number > 1 and not line.endswith(b"\n"):
                self.cut = True
                return None
            accepted = "one JSON object a line, as `holdfast run` writes them"
            raise self._wrong(number, "", f"no record of a log: {error}", accepted) from None
        except Misfit as misfit:
            if not self.ordered and number > 1:
                raise
            raise self._wrong(number, misfit.key, misfit.problem, misfit.accepted) from None
        cause = -1 if record.cause is None else record.cause
        # One comparison for the usual case: cause before the event, number in order, time not
        # before the last.
        if not 0 <= cause < record.seq == number - 1 or record.t < after:
            self._check_order(number, record, after)  # raises an error, except for the first record
        self.read, self.last = number, record
        return record

    def _record(self, parsed: Any) -> Record:
        return decode(parsed, whole=not self.ordered)

    @contextmanager
    def skimmed(self) -> Iterator[None]:
        """Return a context in which readers that decode only some lines report the first wrong line
        of the log.

        When they meet an error, the whole log is read again from its beginning. Without this, a
        missing line shows in the number of the next line that is decoded, perhaps a million lines
        later.
        """
        try:
            yield
        except InputError:
            for _ in self:
                pass
            raise

    def _check_order(self, number: int, record: Record, after: float) -> None:
        if not self.ordered:
            return
        seq, t, cause = record.seq, record.t, record.cause
        if seq != number - 1:
            problem = f"{seq} is not the line's number, counted from 0"
            raise self._wrong(number, "seq", problem, str(number - 1))
        if t < after:
            raise self._wrong(number, "t", f"{t} is before {after}", f"{after} or later")
        if cause is None:
            if number > 1 and self.of_world:
                raise self._wrong(number, "cause", "missing", f"0 to {seq - 1}")
        elif not 0 <= cause < seq:
            accepted = f"0 to {seq - 1}" if seq else "none"
            raise self._wrong(number, "cause", f"{cause} is not an event before #{seq}", accepted)

    def _check_first(self, first: object) -> None:
        # Checked before it is decoded, because another version may have other fields.
        if not isinstance(first, dict) or "event" not in first:
            return  # decoding raises the error
        if first["event"] != ScenarioStarted.__name__:
            problem, accepted = f"the first record is {first['event']}", ScenarioStarted.__name__
            raise self._wrong(1, "event", problem, accepted + (OF_OWN if is_own(first) else ""))
        if "schema" not in first:
            raise self._wrong(1, "schema", "missing", str(SCHEMA))
        if first["schema"] != SCHEMA:
            version = OLDER.get(str(first["schema"]), "another version")
            problem = f"{first['schema']} is {version}'s format; run the scenario again"
            raise self._wrong(1, "schema", problem, str(SCHEMA))

    def _empty(self) -> InputError:
        problem = "it is cut within its first records" if self.cut else "the file is empty"
        return InputError(str(self.path), "", problem, "a log of `holdfast run`")

    def _wrong(self, number: int, key: str, problem: str, accepted: str) -> InputError:
        where = f"line {number}: {key}" if key else f"line {number}"
        return InputError(str(self.path), where, problem, accepted)


def is_log(path: Path) -> bool:
    """Whether the file begins as a log of Holdfast does, of whatever version, or of actors of one's
    own."""
    first = first_of(path)
    return first.get("event") == ScenarioStarted.__name__ or is_own(first)


def first_of(path: Path) -> dict[str, Any]:
    """Return the first line of the file as an object; it is empty if that line is none."""
    try:
        with open_binary(path) as file:
            line = file.readline(LONGEST)
        if len(line) == LONGEST:  # of a scenario with many jobs or workers
            return {"event": ScenarioStarted.__name__} if BEGINS.match(line) else {}
        first = orjson.loads(line)
    except (*UNREADABLE, ValueError):
        return {}
    return first if isinstance(first, dict) else {}


def is_own(first: Mapping[str, Any]) -> bool:
    """Whether a log with this first line was written by a system of a user's own actors."""
    kind, begun = first.get("event"), first.get("seq") == 0 and "t" in first
    return begun and isinstance(kind, str) and kind not in VOCABULARY


# --- one line ---------------------------------------------------------------------------------

VOCABULARY: dict[str, type[Event]] = {kind.__name__: kind for kind in events.VOCABULARY}
"""Maps the name of each event that a log may hold to its class: the vocabulary is closed."""

RUNTIMES: dict[str, type[Event]] = {it.__name__: it for it in (ActorStarted, MessageReceived)}
"""Maps the name of each event that the runtime itself records to its class: logs with messages have
them."""

FRAME: dict[str, Any] = {"seq": int, "t": float, "cause": int | None, "actor": str}
"""Fields that every line may have in addition to its event's own; only logs with messages have
`actor`."""

WHOLE = core.int_schema(strict=True)
NUMBER = core.union_schema([WHOLE, core.float_schema(strict=True)], mode="left_to_right")
"""Schema of numbers; a whole number stays whole, so that a line that is written again is the
same."""
PLAIN: dict[object, tuple[core.CoreSchema, str]] = {
    int: (WHOLE, "a whole number"),
    float: (NUMBER, "a number"),
    str: (core.str_schema(strict=True), "a string"),
    bool: (core.bool_schema(strict=True), "true or false"),
    NoneType: (core.none_schema(), "null"),
}
"""Maps the type of a field to the schema that reads it from JSON, and to what is accepted."""


@frozen
class Misfit(Exception):
    """Raised for a line of a log whose `key` is missing, unknown or has a value that it cannot
    have."""

    key: str
    problem: str
    """Description of the problem, with the value."""
    accepted: str


def decode(line: dict[str, Any], whole: bool = False) -> Record:
    """Return the record that a parsed line holds.

    Under `whole` the line needs all its fields, also those that have a default, and no others.
    Raises Misfit for a line that is no record.
    """
    try:
        reader = _reader(line["event"], whole)
    except (KeyError, TypeError):
        raise _no_event(line) from None
    try:
        values = reader.read(line)
    except ValidationError as error:
        raise reader.misfit(line, error) from None
    seq, t, cause = values.pop("seq"), values.pop("t"), values.pop("cause", None)
    values.pop("event", None)
    actor = values.pop("actor", None)
    return RecordOfActor.of(Record(seq, t, cause, reader.kind(**values)), actor)


def _no_event(line: Any) -> Misfit:
    if not isinstance(line, dict):
        return Misfit("", f"no record of a log: {reprlib.repr(line)}", "an object a line")
    problem = f"{reprlib.repr(line['event'])} is not known" if "event" in line else "missing"
    near = get_close_matches(str(line.get("event")), VOCABULARY, SHOWN)
    named = ", ".join(near or sorted(VOCABULARY)[:SHOWN])
    return Misfit("event", problem, f"{named}, ...: one of {len(VOCABULARY)} kinds of events")


class _Reader:
    """Reads the lines of one class of events; made once for each class.

    `whole` says whether a line needs all its fields, also those that have a default, and no others.
    """

    def __init__(self, name: str, whole: bool) -> None:
        self.kind = VOCABULARY.get(name) or RUNTIMES[name]
        hints, own = get_type_hints(self.kind), attrs.fields(self.kind)
        left_out = {it.name for it in own if it.default is not attrs.NOTHING}
        optional = {"cause", "actor", *((self.kind.optional,) if whole else left_out)}
        schemas = {}
        self.accepted = {}
        for key, kind in (*FRAME.items(), *((it.name, hints[it.name]) for it in own)):
            schema, self.accepted[key] = _value(kind)
            schemas[key] = core.typed_dict_field(schema, required=key not in optional)
        if whole:
            schemas["event"] = core.typed_dict_field(core.any_schema())
        more: core.ExtraBehavior = "forbid" if whole else "ignore"
        table = core.typed_dict_schema(schemas, extra_behavior=more)
        self.read: Callable[[Any], dict[str, Any]] = SchemaValidator(table).validate_python
        """Function that returns the values of a line; raises ValidationError."""

    def misfit(self, line: dict[str, Any], error: ValidationError) -> Misfit:
        """Return the first mistake of the line; missing and unknown fields come first."""
        name, wrong = self.kind.__name__, [str(it["loc"][0]) for it in error.errors()]
        for key in wrong:
            if key not in line:
                return Misfit(key, f"missing in this {name}", self.accepted[key])
        for key in sorted(set(wrong) - self.accepted.keys()):
            problem = f"{reprlib.repr(key)} is no field of {name}"
            return Misfit(key, problem, ", ".join(self.accepted))
        problem = f"{reprlib.repr(line[wrong[0]])} is nothing that {name} holds"
        return Misfit(wrong[0], problem, self.accepted[wrong[0]])


_reader = cache(_Reader)


def _value(kind: Any) -> tuple[core.CoreSchema, str]:
    """Return the schema that reads a value of a field's type from JSON, and what is accepted, in
    words for an error."""
    if kind in PLAIN:
        return PLAIN[kind]
    members = get_args(kind)
    if get_origin(kind) in (Union, UnionType):  # of a type and None; the log has no other unions
        schema, words = _value(members[0])
        return core.nullable_schema(schema), f"{words} or null"
    if not members:
        words = ", ".join(str(it.value) for it in kind)
        return core.enum_schema(kind, list(kind), strict=False), words
    row, accepted = zip(*(_value(it) for it in members if it is not Ellipsis), strict=True)
    if members[-1] is Ellipsis:
        return core.tuple_variable_schema(*row), f"a list, each {accepted[0]}"
    return core.tuple_positional_schema(list(row)), f"a list of {', '.join(accepted)}"
