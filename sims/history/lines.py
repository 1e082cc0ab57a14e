"""From a log's lines to a history: each is parsed as late as can be, and most never are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import orjson
from attrs import define, field

from actors.runtime import Record
from sims.history import History
from sims.history.runs import HOLDING
from sims.log import LogFile

# Keys are sorted. A quotation mark in a job's name is escaped: none can be taken for a key.
KIND = re.compile(rb'"event": ?"(\w+)"')
ABOUT = re.compile(rb'"event": ?"(\w+)".*?(?:"job": ?("(?:[^"\\]|\\.)*")|"worker": ?(\d+))')
"""A line's event, and whom it is about."""
KINDS = frozenset(kind.__name__.encode() for kind in HOLDING)
SUBMITTED = b"JobSubmitted"
GONE = frozenset((b"JobCompleted", b"JobKilled"))
Line = tuple[int, bytes]
"""Its number, from 1, and the line."""


def skim(log: LogFile, at_end: Callable[[], None] | None = None) -> Iterator[Line]:
    """All whole lines, whoever decodes them; after `at_end`, the log's `last` record is the last.

    Raises InputError as LogFile; `with log.skimmed()` around the loop.
    """
    number, line = 0, b""
    for following in log.lines():
        if not following.endswith(b"\n") and log.decoded(number + 1, following) is None:
            break
        number, line = number + 1, following
        yield number, line
    if at_end is not None:
        at_end()
    log.decoded(max(number, 1), line)


def tells_of_holding(line: bytes) -> bool:
    """Whether its event is of `HOLDING`; a line that has none is left to the decoder to refuse."""
    found = KIND.search(line)
    return found is None or found[1] in KINDS


@define(eq=False)
class Lines:
    """Hands those lines of a log to a history that are of `HOLDING`.

    `tell` does so at once. `put` keeps a line until one is told: of a job that comes and goes
    meanwhile all lines are dropped, unparsed, in a tenth of the time that parsing takes.
    """

    log: LogFile
    history: History
    fold: Callable[[Record], None]
    """Is handed the records, and has the history apply them."""
    _known: frozenset[bytes] | None = None
    """Jobs that were in the system when the first of the lines came that are kept, as in lines;
    None: no line is kept."""
    _of_jobs: dict[bytes, list[Line]] = field(factory=dict)
    _of_workers: dict[bytes, Line] = field(factory=dict)
    """The last change of each."""

    def tell(self, number: int, line: bytes) -> None:
        """The history is told of all lines up to this. Raises InputError as LogFile does."""
        self.catch_up()
        self._tell(number, line)

    def put(self, number: int, line: bytes) -> None:
        """The history need not know of this line before the next one that is told."""
        found = ABOUT.search(line)
        if found is None:
            if tells_of_holding(line):
                self.tell(number, line)
            return
        kind, job, worker = found.groups()
        if kind not in KINDS:
            return
        if self._known is None:
            self._known = frozenset(map(orjson.dumps, self.history.jobs))
            self._of_jobs = {name: [] for name in self._known}
        if worker is not None:
            self._of_workers[worker] = number, line
        else:
            self._keep(kind, job, (number, line))

    def _keep(self, kind: bytes, job: bytes, line: Line) -> None:
        assert self._known is not None
        if kind == SUBMITTED:
            self._of_jobs[job] = [line]
        elif kind in GONE and job not in self._known:
            self._of_jobs.pop(job, None)
        elif job in self._of_jobs:
            self._of_jobs[job].append(line)

    def catch_up(self) -> None:
        """The history is told of all that is kept."""
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
