"""Reading one job's life out of a long log."""

from __future__ import annotations

from actors.events import ScenarioStarted
from actors.runtime import Record
from sims.log import LogFile
from sims.parts import parts
from sims.trace.tale import Tale


def read_trace(log: LogFile, job: str) -> Tale:
    """The life of `job`. Its `root` is None where the log does not know it.

    Only lines that can concern it are decoded: a million events take a few seconds. Raises
    InputError as LogFile, and ValueError or LookupError where an event contradicts those before.
    """
    lines = log.lines()
    first = log.decoded(1, next(lines, b""))
    assert first is not None and isinstance(first.event, ScenarioStarted)
    tale = Tale(job)
    tale(first)
    last, line, number = first, b"", 1
    with log.skimmed():
        for number, line in enumerate(lines, start=2):
            if tale.concerns(line):
                last = _tell(log, number, line, last, tale)
        if line and number > log.read:
            last = log.decoded(number, line, last.t) or last
    tale.stop(last.t)
    return tale


def _tell(log: LogFile, number: int, line: bytes, last: Record, tale: Tale) -> Record:
    record = log.decoded(number, line, last.t)
    for part in () if record is None else parts(record):
        tale(part)
    return record or last
