"""Reading one job's life out of a long log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import orjson
from attrs import define, evolve, field, frozen

from actors.events import ScenarioStarted
from actors.runtime import Record, rare_collections
from sims.log import LogFile
from sims.parts import parts
from sims.trace.account import FlowAccount
from sims.trace.lines import Backlog, ends_backlog, watch
from sims.trace.reasons import Reasons
from sims.trace.runs import WAITS
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.trace.waits import Waits


@frozen
class Trace:
    """One job's life, and why it waited."""

    tale: Tale
    waits: tuple[Reasons, ...]

    @property
    def root(self) -> Span | None:
        """The life; None where the log does not know the job."""
        return self.tale.root

    @property
    def account(self) -> FlowAccount:
        """Where its flowtime went."""
        return self.tale.account

    def explained(self) -> Span:
        """The life of a job that the log knows, with the reasons below each time that it waited."""
        assert self.root is not None
        return _with(self.root, {it.wait.since: it for it in self.waits})

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        about = {"job": self.tale.job, "account": self.account.as_json()}
        return self.explained().as_json() | about | {"waits": [it.as_json() for it in self.waits]}

    def lines(self) -> Iterator[str]:
        """The same for people."""
        unit = self.tale.unit
        return chain(self.explained().lines(unit), ("",), self.account.lines(unit))


def _with(span: Span, reasons: Mapping[float, Reasons]) -> Span:
    """The span itself where there is nothing to add: a long life has 10^5."""
    explained = span.title == WAITS and span.start in reasons
    if not explained and not span.children:
        return span
    children = [_with(child, reasons) for child in span.children]
    if explained:
        children += reasons[span.start].spans()
    return evolve(span, children=children)


@define
class Watcher:
    """Shows a log's lines to the waits of a job: as a backlog, where it does not wait."""

    log: LogFile
    waits: Waits
    named: bytes
    """The job's name, as in lines."""
    _backlog: Backlog | None = field(factory=Backlog)

    def __call__(self, number: int, line: bytes) -> None:
        waits, backlog = self.waits, self._backlog
        if backlog is not None:
            if not ends_backlog(line, self.named):
                backlog(number, line)
                return
            backlog.tell(self.log, waits.scene)
            self._backlog = None
        if not waits.over:
            watch(self.log, number, line, waits)
            if waits.idle:
                self._backlog = Backlog.after(waits.scene)


def read_trace(log: LogFile, job: str) -> Trace:
    """The life of `job`.

    Only lines that can concern it are decoded; of the others, those are parsed that say who holds
    what while it waits: a million events take a few seconds. Raises InputError as LogFile, and
    ValueError or LookupError where an event contradicts those before.
    """
    lines = log.lines()
    first = log.decoded(1, next(lines, b""))
    assert first is not None and isinstance(first.event, ScenarioStarted)
    tale, watcher = Tale(job), Watcher(log, Waits.of(job, first.event), orjson.dumps(job))
    tale(first)
    last, line, number = first, b"", 1
    with log.skimmed(), rare_collections():
        for number, line in enumerate(lines, start=2):
            watcher(number, line)
            if tale.concerns(line):
                last = _tell(log, number, line, last, tale)
        if line and number > log.read:
            last = log.decoded(number, line, last.t) or last
    tale.stop(last.t)
    waits = watcher.waits
    waits.close()
    decider = first.event.decider
    reasons = (Reasons(job, it, waits.ranking, tale.cast, decider) for it in waits.done)
    return Trace(tale, tuple(reasons))


def _tell(log: LogFile, number: int, line: bytes, last: Record, tale: Tale) -> Record:
    record = log.decoded(number, line, last.t)
    for part in () if record is None else parts(record):
        tale(part)
    return record or last
