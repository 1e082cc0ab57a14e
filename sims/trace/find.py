"""One job's life as a log tells it, for people and as data."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_letters
from typing import Any

from attrs import frozen

from actors.events import JobSubmitted
from sims.errors import InputError
from sims.log import LogFile
from sims.trace.read import Trace, read_trace

LETTERS = ascii_letters + "_-"
"""What a job's number may follow."""
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
    trace = read_trace(log, job)
    if trace.root is None:
        names = [it.event.job for it in log if isinstance(it.event, JobSubmitted)]
        numbered = [name for name in names if job and name.lstrip(LETTERS) == job != name]
        if len(numbered) != 1:
            problem, known = f"there is no job {job!r} in this log", ", ".join(names[:SHOWN])
            raise InputError(str(log.path), "--job", problem, known)
        trace = read_trace(log, numbered[0])
    return LifeFound(trace)
