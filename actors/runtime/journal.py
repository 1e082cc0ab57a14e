"""Defines the journal: events with their number, time and cause, recorded to memory, to a file or
not at all.

Sinks are plain callables that take a `Record`. A sink may declare which events it wants; events
that no sink wants are counted (so that numbers and causes are the same with and without a log) but
never built. This is the only module that uses structlog.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from math import isfinite
from operator import attrgetter
from typing import (
    Any,
    BinaryIO,
    ClassVar,
    ParamSpec,
    Protocol,
    TypeVar,
    TypeVarTuple,
    dataclass_transform,
    runtime_checkable,
)

import attrs
import orjson
from attrs import define

from actors.runtime.errors import Unloggable
from actors.runtime.loop import VirtualTimeLoop

FLUSH_EVERY = 4096
"""Number of records between two flushes, because a flush for each record would cost as much as
writing it."""

C = TypeVar("C")
P = ParamSpec("P")
Ts = TypeVarTuple("Ts")

OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
"""Options of orjson; numpy's numbers are included, otherwise an event could be recorded in memory
but not in a file."""

RESERVED = frozenset(("cause", "event", "seq", "t"))
"""Keys that every line of the log has; no field of an event may have one of these names."""


@dataclass_transform(frozen_default=True, field_specifiers=(attrs.field,))
def fact(cls: type[C]) -> type[C]:
    """Turn a class with annotated fields into a class of events, whose instances have slots and are
    equal where their fields are. They are frozen for the type checker alone, not at run time.

    Really frozen instances take three times as long to make, and a run with a log makes two for
    each attempt.
    """
    return attrs.define(cls, unsafe_hash=True, weakref_slot=False)


@attrs.define(unsafe_hash=True, weakref_slot=False)
class Event:
    """Base class of what a journal records, with one subclass for each kind of event, which is
    frozen or a `fact`."""

    debug: ClassVar[bool] = False
    """Whether only a journal at debug level records the event."""
    optional: ClassVar[str] = ""
    """Name of a field that a line leaves out where it is None, because most runs have no value for
    it."""
    whole_file: ClassVar[str] = ""
    """Name of a field that holds a whole file, of which words tell the number of lines."""


@define(eq=True, weakref_slot=False)
class Record:
    """One event as the journal numbers and times it: a line of the log."""

    seq: int
    """Number of the event in its run, from 0."""
    t: float
    """Virtual time of the event, in the scenario's unit."""
    cause: int | None
    """Number (seq) of the event that caused it; None where no event did."""
    event: Event

    @property
    def actor(self) -> str | None:
        """Name of the actor that recorded it, in a log with messages; otherwise None."""
        return None


@define(eq=True, weakref_slot=False)
class RecordOfActor(Record):
    """One event, in a log with messages, that an actor has recorded."""

    actor: str

    @classmethod
    def of(cls, whole: Record, actor: str | None) -> Record:
        """Return the record `whole` as one of the actor of this name; None: of none."""
        return whole if actor is None else cls(whole.seq, whole.t, whole.cause, whole.event, actor)


@runtime_checkable
class Choosy(Protocol):
    """A sink that wants only the events whose classes are in its set `wants`."""

    @property
    def wants(self) -> frozenset[type]: ...


class MessageLog(Protocol):
    """Interface of an object that records the messages that actors receive."""

    def record_by(
        self, actor: str, cause: int, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs
    ) -> int:
        """Record an event of the actor of this name, which `cause` led to. Return the cause of what
        follows from it."""


Sink = Callable[[Record], None]


class _Wanted(dict[object, "tuple[Sink, ...] | None"]):
    """Maps an event class to the sinks that want it; None stands for a class below this journal's
    level, which is not counted."""

    def __init__(self, sinks: Sequence[Sink], debug: bool) -> None:
        super().__init__()
        # Asked anew for each class of events, this would take a fortieth of a short run's time.
        self._sinks = [(sink, isinstance(sink, Choosy)) for sink in sinks]
        self.whole = not all(chooses for _, chooses in self._sinks)
        self._debug = debug

    def __missing__(self, kind: object) -> tuple[Sink, ...] | None:
        wanted: tuple[Sink, ...] | None = None
        # A user's own class may have a field of that name, which is no bool in the class.
        if self._debug or getattr(kind, "debug", False) is not True:
            wanted = tuple(
                sink
                for sink, chooses in self._sinks
                if not chooses or kind in sink.wants  # type: ignore[attr-defined]
            )
        self[kind] = wanted
        return wanted


