"""One job's life as a log tells it, and why it waited: for people and as data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from string import ascii_letters
from typing import Any

from attrs import frozen

from actors.runtime import rare_collections
from sims.errors import InputError
from sims.history.lines import Lines, skim, tells_of_holding
from sims.log import LogFile
from sims.trace.account import FlowAccount
from sims.trace.ranking import Ranking
from sims.trace.reasons import Reasons
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.trace.waits import Waits

LETTERS = ascii_letters + "_-"
"""What a job's number may follow."""
NAME = re.compile(rb'"job":("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")')
SHOWN = 20
"""Jobs that are named to who asks for another."""


@frozen
class Trace:
    """What became of a job: print it."""

    job: str
    unit: str
    root: Span
    """Its life, with the reasons below each time that it waited."""
    account: FlowAccount
    """Where its flowtime went."""
    waits: tuple[Reasons, ...]

    @property
    def data(self) -> Mapping[str, Any]:
        """The same as data. Made when asked for, as `text` is: a long life has 10^5 lines."""
        about = {"job": self.job, "account": self.account.as_json()}
        return self.root.as_json() | about | {"waits": [it.as_json() for it in self.waits]}

    @property
    def text(self) -> str:
        """The same for people."""
        lines = chain(self.root.lines(self.unit), ("",), self.account.lines(self.unit))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def find_life(log: LogFile, job: str) -> Trace:
    """The life of `job`, by its name or, of J1, J2, ..., its number.

    Raises InputError, naming others, where the log knows no such job, and what `read_trace` raises.
    """
    names = [] if job[:1] in LETTERS else list(_submitted(log))
    numbered = [name for name in names if name.lstrip(LETTERS) == job]
    trace = read_trace(log, numbered[0] if len(numbered) == 1 and job not in names else job)
    if trace is None:
        problem, known = f"there is no job {job!r} in this log", names or list(_submitted(log))
        raise InputError(str(log.path), "--job", problem, ", ".join(known[:SHOWN]))
    return trace


def _submitted(log: LogFile) -> Iterator[str]:
    """Names of all jobs, from lines that are neither decoded nor checked: that takes longer."""
    for line in log.lines():
        found = NAME.search(line) if b'"JobSubmitted"' in line else None
        if found is not None:
            yield json.loads(found[1].decode(errors="replace"), strict=False)


def read_trace(log: LogFile, job: str) -> Trace | None:
    """The life of `job`; None where the log does not know it.

    Only lines that can concern it are decoded, and, while it waits, those that say who holds what:
    a million events take a few seconds. Raises InputError as LogFile, and ValueError or LookupError
    where an event contradicts those before.
    """
    tale, waits = Tale(job), Waits(job)
    lines, after = Lines(log, waits.history, waits), 0.0
    with log.skimmed(), rare_collections():
        for number, line in skim(log):
            if not waits.over:
                mine = tale.named in line and tells_of_holding(line)
                (lines.put if waits.idle and not mine else lines.tell)(number, line)
            if number == 1 or tale.concerns(line):
                record = log.decoded(number, line, after)
                if record is not None:
                    tale(record)
                    after = record.t
    last, started = log.last, waits.history.header
    assert last is not None and started is not None
    tale.stop(last.t)
    waits.close()
    ranking = Ranking.of(started)
    reasons = {wait.since: Reasons(wait, started, ranking) for wait in waits.done}
    for span in tale.waits:
        if span.start in reasons:
            span.children += reasons[span.start].spans()
    if tale.root is None:
        return None
    return Trace(job, started.unit, tale.root, tale.account, tuple(reasons.values()))
