"""From a log's lines to a scene: each is parsed as late as can be, and most never are."""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson
from attrs import define, field

from sims.log import LogFile
from sims.trace.scene import HANDLERS, Fields, Holdings

UNFIT = (LookupError, ValueError, TypeError, AttributeError)
"""What a line that does not fit its kind, or those before, makes a scene raise."""

# Keys are sorted. A quotation mark in a job's name is escaped: none can be taken for a key.
KIND = re.compile(rb'"event": ?"(\w+)"')
ABOUT = re.compile(rb'"event": ?"(\w+)".*?"(?:job": ?("(?:[^"\\]|\\.)*")|worker": ?(\d+))')
"""A line's event, and whom it is about."""
SUBMITTED, MOVED = b"JobSubmitted", b"WorkerChanged"
GONE = frozenset((b"JobCompleted", b"JobKilled"))
COMPOUND = b'"Copies'
"""What begins the name of an event that tells of many jobs at once."""
Line = tuple[int, bytes]
"""Its number, from 1, and the line."""
Fold = Callable[[bytes, Fields], None]


@define
class Backlog:
    """The lines that say how things stand, since somebody looked: what is of jobs that came and
    went has been dropped, unparsed, in a third of the time that parsing it would take."""

    known: frozenset[bytes] = frozenset()
    """Names of the jobs that were there then, as in lines."""
    _jobs: dict[bytes, list[Line]] = field(factory=dict)
    _workers: dict[bytes, Line] = field(factory=dict)
    """The last change of each."""

    def __call__(self, number: int, line: bytes) -> None:
        found = ABOUT.search(line)
        if found is None:
            return
        kind, job, worker = found.groups()
        if kind not in HANDLERS:
            return
        if kind == SUBMITTED:
            self._jobs[job] = [(number, line)]
        elif kind == MOVED:
            self._workers[worker] = number, line
        elif job in self.known:
            self._jobs.setdefault(job, []).append((number, line))
        elif kind in GONE:
            self._jobs.pop(job, None)
        elif job in self._jobs:
            self._jobs[job].append((number, line))

    def tell(self, log: LogFile, fold: Fold) -> None:
        """Tell `fold` how things stand. Raises InputError as `watch`."""
        lines = [it for of_job in self._jobs.values() for it in of_job]
        for number, line in sorted([*lines, *self._workers.values()]):
            watch(log, number, line, fold)

    @classmethod
    def after(cls, scene: Holdings) -> Backlog:
        """From now on."""
        return cls(frozenset(map(orjson.dumps, scene.jobs)))


def ends_backlog(line: bytes, job: bytes) -> bool:
    """Whether a line says who holds what of this job, or of many at once."""
    if job not in line and COMPOUND not in line:
        return False
    found = KIND.search(line)
    return found is None or found[1] in HANDLERS


def watch(log: LogFile, number: int, line: bytes, fold: Fold) -> None:
    """Tell `fold` line `number` of the log, from 1, if it is one that a scene is told of.

    Raises InputError where it is no line of a log, but for a last one that is cut.
    """
    found = KIND.search(line)
    if found is not None and found[1] not in HANDLERS:
        return
    try:
        fields = orjson.loads(line)
        if found is not None:
            fold(found[1], fields)
    except UNFIT:
        if log.decoded(number, line) is not None:
            raise