class Journal:
    """Numbers events and passes them to the sinks that want them."""

    def __init__(
        self, loop: VirtualTimeLoop, sinks: Sequence[Sink] = (), debug: bool = False
    ) -> None:
        self._loop = loop
        self._wanted = _Wanted(sinks, debug)
        self.length = 0
        """Number of events so far, including those that no sink wanted."""

    def wants(self, kind: type[Event]) -> bool:
        """Return whether any sink wants events of class `kind`. Ask this before computing an
        argument that is costly."""
        return bool(self._wanted[kind])

    @property
    def whole(self) -> bool:
        """Whether a sink takes all events, as one that keeps a log does."""
        return self._wanted.whole

    def count(self, events: int) -> None:
        """Count this many more events, which are not recorded one by one, so that those after them
        have the numbers that they would have if they were."""
        self.length += events

    def once(self, kinds: Collection[type[Event]], call: Callable[[], None]) -> None:
        """Call `call` when the next event of one of `kinds` is recorded, and only then.

        Other events cost nothing more meanwhile, as they would with a sink that counts events.
        """

        def probe(_: Record) -> None:
            for kind in kinds:
                del self._wanted[kind]  # computed anew, without the probe, at the next look-up
            call()

        for kind in kinds:
            self._wanted[kind] = (*(self._wanted[kind] or ()), probe)

    def record(
        self, cause: int, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs
    ) -> int:
        """Record `kind(*args)` now. The event is built only where a sink wants it, but counted in
        any case.

        `cause` is the number of the event that led to it, or NOTHING. Return the event's own
        number, or `cause` where this journal's level leaves such events out.
        """
        seq = self.length
        sinks = self._wanted[kind]
        if not sinks:
            if sinks is None:
                return cause
        else:
            known = cause if cause >= 0 else None
            record = Record(seq, self._loop.now, known, kind(*args, **kwargs))
            for sink in sinks:
                sink(record)
        self.length = seq + 1
        return seq

    def record_by(
        self, actor: str, cause: int, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs
    ) -> int:
        """Record an event as `record` does, with the name of the actor that records it."""
        seq = self.length
        sinks = self._wanted[kind]
        if not sinks:
            return self.record(cause, kind, *args, **kwargs)
        known = cause if cause >= 0 else None
        record = RecordOfActor(seq, self._loop.now, known, kind(*args, **kwargs), actor)
        for sink in sinks:
            sink(record)
        self.length = seq + 1
        return seq

    def record_costly(
        self, cause: int, kind: Callable[[*Ts], Event], arguments: Callable[[], tuple[*Ts]]
    ) -> int:
        """Record an event of class `kind` as `record` does, with the arguments that `arguments()`
        returns. It is called only where a sink wants the event."""
        values: tuple[object, ...] = arguments() if self._wanted[kind] else ()
        return self.record(cause, kind, *values)  # type: ignore[arg-type]


def _bound(lines: JsonLines, render: Any) -> Callable[[Sequence[Record]], None]:
    """Return a function that renders records by `render` and writes them to `lines`, through
    structlog's processors and logger. It leaves out structlog's bound context, which lines do not
    use and which costs as much as rendering a line."""
    import structlog  # it imports rich's tracebacks: a run without a log need not wait for them

    class Bound(structlog.BoundLoggerBase):
        def info(self, values: object) -> None:
            logger = self._logger
            for processor in self._processors:
                values = processor(logger, "info", values)  # type: ignore[arg-type]
            logger.info(values)

    # structlog expects a dictionary of values, not records.
    log = structlog.wrap_logger(lines, processors=[render], wrapper_class=Bound)
    info: Callable[[Sequence[Record]], None] = log.bind().info
    return info


