"""The journal: what happened, numbered, with its cause; to memory, to a file, or to nobody.

Sinks are plain callables that take a `Record`. A sink may say which events it wants; what nobody
wants is counted (so that numbers and causes are the same with and without a log) but never built.
This is the only module that knows structlog.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import BinaryIO, ClassVar, ParamSpec, Protocol, runtime_checkable

import attrs
import orjson
import structlog
from attrs import define

from actors.runtime.loop import VirtualTimeLoop

FLUSH_EVERY = 4096
"""Records between two flushes: an interrupted run loses at most so many, and a flush a record
would cost as much as writing it."""

P = ParamSpec("P")

RESERVED = frozenset(("cause", "event", "seq", "t"))
"""What a line of the log says of every event: no field of an event can be called so."""


@attrs.frozen
class Event:
    """Base of what a journal records: one frozen class per kind of event."""

    debug: ClassVar[bool] = False
    """Whether only a journal at debug level keeps it."""


@define(eq=True)
class Record:
    """One line of the journal."""

    seq: int
    """Number of the event in its run, from 0."""
    t: float
    """Virtual time, in the scenario's unit."""
    cause: int | None
    """seq of the event that caused it; None where nothing did."""
    event: Event


@runtime_checkable
class Choosy(Protocol):
    """A sink that wants only some events."""

    @property
    def wants(self) -> frozenset[type]: ...


Sink = Callable[[Record], None]


class _Wanted(dict[object, "tuple[Sink, ...] | None"]):
    """Event class -> the sinks that want it; None: below this journal's level, does not count."""

    def __init__(self, sinks: Sequence[Sink], debug: bool) -> None:
        super().__init__()
        self._sinks, self._debug = sinks, debug

    def __missing__(self, kind: object) -> tuple[Sink, ...] | None:
        wanted: tuple[Sink, ...] | None = None
        if self._debug or not getattr(kind, "debug", False):
            wanted = tuple(s for s in self._sinks if not isinstance(s, Choosy) or kind in s.wants)
        self[kind] = wanted
        return wanted


class Journal:
    """Numbers events and hands them to the sinks that want them."""

    def __init__(
        self, loop: VirtualTimeLoop, sinks: Sequence[Sink] = (), debug: bool = False
    ) -> None:
        self._loop = loop
        self._wanted = _Wanted(sinks, debug)
        self.length = 0
        """Events so far, those that no sink wanted included."""

    def wants(self, kind: type[Event]) -> bool:
        """Whether some sink wants events of this class: ask before computing a costly argument."""
        return bool(self._wanted[kind])

    def record(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """Journal `kind(*args)` now; built only where a sink wants it, counted in any case."""
        sinks = self._wanted[kind]
        if sinks is None:
            return
        loop, seq = self._loop, self.length
        if sinks:
            cause = loop.cause if loop.cause >= 0 else None
            record = Record(seq, loop.now, cause, kind(*args, **kwargs))
            for sink in sinks:
                sink(record)
        self.length = seq + 1
        loop.cause = seq


class JsonLines:
    """Sink: one JSON object a line, keys sorted, through structlog; no global configuration.

    A context manager: leaving it, for whatever reason, flushes and closes the file, so that an
    interrupted run leaves a readable log.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._columns: dict[type, tuple[str, ...]] = {}
        self._written = 0
        log = structlog.wrap_logger(
            self,
            processors=[structlog.processors.JSONRenderer(serializer=_dumps)],
            wrapper_class=structlog.make_filtering_bound_logger(0),
        )
        self._log = log.bind()

    def __call__(self, record: Record) -> None:
        event = record.event
        fields = self._columns.get(type(event))
        if fields is None:
            fields = self._columns[type(event)] = _columns(type(event))
        values = {name: getattr(event, name) for name in fields}
        if record.cause is not None:
            values["cause"] = record.cause
        self._log.info(type(event).__name__, seq=record.seq, t=record.t, **values)

    def info(self, line: bytes) -> None:
        """Write one rendered line: what structlog calls in the end."""
        self._file.write(line + b"\n")
        self._written += 1
        if self._written % FLUSH_EVERY == 0:
            self._file.flush()

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _columns(kind: type[Event]) -> tuple[str, ...]:
    names = tuple(attrs.fields_dict(kind))
    taken = sorted(RESERVED.intersection(names))
    if taken:
        raise ValueError(f"{kind.__name__}.{taken[0]} hides the log's own {taken[0]!r}")
    return names


def _dumps(values: object, **_: object) -> bytes:
    # numpy's numbers as well: else an event could be recorded in memory but not in a file.
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY)
