"""Arrows from causes to the runs that they started."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import count

from attrs import define, field, frozen

from actors.runtime import Record
from sims.exports.trace_event import EVENTS, JOBS, Json, flow, meta, micro
from sims.ledger.runs import EndedRun


@frozen
class Tail:
    """Where an arrow can leave a run's slice: within its last microsecond."""

    thread: int
    ts: int


def _wholes() -> array[int]:
    return array("q")


@define
class Arrows:
    """An arrow begins in the slice of the run whose end was the cause, else in a slice of one
    microsecond on the thread of the cause's kind: viewers drop arrows that touch no slice."""

    tails: dict[int, Tail] = field(factory=dict)
    """Event that ended runs -> the slice of one of them."""
    _times: array[int] = field(factory=_wholes)
    _kinds: array[int] = field(factory=_wholes)
    """Time and kind of each event, by seq."""
    _threads: dict[str, int] = field(factory=dict)
    _ids: Iterator[int] = field(factory=count)
    _shown: set[tuple[int, int]] = field(factory=set)
    _named: set[int] = field(factory=set)

    def note(self, record: Record) -> None:
        """Remember an event, which may turn out to be a cause."""
        name = type(record.event).__name__
        self._times.append(micro(record.t))
        self._kinds.append(self._threads.setdefault(name, len(self._threads) + 1))

    def to(self, run: EndedRun, thread: int) -> Iterator[Json]:
        """The arrow to `run`, whose slice lies on `thread`."""
        if run.cause is None:
            return
        cause, arrow = run.cause, next(self._ids)
        tail = self.tails.get(cause)
        if tail is not None:
            yield flow("s", JOBS, tail.thread, tail.ts, arrow)
        else:
            kind, ts = self._kinds[cause], self._times[cause]
            yield from self._event(kind, ts)
            yield flow("s", EVENTS, kind, ts, arrow)
        yield flow("f", JOBS, thread, micro(run.start), arrow)

    def _event(self, kind: int, ts: int) -> Iterator[Json]:
        """A slice for all events of a kind at one instant, once."""
        if (kind, ts) in self._shown:
            return
        name = list(self._threads)[kind - 1]
        if not self._named:
            yield meta("process_name", EVENTS, 0, {"name": "causes"})
        if kind not in self._named:
            yield meta("thread_name", EVENTS, kind, {"name": name})
        self._named.add(kind)
        self._shown.add((kind, ts))
        where: Json = {"pid": EVENTS, "tid": kind, "ts": ts, "dur": 1}
        yield {"ph": "X", "cat": "event", "name": name, "args": {}, **where}
