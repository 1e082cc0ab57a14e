"""Feeds a log's lines to a history, parsing each line as late as possible and most lines never."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import orjson
from attrs import define, field

from actors.events import PartitionAssigned
from actors.runtime import Record
from sims.history.reader import HOLDING, History
from sims.log import LogFile

# Keys are sorted. A quotation mark in a job's name is escaped: none can be taken for a key.
KIND = re.compile(rb'"event": ?"(\w+)"')
ABOUT = re.compile(rb'"event": ?"(\w+)".*?(?:"job": ?("(?:[^"\\]|\\.)*")|"worker": ?(\d+))')
"""Matches a line's event class and the job or the worker that the event names."""
KINDS = frozenset(kind.__name__.encode() for kind in HOLDING)
SUBMITTED = b"JobSubmitted"
BEFORE = PartitionAssigned.__name__.encode()
"""Class of the lines that are about a job and come before its submission, at the log's head."""
GONE = frozenset((b"JobCompleted", b"JobKilled"))
Line = tuple[int, bytes]
"""Number of a line, from 1, and its bytes."""


def skim(log: LogFile, at_end: Callable[[], None] | None = None) -> Iterator[Line]:
    """Yield (number, bytes) of all whole lines of the log, not decoded; the caller decodes those
    that it needs.

    After the last line, calls `at_end` and then decodes that line, so that the log's `last` record
    is the last one. Raises InputError as LogFile does; use `with log.skimmed()` around the loop.
    """
    number, line = 0, b""
    for following in log.lines():
        if not following.endswith(b"\n") and log.decoded(number + 1, following) is None:
            break
        number, line = number + 1, following
        if number == 1 and not tells_of_holding(line):
            log.decoded(number, line)  # no log of the world: nobody else would decode this line
        yield number, line
    if at_end is not None:
        at_end()
    log.decoded(max(number, 1), line)


def tells_of_holding(line: bytes) -> bool:
    """Return whether the history needs this line to know which jobs wait and which runs hold which
    workers: its event class is in `HOLDING`.

    A line without an event class counts too: the decoder is to refuse it.
    """
    found = KIND.search(line)
    return found is None or found[1] in KINDS


@define(eq=False)
class Lines:
    """Passes those lines of a log to a history whose event class is in `HOLDING`, and parses as few
    of them as possible.

    `tell` has a line applied at once. `put` keeps lines until the next `tell`: all lines of a job
    that comes and goes meanwhile are dropped without parsing, in a tenth of the time that parsing
    takes.
    """

    log: LogFile
    history: History
    fold: Callable[[Record], None]
    """Function that receives each record and has the history apply it."""
    _known: frozenset[bytes] | None = None
    """Names, as in the lines, of the jobs that were in the system when the first kept line came;
    None while no line is kept."""
    _of_jobs: dict[bytes, list[Line]] = field(factory=dict)
    _of_workers: dict[bytes, Line] = field(factory=dict)
    """Maps each worker to the line of its last change."""

    def tell(self, number: int, line: bytes) -> None:
        """Apply all kept lines and this one to the history. Raises InputError as LogFile does."""
        self.catch_up()
        self._tell(number, line)

    def put(self, number: int, line: bytes) -> None:
        """Keep this line, if the history needs it at all, until the next call of `tell` or
        `catch_up`."""
        found = ABOUT.search(line)
        if found is None:
            if tells_of_holding(line):
                self.tell(number, line)
            return
        kind, job, worker = found.groups()
        if kind not in KINDS:
            return
        if kind == BEFORE:
            self.tell(number, line)
            return
        if self._known is None:
            self._known = frozenset(map(orjson.dumps, self.history.jobs))
            self._of_jobs = {name: [] for name in self._known}
        if worker is not None:
            self._of_workers[worker] = number, line
        else:
            self._keep(kind, job, (number, line))

    def _keep(self, kind: bytes, job: bytes, line: Line) -> None:
        """Keep a line about a job that the history needs.

        `kind` is the name of the line's event class, and `job` the job's name as the line has it.
        If the line ends a job that was also submitted since the last `tell`, all kept lines of that
        job are dropped.
        """
        assert self._known is not None
        if kind == SUBMITTED:
            self._of_jobs[job] = [line]
        elif kind in GONE and job not in self._known:
            self._of_jobs.pop(job, None)
        elif job in self._of_jobs:
            self._of_jobs[job].append(line)

    def catch_up(self) -> None:
        """Apply all kept lines to the history, in the order of the log."""
        if self._known is None:
            return
        kept = [*self._of_workers.values(), *(it for them in self._of_jobs.values() for it in them)]
        self._known, self._of_jobs, self._of_workers = None, {}, {}
        for number, line in sorted(kept):
            self._tell(number, line)

    def _tell(self, number: int, line: bytes) -> None:
        if tells_of_holding(line):
            record = self.log.decoded(number, line)
            if record is not None:
                self.fold(record)
