"""Which trace tells which kind of job, and how to read one job's out of a long log."""

from __future__ import annotations

from collections.abc import Callable

from actors.events import ScenarioStarted
from actors.runtime import Record
from sims.log import LogFile
from sims.parts import parts
from sims.trace.batch import BatchTrace
from sims.trace.malleable import MalleableTrace
from sims.trace.redundant import RedundantTrace
from sims.trace.tale import Tale
from sims.trace.volatile import IterativeTrace

TRACES: dict[str, Callable[[str], Tale]] = {
    "iterative": IterativeTrace,
    "rigid": BatchTrace,
    "moldable": BatchTrace,
    "malleable": MalleableTrace,
    "redundant": RedundantTrace,
}


def read_trace(log: LogFile, job: str) -> Tale:
    """The life of `job`. Its `root` is None where the log does not know it. Raises InputError.

    Only lines that can concern it are decoded: a million events take a few seconds.
    """
    lines = log.lines()
    first = log.decoded(1, next(lines, b""))
    assert first is not None and isinstance(first.event, ScenarioStarted)
    tale = TRACES[first.event.kind](job)
    tale(first)
    last, line, number = first, b"", 1
    for number, line in enumerate(lines, start=2):
        if tale.concerns(line):
            last = _tell(log, number, line, tale) or last
    last = (log.decoded(number, line) if line else None) or last
    tale.stop(last.t)
    log.read = last.seq + 1
    return tale


def _tell(log: LogFile, number: int, line: bytes, tale: Tale) -> Record | None:
    record = log.decoded(number, line)
    for part in () if record is None else parts(record):
        tale(part)
    return record
