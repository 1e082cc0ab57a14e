"""One job's life as a log tells it, for people and as data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from string import ascii_letters
from typing import Any

from attrs import frozen

from sims.errors import InputError
from sims.log import LogFile
from sims.trace.read import Trace, read_trace

LETTERS = ascii_letters + "_-"
"""What a job's number may follow."""
SUBMITTED = b'"JobSubmitted"'
NAME = re.compile(rb'"job":("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")')
SHOWN = 20
"""Jobs that are named to who asks for another."""


@frozen
class LifeFound:
    """What became of a job: print it."""

    trace: Trace

    @property
    def text(self) -> str:
        """For people. Made when asked for, as `data` is: a long life has 10^5 lines."""
        return "\n".join(self.trace.lines())

    @property
    def data(self) -> Mapping[str, Any]:
        """The same as data."""
        return self.trace.as_json()

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def find_life(log: LogFile, job: str) -> LifeFound:
    """The life of `job`, by its name or, of J1, J2, ..., its number.

    Raises InputError, naming others, where the log knows no such job, and what `read_trace` raises.
    """
    names = [] if job[:1] in LETTERS else _submitted(log)
    numbered = [name for name in names if name.lstrip(LETTERS) == job]
    trace = read_trace(log, numbered[0] if len(numbered) == 1 and job not in names else job)
    if trace.root is None:
        problem, known = f"there is no job {job!r} in this log", names or _submitted(log)
        raise InputError(str(log.path), "--job", problem, ", ".join(known[:SHOWN]))
    return LifeFound(trace)


def _submitted(log: LogFile) -> list[str]:
    """Names of all jobs, from lines that are neither decoded nor checked: that takes longer."""
    found = (NAME.search(line) for line in log.lines() if SUBMITTED in line)
    texts = (it[1].decode(errors="replace") for it in found if it is not None)
    return [json.loads(text, strict=False) for text in texts]