class JsonLines:
    """A sink that writes one JSON object a line, keys sorted, through structlog and without global
    configuration.

    It is a context manager: leaving it, for whatever reason, closes the file, which flushes it, so
    that an interrupted run leaves a readable log.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._columns = {Record: _Layouts(), RecordOfActor: _Layouts("actor")}
        self._written = 0
        self._info = _bound(self, self._render)

    def __call__(self, record: Record) -> None:
        self.write((record,))

    def write(self, records: Sequence[Record]) -> None:
        """Write many records, which costs less than writing them one by one. The file is flushed
        after each FLUSH_EVERY records since its beginning, however they are split into calls.
        Raises Unloggable if a value of a record cannot be written as JSON; the records before it
        are written."""
        try:
            self._info(records)
        except TypeError:
            for k, record in enumerate(records):
                if problem := self._problem(record):
                    if k:
                        self.write(records[:k])
                    raise problem from None
            raise
        self._written += len(records)

    def _problem(self, record: Record) -> Unloggable | None:
        """Return the error that says why a record cannot be written; None if it can."""
        event, own = record.event, _is_own(type(record.event))
        values = {"seq": record.seq, "actor": record.actor}
        values |= {name: getattr(event, name) for name in attrs.fields_dict(type(event))}
        for field, value in values.items():
            if not (_is_json(value) and (not own or _is_finite(value))):
                return Unloggable(type(event).__name__, field, value, record.actor, record.t)
        return None

    def _render(self, _: object, __: str, records: Sequence[Record]) -> list[bytes]:
        columns, dumps = self._columns, orjson.dumps
        # Flush after every FLUSH_EVERY-th record of the file, however the records are split into
        # calls.
        first = FLUSH_EVERY - self._written % FLUSH_EVERY
        cuts = pairwise((0, *range(first, len(records) + 1, FLUSH_EVERY), len(records)))
        parts = [
            b"".join(
                [
                    dumps(columns[type(it)][type(it.event)](it), option=OPTIONS)
                    for it in records[a:b]
                ]
            )
            for a, b in cuts
        ]
        # JSON has null for what is not finite; looking at each value would double a line's time.
        own = set[type]().union(*(layouts.own for layouts in columns.values()))
        if own and any(b"null" in part for part in parts):
            _refuse_infinite(it.event for it in records if type(it.event) in own)
        return parts

    def info(self, parts: list[bytes]) -> None:
        """Write rendered lines to the file, and flush it after each part but the last; structlog
        calls this with what `_render` returns."""
        *whole, rest = parts
        for part in whole:
            self._file.write(part)
            self._file.flush()
        self._file.write(rest)

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()


class _Layouts(dict[type, "Callable[[Record], dict[str, object]]"]):
    """Maps an event class to the function that turns one of its records into the dictionary of a
    log line, keys in order. Raises ValueError for a class with a field that has the name of one of
    the log's own keys.

    The dictionary is made once for each class and filled in again for each line, which is rendered
    before the next: sorting the keys of every line and fetching fields one by one makes it cost
    twice as much.
    """

    def __init__(self, *more: str) -> None:
        super().__init__()
        self._own = RESERVED.union(more)
        """Keys that each of these lines has beside its event's fields."""
        self.own = set[type]()
        """The classes that are the user's own. In the world's events null stands for a number that
        is not finite."""

    def __missing__(self, kind: type[Event]) -> Callable[[Record], dict[str, object]]:
        names = tuple(attrs.fields_dict(kind))
        taken = sorted(self._own.intersection(names))
        if taken:
            raise ValueError(f"{kind.__name__}.{taken[0]} hides the log's own {taken[0]!r}")
        blank: dict[str, object] = dict.fromkeys(sorted((*names, *self._own)))
        blank["event"] = kind.__name__
        self[kind] = whole = _layout(blank, names)
        if (left := kind.optional) in names:
            rest = {name: value for name, value in blank.items() if name != left}
            part = _layout(rest, tuple(name for name in names if name != left))
            self[kind] = lambda it: (part if getattr(it.event, left) is None else whole)(it)
        if _is_own(kind):
            self.own.add(kind)
        return self[kind]


def _is_own(kind: type[Event]) -> bool:
    """Return whether a class of events is the user's own, not Holdfast's."""
    return not kind.__module__.startswith("actors.")


def _refuse_infinite(events: Iterable[Event]) -> None:
    """Raise TypeError for an event with a number that is not finite."""
    for event in events:
        if not all(_is_finite(getattr(event, name)) for name in attrs.fields_dict(type(event))):
            raise TypeError("a number is not finite")


def _is_finite(value: object) -> bool:
    """Return whether all numbers in a value, at any depth, are finite."""
    if isinstance(value, str | int):
        return True
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    as_list = getattr(value, "tolist", None)  # numpy's arrays and numbers
    return as_list is None or _is_finite(as_list())


def _is_json(value: object) -> bool:
    """Return whether a value can be written as JSON."""
    try:
        orjson.dumps(value, option=OPTIONS)
    except TypeError:
        return False
    return True


def _layout(
    blank: dict[str, object], names: tuple[str, ...]
) -> Callable[[Record], dict[str, object]]:
    causeless = {name: value for name, value in blank.items() if name != "cause"}
    # `attrgetter` returns a tuple for several names, and the bare value for one.
    fetch = attrgetter(*names) if len(names) > 1 else None
    acting = "actor" in blank and "actor" not in names

    def values_of(record: Record) -> dict[str, object]:
        cause, event = record.cause, record.event
        if cause is None:
            values = causeless
        else:
            values = blank
            values["cause"] = cause
        values["seq"], values["t"] = record.seq, record.t
        if acting:
            values["actor"] = record.actor
        if fetch is not None:
            values.update(zip(names, fetch(event), strict=False))
        elif names:
            values[names[0]] = getattr(event, names[0])
        return values

    return values_of
