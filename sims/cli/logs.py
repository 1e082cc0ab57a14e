"""What all commands that read a log say about it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sims.errors import InputError
from sims.log import LogFile

UNFIT = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError)
"""What a fold raises where an event contradicts those before, or does not fit together."""


@contextmanager
def reading(path: Path, ordered: bool = True) -> Iterator[LogFile]:
    """The log at `path`, to be folded inside; says on stderr afterwards if it ends early.

    `ordered` as in LogFile. Raises InputError, naming the line, where the fold cannot go on.
    """
    log = LogFile(path, ordered)
    try:
        yield log
    except UNFIT as error:
        problem = f"contradicts the lines before it, or itself ({_why(error)})"
        accepted = f"a log of `holdfast run`; `holdfast audit {path}` tells which laws it breaks"
        raise InputError(str(path), f"line {log.read}", problem, accepted) from error
    note_if_early(log)


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"there is no {error} at that time"
    return f"{type(error).__name__}: {error}"


def note_if_early(log: LogFile) -> None:
    """Say on stderr that the log ends before its run did, where it does."""
    if log.cut or not log.ended:
        how = "the last line is cut" if log.cut else "the log stops early"
        print(f"holdfast: {log.path}: {how}; read up to event {log.read - 1}", file=sys.stderr)
