"""Logs on disk: written as JSON Lines, read back into the records that the run journalled."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType, UnionType
from typing import Any, get_args, get_origin

import attrs
import orjson

from actors import events
from actors.batch import events as batch
from actors.events import SCHEMA, ScenarioStarted
from actors.malleable import events as malleable
from actors.redundant import events as redundant
from actors.runtime import Event, JsonLines, Record
from actors.volatile import events as volatile
from sims.errors import InputError
from sims.interrupt import HeldBack
from sims.packing import pack
from sims.readers.files import UNREADABLE, open_binary

VOCABULARY: dict[str, type[Event]] = {
    kind.__name__: kind
    for module in (events, volatile, batch, malleable, redundant)
    for kind in module.VOCABULARY
}
"""Every event that a log may hold, by name: the closed vocabulary."""


class LogWriter:
    """Sink and context manager: writes records to `path`, compressed by suffix.

    The file is opened when virtual time first advances, or at the end: a scenario that turns out
    not to be runnable (InputError) leaves an older log as it was and no half of a new one.
    Raises InputError where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: list[Record] = []
        self._lines: JsonLines | None = None
        self._interrupt = HeldBack()

    def __call__(self, record: Record) -> None:
        # A packed log that is broken off inside a line cannot be read at all.
        self._interrupt.busy = True
        if self._lines is not None:
            self._lines(record)
        else:
            self._held.append(record)
            if record.t > self._held[0].t:
                self._open()
        self._interrupt.settle()

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lines = JsonLines(pack(self.path))
        except OSError as error:
            problem = f"cannot be written: {error.strerror}"
            raise InputError(str(self.path), "", problem, "a file in a folder of yours") from None
        for record in self._held:
            self._lines(record)
        self._held.clear()

    def __enter__(self) -> LogWriter:
        self._interrupt.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._interrupt.busy = True
        try:
            if self._lines is None and not isinstance(error, InputError):
                self._open()
            if self._lines is not None:
                self._lines.__exit__(kind, error, trace)
        finally:
            self._interrupt.__exit__(kind, error, trace)


class LogFile:
    """A log on disk: iterate for its records.

    A last line that an interruption cut short is left out, and `cut` is True once the end was
    reached. Raises InputError for anything else that is not a log of a known version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut = False
        self.read = 0
        """Records read so far."""

    def __iter__(self) -> Iterator[Record]:
        number = 0
        for number, line in enumerate(self.lines(), start=1):
            record = self.decoded(number, line)
            if record is None:
                return
            self.read = number
            yield record
        if number == 0:
            problem = "it is cut within its first records" if self.cut else "the file is empty"
            raise InputError(str(self.path), "", problem, "a log of `holdfast run`")

    def lines(self) -> Iterator[bytes]:
        """The file's lines, unpacked, as they are; event n is line n, counting from 0."""
        try:
            with open_binary(self.path) as file:
                yield from file
        except EOFError:
            self.cut = True  # a compressed log, interrupted
        except UNREADABLE as error:
            problem = f"cannot be read ({error})"
            raise InputError(str(self.path), "", problem, "a log of `holdfast run`") from None

    def decoded(self, number: int, line: bytes) -> Record | None:
        """The record of line `number` (from 1); None for a last line that is cut."""
        try:
            parsed = orjson.loads(line)
            if number == 1:
                self._check_first(parsed)
            return decode(parsed)
        except (ValueError, KeyError, TypeError) as error:
            if number > 1 and not line.endswith(b"\n"):
                self.cut = True
                return None
            problem = f"no record of a log: {type(error).__name__}: {error}"
            accepted = "one JSON object a line, as `holdfast run` writes them"
            raise InputError(str(self.path), f"line {number}", problem, accepted) from None

    def _check_first(self, first: dict[str, Any]) -> None:
        # Before it is decoded: another version may have other fields.
        if first["event"] != ScenarioStarted.__name__:
            problem = f"the first record is {first['event']}"
            raise InputError(str(self.path), "line 1", problem, ScenarioStarted.__name__)
        if first["schema"] != SCHEMA:
            problem = f"version {first['schema']} of the log's format is not known here"
            raise InputError(str(self.path), "schema", problem, str(SCHEMA))


# --- one line ---------------------------------------------------------------------------------

Decoder = Callable[[Any], Any]


def decode(line: dict[str, Any]) -> Record:
    """The record that a parsed line holds. Raises KeyError, TypeError or ValueError."""
    name = line["event"]
    kind = VOCABULARY[name]
    values = [
        line[field] if convert is None else convert(line[field])
        for field, convert in _decoders(kind)
    ]
    return Record(line["seq"], line["t"], line.get("cause"), kind(*values))


class _Decoders(dict[type[Event], tuple[tuple[str, Decoder | None], ...]]):
    """Event class -> how to read each of its fields; worked out once per class."""

    def __missing__(self, kind: type[Event]) -> tuple[tuple[str, Decoder | None], ...]:
        resolved = attrs.fields(attrs.resolve_types(kind))
        self[kind] = tuple((field.name, _decoder(field.type)) for field in resolved)
        return self[kind]


_decoders = _Decoders().__getitem__


def _decoder(kind: Any) -> Decoder | None:
    """How to read a value of type `kind` from JSON; None: it is itself."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    if isinstance(kind, UnionType):
        return _optional_decoder(get_args(kind))
    if get_origin(kind) is tuple:
        return _tuple_decoder(get_args(kind))
    return None


def _optional_decoder(members: tuple[Any, ...]) -> Decoder | None:
    """Of `X | None`; the log has no other unions."""
    read = _decoder(members[0])
    return None if read is None else lambda value: None if value is None else read(value)


def _tuple_decoder(members: tuple[Any, ...]) -> Decoder:
    if len(members) == 2 and members[1] is Ellipsis:
        each = _decoder(members[0])
        return tuple if each is None else lambda values: tuple(map(each, values))
    inner = [_decoder(member) or _itself for member in members]
    return lambda values: tuple(read(value) for read, value in zip(inner, values, strict=True))


def _itself(value: Any) -> Any:
    return value
